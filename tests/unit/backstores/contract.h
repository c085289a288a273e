// SPDX-License-Identifier: BSD-2-Clause
// The contract of backstores/backstore.h as claims, applied to every type by its own test
// program: contract_run() with a table of subjects.
#pragma once

#include "backstores/io_util.h"

enum {
	IS_STORE = 1,	   // reads give what was written
	IS_LASTING = 2,	   // and still do after close and open
	IS_GROWING = 4,	   // resize works
	IS_THIN = 8,	   // unmap works and reads as zeroes
	IS_EXPLAINED = 16, // extents are reported
};

struct subject {
	const char *name;
	unsigned flags;
	// Opens it, 64 MiB and empty when is_new; else as the last close left it.
	struct backstore *(*open)(const struct subject *s, bool is_new);
	void (*clean)(const struct subject *s);
	const void *arg;
};

#define SUBJECT_SIZE (64 * MIB)

struct contract_state {
	const struct subject *subject;
	struct backstore *bs;
};

static struct backstore *bs_of(void **state)
{
	return ((struct contract_state *)*state)->bs;
}

static void has_sound_limits(void **state)
{
	const struct bs_limits *l = &bs_of(state)->limits;

	assert_int_equal(l->size, SUBJECT_SIZE);
	assert_int_equal(l->size % l->block_size, 0);
	assert_int_equal(l->physical_block % l->block_size, 0);
	assert_int_equal(l->physical_block & (l->physical_block - 1), 0);
	assert_int_equal(l->unmap_granularity != 0, l->can_unmap);
	assert_true(l->can_unmap || !l->unmap_zeroes);
}

static void reads_zeroes_when_new(void **state)
{
	expect_zeroes(bs_of(state), 0, MIB);
	expect_zeroes(bs_of(state), SUBJECT_SIZE - MIB, MIB);
}

static void reads_back_every_shape_written_in_every_shape(void **state)
{
	static const uint32_t lengths[] = { 4096, 12288, 65536, 262144 };
	struct backstore *bs = bs_of(state);
	uint32_t seed = 1;
	for (size_t w = 0; w < N_SHAPES; w++) {
		for (size_t r = 0; r < N_SHAPES; r++, seed++) {
			uint32_t length = lengths[seed % 4];
			uint64_t offset = (uint64_t)seed * 65536 + bs->limits.block_size * 3;
			struct sg_list l;

			shape_make(&shapes[w], length, &l);
			sg_fill(&l, offset, seed);
			int res = io_sg(bs, BS_WRITE, offset, length, l.sg, l.n, 0);
			shape_free(&l);
			assert_int_equal(res, 0);

			shape_make(&shapes[r], length, &l);
			for (uint32_t i = 0; i < l.n; i++)
				memset(l.sg[i].addr, 0xa5, l.sg[i].len);
			res = io_sg(bs, BS_READ, offset, length, l.sg, l.n, 0);
			assert_int_equal(res, 0);
			sg_expect(&l, offset, seed);
			shape_free(&l);
		}
	}
}

static void a_read_touches_nothing_beside_its_pieces(void **state)
{
	memset(arena, 0x77, 64 * KIB);
	struct sg sg[2] = {
		{.addr = arena + 4096,	.len = 1024},
		       { .addr = arena + 8192 + 5, .len = 3072}
	};

	assert_int_equal(io_sg(bs_of(state), BS_READ, 0, 4096, sg, 2, 0), 0);

	for (uint32_t i = 0; i < 64 * KIB; i++)
		if ((i < 4096 || i >= 5120) && (i < 8197 || i >= 8197 + 3072))
			assert_int_equal(arena[i], 0x77);
}

static void the_last_block_can_be_written(void **state)
{
	struct backstore *bs = bs_of(state);
	uint32_t block = bs->limits.block_size;
	put_pattern(bs, SUBJECT_SIZE - block, block, 9);
	expect_pattern(bs, SUBJECT_SIZE - block, block, 9);
}

static void neighbours_of_a_write_stay(void **state)
{
	struct backstore *bs = bs_of(state);
	uint32_t block = bs->limits.block_size;
	put_pattern(bs, 0, 64 * KIB, 1);
	put_pattern(bs, 5 * block, block, 2);
	expect_pattern(bs, 0, 5 * block, 1);
	expect_pattern(bs, 5 * block, block, 2);
	expect_pattern(bs, 6 * block, 64 * KIB - 6 * block, 1);
}

static void a_durable_write_reads_back(void **state)
{
	struct backstore *bs = bs_of(state);
	struct sg_list l = { .sg = { { .addr = arena, .len = 8192 } }, .n = 1 };
	sg_fill(&l, 4096, 4);
	assert_int_equal(io_sg(bs, BS_WRITE, 4096, 8192, l.sg, 1, BS_FUA), 0);
	expect_pattern(bs, 4096, 8192, 4);
}

