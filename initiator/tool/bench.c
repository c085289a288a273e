// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator bench: sessions with depth commands in flight for some seconds. Commands are
// chosen and submitted on the sessions' workers, at the end of others; the program's thread waits,
// and shows each second.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "initiator/tool/bench.h"
#include "initiator/tool/bench_limit.h"

enum { FAILED_MAX = 100 };

// --- commands, on a worker ---

static uint64_t draw(struct bench_session *s, uint64_t below)
{
	// xorshift64*: the upper bits are the best.
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint64_t)((unsigned __int128)(s->random * 0x2545f4914f6cdd1du) * below >> 64);
}

static void next(struct load *l, struct load_cmd *c)
{
	struct bench_session *s = l->arg;
	const struct bench *b = s->bench;
	uint64_t slot = b->op->is_random ? draw(s, b->slots) : s->next++ % b->slots;
	bool is_read = b->mix == 100 || (b->mix && draw(s, 100) < b->mix);
	uint32_t block = b->disk.block_size;
	struct scsi_args args = { .lba = (b->first + slot * b->bytes) / block,
				  .len = b->bytes / block };
	scsi_cmd_set(&c->cmd, b->disk.lun, is_read ? SCSI_READ_16 : SCSI_WRITE_16, &args, c->buf,
		     b->bytes);
}

static bool is_good(const struct load *l, const struct scsi_cmd *c)
{
	const struct bench_session *s = l->arg;
	return scsi_cmd_is_good(c) && (c->is_write || c->data_len == s->bench->bytes);
}

// --- options ---

static const struct bench_op ops[] = {
	{"randread",   true,  100	},
	   { "read",	     false, 100	},
	    { "randwrite", true,	 0	   },
	{ "write",	   false, 0	    },
	   { "randrw",    true,  BENCH_MIXED},
	    { "rw",	    false, BENCH_MIXED},
};

static uint64_t or_else(uint64_t option, uint64_t value)
{
	return option == TOOL_UNSET ? value : option;
}

static int parse_op(const struct tool *t, struct bench *b, struct err *e)
{
	const char *name = t->o.op ? t->o.op : "randread";
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (!strcmp(ops[i].name, name))
			b->op = &ops[i];
	if (!b->op)
		return err_set(e, -EINVAL,
			       "--op %.32s: must be randread, read, randwrite, write, randrw or rw",
			       name);
	if (b->op->mix != BENCH_MIXED && t->o.mix != TOOL_UNSET)
		return err_set(e, -EINVAL, "--mix: only with --op randrw and rw, not %s", name);
	b->mix = b->op->mix == BENCH_MIXED ? (unsigned)or_else(t->o.mix, 50) : b->op->mix;
	return 0;
}

static int parse(const struct tool *t, struct bench *b, struct err *e)
{
	if (t->o.svg && !strcmp(t->o.svg, "-"))
		return err_set(e, -EINVAL,
			       "--svg -: must be a file (standard output has the report)");
	b->session_count = (unsigned)or_else(t->o.sessions, 1);
	b->depth = (unsigned)or_else(t->o.depth, 32);
	b->rate = or_else(t->o.rate, 0);
	if (b->rate && b->rate < b->session_count)
		return err_set(e, -EINVAL, "--rate %lu: must be at least --sessions (%u)",
			       (unsigned long)b->rate, b->session_count);
	if (t->o.isid && b->session_count > 1)
		return err_set(e, -EINVAL, "--isid: only with a single session (--sessions)");
	return parse_op(t, b, e);
}

// --- preparation ---

static int prepare_range(struct tool *t, struct bench *b, struct err *e)
{
	const struct tool_disk *d = &b->disk;
	uint64_t length, bs = or_else(t->o.block_size, 4096);
	int r = tool_range(t, d, &b->first, &length, e);
	if (r)
		return r;
	if (!length)
		return err_set(e, -EINVAL, "--length 0: must be at least %u", d->block_size);
	if (b->first % d->block_size)
		return err_set(e, -EINVAL, "--offset %lu: must be a multiple of %u",
			       (unsigned long)b->first, d->block_size);
	if (!bs || bs % d->block_size || bs > d->chunk_max || bs > length)
		return err_set(e, -EINVAL, "--bs %lu: must be a multiple of %u, at most %lu",
			       (unsigned long)bs, d->block_size,
			       (unsigned long)(d->chunk_max < length ? d->chunk_max : length));
	b->bytes = (uint32_t)bs;
	b->slots = length / bs;
	return 0;
}

