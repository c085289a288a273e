// SPDX-License-Identifier: BSD-2-Clause
// A disk (initiator/disk/disk.h) of memory, linked instead of the one with sessions: requests are
// done at the end of the round, in their order, or held.
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/worker.h"
#include "initiator/disk/disk.h"

struct disk {
	struct worker *worker;
	struct disk_facts facts;
	uint8_t *memory;
	struct list done, held; // requests
	struct defer defer;
	bool holds;
	int fails; // 0, or what requests end with
	unsigned counts[DISK_OP_COUNT], fua, no_unmap;
};

const struct disk_facts *disk_facts(const struct disk *d)
{
	return &d->facts;
}

struct worker *disk_worker(const struct disk *d)
{
	return d->worker;
}

static uint64_t fake_disk_size(const struct disk *d)
{
	return d->facts.blocks * d->facts.block_size;
}

// A part of 4 KiB of zeroes is a hole.
static void fake_disk_extents(const struct disk *d, struct disk_io *io)
{
	static const uint8_t zeroes[4096];
	struct disk_extent *e = (void *)io->sg->addr;
	unsigned max = (io->sg->len - 8) / 16;

	for (uint64_t at = io->offset, end = at + io->len, len; at < end; at += len) {
		len = 4096 - at % 4096 < end - at ? 4096 - at % 4096 : end - at;
		bool is_hole = !memcmp(d->memory + at, zeroes, len);
		if (io->extents && e[io->extents - 1].is_hole == is_hole)
			e[io->extents - 1].len += len;
		else if (io->extents == max)
			return;
		else
			e[io->extents++] = (struct disk_extent){ len, is_hole, is_hole };
	}
}

static int fake_disk_do(struct disk *d, struct disk_io *io)
{
	uint64_t at = io->offset;

	if (io->op == DISK_FLUSH)
		return 0;
	if (io->offset > fake_disk_size(d) || io->len > fake_disk_size(d) - io->offset ||
	    (io->offset | io->len) % d->facts.block_size ||
	    (io->op == DISK_UNMAP && io->len > d->facts.unmap_max))
		return -EINVAL;
	if (io->op == DISK_EXTENTS) {
		fake_disk_extents(d, io);
		return 0;
	}
	for (unsigned i = 0; i < io->nsg; i++) {
		if (io->op == DISK_READ)
			memcpy(io->sg[i].addr, d->memory + at, io->sg[i].len);
		else
			memcpy(d->memory + at, io->sg[i].addr, io->sg[i].len);
		at += io->sg[i].len;
	}
	if (io->op == DISK_UNMAP || io->op == DISK_WRITE_ZEROES)
		memset(d->memory + at, 0, io->len);
	return 0;
}

static void fake_disk_run(struct defer *defer)
{
	struct disk *d = container_of(defer, struct disk, defer);

	for (struct list *n; (n = list_pop_front(&d->done));) {
		struct disk_io *io = list_entry(n, struct disk_io, link);
		io->res = d->fails ? d->fails : fake_disk_do(d, io);
		io->done(io);
	}
}

void disk_submit(struct disk *d, struct disk_io *io)
{
	d->counts[io->op]++;
	d->fua += io->is_fua;
	d->no_unmap += io->may_not_unmap;
	list_push_back(d->holds ? &d->held : &d->done, &io->link);
	if (!d->holds)
		worker_defer(d->worker, &d->defer, fake_disk_run);
}

// On the worker: what was held is done, and so is what comes.
static inline void fake_disk_release(void *arg)
{
	struct disk *d = arg;

	d->holds = false;
	list_splice_back(&d->done, &d->held);
	worker_defer(d->worker, &d->defer, fake_disk_run);
}

// memory: size bytes, the caller's.
static inline void fake_disk_init(struct disk *d, struct worker *w, uint8_t *memory, uint64_t size)
{
	*d = (struct disk){
		.worker = w,
		.memory = memory,
		.facts = {
			.blocks = size / 512,
			.block_size = 512,
			.physical_block_size = 4096,
			.unmap_max = 1 << 20,
			.unmap_granularity = 4096,
			.zeroes_max = 1 << 20,
			.has_write_cache = true,
			.has_fua = true,
			.is_thin = true,
			.reads_zeroes = true,
			.zeroes_fast = true,
			.identity = "naa.6001405fa4b10c00000000000000fade",
		},
	};
	list_init(&d->done);
	list_init(&d->held);
}
