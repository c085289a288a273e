// SPDX-License-Identifier: BSD-2-Clause
// Changes of a live logical unit, which its nexuses learn by unit attention: attributes and
// capacity. Control thread; readers access single fields through relaxed atomics.
#include <errno.h>
#include <string.h>

#include "target/scsi/lu.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/ua.h"

void lu_set_size(struct lu *lu, uint64_t bytes)
{
	__atomic_store_n(&lu->blocks, bytes >> lu->block_shift, __ATOMIC_RELAXED);
	ua_raise_lu(lu, UA_CAPACITY_CHANGED, NULL);
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

// When a cache that initiators may have relied on goes, what it holds becomes durable first (SBC-3
// 6.5.5). Writes that are in flight flush it themselves (lu_is_write_cached()).
static int follow_cache(struct lu *lu, bool was_on, struct err *e)
{
	bool may_cache = lu->bs->limits.has_write_cache;
	bool is_on = lu->attr.emulate_write_cache, wce = lu_is_write_cached(lu);
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
