// SPDX-License-Identifier: BSD-2-Clause
// The mode pages' content (SPC-4 7.5, SBC-3 6.5). Builders run on any worker, changes on the
// LU's home worker.
#include <string.h>

#include "target/scsi/lu_part.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/sense.h"
#include "target/scsi/spc/mode.h"
#include "transport/wire/be.h"

static bool get_bit(const uint8_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

struct mode_values mode_current(const struct lu *lu)
{
	return (struct mode_values){
		.d_sense = get_bit(&lu->d_sense),
		.swp = get_bit(&lu->swp),
		.wce = get_bit(&lu->wce),
	};
}

static bool may_cache(const struct lu *lu)
{
	return lu_bs(lu)->limits.has_write_cache && lu_setting(&lu->attr.emulate_write_cache);
}

static struct mode_values mode_default(const struct lu *lu)
{
	return (struct mode_values){ .wce = may_cache(lu) };
}

// An initiator may disable the cache and enable it again, but not with emulate_write_cache=0:
// completed writes of others would no longer be durable. SWP may be set by any path that may write;
// a write-protected path does not get here.
static struct mode_values mode_changeable(const struct lu *lu)
{
	return (struct mode_values){ .d_sense = true, .swp = true, .wce = may_cache(lu) };
}

void mode_set(struct lu *lu, const struct mode_values *v)
{
	__atomic_store_n(&lu->d_sense, v->d_sense, __ATOMIC_RELAXED);
	__atomic_store_n(&lu->swp, v->swp, __ATOMIC_RELAXED);
	// The attribute may have changed since the list was checked.
	__atomic_store_n(&lu->wce, v->wce && may_cache(lu), __ATOMIC_RELAXED);
}

static void reset(struct lu *lu)
{
	struct mode_values v = mode_default(lu);
	mode_set(lu, &v);
}

const struct lu_part mode_part = { .reset = reset };

// Builders fill the page's bytes after its header (at is the page's first byte). fixed is false for
// changeable values, where only changeable bits are set.
struct mode_page {
	uint8_t page, subpage;
	uint16_t len; // whole page, header included
	void (*build)(const struct lu *lu, const struct mode_values *v, bool fixed, uint8_t *at);
};

// Informational exceptions are not reported: DEXCPT (SPC-4 7.5.11).
static void exceptions(const struct lu *lu, const struct mode_values *v, bool fixed, uint8_t *at)
{
	at[2] = fixed ? 0x08 : 0;
}

// Only the storage recovers errors: all zero (SBC-3 6.5.8).
static void recovery(const struct lu *lu, const struct mode_values *v, bool fixed, uint8_t *at)
{
}

static void caching(const struct lu *lu, const struct mode_values *v, bool fixed, uint8_t *at)
{
	at[2] = v->wce ? 0x04 : 0;
}

static void control(const struct lu *lu, const struct mode_values *v, bool fixed, uint8_t *at)
{
	at[2] = v->d_sense ? 0x04 : 0;
	at[4] = v->swp ? 0x08 : 0;
	if (!fixed)
		return;
	static const uint8_t interlock[] = { 0x00, 0x20, 0x30 };
	at[3] = 0x10; // unrestricted reordering; QERR 0
	at[4] |= interlock[lu_setting(&lu->attr.emulate_ua_intlck_ctrl) % 3];
	at[5] = lu_setting(&lu->attr.emulate_tas) ? 0x40 : 0;
}

// MAXIMUM SENSE DATA LENGTH 0: as long as SPC-4 permits (7.5.9).
static void control_extension(const struct lu *lu, const struct mode_values *v, bool fixed,
			      uint8_t *at)
{
}

// In ascending order, as MODE SENSE of all pages returns them.
static const struct mode_page pages[] = {
	{0x01,	0x00, 12, recovery	   },
	{ 0x08, 0x00, 20, caching	  },
	{ 0x0a, 0x00, 12, control	  },
	{ 0x0a, 0x01, 32, control_extension},
	{ 0x1c, 0x00, 12, exceptions	     },
};

static unsigned page_build(const struct mode_page *p, const struct lu *lu, enum mode_pc pc,
			   uint8_t *at)
{
	struct mode_values v = pc == MODE_CURRENT   ? mode_current(lu)
			       : pc == MODE_DEFAULT ? mode_default(lu)
						    : mode_changeable(lu);
	memset(at, 0, p->len);
	p->build(lu, &v, pc != MODE_CHANGEABLE, at);
	at[0] = p->page;
	if (p->subpage) {
		at[0] |= 0x40; // SPF
		at[1] = p->subpage;
		put_be16(at + 2, p->len - 4);
	} else {
		at[1] = (uint8_t)(p->len - 2);
	}
	return p->len;
}

unsigned mode_pages_build(const struct lu *lu, uint8_t page, uint8_t subpage, enum mode_pc pc,
			  uint8_t *out)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++) {
		const struct mode_page *p = &pages[i];
		bool is_page = page == 0x3f || p->page == page;
		bool is_subpage = subpage == 0xff || p->subpage == subpage;
		if (is_page && is_subpage)
			n += page_build(p, lu, pc, out + n);
	}
	return n;
}

