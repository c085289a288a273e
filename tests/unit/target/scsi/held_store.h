// SPDX-License-Identifier: BSD-2-Clause
// A backstore that keeps what it is given until the test lets it go: reads give zeroes, writes
// vanish. With a write cache, so that FLUSH and FUA are seen.
#pragma once

#include <semaphore.h>

#include "target/scsi/scsi_test.h"

struct held_store {
	struct backstore bs;
};

static struct bs_io *held[64]; // in order of arrival
static unsigned nheld;
static sem_t held_count; // posted for each arrival
static unsigned held_flushes, held_fua, held_ops;
static bool held_passes; // serve at once

static void held_finish(struct bs_io *io, int res)
{
	if (io->op == BS_READ) {
		for (uint32_t i = 0; i < io->nsg; i++)
			memset(io->sg[i].addr, 0, io->sg[i].len);
	}
	io->done(io, res);
}

static void held_submit(struct backstore *bs, struct bs_io *io)
{
	held_ops++;
	held_flushes += io->op == BS_FLUSH;
	held_fua += io->op == BS_WRITE && (io->flags & BS_FUA);
	if (held_passes) {
		held_finish(io, 0);
		return;
	}
	assert_true(nheld < 64);
	held[nheld++] = io;
	sem_post(&held_count);
}

static int held_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	bs->limits = (struct bs_limits){ .size = config->size,
					 .block_size = config->block_size,
					 .physical_block = config->block_size,
					 .has_write_cache = true };
	return 0;
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
	.submit = held_submit,
};

static inline void held_start(struct bench_options *o)
{
	nheld = 0;
	sem_init(&held_count, 0, 0);
	held_flushes = held_fua = held_ops = 0;
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

static inline void held_release_all(void *arg)
{
	while (nheld) {
		struct bs_io *io = held[0];
		memmove(held, held + 1, --nheld * sizeof held[0]);
		held_finish(io, arg ? *(int *)arg : 0);
	}
}

// Lets all go, on the worker of nexus n (which must be the one they came from).
static inline void held_go(unsigned n)
{
	bench_on_nexus(&b, n, held_release_all, NULL);
}
