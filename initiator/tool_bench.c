// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator bench: one session, depth commands in flight for some seconds, one line.
// The commands are driven on the session's worker; the program's thread waits.
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/tool.h"

// Latencies in 32 steps per octave of nanoseconds: exact to 3 %, up to hours.
enum { STEP_BITS = 5, STEPS = 1 << STEP_BITS, BUCKETS = 48 * STEPS };

struct bench_cmd {
	struct ini_cmd cmd;
	struct bench *b;
	uint64_t start_ns;
	uint8_t *buf;
};

struct bench {
	struct ini_session *session;
	uint16_t lun;
	bool is_write, is_random;
	uint32_t block_size, bytes;
	uint64_t first, slots; // in units of bytes
	uint64_t next, random;
	unsigned depth, flying;
	uint64_t begin_ns, end_ns, last_ns;
	uint64_t done, failed;
	struct ini_cmd first_failed; // its response
	uint64_t histogram[BUCKETS];
	struct bench_cmd *cmds;
	struct tool_memory *memory;
	sem_t over;
};

static unsigned bucket(uint64_t ns)
{
	if (ns < STEPS)
		return (unsigned)ns;
	unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - STEP_BITS;
	unsigned i = ((shift + 1) << STEP_BITS) + (unsigned)(ns >> shift) - STEPS;
	return i < BUCKETS ? i : BUCKETS - 1;
}

static double bucket_us(unsigned i)
{
	if (i < STEPS)
		return i / 1e3;
	unsigned shift = (i >> STEP_BITS) - 1;
	return (double)((uint64_t)(STEPS + (i & (STEPS - 1))) << shift) / 1e3;
}

static double percentile(const struct bench *b, double share)
{
	uint64_t rank = (uint64_t)((double)b->done * share), seen = 0;
	for (unsigned i = 0; i < BUCKETS; i++) {
		seen += b->histogram[i];
		if (seen > rank)
			return bucket_us(i);
	}
	return 0;
}

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

static void on_done(struct ini_cmd *c);

static void submit(struct bench_cmd *bc, uint64_t now)
{
	struct bench *b = bc->b;
	uint64_t lba = (b->first + pick(b) * b->bytes) / b->block_size;
	struct scsi_args args = { .lba = lba, .len = b->bytes / b->block_size };
	scsi_cmd(&bc->cmd, b->lun, b->is_write ? SCSI_WRITE_16 : SCSI_READ_16, &args, bc->buf,
		 b->bytes);
	bc->cmd.done = on_done;
	bc->cmd.arg = bc;
	bc->start_ns = now;
	if (ini_cmd_submit(b->session, &bc->cmd) == 0)
		b->flying++;
}

static void on_done(struct ini_cmd *c)
{
	struct bench_cmd *bc = c->arg;
	struct bench *b = bc->b;
	uint64_t now = clock_ns();
	b->flying--;
	if (scsi_cmd_is_good(c) && (b->is_write || c->task.data_len == b->bytes)) {
		b->done++;
		b->histogram[bucket(now - bc->start_ns)]++;
		b->last_ns = now;
	} else if (c->res != -ECANCELED) { // Ctrl-C
		if (!b->failed++)
			b->first_failed = *c;
	}
	if (now < b->end_ns && b->failed < 100)
		submit(bc, now);
	if (!b->flying)
		sem_post(&b->over);
}

static void begin_run(void *arg)
{
	struct bench *b = arg;
	uint64_t now = clock_ns();
	b->end_ns += now;
	b->begin_ns = b->last_ns = now;
	for (unsigned i = 0; i < b->depth; i++)
		submit(&b->cmds[i], now);
	if (!b->flying)
		sem_post(&b->over);
}

static int print_result(const struct tool *t, const struct bench *b, const char *op)
{
	double s = (double)(b->last_ns - b->begin_ns) / 1e9;
	double iops = s > 0 ? (double)b->done / s : 0, rate = iops * b->bytes / 1e6;
	double p50 = percentile(b, 0.5), p99 = percentile(b, 0.99);
	struct err e;
	char why[240];
	if (t->o.is_json)
		printf("{ \"op\": \"%s\", \"bs\": %u, \"depth\": %u, \"seconds\": %.3f, "
		       "\"iops\": %.1f, \"MB_per_s\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
		       "\"errors\": %lu }\n",
		       op, b->bytes, b->depth, s, iops, rate, p50, p99, (unsigned long)b->failed);
	else
		printf("%s bs %u depth %u: %.0f IOPS, %.1f MB/s, p50 %.1f us, p99 %.1f us\n", op,
		       b->bytes, b->depth, iops, rate, p50, p99);
	if (!b->failed)
		return tool_interrupted();
	tool_cmd_text(t->sync, &b->first_failed, why, sizeof why);
	err_set(&e, -EIO, "bench: %lu command%s failed, the first with: %s",
		(unsigned long)b->failed, b->failed == 1 ? "" : "s", why[0] ? why : "short read");
	return tool_fail(TOOL_FAILED, &e);
}

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
			b->is_write = ops[i].is_write;
			b->is_random = ops[i].is_random;
			return 0;
		}
	return err_set(e, -EINVAL, "--op %.32s: must be randread, read, randwrite or write", name);
}

static int prepare(struct tool *t, struct bench *b, const struct tool_disk *d, struct err *e)
{
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
	b->block_size = d->block_size;
	b->slots = length / bs;
	b->lun = d->lun;
	b->random = 0x9e3779b97f4a7c15u;
	b->session = ini_sync_session(d->sync);
	b->cmds = calloc(b->depth, sizeof *b->cmds);
	if (!b->cmds)
		return err_set(e, -ENOMEM, "bench: out of memory");
	r = tool_memory_new(&b->memory, (size_t)b->depth * bs, e);
	if (r)
		return r;
	memset(tool_memory_at(b->memory, 0), 0xa5, (size_t)b->depth * bs);
	for (unsigned i = 0; i < b->depth; i++) {
		b->cmds[i].b = b;
		b->cmds[i].buf = tool_memory_at(b->memory, (size_t)i * bs);
	}
	return 0;
}

static int measure(struct tool *t, struct bench *b, const char *op)
{
	struct tool_disk d;
	struct err e;
	int status = tool_watch_disk(t, &d);
	if (status)
		return status;
	if (prepare(t, b, &d, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (b->is_write && (status = tool_may_overwrite(t, &d)))
		return status;
	worker_call(ini_sync_worker(t->sync), begin_run, b);
	while (sem_wait(&b->over) < 0)
		; // EINTR
	return print_result(t, b, op);
}

int tool_bench(struct tool *t)
{
	const char *op = t->o.op ? t->o.op : "randread";
	struct bench *b = calloc(1, sizeof *b);
	struct err e;
	int status;
	if (!b || parse_op(op, b, &e) < 0) {
		if (!b)
			err_set(&e, -ENOMEM, "bench: out of memory");
		free(b);
		return tool_fail(TOOL_USAGE, &e);
	}
	b->depth = t->o.depth == TOOL_UNSET ? 32 : (unsigned)t->o.depth;
	b->end_ns = (t->o.seconds == TOOL_UNSET ? 5 : t->o.seconds) * 1000000000ull;
	sem_init(&b->over, 0, 0);
	status = measure(t, b, op);
	// The worker may still be inside the post that woke us.
	tool_close(t);
	sem_destroy(&b->over);
	tool_memory_free(b->memory);
	free(b->cmds);
	free(b);
	return status;
}
