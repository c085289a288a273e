// SPDX-License-Identifier: BSD-2-Clause
// MODE SENSE(6) and (10): header, block descriptor, pages (SPC-4 6.11, 6.12, 7.5.4 to 7.5.6).
// Task's worker.
#include <string.h>

#include "target/scsi/lu_state.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/sbc/lba.h"
#include "target/scsi/spc/commands.h"
#include "target/scsi/spc/mode.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

enum { HEADER6 = 4, HEADER10 = 8, WP = 0x80, DPOFUA = 0x10 };

static const uint32_t saving_not_supported = SENSE(SK_ILLEGAL_REQUEST, 0x39, 0x00);

static uint8_t device_specific(const struct task *t)
{
	const struct lu *lu = t->lu;
	bool wp = t->nl->is_write_protected || lu->is_readonly || mode_current(lu).swp;
	return (uint8_t)((wp ? WP : 0) | (lba_has_dpofua(lu) ? DPOFUA : 0));
}

static unsigned block_descriptor(const struct lu *lu, bool is_long, uint8_t *out)
{
	uint64_t blocks = lu_capacity(lu);
	if (is_long) {
		put_be64(out, blocks);
		put_be32(out + 12, lu->block_size);
		return 16;
	}
	put_be32(out, blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX);
	put_be24(out + 5, lu->block_size);
	return 8;
}

static void mode_sense(struct task *t, unsigned header, uint16_t alloc)
{
	const uint8_t *cdb = t->cdb;
	uint8_t d[HEADER10 + 16 + MODE_PAGES_MAX] = { 0 };
	enum mode_pc pc = cdb[2] >> 6;
	bool has_descriptor = !(cdb[1] & 0x08);
	bool is_long = header == HEADER10 && (cdb[1] & 0x10);
	if (pc == MODE_SAVED) {
		task_check(t, saving_not_supported, NULL);
		return;
	}
	unsigned n = header;
	unsigned descriptor = has_descriptor ? block_descriptor(t->lu, is_long, d + n) : 0;
	n += descriptor;
	unsigned pages = mode_pages_build(t->lu, cdb[2] & 0x3f, cdb[3], pc, d + n);
	if (!pages) {
		task_invalid_cdb(t, 2, 5);
		return;
	}
	n += pages;
	if (header == HEADER6) {
		d[0] = (uint8_t)(n - 1);
		d[2] = device_specific(t);
		d[3] = (uint8_t)descriptor;
	} else {
		put_be16(d, (uint16_t)(n - 2));
		d[3] = device_specific(t);
		d[4] = has_descriptor && is_long ? 0x01 : 0;
		put_be16(d + 6, (uint16_t)descriptor);
	}
	task_reply(t, d, n, alloc);
}

void mode_sense6_run(struct task *t)
{
	mode_sense(t, HEADER6, t->cdb[4]);
}

void mode_sense10_run(struct task *t)
{
	mode_sense(t, HEADER10, get_be16(t->cdb + 7));
}
