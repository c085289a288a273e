// SPDX-License-Identifier: BSD-2-Clause
// CDBs from one row per command: the fields of the logical block address and the length, and the
// direction of the data. Pure functions. SPC-5, SBC-4.
#include "initiator/scsi_cdb.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

enum { NO_DATA, IN, OUT };

static const struct row {
	uint8_t opcode, service; // service action, 0xff: none
	uint8_t data;
	uint8_t lba_at, lba_size, len_at, len_size; // bytes; size 0: no such field
	uint8_t flags, page;			    // permitted bits of bytes 1 and 2
	const char *name;
} rows[SCSI_OP_MAX] = {
	// clang-format off
	[SCSI_TEST_UNIT_READY]      = {0x00, 0xff, NO_DATA, 0, 0, 0, 0, 0, 0, "TEST UNIT READY"},
	[SCSI_REQUEST_SENSE]        = {0x03, 0xff, IN, 0, 0, 4, 1, 1, 0, "REQUEST SENSE"},
	[SCSI_INQUIRY]              = {0x12, 0xff, IN, 0, 0, 3, 2, 1, 0xff, "INQUIRY"},
	[SCSI_MODE_SENSE_6]         = {0x1a, 0xff, IN, 0, 0, 4, 1, 8, 0xff, "MODE SENSE(6)"},
	[SCSI_MODE_SENSE_10]        = {0x5a, 0xff, IN, 0, 0, 7, 2, 0x18, 0xff, "MODE SENSE(10)"},
	[SCSI_START_STOP_UNIT]      = {0x1b, 0xff, NO_DATA, 0, 0, 4, 1, 1, 0, "START STOP UNIT"},
	[SCSI_REPORT_LUNS]          = {0xa0, 0xff, IN, 0, 0, 6, 4, 0, 0xff, "REPORT LUNS"},
	[SCSI_PR_IN]                = {0x5e, 0xff, IN, 0, 0, 7, 2, 0x1f, 0, "PERSISTENT RESERVE IN"},
	[SCSI_PR_OUT]               = {0x5f, 0xff, OUT, 0, 0, 5, 4, 0x1f, 0xff, "PERSISTENT RESERVE OUT"},
	[SCSI_READ_CAPACITY_10]     = {0x25, 0xff, IN, 0, 0, 0, 0, 0, 0, "READ CAPACITY(10)"},
	[SCSI_READ_CAPACITY_16]     = {0x9e, 0x10, IN, 0, 0, 10, 4, 0, 0, "READ CAPACITY(16)"},
	[SCSI_GET_LBA_STATUS]       = {0x9e, 0x12, IN, 2, 8, 10, 4, 0, 0, "GET LBA STATUS"},
	[SCSI_READ_10]              = {0x28, 0xff, IN, 2, 4, 7, 2, 0xf8, 0, "READ(10)"},
	[SCSI_READ_16]              = {0x88, 0xff, IN, 2, 8, 10, 4, 0xf8, 0, "READ(16)"},
	[SCSI_WRITE_10]             = {0x2a, 0xff, OUT, 2, 4, 7, 2, 0xf8, 0, "WRITE(10)"},
	[SCSI_WRITE_16]             = {0x8a, 0xff, OUT, 2, 8, 10, 4, 0xf8, 0, "WRITE(16)"},
	[SCSI_VERIFY_10]            = {0x2f, 0xff, OUT, 2, 4, 7, 2, 0xf6, 0, "VERIFY(10)"},
	[SCSI_VERIFY_16]            = {0x8f, 0xff, OUT, 2, 8, 10, 4, 0xf6, 0, "VERIFY(16)"},
	[SCSI_SYNCHRONIZE_CACHE_10] = {0x35, 0xff, NO_DATA, 2, 4, 7, 2, 2, 0, "SYNCHRONIZE CACHE(10)"},
	[SCSI_SYNCHRONIZE_CACHE_16] = {0x91, 0xff, NO_DATA, 2, 8, 10, 4, 2, 0, "SYNCHRONIZE CACHE(16)"},
	[SCSI_WRITE_SAME_10]        = {0x41, 0xff, OUT, 2, 4, 7, 2, 0xf8, 0, "WRITE SAME(10)"},
	[SCSI_WRITE_SAME_16]        = {0x93, 0xff, OUT, 2, 8, 10, 4, 0xf9, 0, "WRITE SAME(16)"},
	[SCSI_UNMAP]                = {0x42, 0xff, OUT, 0, 0, 7, 2, 1, 0, "UNMAP"},
	[SCSI_COMPARE_AND_WRITE]    = {0x89, 0xff, OUT, 2, 8, 13, 1, 0xf8, 0, "COMPARE AND WRITE"},
	[SCSI_REPORT_OPCODES]       = {0xa3, 0x0c, IN, 0, 0, 6, 4, 0, 0x80, "REPORT SUPPORTED OPERATION CODES"},
	[SCSI_REPORT_PORT_GROUPS]   = {0xa3, 0x0a, IN, 0, 0, 6, 4, 0xe0, 0, "REPORT TARGET PORT GROUPS"},
	[SCSI_REMOVE_I_T_NEXUS]     = {0xa4, 0x0c, OUT, 0, 0, 6, 4, 0, 0, "REMOVE I_T NEXUS"},
	[SCSI_EXTENDED_COPY]        = {0x83, 0xff, OUT, 0, 0, 10, 4, 0, 0, "EXTENDED COPY"},
	[SCSI_POPULATE_TOKEN]       = {0x83, 0x10, OUT, 6, 4, 10, 4, 0, 0, "POPULATE TOKEN"},
	[SCSI_WRITE_USING_TOKEN]    = {0x83, 0x11, OUT, 6, 4, 10, 4, 0, 0, "WRITE USING TOKEN"},
	[SCSI_RECEIVE_TOKEN_INFO]   = {0x84, 0x07, IN, 2, 4, 10, 4, 0, 0, "RECEIVE ROD TOKEN INFORMATION"},
	// clang-format on
};

