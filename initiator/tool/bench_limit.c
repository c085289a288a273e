// SPDX-License-Identifier: BSD-2-Clause
// See bench_limit.h.
#include "initiator/tool/bench_limit.h"

#include <stdlib.h>

// A burst ends at its first failure, and soon after a lost session: its figures are worth no wait.
enum { BURST_TIMEOUT = 2, SLICES = 4 };

struct burst {
	const struct tool_disk *disk;
	enum scsi_op op;
	uint32_t bytes; // room for data
};

static void next(struct load *l, struct load_cmd *c)
{
	const struct burst *b = l->arg;
	// With timeout descriptors (RCTD): the answer is more than twice as long.
	struct scsi_args args = { .len = b->bytes, .page = b->bytes ? 0x80 : 0 };
	scsi_cmd_set(&c->cmd, b->disk->lun, b->op, &args, c->buf, b->bytes);
	c->cmd.is_once = true;
	c->cmd.timeout = BURST_TIMEOUT;
}

static bool is_good(const struct load *l, const struct scsi_cmd *c)
{
	const struct burst *b = l->arg;
	return scsi_cmd_is_good(c) && (!b->bytes || c->data_len);
}

// Commands a second, 0: they fail. *ret_bytes: data of one.
static double slice(const struct load *run, const struct tool_disk *d, enum scsi_op op,
		    uint32_t bytes, double *ret_bytes)
{
	struct burst b = { d, op, bytes };
	struct load *l = calloc(1, sizeof *l);
	if (!l)
		return 0;
	l->sync = run->sync;
	l->cmds = run->cmds;
	l->depth = run->depth;
	l->time_ns = TOOL_BURST_MS * 1000000ull / SLICES;
	l->failed_max = 1;
	l->next = next;
	l->is_good = is_good;
	l->arg = &b;
	load_run(l);
	double rate = l->failed ? 0 : load_rate(l);
	*ret_bytes = (double)l->last_bytes;
	free(l);
	return rate;
}

// The rate of the fastest slice: what the session can do. A machine that stands still for a moment
// slows one slice, not the burst.
static double burst(const struct load *run, const struct tool_disk *d, enum scsi_op op,
		    uint32_t bytes, double *ret_bytes)
{
	double best = 0;
	for (int i = 0; i < SLICES; i++) {
		double rate = slice(run, d, op, bytes, ret_bytes);
		if (!rate)
			return 0;
		best = rate > best ? rate : best;
	}
	return best;
}

void tool_limit(struct limit_figures *ret, const struct tool_disk *d, const struct load *run,
		uint32_t bytes, bool is_write)
{
	struct scsi_session_info info;
	double none;
	scsi_sync_info(d->sync, &info);
	ret->depth = run->depth;
	ret->rate = load_rate(run);
	ret->bytes = bytes;
	ret->busy = run->busy;
	ret->waited = run->waited;
	ret->trips = scsi_sync_round_trips(d->sync, bytes, is_write);
	link_find(&ret->link, info.local, info.peer);
	if (run->failed || ret->was_interrupted || tool_interrupted() || run->interval_ns)
		return;
	ret->bare_rate = burst(run, d, SCSI_TEST_UNIT_READY, 0, &none);
	// The one query of a disk with a long answer; cut to the room of the buffers.
	if (ret->bare_rate > 0)
		ret->data_rate = burst(run, d, SCSI_REPORT_OPCODES, bytes, &ret->data_bytes);
}
