// SPDX-License-Identifier: BSD-2-Clause
// A backstore that keeps what it is given until the test lets it go: reads give zeroes, writes
// vanish. With a write cache, so that FLUSH and FUA are seen.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include "target/scsi/scsi_test.h"

struct held_store {
	struct backstore bs;
};

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct bs_io *io;
	struct worker *worker;
} held[64]; // in order of arrival
static unsigned nheld;
static sem_t held_count; // posted for each arrival
static unsigned held_flushes, held_fua, held_ops;
static bool held_passes; // serve at once
static int held_flush_result;

static void held_finish(struct bs_io *io, int res)
{
	if (io->op == BS_READ && !res) {
		for (uint32_t i = 0; i < io->nsg; i++)
			memset(io->sg[i].addr, 0, io->sg[i].len);
	}
	io->done(io, res);
}

static void held_submit(struct backstore *bs, struct bs_io *io)
{
	pthread_mutex_lock(&held_lock);
	held_ops++;
	held_flushes += io->op == BS_FLUSH;
	held_fua += (io->op == BS_WRITE || io->op == BS_UNMAP) && (io->flags & BS_FUA);
	bool passes = held_passes;
	if (!passes && nheld < 64) {
		held[nheld].io = io;
		held[nheld++].worker = worker_self();
	}
	pthread_mutex_unlock(&held_lock);
	if (passes)
		held_finish(io, 0);
	else
		sem_post(&held_count);
}

// Removes the oldest of this worker from the list.
static struct bs_io *held_take(void)
{
	struct bs_io *io = NULL;
	pthread_mutex_lock(&held_lock);
	for (unsigned i = 0; i < nheld && !io; i++) {
		if (held[i].worker != worker_self())
			continue;
		io = held[i].io;
		memmove(held + i, held + i + 1, (--nheld - i) * sizeof held[0]);
	}
	pthread_mutex_unlock(&held_lock);
	return io;
}

static inline unsigned held_arrived(void)
{
	pthread_mutex_lock(&held_lock);
	unsigned n = held_ops;
	pthread_mutex_unlock(&held_lock);
	return n;
}

static int held_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	bs->limits = (struct bs_limits){ .size = config->size,
					 .block_size = config->block_size,
					 .physical_block = config->block_size,
					 .unmap_granularity = config->block_size,
					 .can_unmap = true,
					 .unmap_zeroes = true,
					 .has_write_cache = true };
	return 0;
}

static int held_flush(struct backstore *bs, struct err *e)
{
	held_flushes++;
	return held_flush_result < 0 ? err_errno(e, held_flush_result, "medium") : 0;
}

static const struct bs_option held_options[] = {
	{.name = "size",			  .type = BS_OPT_SIZE, .offset = offsetof(struct bs_config, size) },
	{ 0},
};

static const struct backstore_type held_type = {
	.name = "held",
	.options = held_options,
	.size = sizeof(struct held_store),
	.open = held_open,
	.flush = held_flush,
	.submit = held_submit,
};

static inline void held_start(struct bench_options *o)
{
	nheld = 0;
	sem_init(&held_count, 0, 0);
	held_flushes = held_fua = held_ops = 0;
	held_flush_result = 0;
	held_passes = false;
	o->type = &held_type;
	start(o);
}

// Waits until n more I/Os have arrived.
static inline void held_wait(unsigned n)
{
	while (n--)
		sem_wait(&held_count);
}

// A read of one block, until it is held.
static inline void held_read(struct bench_cmd *k)
{
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->expected_in = 512;
	bench_start(&b, 0, k);
	held_wait(1);
}

static inline void held_release_all(void *arg)
{
	struct bs_io *io;
	while ((io = held_take()))
		held_finish(io, arg ? *(int *)arg : 0);
}

// Lets go all that came from nexus n's worker, and what comes while it does so.
static inline void held_go(unsigned n)
{
	bench_on_nexus(&b, n, held_release_all, NULL);
}
