// SPDX-License-Identifier: BSD-2-Clause
// null: a disk of any size that reads zeroes and discards writes, for measuring the layers above.
// Runs inline on the worker thread.
#include <errno.h>
#include <string.h>

#include "backstores/types.h"

void null_limits(struct bs_limits *limits, uint64_t size, uint32_t block_size)
{
	*limits = (struct bs_limits){
		.size = size,
		.block_size = block_size,
		.physical_block = block_size,
		.unmap_granularity = BUF_PAGE,
		.can_unmap = true,
		.unmap_zeroes = true,
		.can_write_zeroes = true,
		.can_extent = true,
	};
}

void null_submit(struct backstore *bs, struct bs_io *io)
{
	if (io->op == BS_READ)
		for (uint32_t i = 0; i < io->nsg; i++)
			memset(io->sg[i].addr, 0, io->sg[i].len);
	if (io->op == BS_EXTENT) {
		io->ret_extent_length = io->length;
		io->ret_is_mapped = false;
	}
	io->done(io, 0);
}

static int null_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	uint32_t block_size = config->block_size ? config->block_size : 512;
	uint64_t size = config->size - config->size % block_size;
	if (size == 0 || size > INT64_MAX)
		return err_set(e, -EINVAL, "size: %llu bytes is out of range (%u bytes to 8 EiB)",
			       (unsigned long long)config->size, block_size);
	null_limits(&bs->limits, size, block_size);
	return 0;
}

static int null_resize(struct backstore *bs, uint64_t size, struct err *e)
{
	return 0;
}

static const struct bs_option null_options[] = {
	{"size", BS_OPT_SIZE, true, NULL, "size=BYTES, e.g. size=1G",
	  offsetof(struct bs_config, size), false },
	{ 0 },
};

const struct backstore_type null_type = {
	.name = "null",
	.help = "reads zeroes and discards writes; for benchmarks",
	.options = null_options,
	.size = sizeof(struct backstore),
	.open = null_open,
	.resize = null_resize,
	.submit = null_submit,
};
