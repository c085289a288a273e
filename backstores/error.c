// SPDX-License-Identifier: BSD-2-Clause
// error: a filter that fails a fraction of the I/Os with a medium error, without passing
// them to the storage, for testing initiators. Worker thread.
#include <errno.h>

#include "backstores/filter.h"
#include "core/worker.h"

#define MILLION 1000000u

// xorshift64*, one state per thread: cheap, and without contention.
static uint32_t random_32(void)
{
	static __thread uint64_t state;
	if (!state)
		state = clock_ns() ^ (uintptr_t)&state;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)(state * 0x2545f4914f6cdd1dull >> 32);
}

static void error_submit(struct backstore *bs, struct bs_io *io)
{
	uint32_t ppm = filter_value(bs, io);
	if (ppm && (uint64_t)random_32() * MILLION >> 32 < ppm)
		io->done(io, -EIO);
	else
		filter_pass(bs, io);
}

static const struct bs_option no_options[] = { { 0 } };

static const struct backstore_type error_type = {
	.name = "error",
	.help = "fails a fraction of the I/Os",
	.options = no_options,
	.size = sizeof(struct filter),
	.submit = error_submit,
};

int backstore_error_new(struct backstore **ret, struct backstore *lower, struct err *e)
{
	return filter_new(ret, &error_type, lower, e);
}

void backstore_error_set(struct backstore *filter, const struct bs_faults *faults)
{
	filter_set(filter, faults->error_read_ppm, faults->error_write_ppm,
		   faults->error_flush_ppm);
}
