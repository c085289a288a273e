// SPDX-License-Identifier: BSD-2-Clause
// The command set, one row per command, in opcode and service action order. Constant; the index by
// opcode is filled before main(). There are no 32-byte commands: they are for type 2 protection
// (SBC-3 5.11), which this device server does not have.
#include "target/scsi/server/dispatch.h"

#include <string.h>

#include "target/scsi/alua/commands.h"
#include "target/scsi/copy/commands.h"
#include "target/scsi/reservations/commands.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/spc/commands.h"

// Usage bits of an LBA or a count.
#define X2 0xff, 0xff
#define X3 X2, 0xff
#define X4 X2, X2
#define X8 X4, X4
#define Z4 0, 0, 0, 0

#define OP(code, len, ...)                                                                         \
	{                                                                                          \
		.opcode = code, .cdb_len = len, __VA_ARGS__                                        \
	}
#define SA(code, act, len, ...)                                                                    \
	{                                                                                          \
		.opcode = code, .has_sa = true, .sa = act, .cdb_len = len, __VA_ARGS__             \
	}
#define CLASS(p, a, f) .pr = p, .alua = a, .flags = f
#define USAGE(...)     .usage = { __VA_ARGS__ }

enum {
	READS = OP_DATA_IN | OP_MEDIUM | OP_RANGE | OP_HARMLESS,
	WRITES = OP_DATA_OUT | OP_WRITES | OP_MEDIUM | OP_RANGE,
	CACHED = OP_DPO | OP_FUA | OP_PROTECT,
	VERIFIES = OP_DATA_OUT | OP_MEDIUM | OP_RANGE | OP_DPO | OP_PROTECT | OP_HARMLESS,
};