static const struct mode_page *page_find(uint8_t page, uint8_t subpage)
{
	for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++) {
		if (pages[i].page == page && pages[i].subpage == subpage)
			return &pages[i];
	}
	return NULL;
}

static void values_take(struct mode_values *v, const struct mode_page *p, const uint8_t *at)
{
	if (p->page == 0x08) {
		v->wce = at[2] & 0x04;
	} else if (p->page == 0x0a && !p->subpage) {
		v->d_sense = at[2] & 0x04;
		v->swp = at[4] & 0x08;
	}
}

// Parses one page of a list: left bytes from at on. Returns its length, 0: invalid; *ret_byte is
// then relative to at.
static unsigned page_parse(const struct lu *lu, const uint8_t *at, size_t left,
			   struct mode_values *v, uint32_t *ret_code, unsigned *ret_byte)
{
	*ret_code = SENSE_PARAM_LIST_LENGTH;
	bool has_subpage = at[0] & 0x40;
	if (left < (has_subpage ? 4u : 2u))
		return 0;
	const struct mode_page *p = page_find(at[0] & 0x3f, has_subpage ? at[1] : 0);
	size_t len = has_subpage ? get_be16(at + 2) + 4u : at[1] + 2u;
	*ret_byte = 0;
	if (!p || has_subpage != (p->subpage != 0)) {
		*ret_code = SENSE_INVALID_FIELD_PARAM;
		return 0;
	}
	if (len != p->len) {
		*ret_byte = has_subpage ? 2 : 1;
		*ret_code = SENSE_INVALID_FIELD_PARAM;
		return 0;
	}
	if (len > left)
		return 0;
	uint8_t now[MODE_PAGES_MAX], mask[MODE_PAGES_MAX];
	page_build(p, lu, MODE_CURRENT, now);
	page_build(p, lu, MODE_CHANGEABLE, mask);
	for (unsigned i = has_subpage ? 4 : 2; i < len; i++) {
		if (!((at[i] ^ now[i]) & ~mask[i]))
			continue;
		*ret_byte = i;
		*ret_code = SENSE_INVALID_FIELD_PARAM;
		return 0;
	}
	values_take(v, p, at);
	return (unsigned)len;
}

// Block descriptors are accepted if they match the current values (SBC-3 6.5.2).
static bool descriptor_is_ours(const struct lu *lu, const uint8_t *d, bool is_long)
{
	uint64_t blocks = is_long ? get_be64(d) : get_be32(d);
	uint32_t size = is_long ? get_be32(d + 12) : get_be24(d + 5);
	uint64_t all = is_long ? UINT64_MAX : UINT32_MAX;
	return size == lu->block_size &&
	       (blocks == 0 || blocks == all || blocks == lu_capacity(lu));
}

uint32_t mode_select_parse(const struct lu *lu, const uint8_t *list, size_t len, bool is_ten,
			   struct mode_values *v, unsigned *ret_byte)
{
	size_t at = is_ten ? 8 : 4;
	*ret_byte = 0;
	if (len < at)
		return SENSE_PARAM_LIST_LENGTH;
	bool is_long = is_ten && (list[4] & 0x01);
	size_t descriptors = is_ten ? get_be16(list + 6) : list[3];
	if (descriptors && descriptors != (is_long ? 16u : 8u)) {
		*ret_byte = is_ten ? 6 : 3;
		return SENSE_INVALID_FIELD_PARAM;
	}
	if (len - at < descriptors)
		return SENSE_PARAM_LIST_LENGTH;
	if (descriptors && !descriptor_is_ours(lu, list + at, is_long)) {
		*ret_byte = (unsigned)at;
		return SENSE_INVALID_FIELD_PARAM;
	}
	at += descriptors;
	while (at < len) {
		uint32_t code;
		unsigned byte = 0;
		unsigned n = page_parse(lu, list + at, len - at, v, &code, &byte);
		if (!n) {
			*ret_byte = (unsigned)at + byte;
			return code;
		}
		at += n;
	}
	return 0;
}
