// SPDX-License-Identifier: BSD-2-Clause
// See overlay_map.h. Bit n of byte i, from the lowest on, is block 8 * i + n, in memory as in the
// file. Who changes a block goes through these steps, in this order:
//   1. the data is in the file
//   2. the bit is set in live: reads find the data
//   3. the page is counted, then flagged. A commit clears the flag before it copies the page, so
//      that it misses no flagged bit, and counts the page out after that: while a page has a flag,
//      the count is not 0
//   4. the bit is in the file, noted or by a commit
//   5. the bit is set in safe.
// Another worker that sees the bit in live may be anywhere from 2 on, and goes through 3 to 5
// itself. One that sees it in safe sees the flag and the count, too, until a commit has made the
// bit durable: each step releases, and each look acquires. A commit sets bits in safe only from its
// copy, which has been written.
#include "backstores/overlay_map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	   4096u
#define PAGE_BITS  (8ull * PAGE)
#define RUN_MAX	   (1ull << 20) // bytes written at once
#define IS_CHANGED 1u		// bits were set that no commit has staged
#define IS_STAGED  2u		// a commit is writing it

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as bytes");

static void *memory(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

int overlay_map_init(struct overlay_map *m, const struct overlay_layout *l)
{
	*m = (struct overlay_map){ .blocks = l->blocks,
				   .bytes = l->map_bytes,
				   .page_count = l->map_bytes / PAGE };
	if (!m->bytes)
		return 0;
	m->live = memory(m->bytes);
	m->safe = memory(m->bytes);
	m->staged = memory(m->bytes);
	m->pages = calloc(1, m->page_count);
	if (m->live && m->safe && m->staged && m->pages)
		return 0;
	overlay_map_done(m);
	return -ENOMEM;
}

void overlay_map_done(struct overlay_map *m)
{
	if (m->live)
		munmap(m->live, m->bytes);
	if (m->safe)
		munmap(m->safe, m->bytes);
	if (m->staged)
		munmap(m->staged, m->bytes);
	free(m->pages);
	*m = (struct overlay_map){ 0 };
}

static uint64_t word_at(const uint8_t *bits, uint64_t block)
{
	return __atomic_load_n((const uint64_t *)bits + block / 64, __ATOMIC_ACQUIRE);
}

// How many from first on, at most count, are as the first one.
static uint64_t run_in(const struct overlay_map *m, const uint8_t *bits, uint64_t first,
		       uint64_t count, bool *ret_is_set)
{
	if (first >= m->blocks) {
		*ret_is_set = true;
		return count;
	}
	uint64_t at = first, end = count > m->blocks - first ? m->blocks : first + count;
	bool is_set = *ret_is_set = word_at(bits, first) >> first % 64 & 1;
	while (at < end) {
		uint64_t word = word_at(bits, at);
		uint64_t other = (is_set ? ~word : word) >> at % 64;
		if (other) {
			at += (uint64_t)__builtin_ctzll(other);
			break;
		}
		at += 64 - at % 64;
	}
	if (at < end)
		return at - first;
	return is_set ? count : end - first;
}

uint64_t overlay_map_run(const struct overlay_map *m, uint64_t first, uint64_t count, bool *ret_own)
{
	return run_in(m, m->live, first, count, ret_own);
}

bool overlay_map_owns(const struct overlay_map *m, uint64_t first, uint64_t count)
{
	bool own;
	return run_in(m, m->live, first, count, &own) == count && own;
}

bool overlay_map_is_safe(const struct overlay_map *m, uint64_t first, uint64_t count)
{
	bool is_safe;
	return run_in(m, m->safe, first, count, &is_safe) == count && is_safe;
}

// Returns the end of those that have a bit; at most first: there are none.
static uint64_t set_in(const struct overlay_map *m, uint8_t *bits, uint64_t first, uint64_t count)
{
	if (!count || first >= m->blocks)
		return first;
	uint64_t end = count > m->blocks - first ? m->blocks : first + count;
	for (uint64_t at = first; at < end;) {
		uint64_t n = 64 - at % 64;
		if (n > end - at)
			n = end - at;
		uint64_t mask = (n == 64 ? UINT64_MAX : (1ull << n) - 1) << at % 64;
		__atomic_fetch_or((uint64_t *)bits + at / 64, mask, __ATOMIC_RELEASE);
		at += n;
	}
	return end;
}

// Counts the page first: who finds it flagged by another finds it counted.
static void flag(struct overlay_map *m, uint64_t page)
{
	__atomic_add_fetch(&m->dirty_count, 1, __ATOMIC_ACQ_REL);
	if (__atomic_fetch_or(&m->pages[page], IS_CHANGED, __ATOMIC_ACQ_REL))
		__atomic_sub_fetch(&m->dirty_count, 1, __ATOMIC_ACQ_REL);
}

void overlay_map_set(struct overlay_map *m, uint64_t first, uint64_t count)
{
	uint64_t end = set_in(m, m->live, first, count);
	for (uint64_t page = first / PAGE_BITS; first < end && page <= (end - 1) / PAGE_BITS;
	     page++)
		flag(m, page);
}

void overlay_map_noted(struct overlay_map *m, uint64_t first, uint64_t count)
{
	set_in(m, m->safe, first, count);
}

void overlay_map_load(struct overlay_map *m, uint64_t at, const uint8_t *bits, uint64_t length)
{
	for (uint64_t i = 0; i < length && at + i < m->bytes; i++)
		if (bits[i]) { // others use no memory
			m->live[at + i] |= bits[i];
			m->safe[at + i] |= bits[i];
		}
}

void overlay_map_touch(struct overlay_map *m)
{
	bool own;
	uint64_t at = 0;
	while (at < m->blocks) {
		uint64_t n = overlay_map_run(m, at, m->blocks - at, &own);
		for (uint64_t page = at / PAGE_BITS; own && page <= (at + n - 1) / PAGE_BITS;
		     page++)
			flag(m, page);
		at += n;
	}
}

static uint8_t flags_of(const struct overlay_map *m, uint64_t page)
{
	return __atomic_load_n(&m->pages[page], __ATOMIC_ACQUIRE);
}

bool overlay_map_is_dirty(const struct overlay_map *m, uint64_t first, uint64_t count)
{
	if (!count || first >= m->blocks || !overlay_map_has_dirty(m))
		return false;
	uint64_t end = count > m->blocks - first ? m->blocks : first + count;
	for (uint64_t page = first / PAGE_BITS; page <= (end - 1) / PAGE_BITS; page++)
		if (flags_of(m, page))
			return true;
	return false;
}

bool overlay_map_has_dirty(const struct overlay_map *m)
{
	return __atomic_load_n(&m->dirty_count, __ATOMIC_ACQUIRE);
}

static void copy_page(struct overlay_map *m, uint64_t page)
{
	const uint64_t *from = (const uint64_t *)(m->live + page * PAGE);
	uint64_t *to = (uint64_t *)(m->staged + page * PAGE);
	for (unsigned i = 0; i < PAGE / 8; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

void overlay_map_stage(struct overlay_map *m)
{
	for (uint64_t page = 0; page < m->page_count; page++) {
		if (!flags_of(m, page))
			continue;
		__atomic_exchange_n(&m->pages[page], IS_STAGED, __ATOMIC_ACQ_REL);
		copy_page(m, page);
	}
}

uint64_t overlay_map_staged(const struct overlay_map *m, uint64_t from, uint64_t *ret_length)
{
	uint64_t page = from / PAGE, end;
	while (page < m->page_count && !(flags_of(m, page) & IS_STAGED))
		page++;
	for (end = page; end < m->page_count && flags_of(m, end) & IS_STAGED; end++)
		if ((end - page) * PAGE >= RUN_MAX)
			break;
	*ret_length = (end - page) * PAGE;
	return page * PAGE;
}

static void staged_is_safe(struct overlay_map *m, uint64_t page)
{
	const uint64_t *from = (const uint64_t *)(m->staged + page * PAGE);
	uint64_t *to = (uint64_t *)(m->safe + page * PAGE);
	for (unsigned i = 0; i < PAGE / 8; i++)
		if (from[i] & ~__atomic_load_n(&to[i], __ATOMIC_RELAXED))
			__atomic_fetch_or(&to[i], from[i], __ATOMIC_RELEASE);
}

void overlay_map_commit(struct overlay_map *m, bool has_failed)
{
	for (uint64_t page = 0; page < m->page_count; page++) {
		if (!(flags_of(m, page) & IS_STAGED))
			continue;
		if (has_failed) {
			__atomic_store_n(&m->pages[page], IS_CHANGED, __ATOMIC_RELEASE);
			continue;
		}
		staged_is_safe(m, page);
		if (__atomic_and_fetch(&m->pages[page], (uint8_t)~IS_STAGED, __ATOMIC_ACQ_REL) == 0)
			__atomic_sub_fetch(&m->dirty_count, 1, __ATOMIC_ACQ_REL);
	}
}