// clang-format off
const struct opcode_row opcode_rows[] = {
	OP(0x00, 6, CLASS(PR_ALWAYS, ALUA_ACTIVE, OP_MEDIUM | OP_HARMLESS),
	   .run = test_unit_ready_run, .name = "TEST UNIT READY", USAGE(0x00)),
	OP(0x03, 6, CLASS(PR_ALWAYS, ALUA_ALWAYS,
			  OP_DATA_IN | OP_IGNORES_UA | OP_NO_LU | OP_HARMLESS),
	   .run = request_sense_run, .name = "REQUEST SENSE", USAGE(0x03, 0x01, 0, 0, 0xff)),
	OP(0x08, 6, CLASS(PR_READ, ALUA_ACTIVE, READS),
	   .run = read_run, .name = "READ(6)", USAGE(0x08, 0x1f, X3)),
	OP(0x0a, 6, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES),
	   .run = write_run, .name = "WRITE(6)", USAGE(0x0a, 0x1f, X3)),
	OP(0x12, 6, CLASS(PR_ALWAYS, ALUA_ALWAYS,
			  OP_DATA_IN | OP_IGNORES_UA | OP_NO_LU | OP_HARMLESS),
	   .run = inquiry_run, .name = "INQUIRY", USAGE(0x12, 0x01, X3)),
	OP(0x15, 6, CLASS(PR_WRITE, ALUA_STANDBY, OP_DATA_OUT),
	   .run = mode_select6_run, .name = "MODE SELECT(6)", USAGE(0x15, 0x11, 0, 0, 0xff)),
	OP(0x16, 6, CLASS(PR_SPECIAL, ALUA_STANDBY, 0),
	   .run = reserve_run, .is_available = pr_is_available, .name = "RESERVE(6)",
	   USAGE(0x16)),
	// Ends only this nexus's own reservation.
	OP(0x17, 6, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_HARMLESS),
	   .run = release_run, .is_available = pr_is_available, .name = "RELEASE(6)",
	   USAGE(0x17)),
	OP(0x1a, 6, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = mode_sense6_run, .name = "MODE SENSE(6)", USAGE(0x1a, 0x08, X3)),
	// Without LOEJ a stop leaves the unit ready: see sbc/start_stop.c.
	OP(0x1b, 6, CLASS(PR_WRITE, ALUA_ACTIVE, 0),
	   .run = start_stop_run, .name = "START STOP UNIT", USAGE(0x1b, 0x01, 0, 0x0f, 0xf7)),
	OP(0x1c, 6, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = receive_diagnostic_run, .name = "RECEIVE DIAGNOSTIC RESULTS",
	   USAGE(0x1c, 0x01, X3)),
	OP(0x1d, 6, CLASS(PR_WRITE, ALUA_STANDBY, OP_DATA_OUT | OP_HARMLESS),
	   .run = send_diagnostic_run, .name = "SEND DIAGNOSTIC", USAGE(0x1d, 0x14, 0, X2)),
	OP(0x1e, 6, CLASS(PR_WRITE, ALUA_ACTIVE, 0),
	   .run = prevent_allow_run, .is_available = prevent_allow_is_available,
	   .name = "PREVENT ALLOW MEDIUM REMOVAL", USAGE(0x1e, 0, 0, 0, 0x03)),
	OP(0x25, 10, CLASS(PR_ALWAYS, ALUA_STANDBY, OP_DATA_IN | OP_MEDIUM | OP_HARMLESS),
	   .run = read_capacity10_run, .name = "READ CAPACITY(10)", USAGE(0x25, 0, X4, 0, 0, 0x01)),
	OP(0x28, 10, CLASS(PR_READ, ALUA_ACTIVE, READS | CACHED),
	   .run = read_run, .name = "READ(10)", USAGE(0x28, 0x18, X4, 0, X2)),
	OP(0x2a, 10, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | CACHED),
	   .run = write_run, .name = "WRITE(10)", USAGE(0x2a, 0x18, X4, 0, X2)),
	OP(0x2e, 10, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | OP_DPO | OP_PROTECT),
	   .run = write_verify_run, .name = "WRITE AND VERIFY(10)", USAGE(0x2e, 0x12, X4, 0, X2)),
	OP(0x2f, 10, CLASS(PR_READ, ALUA_ACTIVE, VERIFIES),
	   .run = verify_run, .name = "VERIFY(10)", USAGE(0x2f, 0x16, X4, 0, X2)),
	OP(0x34, 10, CLASS(PR_READ, ALUA_ACTIVE, OP_MEDIUM | OP_RANGE | OP_TO_END | OP_HARMLESS),
	   .run = prefetch_run, .name = "PRE-FETCH(10)", USAGE(0x34, 0x02, X4, 0, X2)),
	OP(0x35, 10, CLASS(PR_WRITE, ALUA_ACTIVE, OP_MEDIUM | OP_RANGE | OP_TO_END | OP_HARMLESS),
	   .run = synchronize_cache_run, .name = "SYNCHRONIZE CACHE(10)",
	   USAGE(0x35, 0x02, X4, 0, X2)),
	OP(0x37, 10, CLASS(PR_READ, ALUA_ACTIVE, OP_DATA_IN | OP_MEDIUM | OP_HARMLESS),
	   .run = read_defect_data10_run, .name = "READ DEFECT DATA(10)",
	   USAGE(0x37, 0, 0x1f, 0, 0, 0, 0, X2)),
	OP(0x41, 10, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | OP_PROTECT | OP_UNMAP),
	   .run = write_same_run, .name = "WRITE SAME(10)", USAGE(0x41, 0x08, X4, 0, X2)),
	OP(0x42, 10, CLASS(PR_WRITE, ALUA_ACTIVE, OP_DATA_OUT | OP_WRITES | OP_MEDIUM),
	   .run = unmap_run, .is_available = sbc_has_unmap, .name = "UNMAP",
	   USAGE(0x42, 0, Z4, 0, X2)),
	SA(0x48, 0x01, 10, CLASS(PR_WRITE, ALUA_ACTIVE, OP_DATA_OUT | OP_WRITES),
	   .run = sanitize_overwrite_run, .name = "SANITIZE: OVERWRITE",
	   USAGE(0x48, 0xa1, Z4, 0, X2)),
	SA(0x48, 0x02, 10, CLASS(PR_WRITE, ALUA_ACTIVE, OP_WRITES),
	   .run = sanitize_block_erase_run, .is_available = sbc_has_block_erase,
	   .name = "SANITIZE: BLOCK ERASE", USAGE(0x48, 0xa2, Z4, 0, X2)),
	SA(0x48, 0x03, 10, CLASS(PR_WRITE, ALUA_ACTIVE, OP_WRITES),
	   .run = sanitize_block_erase_run, .is_available = sbc_has_block_erase,
	   .name = "SANITIZE: CRYPTOGRAPHIC ERASE", USAGE(0x48, 0xa3, Z4, 0, X2)),
	SA(0x48, 0x1f, 10, CLASS(PR_WRITE, ALUA_ACTIVE, 0),
	   .run = sanitize_exit_run, .name = "SANITIZE: EXIT FAILURE MODE",
	   USAGE(0x48, 0xbf, Z4, 0, X2)),
	OP(0x55, 10, CLASS(PR_WRITE, ALUA_STANDBY, OP_DATA_OUT),
	   .run = mode_select10_run, .name = "MODE SELECT(10)",
	   USAGE(0x55, 0x11, 0, 0, 0, 0, 0, X2)),
	OP(0x56, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, 0),
	   .run = reserve_run, .is_available = pr_is_available, .name = "RESERVE(10)",
	   USAGE(0x56)),
	OP(0x57, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_HARMLESS),
	   .run = release_run, .is_available = pr_is_available, .name = "RELEASE(10)",
	   USAGE(0x57)),
	OP(0x5a, 10, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = mode_sense10_run, .name = "MODE SENSE(10)", USAGE(0x5a, 0x18, X2, 0, 0, 0, X2)),
	SA(0x5e, 0x00, 10, CLASS(PR_ALWAYS, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = pr_read_keys_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE IN, READ KEYS", USAGE(0x5e, 0x00, 0, 0, 0, 0, 0, X2)),
	SA(0x5e, 0x01, 10, CLASS(PR_ALWAYS, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = pr_read_reservation_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE IN, READ RESERVATION", USAGE(0x5e, 0x01, 0, 0, 0, 0, 0, X2)),
	SA(0x5e, 0x02, 10, CLASS(PR_ALWAYS, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = pr_report_capabilities_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE IN, REPORT CAPABILITIES", USAGE(0x5e, 0x02, 0, 0, 0, 0, 0, X2)),
	SA(0x5e, 0x03, 10, CLASS(PR_ALWAYS, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = pr_read_full_status_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE IN, READ FULL STATUS", USAGE(0x5e, 0x03, 0, 0, 0, 0, 0, X2)),
	SA(0x5f, 0x00, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, REGISTER",
	   USAGE(0x5f, 0x00, 0, 0, 0, X4)),
	SA(0x5f, 0x01, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, RESERVE",
	   USAGE(0x5f, 0x01, 0xff, 0, 0, X4)),
	SA(0x5f, 0x02, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, RELEASE",
	   USAGE(0x5f, 0x02, 0xff, 0, 0, X4)),
	SA(0x5f, 0x03, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, CLEAR",
	   USAGE(0x5f, 0x03, 0, 0, 0, X4)),
	SA(0x5f, 0x04, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, PREEMPT",
	   USAGE(0x5f, 0x04, 0xff, 0, 0, X4)),
	SA(0x5f, 0x05, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, PREEMPT AND ABORT",
	   USAGE(0x5f, 0x05, 0xff, 0, 0, X4)),
	SA(0x5f, 0x06, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, REGISTER AND IGNORE EXISTING KEY",
	   USAGE(0x5f, 0x06, 0, 0, 0, X4)),
	SA(0x5f, 0x07, 10, CLASS(PR_SPECIAL, ALUA_STANDBY, OP_DATA_OUT),
	   .run = pr_out_run, .is_available = pr_is_available,
	   .name = "PERSISTENT RESERVE OUT, REGISTER AND MOVE",
	   USAGE(0x5f, 0x07, 0, 0, 0, X4)),
	// Each copy is checked again at the LUN that it writes to.
	SA(0x83, 0x00, 16, CLASS(PR_WRITE, ALUA_ACTIVE, OP_DATA_OUT | OP_MEDIUM | OP_HARMLESS),
	   .run = extended_copy_run, .is_available = third_party_is_available,
	   .name = "EXTENDED COPY(LID1)", USAGE(0x83, 0x00, Z4, Z4, X4)),
	SA(0x83, 0x10, 16, CLASS(PR_READ, ALUA_ACTIVE, OP_DATA_OUT | OP_MEDIUM | OP_HARMLESS),
	   .run = odx_run, .is_available = third_party_is_available,
	   .name = "POPULATE TOKEN", USAGE(0x83, 0x10, Z4, X4, X4)),
	SA(0x83, 0x11, 16, CLASS(PR_WRITE, ALUA_ACTIVE, OP_DATA_OUT | OP_MEDIUM),
	   .run = odx_run, .is_available = third_party_is_available,
	   .name = "WRITE USING TOKEN", USAGE(0x83, 0x11, Z4, X4, X4)),
	SA(0x84, 0x00, 16, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = receive_copy_status_run, .is_available = third_party_is_available,
	   .name = "RECEIVE COPY STATUS(LID1)", USAGE(0x84, 0x00, 0xff, 0, 0, 0, 0, 0, 0, 0, X4)),
	SA(0x84, 0x03, 16, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = receive_copy_parameters_run, .is_available = third_party_is_available,
	   .name = "RECEIVE COPY OPERATING PARAMETERS", USAGE(0x84, 0x03, Z4, Z4, X4)),
	SA(0x84, 0x04, 16, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = receive_copy_failure_run, .is_available = third_party_is_available,
	   .name = "RECEIVE COPY FAILURE DETAILS(LID1)", USAGE(0x84, 0x04, 0xff, 0, 0, 0, 0, 0, 0, 0, X4)),
	SA(0x84, 0x07, 16, CLASS(PR_READ, ALUA_STANDBY, OP_DATA_IN | OP_HARMLESS),
	   .run = receive_rod_token_run, .is_available = third_party_is_available,
	   .name = "RECEIVE ROD TOKEN INFORMATION", USAGE(0x84, 0x07, X4, Z4, X4)),
	OP(0x88, 16, CLASS(PR_READ, ALUA_ACTIVE, READS | CACHED),
	   .run = read_run, .name = "READ(16)", USAGE(0x88, 0x18, X8, X4)),
	OP(0x89, 16, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | CACHED),
	   .run = compare_and_write_run, .is_available = sbc_has_compare_and_write,
	   .name = "COMPARE AND WRITE", USAGE(0x89, 0x18, X8, 0, 0, 0, 0xff)),
	OP(0x8a, 16, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | CACHED),
	   .run = write_run, .name = "WRITE(16)", USAGE(0x8a, 0x18, X8, X4)),
	OP(0x8b, 16, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | CACHED),
	   .run = orwrite_run, .name = "ORWRITE(16)", USAGE(0x8b, 0x18, X8, X4)),
	OP(0x8e, 16, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | OP_DPO | OP_PROTECT),
	   .run = write_verify_run, .name = "WRITE AND VERIFY(16)", USAGE(0x8e, 0x12, X8, X4)),
	OP(0x8f, 16, CLASS(PR_READ, ALUA_ACTIVE, VERIFIES),
	   .run = verify_run, .name = "VERIFY(16)", USAGE(0x8f, 0x16, X8, X4)),
	OP(0x90, 16, CLASS(PR_READ, ALUA_ACTIVE, OP_MEDIUM | OP_RANGE | OP_TO_END | OP_HARMLESS),
	   .run = prefetch_run, .name = "PRE-FETCH(16)", USAGE(0x90, 0x02, X8, X4)),
	OP(0x91, 16, CLASS(PR_WRITE, ALUA_ACTIVE, OP_MEDIUM | OP_RANGE | OP_TO_END | OP_HARMLESS),
	   .run = synchronize_cache_run, .name = "SYNCHRONIZE CACHE(16)", USAGE(0x91, 0x02, X8, X4)),
	OP(0x93, 16, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | OP_PROTECT | OP_UNMAP),
	   .run = write_same_run, .name = "WRITE SAME(16)", USAGE(0x93, 0x09, X8, X4)),
	OP(0x9c, 16, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | CACHED),
	   .run = write_atomic_run, .is_available = sbc_has_write_atomic,
	   .name = "WRITE ATOMIC(16)", USAGE(0x9c, 0x18, X8, X4)),
	SA(0x9e, 0x10, 16, CLASS(PR_ALWAYS, ALUA_STANDBY, OP_DATA_IN | OP_MEDIUM | OP_HARMLESS),
	   .run = read_capacity16_run, .name = "READ CAPACITY(16)",
	   USAGE(0x9e, 0x10, X8, X4, 0x01)),
	SA(0x9e, 0x12, 16, CLASS(PR_READ, ALUA_ACTIVE, OP_DATA_IN | OP_MEDIUM | OP_HARMLESS),
	   .run = get_lba_status_run, .name = "GET LBA STATUS(16)", USAGE(0x9e, 0x12, X8, X4)),
	OP(0xa0, 12, CLASS(PR_ALWAYS, ALUA_ALWAYS,
			   OP_DATA_IN | OP_IGNORES_UA | OP_NO_LU | OP_LOCAL | OP_HARMLESS),
	   .run = report_luns_run, .name = "REPORT LUNS", USAGE(0xa0, 0, 0xff, 0, 0, 0, X4)),
	SA(0xa3, 0x0a, 12, CLASS(PR_ALWAYS, ALUA_ALWAYS, OP_DATA_IN | OP_HARMLESS),
	   .run = report_target_port_groups_run, .is_available = alua_is_available,
	   .name = "REPORT TARGET PORT GROUPS", USAGE(0xa3, 0xea, Z4, X4)),
	SA(0xa3, 0x0c, 12, CLASS(PR_ALWAYS, ALUA_ALWAYS, OP_DATA_IN | OP_HARMLESS),
	   .run = report_opcodes_run, .is_available = report_opcodes_is_available,
	   .name = "REPORT SUPPORTED OPERATION CODES", USAGE(0xa3, 0x0c, 0x87, X3, X4)),
	SA(0xa3, 0x0d, 12, CLASS(PR_ALWAYS, ALUA_ALWAYS, OP_DATA_IN | OP_HARMLESS),
	   .run = report_tmfs_run, .name = "REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS",
	   USAGE(0xa3, 0x0d, 0x80, 0, 0, 0, X4)),
	SA(0xa4, 0x0a, 12, CLASS(PR_WRITE, ALUA_ALWAYS, OP_DATA_OUT),
	   .run = set_target_port_groups_run, .is_available = alua_is_settable,
	   .name = "SET TARGET PORT GROUPS", USAGE(0xa4, 0x0a, Z4, X4)),
	// Whatever others have reserved: it concerns the sender's own nexuses, whose writes would
	// otherwise stay possible. It is not harmless: it ends what a path that may write does.
	SA(0xa4, 0x0c, 12, CLASS(PR_ALWAYS, ALUA_ALWAYS, OP_DATA_OUT | OP_LOCAL),
	   .run = remove_nexus_run, .name = "REMOVE I_T NEXUS", USAGE(0xa4, 0x0c, Z4, X4)),
	OP(0xa8, 12, CLASS(PR_READ, ALUA_ACTIVE, READS | CACHED),
	   .run = read_run, .name = "READ(12)", USAGE(0xa8, 0x18, X4, X4)),
	OP(0xaa, 12, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | CACHED),
	   .run = write_run, .name = "WRITE(12)", USAGE(0xaa, 0x18, X4, X4)),
	OP(0xae, 12, CLASS(PR_WRITE, ALUA_ACTIVE, WRITES | OP_DPO | OP_PROTECT),
	   .run = write_verify_run, .name = "WRITE AND VERIFY(12)", USAGE(0xae, 0x12, X4, X4)),
	OP(0xaf, 12, CLASS(PR_READ, ALUA_ACTIVE, VERIFIES),
	   .run = verify_run, .name = "VERIFY(12)", USAGE(0xaf, 0x16, X4, X4)),
	OP(0xb7, 12, CLASS(PR_READ, ALUA_ACTIVE, OP_DATA_IN | OP_MEDIUM | OP_HARMLESS),
	   .run = read_defect_data12_run, .name = "READ DEFECT DATA(12)",
	   USAGE(0xb7, 0x1f, X4, X4)),
	{ .name = NULL },
};
// clang-format on

