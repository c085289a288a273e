// SPDX-License-Identifier: BSD-2-Clause
// See filter.h.
#include "backstores/filter.h"

#include <errno.h>

int filter_new(struct backstore **ret, const struct backstore_type *type, struct backstore *lower,
	       struct err *e)
{
	if (lower->ops.is_passthrough)
		return err_set(e, -EOPNOTSUPP,
			       "%s over %s %s: pass-through storage does not support filters",
			       type->name, lower->type->name, lower->name);
	struct backstore *bs = backstore_alloc(type, lower->name);
	if (!bs)
		return err_set(e, -ENOMEM, "%s over %s: out of memory", type->name, lower->name);
	bs->lower = lower;
	bs->limits = lower->limits;
	*ret = bs;
	return 0;
}

void filter_set(struct backstore *bs, uint32_t read, uint32_t write, uint32_t flush)
{
	const uint32_t value[BS_OP_MAX] = {
		[BS_READ] = read,   [BS_EXTENT] = read,	       [BS_WRITE] = write,
		[BS_UNMAP] = write, [BS_WRITE_ZEROES] = write, [BS_FLUSH] = flush,
	};
	struct filter *f = (struct filter *)bs;
	for (int op = 0; op < BS_OP_MAX; op++)
		__atomic_store_n(&f->value[op], value[op], __ATOMIC_RELAXED);
}

uint32_t filter_value(const struct backstore *bs, const struct bs_io *io)
{
	const struct filter *f = (const struct filter *)bs;
	return __atomic_load_n(&f->value[io->op], __ATOMIC_RELAXED);
}

void filter_pass(struct backstore *bs, struct bs_io *io)
{
	bs->lower->ops.submit(bs->lower, io);
}

struct backstore *backstore_filter_remove(struct backstore *filter)
{
	struct backstore *lower = filter->lower;
	filter->lower = NULL;
	backstore_close(filter);
	return lower;
}