// Big-endian into size bytes; false: it does not fit.
static bool put(uint8_t *at, unsigned size, uint64_t value)
{
	for (unsigned i = size; i-- > 0; value >>= 8)
		at[i] = (uint8_t)value;
	return !value;
}

int scsi_cdb(uint8_t cdb[SCSI_CDB_LEN], enum scsi_op op, const struct scsi_args *args)
{
	static const struct scsi_args none;
	if ((unsigned)op >= SCSI_OP_MAX)
		return -EINVAL;
	const struct row *r = &rows[op];
	if (!args)
		args = &none;
	if (args->flags & ~r->flags || args->page & ~r->page)
		return -EINVAL;
	memset(cdb, 0, SCSI_CDB_LEN);
	cdb[0] = r->opcode;
	cdb[1] = args->flags | (r->service != 0xff ? r->service : 0);
	cdb[2] = args->page;
	bool fits = put(cdb + r->lba_at, r->lba_size, args->lba);
	return put(cdb + r->len_at, r->len_size, args->len) && fits ? 0 : -ERANGE;
}

const char *scsi_op_name(enum scsi_op op)
{
	return (unsigned)op < SCSI_OP_MAX ? rows[op].name : "unknown";
}

void scsi_cmd_init(struct scsi_cmd *c, uint16_t lun)
{
	memset(c, 0, sizeof *c);
	// SAM-5 4.7.7.2, 4.7.7.3: method 00b below 256, flat space beyond.
	put_be16(c->lun, lun < 256 ? lun : (uint16_t)(0x4000 | (lun & SCSI_LUN_MAX)));
	c->attr = SCSI_ATTR_SIMPLE;
}

void scsi_cmd_data(struct scsi_cmd *c, void *data, uint32_t len, bool is_write)
{
	c->one = (struct sg){ .addr = data, .len = len };
	c->sg = &c->one;
	c->nsg = 1;
	c->len = len;
	c->is_write = is_write && len;
	c->is_read = !is_write && len;
}

int scsi_cmd_set(struct scsi_cmd *c, uint16_t lun, enum scsi_op op, const struct scsi_args *args,
		 void *data, uint32_t bytes)
{
	scsi_cmd_init(c, lun);
	int r = scsi_cdb(c->cdb, op, args);
	if (r)
		return r;
	if (bytes && rows[op].data == NO_DATA)
		return -EINVAL;
	if (bytes)
		scsi_cmd_data(c, data, bytes, rows[op].data == OUT);
	// Commands whose second execution would have another result.
	c->is_once = op == SCSI_COMPARE_AND_WRITE || op == SCSI_PR_OUT;
	c->is_unsafe = op == SCSI_EXTENDED_COPY || op == SCSI_WRITE_USING_TOKEN;
	return 0;
}