static void flush_succeeds(void **state)
{
	assert_int_equal(io_one(bs_of(state), BS_FLUSH, 0, 0, NULL), 0);
}

static void flush_ignores_offset_and_length(void **state)
{
	assert_int_equal(io_one(bs_of(state), BS_FLUSH, UINT64_MAX, 77, NULL), 0);
}

static void unmapped_ranges_read_as_zeroes(void **state)
{
	struct backstore *bs = bs_of(state);
	uint32_t block = bs->limits.block_size;
	put_pattern(bs, 0, 2 * MIB, 3);
	// Large enough for another thread, and one that begins and ends inside of pages.
	assert_int_equal(io_one(bs, BS_UNMAP, MIB, 512 * KIB, NULL), 0);
	assert_int_equal(io_one(bs, BS_UNMAP, 3 * block, 9 * block, NULL), 0);
	expect_pattern(bs, 0, 3 * block, 3);
	expect_zeroes(bs, 3 * block, 9 * block);
	expect_pattern(bs, 12 * block, MIB - 12 * block, 3);
	expect_zeroes(bs, MIB, 512 * KIB);
	expect_pattern(bs, MIB + 512 * KIB, 512 * KIB, 3);
}

static void the_whole_store_can_be_unmapped(void **state)
{
	struct backstore *bs = bs_of(state);
	put_pattern(bs, 0, MIB, 5);
	put_pattern(bs, SUBJECT_SIZE - MIB, MIB, 5);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, SUBJECT_SIZE, NULL), 0);
	expect_zeroes(bs, 0, MIB);
	expect_zeroes(bs, SUBJECT_SIZE - MIB, MIB);
}

static void unmap_of_fixed_storage_is_refused(void **state)
{
	assert_false(bs_of(state)->limits.can_unmap);
	assert_int_equal(io_one(bs_of(state), BS_UNMAP, 0, MIB, NULL), -EOPNOTSUPP);
}

static void zeroes_written_read_as_zeroes(void **state)
{
	static const uint32_t flags[] = { 0, BS_FUA };
	struct backstore *bs = bs_of(state);
	uint32_t block = bs->limits.block_size;
	assert_true(bs->limits.can_write_zeroes);
	for (int i = 0; i < 2; i++) {
		put_pattern(bs, 0, 2 * MIB, 6);
		assert_int_equal(io_sg(bs, BS_WRITE_ZEROES, block, 5 * block, NULL, 0, flags[i]),
				 0);
		assert_int_equal(io_sg(bs, BS_WRITE_ZEROES, MIB, MIB, NULL, 0, flags[i]), 0);
		expect_pattern(bs, 0, block, 6);
		expect_zeroes(bs, block, 5 * block);
		expect_pattern(bs, 6 * block, MIB - 6 * block, 6);
		expect_zeroes(bs, MIB, MIB);
	}
}

// A RAM disk in reserved huge pages has no holes.
static void needs_extents(struct backstore *bs)
{
	if (!bs->limits.can_extent)
		skip();
}

static void extents_tell_data_from_holes(void **state)
{
	struct backstore *bs = bs_of(state);
	uint64_t length;
	bool is_mapped;
	needs_extents(bs);
	put_pattern(bs, 4 * MIB, 2 * MIB, 7);

	assert_int_equal(io_extent(bs, 0, SUBJECT_SIZE, &length, &is_mapped), 0);
	assert_false(is_mapped);
	assert_int_equal(length, 4 * MIB);

	assert_int_equal(io_extent(bs, 4 * MIB, SUBJECT_SIZE - 4 * MIB, &length, &is_mapped), 0);
	assert_true(is_mapped);
	assert_int_equal(length, 2 * MIB);

	assert_int_equal(io_extent(bs, 6 * MIB, SUBJECT_SIZE - 6 * MIB, &length, &is_mapped), 0);
	assert_false(is_mapped);
	assert_int_equal(length, SUBJECT_SIZE - 6 * MIB);
}

static void an_extent_ends_where_the_question_ends(void **state)
{
	struct backstore *bs = bs_of(state);
	uint64_t length;
	bool is_mapped;
	needs_extents(bs);
	put_pattern(bs, 0, MIB, 7);
	assert_int_equal(io_extent(bs, 0, 64 * KIB, &length, &is_mapped), 0);
	assert_true(is_mapped);
	assert_int_equal(length, 64 * KIB);
	assert_int_equal(io_extent(bs, 8 * MIB, 64 * KIB, &length, &is_mapped), 0);
	assert_false(is_mapped);
	assert_int_equal(length, 64 * KIB);
}

