// SPDX-License-Identifier: BSD-2-Clause
// SRP's login: the request in both layouts (IB-CM and RDMA-CM), the response, the rejection and
// its reasons in words. T10 SRP 6.3 to 6.5.
//
// Pure functions over the caller's bytes: any thread, nothing blocks, nothing allocates.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/wire/srp.h"

// LOGIN_REQ.
struct srp_login {
	uint64_t tag;	     // opaque: as in memory, echoed
	uint32_t it_iu_len;  // longest IU that the initiator will send
	uint16_t formats;    // SRP_FMT_*
	uint8_t flags;	     // SRP_MULTICHAN_* ...
	uint16_t imm_offset; // of immediate data in an IU; 0: not said
	uint8_t initiator[SRP_PORT_ID_LEN], target[SRP_PORT_ID_LEN];
};

// Parses the private data of a connect: 64 bytes or more are the layout of IB-CM if byte 0 is the
// opcode and the connect came by InfiniBand's connection manager alone, without RDMA-CM (is_ib),
// else the first 56 bytes are that of RDMA-CM. What follows is ignored. -EPROTO.
int srp_login_parse(struct srp_login *ret, const uint8_t *data, uint32_t len, bool is_ib,
		    struct err *e);
void srp_login_put(uint8_t ret[SRP_LOGIN_REQ_LEN], const struct srp_login *l);
void srp_login_put_cm(uint8_t ret[SRP_LOGIN_REQ_CM_LEN], const struct srp_login *l);

// LOGIN_RSP.
struct srp_accept {
	uint64_t tag;
	uint32_t credits;   // REQUEST LIMIT DELTA: IUs that the initiator may have outstanding
	uint32_t it_iu_len; // longest IU that the target takes
	uint32_t ti_iu_len; // ... that it sends
	uint16_t formats;
	uint8_t flags; // SRP_MULTICHAN_NONE ..., SRP_IMMED_SUPPORTED
};
// -EPROTO: too short, another IU, no credit, IU lengths below the smallest.
int srp_accept_parse(struct srp_accept *ret, const uint8_t *data, uint32_t len, struct err *e);
void srp_accept_put(uint8_t ret[SRP_LOGIN_RSP_LEN], const struct srp_accept *a);

// LOGIN_REJ.
void srp_reject_put(uint8_t ret[SRP_LOGIN_REJ_LEN], uint64_t tag, enum srp_rej_reason reason);
// *ret: its reason. -EPROTO: the private data of a refused connect is not a LOGIN_REJ.
int srp_reject_parse(enum srp_rej_reason *ret, const uint8_t *data, uint32_t len, struct err *e);
// "the target has no such port (check id_ext and ioc_guid)"; NULL: unknown.
const char *srp_reject_text(enum srp_rej_reason reason);
