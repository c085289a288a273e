// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator bench: one session, depth commands in flight for some seconds, one line of
// figures and one that says what limited them.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/tool/tool.h"
#include "initiator/tool/bench_limit.h"

enum { FAILED_MAX = 100 };

struct bench {
	struct load load;
	struct tool_disk disk;
	const char *op;
	bool is_write, is_random;
	uint32_t bytes;
	uint64_t first, slots; // in units of bytes
	uint64_t next, random;
	struct tool_memory *memory;
	struct limit_figures limit;
};

static uint64_t pick(struct bench *b)
{
	if (!b->is_random)
		return b->next++ % b->slots;
	// xorshift64*: the upper bits are the best.
	b->random ^= b->random >> 12;
	b->random ^= b->random << 25;
	b->random ^= b->random >> 27;
	return (uint64_t)((unsigned __int128)(b->random * 0x2545f4914f6cdd1du) * b->slots >> 64);
}

static void next(struct load *l, struct load_cmd *c)
{
	struct bench *b = l->arg;
	uint32_t block = b->disk.block_size;
	struct scsi_args args = { .lba = (b->first + pick(b) * b->bytes) / block,
				  .len = b->bytes / block };
	scsi_cmd_set(&c->cmd, b->disk.lun, b->is_write ? SCSI_WRITE_16 : SCSI_READ_16, &args,
		     c->buf, b->bytes);
}

static bool is_good(const struct load *l, const struct scsi_cmd *c)
{
	const struct bench *b = l->arg;
	return scsi_cmd_is_good(c) && (b->is_write || c->data_len == b->bytes);
}

// --- the result ---

// The limit and the figures it was decided from, as the last members of an object.
static void print_limit_json(const struct limit_figures *f)
{
	printf("\"limit\": \"%s\", \"limit_figures\": { \"busy\": %.2f, \"waited\": %.2f, "
	       "\"iops_without_disk\": %.0f, \"bare_iops\": %.0f, \"data_iops\": %.0f, "
	       "\"data_bytes\": %.0f, \"interface\": \"%s\", \"link_MB_per_s\": %.0f } }\n",
	       limit_name(limit_of(f)), f->busy, f->waited, limit_without_disk(f), f->bare_rate,
	       f->data_rate, f->data_bytes, f->link.name, f->link.bytes / 1e6);
}

static void print_figures(const struct tool *t, const struct bench *b)
{
	const struct load *l = &b->load;
	double s = (double)(l->last_ns - l->begin_ns) / 1e9;
	double iops = load_rate(l), rate = iops * b->bytes / 1e6;
	double p50 = histogram_us(&l->histogram, 0.5), p99 = histogram_us(&l->histogram, 0.99);
	char text[LIMIT_TEXT];
	if (t->o.is_json) {
		printf("{ \"op\": \"%s\", \"bs\": %u, \"depth\": %u, \"seconds\": %.3f, "
		       "\"iops\": %.1f, \"MB_per_s\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
		       "\"errors\": %lu, ",
		       b->op, b->bytes, l->depth, s, iops, rate, p50, p99,
		       (unsigned long)l->failed);
		print_limit_json(&b->limit);
		return;
	}
	printf("%s bs %u depth %u: %.0f IOPS, %.1f MB/s, p50 %.1f us, p99 %.1f us\n", b->op,
	       b->bytes, l->depth, iops, rate, p50, p99);
	if (!l->failed && !tool_interrupted())
		printf("limit: %s\n", limit_text(&b->limit, text));
}

static int print_result(const struct tool *t, const struct bench *b)
{
	const struct load *l = &b->load;
	struct err e;
	char why[240];
	print_figures(t, b);
	if (!l->failed)
		return tool_interrupted();
	tool_cmd_text(t->sync, &l->first_failed, why, sizeof why);
	err_set(&e, -EIO, "bench: %lu command%s failed, the first with: %s",
		(unsigned long)l->failed, l->failed == 1 ? "" : "s", why[0] ? why : "short read");
	return tool_fail(TOOL_FAILED, &e);
}