static int prepare_session(struct bench *b, unsigned at, uint64_t seconds, struct err *e)
{
	struct bench_session *s = &b->sessions[at];
	struct load *l = &s->load;
	s->bench = b;
	s->sync = l->sync = at ? b->more[at - 1] : b->disk.sync;
	s->random = 0x9e3779b97f4a7c15u * (at + 1);
	s->next = b->slots / b->session_count * at; // they share the range
	l->depth = b->depth;
	l->time_ns = seconds * 1000000000ull;
	l->interval_ns = b->rate ? 1000000000ull * b->session_count / b->rate : 0;
	l->failed_max = FAILED_MAX;
	l->next = next;
	l->is_good = is_good;
	l->arg = s;
	l->cmds = calloc(l->depth, sizeof *l->cmds);
	l->seconds_max = (unsigned)seconds + 1;
	l->seconds = calloc(l->seconds_max, sizeof *l->seconds);
	if (!l->cmds || !l->seconds)
		return err_set(e, -ENOMEM, "bench: out of memory");
	for (unsigned i = 0; i < l->depth; i++)
		l->cmds[i].buf = tool_memory_at(b->memory, ((size_t)at * b->depth + i) * b->bytes);
	return 0;
}

static int prepare(struct tool *t, struct bench *b, struct err *e)
{
	size_t all = (size_t)b->session_count * b->depth * b->bytes;
	uint64_t seconds = or_else(t->o.seconds, 5);
	b->sessions = calloc(b->session_count, sizeof *b->sessions);
	b->seconds = calloc(seconds + 1, sizeof *b->seconds);
	if (!b->sessions || !b->seconds)
		return err_set(e, -ENOMEM, "bench: out of memory");
	int r = tool_memory_new(&b->memory, all, e);
	if (r)
		return r;
	memset(tool_memory_at(b->memory, 0), 0xa5, all);
	for (unsigned i = 0; i < b->session_count && !r; i++)
		r = prepare_session(b, i, seconds, e);
	return r;
}

// --- the run ---

static uint64_t cpu_ns(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000ull +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000ull;
}

static unsigned reconnects(const struct bench *b)
{
	unsigned n = 0;
	for (unsigned i = 0; i < b->session_count; i++) {
		struct scsi_session_info info;
		scsi_sync_info(b->sessions[i].sync, &info);
		n += info.reconnects;
	}
	return n;
}

// Adds up a second of all sessions; false: one of them has not ended it.
static bool add_second(struct bench *b, unsigned at)
{
	struct load_second sum = { 0 };
	for (unsigned i = 0; i < b->session_count; i++) {
		const struct load *l = &b->sessions[i].load;
		if (load_seconds(l) <= at)
			return false;
		const struct load_second *s = &l->seconds[at];
		sum.reads += s->reads;
		sum.writes += s->writes;
		sum.p99_us = s->p99_us > sum.p99_us ? s->p99_us : sum.p99_us;
	}
	b->seconds[at] = sum;
	return true;
}

static void add_seconds(struct bench *b, bool is_shown)
{
	while (b->second_count < b->sessions[0].load.seconds_max &&
	       add_second(b, b->second_count)) {
		bench_show_second(b, &b->seconds[b->second_count], b->second_count + 1, is_shown);
		b->second_count++;
	}
}

static void cancel_all(struct bench *b)
{
	if (tool_interrupted())
		for (unsigned i = 1; i < b->session_count; i++)
			scsi_sync_cancel(b->sessions[i].sync);
}

