// SPDX-License-Identifier: BSD-2-Clause
// Information units after the login: parses and checks received ones, writes those to be sent. T10
// SRP 6.6 to 6.15; immediate data as Linux has it.
//
// Pure functions over the caller's bytes: any thread, nothing blocks, nothing allocates. The peer
// is not trusted: lengths are checked in 64 bits before a byte behind them is read.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/wire/srp.h"

enum {
	// Longest IU of an initiator that the target takes: 48 bytes, a table of 255 descriptors in
	// each direction and 200 bytes of additional CDB, or 8 KiB of immediate data.
	SRP_IT_IU_MAX = 8448,
	SRP_IMM_OFFSET = SRP_CMD_LEN + SRP_INDIRECT_LEN, // of Linux's immediate data
	SRP_IMM_MAX = 8192,
	// Descriptors of a table, those outside of the IU included. Linux builds at most 2048.
	SRP_TABLE_MAX = 4096,
};

// Memory of the initiator.
struct srp_desc {
	uint64_t va;
	uint32_t key, len;
};

// The data of one direction of a command.
struct srp_data {
	uint8_t format; // SRP_NO_DATA ...
	uint32_t len;	// of the data: the sum of the descriptors, or of the immediate data
	// SRP_DIRECT, SRP_INDIRECT: descriptors in the IU, SRP_DIRECT_LEN bytes each, unaligned.
	const uint8_t *descs;
	uint32_t count;
	// SRP_INDIRECT: the whole table, of which count are in the IU: count < table.len / 16 means
	// that it has to be read from the initiator.
	struct srp_desc table;
	const uint8_t *imm; // SRP_IMMEDIATE: len bytes
};

struct srp_command {
	uint64_t tag;	    // opaque: as in memory, echoed
	const uint8_t *lun; // 8 bytes
	uint8_t attr;	    // SRP_ATTR_*
	uint8_t sol_not;
	const uint8_t *cdb; // cdb_len bytes, the additional ones included
	uint16_t cdb_len;
	struct srp_data out, in;
};

// Parses a CMD IU of len bytes. imm_offset: of the login; 0: immediate data was not agreed on. 0;
// -EPROTO: it is shorter than its own fields say, or the format of its descriptors is not known:
// the channel must be closed; -EINVAL: a table whose lengths do not fit together, or immediate data
// beyond the IU: the command is refused with SRP_RSP_INVALID_FIELDS; ret's tag and sol_not are
// valid. The pointers of ret are into iu. A table of which a part is in the IU is not summed up:
// its reader calls srp_table_is_valid().
int srp_command_parse(struct srp_command *ret, const uint8_t *iu, uint32_t len, uint16_t imm_offset,
		      struct err *e);
// One descriptor of a table.
void srp_desc_parse(struct srp_desc *ret, const uint8_t raw[SRP_DIRECT_LEN]);
void srp_desc_put(uint8_t ret[SRP_DIRECT_LEN], const struct srp_desc *d);
// Whether the descriptors of a whole table of count entries sum up to exactly len bytes.
bool srp_table_is_valid(const uint8_t *descs, uint32_t count, uint32_t len);

struct srp_task_mgmt {
	uint64_t tag, task_tag;
	const uint8_t *lun; // 8 bytes
	uint8_t function;   // enum srp_tmf, or another value
	uint8_t sol_not;
};
// -EPROTO: too short.
int srp_task_mgmt_parse(struct srp_task_mgmt *ret, const uint8_t *iu, uint32_t len, struct err *e);
void srp_task_mgmt_put(uint8_t ret[SRP_TSK_MGMT_LEN], const struct srp_task_mgmt *m);

// RSP.
struct srp_response {
	uint64_t tag;
	int32_t credits; // REQUEST LIMIT DELTA
	uint8_t flags;	 // SRP_DOUNDER ...; SRP_RSPVALID and SRP_SNSVALID belong to the lengths
	uint8_t status;
	uint32_t out_residual, in_residual;
	bool has_code;
	uint8_t code; // enum srp_rsp_code, if has_code
	const uint8_t *sense;
	uint32_t sense_len;
};
// Writes it; returns its length. Sense data is cut to what fits into size bytes, which are at least
// SRP_RSP_LEN + SRP_RSP_DATA_LEN.
uint32_t srp_response_put(uint8_t *ret, uint32_t size, const struct srp_response *r);
// -EPROTO: shorter than its own fields say. A length without its flag is ignored.
int srp_response_parse(struct srp_response *ret, const uint8_t *iu, uint32_t len, struct err *e);

// In words; NULL: unknown.
const char *srp_code_text(uint8_t code);

// I_LOGOUT, T_LOGOUT, CRED_REQ, CRED_RSP, AER_RSP; value: the reason, or the credits.
void srp_short_put(uint8_t ret[SRP_SHORT_LEN], enum srp_opcode opcode, uint64_t tag,
		   uint32_t value);
// Reads one of any opcode. -EPROTO: it is too short.
int srp_short_parse(uint64_t *ret_tag, uint32_t *ret_value, const uint8_t *iu, uint32_t len,
		    struct err *e);

// AER_REQ.
struct srp_event {
	uint64_t tag;
	int32_t credits;
	const uint8_t *lun; // 8 bytes
	const uint8_t *sense;
	uint32_t sense_len;
};
// As srp_response_put(); size is at least SRP_AER_REQ_LEN.
uint32_t srp_event_put(uint8_t *ret, uint32_t size, const struct srp_event *v);
// -EPROTO: shorter than its own fields say.
int srp_event_parse(struct srp_event *ret, const uint8_t *iu, uint32_t len, struct err *e);

// Writes a CMD IU up to its descriptors: opcode, tag, LUN, attribute, CDB of SRP_CDB_LEN bytes. The
// rest is zeroed.
void srp_command_put(uint8_t ret[SRP_CMD_LEN], uint64_t tag, const uint8_t lun[8], uint8_t attr,
		     const uint8_t cdb[SRP_CDB_LEN]);
