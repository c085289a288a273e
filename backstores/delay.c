// SPDX-License-Identifier: BSD-2-Clause
// delay: a filter that delays every I/O before it reaches the storage, for testing
// slow disks. The delay is a worker timer in the I/O, so nothing blocks. Worker thread.
#include "backstores/filter.h"

static void delay_over(struct timer *t)
{
	struct bs_io *io = container_of(t, struct bs_io, timer);
	filter_pass(io->bs, io);
}

static void delay_submit(struct backstore *bs, struct bs_io *io)
{
	uint32_t usec = filter_value(bs, io);
	if (!usec) {
		filter_pass(bs, io);
		return;
	}
	io->bs = bs;
	timer_init(&io->timer, delay_over);
	timer_arm(worker_self(), &io->timer, usec);
}

static const struct bs_option no_options[] = { { 0 } };

static const struct backstore_type delay_type = {
	.name = "delay",
	.help = "delays I/Os",
	.options = no_options,
	.size = sizeof(struct filter),
	.submit = delay_submit,
};

int backstore_delay_new(struct backstore **ret, struct backstore *lower, struct err *e)
{
	return filter_new(ret, &delay_type, lower, e);
}

void backstore_delay_set(struct backstore *filter, const struct bs_faults *faults)
{
	filter_set(filter, faults->delay_read_us, faults->delay_write_us, faults->delay_flush_us);
}