static void unmapped_space_is_a_hole_again(void **state)
{
	struct backstore *bs = bs_of(state);
	uint64_t length;
	bool is_mapped;
	needs_extents(bs);
	put_pattern(bs, 0, 4 * MIB, 7);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 2 * MIB, NULL), 0);
	assert_int_equal(io_extent(bs, 0, SUBJECT_SIZE, &length, &is_mapped), 0);
	assert_false(is_mapped);
	assert_int_equal(length, 2 * MIB);
}

static void io_beyond_the_end_is_refused(void **state)
{
	struct backstore *bs = bs_of(state);
	uint64_t block = bs->limits.block_size;
	static const enum bs_op ops[] = { BS_READ, BS_WRITE, BS_UNMAP, BS_WRITE_ZEROES, BS_EXTENT };
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		const uint64_t bad[][2] = {
			{SUBJECT_SIZE,		block		      },
			   { SUBJECT_SIZE - block,   2 * block	     },
			{ 0,			     SUBJECT_SIZE + block  },
			   { UINT64_MAX - block + 1, block		   },
			{ block,			 UINT64_MAX - block + 1},
			   { 1ull << 63,		 1ull << 63	    },
		};
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
			assert_int_equal(io_one(bs, ops[i], bad[k][0], bad[k][1], arena), -ERANGE);
	}
}

static void io_in_parts_of_blocks_is_refused(void **state)
{
	struct backstore *bs = bs_of(state);
	assert_int_equal(io_one(bs, BS_READ, 1, bs->limits.block_size, arena), -EINVAL);
	assert_int_equal(io_one(bs, BS_READ, 0, bs->limits.block_size - 1, arena), -EINVAL);
}

static void a_list_that_is_not_the_length_is_refused(void **state)
{
	struct sg sg = { .addr = arena, .len = 4096 };
	assert_int_equal(io_sg(bs_of(state), BS_READ, 0, 8192, &sg, 1, 0), -EINVAL);
}

static void io_of_nothing_succeeds(void **state)
{
	assert_int_equal(io_one(bs_of(state), BS_WRITE, SUBJECT_SIZE, 0, NULL), 0);
}

static void many_ios_at_once_all_complete(void **state)
{
	enum { N = 64 };
	static struct waited_io w[N];
	static struct sg sg[N];
	struct backstore *bs = bs_of(state);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t offset = (uint64_t)i * 64 * KIB;
		struct sg_list l = { .sg = { { .addr = arena + offset, .len = 64 * KIB } },
				     .n = 1 };
		sg_fill(&l, offset, 8);
		sg[i] = l.sg[0];
		w[i] = (struct waited_io){
			.io = {.op = BS_WRITE,
				.offset = offset,
				.length = 64 * KIB,
				.sg = &sg[i],
				.nsg = 1}
		};
		waited_start(&w[i], bs);
	}
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(waited_result(&w[i]), 0);
	expect_pattern(bs, 0, 4 * MIB, 8);
}

static void content_survives_close_and_open(void **state)
{
	struct contract_state *c = *state;
	put_pattern(c->bs, 12 * KIB, MIB, 10);
	backstore_close(c->bs);
	c->bs = c->subject->open(c->subject, false);
	assert_int_equal(c->bs->limits.size, SUBJECT_SIZE);
	expect_pattern(c->bs, 12 * KIB, MIB, 10);
	expect_zeroes(c->bs, 0, 12 * KIB);
}

static void growth_keeps_content_and_adds_zeroes(void **state)
{
	struct backstore *bs = bs_of(state);
	struct err e;
	put_pattern(bs, SUBJECT_SIZE - MIB, MIB, 11);
	assert_int_equal(io_one(bs, BS_READ, SUBJECT_SIZE, 4096, arena), -ERANGE);

	assert_int_equal(backstore_resize(bs, SUBJECT_SIZE + 8 * MIB, &e), 0);

	assert_int_equal(backstore_size(bs), SUBJECT_SIZE + 8 * MIB);
	expect_pattern(bs, SUBJECT_SIZE - MIB, MIB, 11);
	expect_zeroes(bs, SUBJECT_SIZE, MIB);
	put_pattern(bs, SUBJECT_SIZE + 7 * MIB, MIB, 12);
	expect_pattern(bs, SUBJECT_SIZE + 7 * MIB, MIB, 12);
}

static void it_does_not_shrink(void **state)
{
	struct err e;
	int r = backstore_resize(bs_of(state), SUBJECT_SIZE - 4096, &e);
	assert_int_equal(r, -EINVAL);
	assert_non_null(strstr(e.text, "can only grow"));
	assert_int_equal(backstore_size(bs_of(state)), SUBJECT_SIZE);
}

