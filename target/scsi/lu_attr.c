// SPDX-License-Identifier: BSD-2-Clause
// Applies changes of attributes to a live logical unit. Control thread; readers access single
// fields through relaxed atomics.
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "target/scsi/lu.h"
#include "target/scsi/sbc_rw.h"

uint32_t lu_max_transfer(const struct lu *lu)
{
	uint64_t bytes = (uint64_t)lu_setting(&lu->attr.max_transfer_kib) << 10;
	if (lu->max_io && lu->max_io < bytes)
		bytes = lu->max_io;
	return (uint32_t)(bytes >> lu->block_shift);
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

static bool in_field(const struct attr_row *row, size_t offset, size_t size)
{
	return row->offset >= offset && row->offset < offset + size;
}
#define IN(row, f) in_field(row, offsetof(struct lu_attr, f), sizeof(((struct lu_attr *)0)->f))

// The unit attention that makes initiators re-read cached data.
static enum ua ua_of_change(const struct attr_row *row)
{
	if (IN(row, vendor) || IN(row, product) || IN(row, revision) ||
	    IN(row, emulate_model_alias) || IN(row, emulate_3pc) || IN(row, emulate_caw) ||
	    IN(row, emulate_tpu) || IN(row, emulate_tpws) || IN(row, is_nonrot) ||
	    IN(row, removable) || IN(row, max_transfer_kib) || IN(row, optimal_sectors) ||
	    IN(row, max_unmap_lba_count) || IN(row, max_unmap_block_desc_count) ||
	    IN(row, unmap_granularity) || IN(row, unmap_granularity_alignment) ||
	    IN(row, unmap_zeroes_data) || IN(row, max_write_same_len) || IN(row, max_caw_blocks) ||
	    IN(row, atomic_write_kib))
		return UA_INQUIRY_CHANGED;
	if (IN(row, emulate_write_cache) || IN(row, emulate_fua_write) || IN(row, emulate_tas) ||
	    IN(row, emulate_ua_intlck_ctrl))
		return UA_MODE_CHANGED;
	return UA_MAX;
}

// Workers may read a string while it changes: byte by byte, possibly mixed.
static void copy_text(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

static void copy_field(struct lu_attr *to, const struct lu_attr *from, const struct attr_row *row)
{
	char *dst = (char *)to + row->offset;
	const char *src = (const char *)from + row->offset;
	if (row->type == ATTR_STRING)
		copy_text(dst, src, (size_t)row->max);
	else
		__atomic_store_n((uint32_t *)dst, *(const uint32_t *)src, __ATOMIC_RELAXED);
}

const char *lu_cache_name(const struct lu *lu)
{
	enum bs_cache cache = lu_bs(lu)->limits.cache;
	bool is_durable = cache && !write_is_cached(lu);
	return backstore_cache_name(is_durable ? BS_CACHE_WRITETHROUGH : cache);
}

// When a cache that initiators may have relied on goes, what it holds becomes durable first (SBC-3
// 6.5.5). Writes that are in flight flush it themselves (write_is_cached()).
static int follow_cache(struct lu *lu, bool was_on, struct err *e)
{
	bool may_cache = lu->bs->limits.has_write_cache;
	bool is_on = lu->attr.emulate_write_cache, wce = write_is_cached(lu);
	__atomic_store_n(&lu->wce, may_cache && is_on, __ATOMIC_SEQ_CST);
	int r = may_cache && was_on && !is_on ? backstore_flush(lu->bs, e) : 0;
	if (r < 0)
		__atomic_store_n(&lu->wce, wce, __ATOMIC_RELAXED);
	return r;
}

int lu_attr_apply(struct lu *lu, const struct attr_row *row, const char *text, struct err *e)
{
	struct lu_attr wanted = lu->attr;
	const struct bs_limits *limits = &lu->bs->limits;
	if (row->flags & ATTR_READONLY)
		return err_set(e, -EPERM, "%s: cannot be set", row->name);
	int r = attr_set(row, &wanted, text, e);
	if (!r)
		r = lu_attr_check(&wanted, limits, e);
	if (r < 0)
		return r;
	struct lu_attr before = lu->attr;
	copy_field(&lu->attr, &wanted, row);
	if (IN(row, faults))
		r = lu_faults_apply(lu, e);
	else if (IN(row, emulate_write_cache))
		r = follow_cache(lu, before.emulate_write_cache, e);
	if (r < 0) {
		copy_field(&lu->attr, &before, row);
		return r;
	}
	enum ua u = ua_of_change(row);
	if (u != UA_MAX && memcmp(&before, &lu->attr, sizeof before))
		ua_raise_lu(lu, u, NULL);
	return 0;
}
