// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator unmap: UNMAP of a range, in commands within the limits that the disk reports.
// The program's thread. SBC-4 5.35, 6.6.4, 6.6.5.
#include <errno.h>

#include "initiator/tool/tool.h"
#include "transport/wire/be.h"

#define NO_LIMIT  UINT32_MAX
#define STEP_MOST (1u << 30) // bytes of a command: progress and Ctrl-C stay alive
#define LBPU	  0x80

enum { HEADER = 8, DESCRIPTOR = 16 };

struct unmap {
	struct tool_disk *d;
	uint64_t at, end;   // blocks
	uint64_t most;	    // blocks of a command
	uint32_t grain;	    // blocks; at least 1
	uint32_t alignment; // the first block that begins a grain
};

// A VPD page; the bytes received that belong to it, 0: it has none.
static uint32_t page(const struct tool_disk *d, uint8_t code, uint8_t *b, uint32_t size)
{
	uint32_t n;
	struct err ignored;
	struct scsi_args args = { .len = size, .flags = 1, .page = code };
	if (tool_data_in(d->sync, d->lun, SCSI_INQUIRY, &args, b, size, &n, &ignored) || n < 4 ||
	    b[1] != code)
		return 0;
	uint32_t claimed = 4u + get_be16(b + 2);
	return n < claimed ? n : claimed;
}

static int check_support(const struct tool_disk *d, struct err *e)
{
	uint8_t b[64];
	if (!d->is_thin)
		return err_set(e, -EOPNOTSUPP,
			       "LUN %u: unmap: the disk is not thin-provisioned (LBPME=0; "
			       "farblockd, LIO: set attribute emulate_tpu=1)",
			       d->lun);
	if (page(d, 0xb2, b, sizeof b) < 6 || !(b[5] & LBPU))
		return err_set(e, -EOPNOTSUPP, "LUN %u: unmap: the disk has no UNMAP (LBPU=0)",
			       d->lun);
	return 0;
}

static void limits(struct unmap *u)
{
	uint8_t b[64];
	uint32_t n = page(u->d, 0xb0, b, sizeof b);
	uint32_t most = n >= 24 ? get_be32(b + 20) : 0;
	u->grain = n >= 32 ? get_be32(b + 28) : 0;
	u->alignment = n >= 36 && b[32] & 0x80 ? get_be32(b + 32) & 0x7fffffff : 0;
	u->most = STEP_MOST / u->d->block_size;
	if (most && most != NO_LIMIT && most < u->most)
		u->most = most;
	if (!u->grain || u->grain > u->most)
		u->grain = 1;
	u->alignment %= u->grain;
}

// How many blocks the next command takes: up to the limit, ending where a grain ends.
static uint32_t step(const struct unmap *u)
{
	uint64_t left = u->end - u->at;
	if (left <= u->most)
		return (uint32_t)left;
	uint64_t rest = (u->at + u->most + u->grain - u->alignment) % u->grain;
	return (uint32_t)(rest < u->most ? u->most - rest : u->most);
}

static int one(struct unmap *u, uint32_t blocks, struct err *e)
{
	struct scsi_sync_cmd c;
	uint8_t list[HEADER + DESCRIPTOR] = { 0 };
	struct scsi_args args = { .len = sizeof list };
	put_be16(list, sizeof list - 2);
	put_be16(list + 2, DESCRIPTOR);
	put_be64(list + HEADER, u->at);
	put_be32(list + HEADER + 8, blocks);
	scsi_cmd_set(&c.cmd, u->d->lun, SCSI_UNMAP, &args, list, sizeof list);
	int r = tool_run(u->d->sync, &c, SCSI_UNMAP, e);
	return r ? (err_prefix(e, "%u blocks at %lu", blocks, (unsigned long)u->at), r) : 0;
}

static int all(struct unmap *u, struct err *e)
{
	uint64_t first = u->at;
	int r = 0;
	while (!r && u->at < u->end) {
		uint32_t blocks = step(u);
		r = tool_interrupted() ? err_set(e, -ECANCELED, "interrupted") : one(u, blocks, e);
		if (!r)
			u->at += blocks;
		tool_progress((u->at - first) * u->d->block_size);
	}
	return r;
}

static int check_range(const struct tool *t, const struct tool_disk *d, struct unmap *u,
		       struct err *e)
{
	uint64_t offset, length;
	int r = tool_range(t, d, &offset, &length, e);
	if (r)
		return r;
	if (offset % d->block_size || length % d->block_size)
		return err_set(e, -EINVAL,
			       "--offset %lu, --length %lu: must be multiples of the block size "
			       "(%u)",
			       (unsigned long)offset, (unsigned long)length, d->block_size);
	u->at = offset / d->block_size;
	u->end = u->at + length / d->block_size;
	return 0;
}

static void report(const struct tool *t, uint64_t bytes)
{
	if (t->o.is_json)
		printf("{ \"bytes\": %lu }\n", (unsigned long)bytes);
	else
		printf("Unmapped %lu bytes\n", (unsigned long)bytes);
}

int tool_unmap(struct tool *t)
{
	struct tool_disk d;
	struct unmap u = { .d = &d };
	struct err e;
	int status = tool_watch_disk(t, &d);
	if (status)
		return status;
	if (check_range(t, &d, &u, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (check_support(&d, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	status = tool_may_overwrite(t, &d);
	if (status)
		return status;
	limits(&u);
	uint64_t bytes = (u.end - u.at) * d.block_size;
	tool_progress_begin(t, "unmap", bytes, d.block_size);
	int r = all(&u, &e);
	tool_progress_end();
	if (r)
		return tool_fail(TOOL_FAILED, &e);
	report(t, bytes);
	return TOOL_OK;
}
