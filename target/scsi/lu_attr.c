// SPDX-License-Identifier: BSD-2-Clause
// What the attributes of a logical unit mean: their check, the filters for injected faults, the
// cache mode. Control thread, unless lu.h says otherwise.
#include "target/scsi/lu_attr.h"

#include <errno.h>

#include "target/scsi/lu.h"
#include "target/scsi/lu_state.h"

const struct lu_attr *lu_attr_of(const struct lu *lu)
{
	return &lu->attr;
}

static bool is_printable(const char *s)
{
	while (*s) {
		if (*s < 0x20 || *s > 0x7e)
			return false;
		s++;
	}
	return true;
}

int lu_attr_check(const struct lu_attr *attr, const struct bs_limits *limits, struct err *e)
{
	uint32_t block = attr->block_size;
	if (block != 512 && block != 1024 && block != 2048 && block != 4096)
		return err_set(e, -EINVAL, "block_size: %u is not 512, 1024, 2048 or 4096", block);
	if (!attr->queue_depth)
		return err_set(e, -EINVAL, "queue_depth: 0 commands (use 1 or more)");
	if (attr->max_transfer_kib < 64)
		return err_set(e, -EINVAL, "max_transfer_kib: less than 64");
	if (attr->unmap_granularity && attr->unmap_granularity_alignment >= attr->unmap_granularity)
		return err_set(
			e, -EINVAL,
			"unmap_granularity_alignment: %u is not less than unmap_granularity %u",
			attr->unmap_granularity_alignment, attr->unmap_granularity);
	if (!is_printable(attr->vendor) || !is_printable(attr->product) ||
	    !is_printable(attr->revision))
		return err_set(e, -EINVAL, "vendor, product, revision: not printable ASCII");
	return 0;
}

static bool has_errors(const struct bs_faults *f)
{
	return f->error_read_ppm || f->error_write_ppm || f->error_flush_ppm;
}

static bool has_delays(const struct bs_faults *f)
{
	return f->delay_read_us || f->delay_write_us || f->delay_flush_us;
}

// A filter is added on demand and stays, idle, until the LU closes: I/O in flight needs no
// quiescing, since the level that it was passed to still exists. Without faults direct access is
// available again.
int lu_faults_apply(struct lu *lu, struct err *e)
{
	const struct bs_faults *f = &lu->attr.faults;
	struct backstore *top = lu->bs;
	int r = 0;
	if (has_errors(f) && !lu->error_filter) {
		r = backstore_error_new(&lu->error_filter, top, e);
		if (r < 0)
			return r;
		top = lu->error_filter;
		__atomic_store_n(&lu->bs, top, __ATOMIC_RELEASE);
	}
	if (has_delays(f) && !lu->delay_filter) {
		r = backstore_delay_new(&lu->delay_filter, top, e);
		if (r < 0)
			return r;
		top = lu->delay_filter;
		__atomic_store_n(&lu->bs, top, __ATOMIC_RELEASE);
	}
	if (lu->error_filter)
		backstore_error_set(lu->error_filter, f);
	if (lu->delay_filter)
		backstore_delay_set(lu->delay_filter, f);

	while (top->lower)
		top = top->lower;
	uint8_t *memory = has_errors(f) || has_delays(f) ? NULL : top->memory;
	__atomic_store_n(&lu->memory, memory, __ATOMIC_RELAXED);
	return 0;
}

void lu_faults_remove(struct lu *lu)
{
	while (lu->bs == lu->error_filter || lu->bs == lu->delay_filter)
		lu->bs = backstore_filter_remove(lu->bs);
	lu->error_filter = lu->delay_filter = NULL;
}

const char *lu_cache_name(const struct lu *lu)
{
	enum bs_cache cache = lu_bs(lu)->limits.cache;
	bool is_durable = cache && !lu_is_write_cached(lu);
	return backstore_cache_name(is_durable ? BS_CACHE_WRITETHROUGH : cache);
}