static void it_does_not_grow_by_half_a_block(void **state)
{
	struct err e;
	assert_int_equal(backstore_resize(bs_of(state), SUBJECT_SIZE + 100, &e), -EINVAL);
}

static void refresh_sees_no_change_where_none_is(void **state)
{
	struct err e;
	bool is_changed = true;
	assert_int_equal(backstore_refresh(bs_of(state), &is_changed, &e), 0);
	assert_false(is_changed);
}

static void direct_memory_is_the_content(void **state)
{
	struct backstore *bs = bs_of(state);
	uint8_t *p = backstore_map(bs, MIB, 4096);
	put_pattern(bs, MIB, 4096, 13);
	if (!bs->memory) {
		assert_null(p);
		return;
	}
	assert_ptr_equal(p, bs->memory + MIB);
	assert_int_equal(p[77], pattern(MIB + 77, 13));
	assert_null(backstore_map(bs, SUBJECT_SIZE - 512, 1024));
	assert_null(backstore_map(bs, UINT64_MAX, 2));
}

#define CLAIM(fn, needs, never)                                                                    \
	{                                                                                          \
#fn, fn, needs, never                                                              \
	}

static const struct claim_row {
	const char *name;
	void (*fn)(void **state);
	unsigned needs, never;
} claims[] = {
	CLAIM(has_sound_limits, 0, 0),
	CLAIM(reads_zeroes_when_new, 0, 0),
	CLAIM(reads_back_every_shape_written_in_every_shape, IS_STORE, 0),
	CLAIM(a_read_touches_nothing_beside_its_pieces, 0, 0),
	CLAIM(the_last_block_can_be_written, IS_STORE, 0),
	CLAIM(neighbours_of_a_write_stay, IS_STORE, 0),
	CLAIM(a_durable_write_reads_back, IS_STORE, 0),
	CLAIM(flush_succeeds, 0, 0),
	CLAIM(flush_ignores_offset_and_length, 0, 0),
	CLAIM(unmapped_ranges_read_as_zeroes, IS_STORE | IS_THIN, 0),
	CLAIM(the_whole_store_can_be_unmapped, IS_STORE | IS_THIN, 0),
	CLAIM(unmap_of_fixed_storage_is_refused, 0, IS_THIN),
	CLAIM(zeroes_written_read_as_zeroes, IS_STORE, 0),
	CLAIM(extents_tell_data_from_holes, IS_STORE | IS_THIN | IS_EXPLAINED, 0),
	CLAIM(an_extent_ends_where_the_question_ends, IS_STORE | IS_THIN | IS_EXPLAINED, 0),
	CLAIM(unmapped_space_is_a_hole_again, IS_STORE | IS_THIN | IS_EXPLAINED, 0),
	CLAIM(io_beyond_the_end_is_refused, 0, 0),
	CLAIM(io_in_parts_of_blocks_is_refused, 0, 0),
	CLAIM(a_list_that_is_not_the_length_is_refused, 0, 0),
	CLAIM(io_of_nothing_succeeds, 0, 0),
	CLAIM(many_ios_at_once_all_complete, IS_STORE, 0),
	CLAIM(content_survives_close_and_open, IS_LASTING, 0),
	CLAIM(growth_keeps_content_and_adds_zeroes, IS_STORE | IS_GROWING, 0),
	CLAIM(it_does_not_shrink, 0, 0),
	CLAIM(it_does_not_grow_by_half_a_block, 0, 0),
	CLAIM(refresh_sees_no_change_where_none_is, 0, 0),
	CLAIM(direct_memory_is_the_content, IS_STORE, 0),
};
#define N_CLAIMS (sizeof(claims) / sizeof(claims[0]))

static int contract_setup(void **state)
{
	struct contract_state *c = *state;
	c->bs = c->subject->open(c->subject, true);
	return c->bs ? 0 : -1;
}

static int contract_teardown(void **state)
{
	struct contract_state *c = *state;
	backstore_close(c->bs);
	if (c->subject->clean)
		c->subject->clean(c->subject);
	return 0;
}

// Every claim that applies to the subject. Returns the number that failed.
static int contract_run(const struct subject *s)
{
	static struct CMUnitTest tests[N_CLAIMS];
	static char names[N_CLAIMS][160];
	struct contract_state c = { .subject = s };
	size_t n = 0;
	for (size_t i = 0; i < N_CLAIMS; i++) {
		if ((s->flags & claims[i].needs) != claims[i].needs || s->flags & claims[i].never)
			continue;
		snprintf(names[n], sizeof(names[n]), "%s: %s", s->name, claims[i].name);
		tests[n] = (struct CMUnitTest){ names[n], claims[i].fn, contract_setup,
						contract_teardown, &c };
		n++;
	}
	return _cmocka_run_group_tests(s->name, tests, n, start_worker, stop_worker);
}
