// SPDX-License-Identifier: BSD-2-Clause
// Checks of a received basic header segment: opcode against role and phase, lengths, contradictory
// flags; additional header segments; serial number arithmetic. Pure functions: no I/O, no state,
// any thread, nothing blocks. RFC 7143 §4.2.2, §11.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/wire/iscsi.h"

enum iscsi_role { // who receives
	ISCSI_ROLE_TARGET,
	ISCSI_ROLE_INITIATOR,
};
enum iscsi_phase {
	ISCSI_PHASE_LOGIN,
	ISCSI_PHASE_DISCOVERY,	  // full feature phase of a discovery session
	ISCSI_PHASE_FULL_FEATURE, // of a normal session
};

struct iscsi_pdu {
	uint8_t opcode; // without ISCSI_I
	bool is_immediate;
	uint32_t ahs_len;  // bytes
	uint32_t data_len; // bytes, without pad
	uint32_t pad_len;  // 0 to 3
};

// Extracts opcode, flags and lengths of a header; checks nothing.
void iscsi_pdu_decode(const uint8_t bhs[ISCSI_BHS_LEN], struct iscsi_pdu *ret);

// Checks a received header. max_data: bytes of data segment the receiver accepts (its
// MaxRecvDataSegmentLength; ISCSI_LOGIN_DATA_MAX during login). ret is always filled. 0: well
// formed. > 0 (target only): send Reject with this iscsi_reject_reason and skip the PDU, whose
// lengths are valid. -EPROTO: close the connection.
int iscsi_pdu_check(enum iscsi_role role, enum iscsi_phase phase, const uint8_t bhs[ISCSI_BHS_LEN],
		    uint32_t max_data, struct iscsi_pdu *ret, struct err *e);

// The opcode's name as the RFC has it, or "unknown".
const char *iscsi_opcode_name(uint8_t opcode);

// Additional header segments. Pointers go into the caller's bytes.
struct iscsi_ahs_info {
	const uint8_t *cdb_ext; // CDB bytes 16 and up, or NULL
	uint32_t cdb_ext_len;
	bool has_bidi_read;
	uint32_t bidi_read_len;
};

// ISCSI_CDB_MAX is SPC's longest CDB: 8 bytes and an ADDITIONAL CDB LENGTH of 252.
enum { ISCSI_CDB_MAX = 260 };

// Parses len bytes of AHS [RFC 7143 §11.2.2]. 0, or > 0: the iscsi_reject_reason to send (unknown
// type, duplicate type, inconsistent lengths).
int iscsi_ahs_parse(const uint8_t *ahs, size_t len, struct iscsi_ahs_info *ret, struct err *e);

// Serial number arithmetic modulo 2^32 [RFC 7143 §4.2.2.1, RFC 1982].
static inline bool serial32_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline bool serial32_le(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) <= 0;
}

// True when first <= sn <= last; false for every sn when last is first - 1 (closed window).
static inline bool serial32_in(uint32_t sn, uint32_t first, uint32_t last)
{
	return serial32_le(first, sn) && serial32_le(sn, last);
}
