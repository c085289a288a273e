// SPDX-License-Identifier: BSD-2-Clause
// A disk over one or two paths of fake_session.h, for the tests of initiator/disk/.
#pragma once

#include <semaphore.h>
#include <stdatomic.h>

#include "initiator/disk/disk_priv.h"
#include "initiator/sync.h"
#include "initiator/tool/fake_session.h"

enum { BYTES = 3 << 20 }; // of a request: three commands

static struct way ways[2];
static struct worker *worker;
static struct disk *disk;
static sem_t ready, settled, closed, moved, done, stale, changed, faulty, inherited, reserved;
static struct err ready_why, stale_why, reserved_why;
static uint8_t content[BYTES];

static void on_ready(void *arg, const struct err *why)
{
	ready_why = *why;
	sem_post(&ready);
}

static void on_settled(void *arg)
{
	sem_post(&settled);
}

static void on_path(void *arg, unsigned index, enum disk_path_state s, const struct err *why)
{
	if (s == DISK_PATH_UP || s == DISK_PATH_STANDBY)
		sem_post(&moved);
	if (s == DISK_PATH_FAULTY)
		sem_post(&faulty);
}

static void on_resized(void *arg)
{
	sem_post(&changed);
}

static void on_stale(void *arg, const struct err *why)
{
	stale_why = *why;
	sem_post(&stale);
}

static unsigned told[DISK_NOTICE_COUNT];

static void on_notice(void *arg, enum disk_notice n, bool is_over)
{
	assert_false(is_over);
	told[n]++;
}

static atomic_uint failures;

static void on_failing(void *arg, unsigned seconds)
{
	assert_int_equal(seconds, 0);
	failures++;
}

static void on_inherited(void *arg)
{
	sem_post(&inherited);
}

static void on_reserved(void *arg, const struct err *why)
{
	reserved_why = *why;
	sem_post(&reserved);
}

static void on_closed(void *arg)
{
	sem_post(&closed);
}

static const struct disk_ops ops = { .ready = on_ready,
				     .settled = on_settled,
				     .path = on_path,
				     .failing = on_failing,
				     .changed = on_resized,
				     .stale = on_stale,
				     .notice = on_notice,
				     .inherited = on_inherited,
				     .reserved = on_reserved,
				     .closed = on_closed };

struct opening {
	unsigned paths;
	uint32_t no_path_retry;
	enum disk_policy policy;
	uint32_t fence_wait;
};

static void open_run(void *arg)
{
	const struct opening *o = arg;
	struct way *config[2] = { &ways[0], &ways[1] };
	struct disk_path_config paths[2];
	struct err e;
	for (unsigned i = 0; i < 2; i++)
		paths[i] = (struct disk_path_config){ .open = fake_open,
						      .config = &config[i],
						      .config_size = sizeof config[i] };
	struct disk_config c = { .paths = paths,
				 .path_count = o->paths,
				 .policy = o->policy,
				 .no_path_retry = o->no_path_retry,
				 .fence_wait = o->fence_wait };
	assert_int_equal(disk_new(&disk, worker, &c, &ops, NULL, &e), 0);
}

static void open_disk(struct opening o)
{
	worker_call(worker, open_run, &o);
	sem_wait(&ready);
	assert_int_equal(ready_why.code, 0);
	for (unsigned i = 0; i < o.paths; i++)
		sem_wait(&moved);
}

// --- requests ---

static void on_done(struct disk_io *io)
{
	sem_post(&done);
}

static void submit_run(void *arg)
{
	disk_submit(disk, arg);
}

static void begin(struct disk_io *io, struct sg *sg, uint8_t op, void *data, uint64_t len)
{
	*sg = (struct sg){ .addr = data, .len = (uint32_t)len };
	*io = (struct disk_io){ .op = op, .len = len, .sg = sg, .nsg = 1, .done = on_done };
	worker_call(worker, submit_run, io);
}

static inline int request(uint8_t op, void *data, uint64_t len)
{
	struct disk_io io;
	struct sg sg;
	begin(&io, &sg, op, data, len);
	sem_wait(&done);
	return io.res;
}

static void lose_run(void *arg)
{
	((struct way *)arg)->is_lost = true;
}

static void cut(struct way *w)
{
	worker_call(worker, lose_run, w);
}

static void back(struct way *w)
{
	worker_call(worker, way_back, w);
	sem_wait(&moved);
}

// --- each test ---

static int setup(void **state)
{
	struct err e;
	memset(&far, 0, sizeof far);
	memset(told, 0, sizeof told);
	failures = 0;
	far.serial = 'a';
	far.has_ways = true;
	ways[0] = (struct way){ .alua = 0xff, .group = 1, .isid = 1, .tpgt = 1, .promises = 2 };
	ways[1] = (struct way){ .alua = 0xff, .group = 2, .isid = 2, .tpgt = 1, .promises = 2 };
	sem_t *const all[] = { &ready, &settled, &closed, &moved,     &done,
			       &stale, &changed, &faulty, &inherited, &reserved };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		sem_init(all[i], 0, 0);
	return scsi_sync_worker_new(&worker, &e);
}

static void close_run(void *arg)
{
	disk_close(disk);
}

static int teardown(void **state)
{
	worker_call(worker, close_run, NULL);
	sem_wait(&closed);
	worker_free(worker);
	disk_free(disk);
	return 0;
}