// Waits for all sessions. A signal wakes it.
static void wait_all(struct bench *b, bool is_shown)
{
	for (unsigned i = 0; i < b->session_count; i++)
		while (!load_wait(&b->sessions[i].load, clock_ns() + 250000000u)) {
			cancel_all(b);
			add_seconds(b, is_shown);
			tool_progress(clock_ns() - b->begin_ns);
		}
	add_seconds(b, is_shown);
}

static void add_results(struct bench *b)
{
	uint64_t begin = UINT64_MAX, last = 0;
	for (unsigned i = 0; i < b->session_count; i++) {
		const struct load *l = &b->sessions[i].load;
		histogram_merge(&b->reads, &l->reads);
		histogram_merge(&b->writes, &l->writes);
		b->failed += l->failed;
		b->unsent += l->unsent;
		begin = l->begin_ns < begin ? l->begin_ns : begin;
		last = l->last_ns > last ? l->last_ns : last;
	}
	b->time_s = last > begin ? (double)(last - begin) / 1e9 : 0;
	b->iops = b->time_s > 0 ? (double)(b->reads.count + b->writes.count) / b->time_s : 0;
}

static void run(struct tool *t, struct bench *b)
{
	unsigned before = reconnects(b);
	// A terminal has a bar instead of lines.
	bool is_shown = t->o.shows_progress && !isatty(STDERR_FILENO);
	uint64_t cpu = cpu_ns();
	b->begin_ns = clock_ns();
	tool_progress_begin_time(t, "bench", b->sessions[0].load.time_ns);
	for (unsigned i = 0; i < b->session_count; i++)
		load_start(&b->sessions[i].load);
	wait_all(b, is_shown);
	tool_progress_end();
	b->cpu_ns = cpu_ns() - cpu;
	add_results(b);
	// With several sessions the bursts of one say nothing.
	b->limit.was_interrupted = reconnects(b) != before || b->session_count > 1;
	tool_limit(&b->limit, &b->disk, &b->sessions[0].load, b->bytes, b->mix < 100);
}

static int result(struct tool *t, const struct bench *b)
{
	struct err e;
	char why[240];
	bench_print(t, b);
	if (t->o.svg && bench_draw(t, b, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	if (!b->failed)
		return tool_interrupted();
	const struct bench_session *s = b->sessions;
	while (!s->load.failed)
		s++;
	tool_cmd_text(s->sync, &s->load.first_failed, why, sizeof why);
	err_set(&e, -EIO, "bench: %lu command%s failed, the first with: %s",
		(unsigned long)b->failed, b->failed == 1 ? "" : "s", why[0] ? why : "short read");
	return tool_fail(TOOL_FAILED, &e);
}

static int measure(struct tool *t, struct bench *b)
{
	struct err e;
	int status = tool_watch_disk(t, &b->disk);
	if (status)
		return status;
	if (prepare_range(t, b, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (b->mix < 100 && (status = tool_may_overwrite(t, &b->disk)))
		return status;
	if (t->o.svg && bench_check_svg(t->o.svg, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	if (tool_open_more(t, b->more, b->session_count - 1, &e) < 0 || prepare(t, b, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	run(t, b);
	return result(t, b);
}

static void bench_free(struct tool *t, struct bench *b)
{
	for (unsigned i = 0; i < BENCH_SESSIONS_MAX - 1; i++)
		scsi_sync_close(b->more[i]);
	tool_close(t); // no command uses the memory any longer
	tool_memory_free(b->memory);
	for (unsigned i = 0; b->sessions && i < b->session_count; i++) {
		free(b->sessions[i].load.cmds);
		free(b->sessions[i].load.seconds);
	}
	free(b->sessions);
	free(b->seconds);
	free(b);
}

int tool_bench(struct tool *t)
{
	struct bench *b = calloc(1, sizeof *b);
	struct err e;
	if (!b) {
		err_set(&e, -ENOMEM, "bench: out of memory");
		return tool_fail(TOOL_FAILED, &e);
	}
	int status = parse(t, b, &e) < 0 ? tool_fail(TOOL_USAGE, &e) : measure(t, b);
	bench_free(t, b);
	return status;
}