// --- preparation ---

static const struct {
	const char *name;
	bool is_write, is_random;
} ops[] = {
	{"randread",   false, true },
	{ "read",	  false, false},
	{ "randwrite", true,  true },
	{ "write",	   true,	 false},
};

static int parse_op(const char *name, struct bench *b, struct err *e)
{
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (!strcmp(ops[i].name, name)) {
			b->op = ops[i].name;
			b->is_write = ops[i].is_write;
			b->is_random = ops[i].is_random;
			return 0;
		}
	return err_set(e, -EINVAL, "--op %.32s: must be randread, read, randwrite or write", name);
}

static int prepare_range(struct tool *t, struct bench *b, struct err *e)
{
	const struct tool_disk *d = &b->disk;
	uint64_t length, bs = t->o.block_size == TOOL_UNSET ? 4096 : t->o.block_size;
	int r = tool_range(t, d, &b->first, &length, e);
	if (r)
		return r;
	if (!bs || bs % d->block_size || bs > d->chunk_max || bs > length ||
	    b->first % d->block_size)
		return err_set(e, -EINVAL, "--bs %lu: must be a multiple of %u, at most %lu",
			       (unsigned long)bs, d->block_size,
			       (unsigned long)(d->chunk_max < length ? d->chunk_max : length));
	b->bytes = (uint32_t)bs;
	b->slots = length / bs;
	b->random = 0x9e3779b97f4a7c15u;
	return 0;
}

static int prepare(struct tool *t, struct bench *b, struct err *e)
{
	struct load *l = &b->load;
	int r = prepare_range(t, b, e);
	if (r)
		return r;
	l->sync = b->disk.sync;
	l->depth = t->o.depth == TOOL_UNSET ? 32 : (unsigned)t->o.depth;
	l->time_ns = (t->o.seconds == TOOL_UNSET ? 5 : t->o.seconds) * 1000000000ull;
	l->failed_max = FAILED_MAX;
	l->next = next;
	l->is_good = is_good;
	l->arg = b;
	l->cmds = calloc(l->depth, sizeof *l->cmds);
	if (!l->cmds)
		return err_set(e, -ENOMEM, "bench: out of memory");
	r = tool_memory_new(&b->memory, (size_t)l->depth * b->bytes, e);
	if (r)
		return r;
	memset(tool_memory_at(b->memory, 0), 0xa5, (size_t)l->depth * b->bytes);
	for (unsigned i = 0; i < l->depth; i++)
		l->cmds[i].buf = tool_memory_at(b->memory, (size_t)i * b->bytes);
	return 0;
}

static unsigned reconnects(struct tool *t)
{
	struct scsi_session_info info;
	scsi_sync_info(t->sync, &info);
	return info.reconnects;
}

static int measure(struct tool *t, struct bench *b)
{
	struct err e;
	int status = tool_watch_disk(t, &b->disk);
	if (status)
		return status;
	if (prepare(t, b, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (b->is_write && (status = tool_may_overwrite(t, &b->disk)))
		return status;
	unsigned before = reconnects(t);
	load_run(&b->load);
	b->limit.was_interrupted = reconnects(t) != before;
	tool_limit(&b->limit, &b->disk, &b->load, b->bytes, b->is_write);
	return print_result(t, b);
}

int tool_bench(struct tool *t)
{
	struct bench *b = calloc(1, sizeof *b);
	struct err e;
	int status;
	if (!b)
		err_set(&e, -ENOMEM, "bench: out of memory");
	if (!b || parse_op(t->o.op ? t->o.op : "randread", b, &e) < 0) {
		free(b);
		return tool_fail(TOOL_USAGE, &e);
	}
	status = measure(t, b);
	tool_close(t); // no command uses the memory any longer
	tool_memory_free(b->memory);
	free(b->load.cmds);
	free(b);
	return status;
}
