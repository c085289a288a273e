// SPDX-License-Identifier: BSD-2-Clause
// REPORT SUPPORTED OPERATION CODES and REPORT SUPPORTED TASK MANAGEMENT FUNCTIONS
// (SPC-4 6.35, 6.36). Task's worker.
#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/opcode.h"
#include "target/scsi/sbc/lba.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/spc/commands.h"
#include "transport/wire/be.h"

bool report_opcodes_is_available(const struct lu *lu)
{
	return lu_setting(&lu->attr.emulate_rsoc);
}

// Command timeouts descriptor (SPC-4 6.35.4): no timeout is indicated.
static unsigned put_timeouts(uint8_t *out)
{
	memset(out, 0, 12);
	put_be16(out, 0x000a);
	return 12;
}

static void report_all(struct task *t, bool has_timeouts, uint32_t alloc)
{
	const struct opcode_row *row = t->lu->server->rows;
	size_t count = 0;
	while (row[count].name)
		count++;
	uint8_t *d = task_scratch(t, 4 + count * 20);
	if (!d)
		return;
	uint32_t n = 4;
	for (; row->name; row++) {
		if (!opcode_is_available(row, t->lu))
			continue;
		uint8_t *at = d + n;
		at[0] = row->opcode;
		put_be16(at + 2, row->sa);
		at[5] = (uint8_t)((has_timeouts ? 0x02 : 0) | (row->has_sa ? 0x01 : 0));
		put_be16(at + 6, row->cdb_len);
		n += 8;
		if (has_timeouts)
			n += put_timeouts(d + n);
	}
	put_be32(d, n - 4);
	task_reply(t, d, n, alloc);
}

// The requested row, or NULL; *ret_opcode is any row of the opcode.
static const struct opcode_row *row_asked(const struct lu *lu, uint8_t opcode, uint16_t sa,
					  const struct opcode_row **ret_opcode)
{
	*ret_opcode = NULL;
	for (const struct opcode_row *row = lu->server->rows; row->name; row++) {
		if (row->opcode != opcode || !opcode_is_available(row, lu))
			continue;
		*ret_opcode = row;
		if (!row->has_sa || row->sa == sa)
			return row;
	}
	return NULL;
}

// The bits of DPO, FUA and UNMAP count as used only if they are accepted.
static void put_usage(uint8_t *out, const struct opcode_row *row, const struct lu *lu)
{
	memcpy(out, row->usage, row->cdb_len);
	if ((row->flags & OP_UNMAP) && !sbc_limits_of(lu).can_write_same_unmap)
		out[1] &= (uint8_t)~0x08;
	if (lba_has_dpofua(lu))
		return;
	if (row->flags & OP_DPO)
		out[1] &= (uint8_t)~0x10;
	if (row->flags & OP_FUA)
		out[1] &= (uint8_t)~0x08;
}

static void report_one(struct task *t, const struct opcode_row *row, bool has_timeouts,
		       uint32_t alloc)
{
	uint8_t d[4 + CDB_MAX + 12] = { 0 };
	unsigned n = 4;
	d[1] = 0x01; // not supported
	if (row) {
		d[1] = (uint8_t)((has_timeouts ? 0x80 : 0) | 0x03);
		put_be16(d + 2, row->cdb_len);
		put_usage(d + 4, row, t->lu);
		n += row->cdb_len;
		if (has_timeouts)
			n += put_timeouts(d + n);
	}
	task_reply(t, d, n, alloc);
}

enum { OPTION_ALL, OPTION_OPCODE, OPTION_SERVICE_ACTION, OPTION_EITHER };

void report_opcodes_run(struct task *t)
{
	const uint8_t *cdb = t->cdb;
	bool has_timeouts = cdb[2] & 0x80;
	unsigned option = cdb[2] & 0x07;
	uint16_t sa = get_be16(cdb + 4);
	uint32_t alloc = get_be32(cdb + 6);
	const struct opcode_row *any;
	const struct opcode_row *row = row_asked(t->lu, cdb[3], sa, &any);
	bool has_sa = any && any->has_sa;

	if (option == OPTION_ALL)
		report_all(t, has_timeouts, alloc);
	else if (option > OPTION_EITHER)
		task_invalid_cdb(t, 2, 2);
	else if ((option == OPTION_OPCODE && has_sa) ||
		 (option == OPTION_SERVICE_ACTION && any && !has_sa))
		task_invalid_cdb(t, 2, 2);
	else if (option == OPTION_EITHER && row && !has_sa && sa)
		report_one(t, NULL, has_timeouts, alloc);
	else
		report_one(t, row, has_timeouts, alloc);
}

// ABORT TASK, ABORT TASK SET, CLEAR TASK SET, LOGICAL UNIT RESET and TARGET RESET. CLEAR ACA needs
// NORMACA=1. The queries depend on the session's protocol: they are not listed.
void report_tmfs_run(struct task *t)
{
	uint8_t d[16] = { 0x80 | 0x40 | 0x10 | 0x08 | 0x02 };
	bool is_extended = t->cdb[2] & 0x80;
	unsigned n = is_extended ? 16 : 4;
	if (is_extended)
		d[3] = 12;
	task_reply(t, d, n, get_be32(t->cdb + 6));
}