enum { ROWS = sizeof opcode_rows / sizeof opcode_rows[0] - 1 };
_Static_assert(ROWS < 255, "first_row is a byte");

// 1 + index of the opcode's first row; 0: no such opcode.
static uint8_t first_row[256];

__attribute__((constructor)) static void index_rows(void)
{
	for (unsigned i = ROWS; i-- > 0;)
		first_row[opcode_rows[i].opcode] = (uint8_t)(i + 1);
}

const struct opcode_row *dispatch_find(const uint8_t *cdb, unsigned cdb_len)
{
	if (cdb_len < 6 || !first_row[cdb[0]])
		return NULL;
	const struct opcode_row *row = &opcode_rows[first_row[cdb[0]] - 1];
	if (row->has_sa) {
		uint16_t sa = cdb[1] & 0x1f;
		while (row->sa != sa) {
			if (++row == opcode_rows + ROWS || row->opcode != cdb[0])
				return NULL;
		}
	}
	return row->cdb_len <= cdb_len ? row : NULL;
}

bool dispatch_has_opcode(const struct lu *lu, uint8_t opcode)
{
	if (!first_row[opcode])
		return false;
	const struct opcode_row *row = &opcode_rows[first_row[opcode] - 1];
	for (; row < opcode_rows + ROWS && row->opcode == opcode; row++) {
		if (opcode_is_available(row, lu))
			return true;
	}
	return false;
}
