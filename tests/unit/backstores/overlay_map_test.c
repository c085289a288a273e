// SPDX-License-Identifier: BSD-2-Clause
// The header of an overlay file, hostile ones among them, and its map in memory.
#include "backstores/io_util.h"

#include <pthread.h>
#include <sched.h>

#include "backstores/overlay_header.h"
#include "backstores/overlay_map.h"

static void a_header_reads_as_it_was_written(void **state)
{
	struct overlay_header h = { .base = { 5ull << 30, -7, 999999999, 0x12345678 },
				    .boot_id = { 1, 2, 3 } },
			      again;
	uint8_t data[OVERLAY_HEADER];
	struct err e;
	overlay_header_write(&h, data);
	assert_int_equal(overlay_header_read(data, sizeof data, &again, &e), 0);
	assert_memory_equal(&h.base, &again.base, sizeof h.base);
	assert_memory_equal(h.boot_id, again.boot_id, sizeof h.boot_id);
}

// Sets bytes of a header and makes its checksum right again.
static void patch(uint8_t data[OVERLAY_HEADER], unsigned at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		data[at + i] = (uint8_t)(value >> 8 * i);
	uint32_t crc = overlay_crc(0, data, OVERLAY_HEADER - 4);
	for (unsigned i = 0; i < 4; i++)
		data[OVERLAY_HEADER - 4 + i] = (uint8_t)(crc >> 8 * i);
}

static void bad_headers_are_refused(void **state)
{
	static const struct {
		unsigned at, bytes;
		uint64_t value;
		const char *why;
	} rows[] = {
		{0,    8, 0,		   "not an overlay"	    },
		{ 8,   4, 2,		   "version 2 is unknown"},
		{ 12,  4, 512,		      "invalid fields"      },
		{ 16,  8, 1ull << 49,	     "invalid fields"      },
		{ 16,  8, UINT64_MAX,	     "invalid fields"      },
		{ 16,  8, 1ull << 47,	     "invalid fields"      }, // data is elsewhere then
		{ 32,  4, 1000000000,	     "invalid fields"      },
		{ 40,  8, UINT64_MAX - 4095, "invalid fields"	     },
		{ 64,  1, 1,		    "invalid fields"	     },
		{ 507, 1, 1,		     "invalid fields"      },
	};
	struct overlay_header h = { .base = { MIB, 1, 1, 1 } }, again;
	uint8_t data[OVERLAY_HEADER];
	struct err e;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		overlay_header_write(&h, data);
		patch(data, rows[i].at, rows[i].value, rows[i].bytes);
		assert_int_equal(overlay_header_read(data, sizeof data, &again, &e), -EINVAL);
		assert_non_null(strstr(e.text, rows[i].why));
	}
	overlay_header_write(&h, data);
	data[100] ^= 1;
	assert_int_equal(overlay_header_read(data, sizeof data, &again, &e), -EINVAL);
	assert_non_null(strstr(e.text, "damaged"));
	data[100] ^= 1;
	assert_int_equal(overlay_header_read(data, sizeof data - 1, &again, &e), -EINVAL);
	assert_non_null(strstr(e.text, "cut off"));
	assert_int_equal(overlay_header_read(data, 7, &again, &e), -EINVAL);
}

static void the_map_finds_runs_of_both_kinds(void **state)
{
	struct overlay_layout l;
	struct overlay_map m;
	bool own;
	assert_int_equal(overlay_layout(1000 * 4096, &l), 0);
	assert_int_equal(overlay_map_init(&m, &l), 0);
	overlay_map_set(&m, 60, 70);
	overlay_map_set(&m, 990, 100);
	assert_int_equal(overlay_map_run(&m, 0, 2000, &own), 60);
	assert_false(own);
	assert_int_equal(overlay_map_run(&m, 60, 2000, &own), 70);
	assert_true(own);
	assert_int_equal(overlay_map_run(&m, 100, 3, &own), 3);
	assert_int_equal(overlay_map_run(&m, 130, 2000, &own), 860);
	assert_false(own);
	assert_int_equal(overlay_map_run(&m, 995, 2000, &own), 2000);
	assert_true(own);
	assert_int_equal(overlay_map_run(&m, 5000, 7, &own), 7);
	assert_true(own);
	assert_true(overlay_map_owns(&m, 64, 64));
	assert_false(overlay_map_owns(&m, 59, 2));
	overlay_map_done(&m);
}

static void bits_set_during_a_commit_belong_to_the_next(void **state)
{
	struct overlay_layout l;
	struct overlay_map m;
	uint64_t length;
	assert_int_equal(overlay_layout(1 * GIB, &l), 0);
	assert_int_equal(overlay_map_init(&m, &l), 0);
	overlay_map_set(&m, 3, 1);
	assert_true(overlay_map_is_dirty(&m, 3, 1));
	assert_false(overlay_map_is_dirty(&m, 40000, 1)); // in another page
	overlay_map_stage(&m);
	overlay_map_set(&m, 4, 1);
	assert_int_equal(m.staged[0], 1 << 3);
	assert_int_equal(overlay_map_staged(&m, 0, &length), 0);
	assert_int_equal(length, 4096);
	overlay_map_staged(&m, 4096, &length);
	assert_int_equal(length, 0);
	overlay_map_commit(&m, false);
	assert_true(overlay_map_has_dirty(&m));
	overlay_map_stage(&m);
	assert_int_equal(m.staged[0], 3 << 3);
	overlay_map_commit(&m, true);
	assert_true(overlay_map_has_dirty(&m));
	overlay_map_stage(&m);
	overlay_map_commit(&m, false);
	assert_false(overlay_map_has_dirty(&m));
	overlay_map_done(&m);
}

static void bits_are_safe_from_their_note_or_commit_on(void **state)
{
	struct overlay_layout l;
	struct overlay_map m;
	assert_int_equal(overlay_layout(1 * GIB, &l), 0);
	assert_int_equal(overlay_map_init(&m, &l), 0);
	overlay_map_set(&m, 3, 70);
	assert_false(overlay_map_is_safe(&m, 3, 70));
	overlay_map_noted(&m, 3, 10);
	assert_true(overlay_map_is_safe(&m, 3, 10));
	assert_false(overlay_map_is_safe(&m, 12, 2));
	overlay_map_stage(&m);
	overlay_map_commit(&m, true);
	assert_false(overlay_map_is_safe(&m, 13, 60));
	overlay_map_stage(&m);
	overlay_map_set(&m, 73, 1);
	overlay_map_commit(&m, false);
	assert_true(overlay_map_is_safe(&m, 3, 70));
	assert_false(overlay_map_is_safe(&m, 73, 1));
	assert_true(overlay_map_is_safe(&m, l.blocks, 5)); // has no bits
	overlay_map_done(&m);
}

// --- two workers at once

enum { ROUNDS = 100000, MEETINGS = 3 };

struct race {
	struct overlay_map m;
	uint32_t arrived, missed; // atomics
};

// Waits until both have arrived.
static void meet(struct race *r, uint32_t meeting)
{
	__atomic_add_fetch(&r->arrived, 1, __ATOMIC_ACQ_REL);
	for (unsigned i = 1; __atomic_load_n(&r->arrived, __ATOMIC_ACQUIRE) < 2 * meeting; i++)
		if (i % 1024 == 0)
			sched_yield();
}

static void set_and_look(struct race *r, uint32_t round)
{
	meet(r, round * MEETINGS + 1);
	overlay_map_set(&r->m, 3, 1);
	if (!overlay_map_is_dirty(&r->m, 3, 1))
		__atomic_add_fetch(&r->missed, 1, __ATOMIC_RELAXED);
	meet(r, round * MEETINGS + 2);
}

static void *set_only(void *arg)
{
	struct race *r = arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		set_and_look(r, i);
		meet(r, i * MEETINGS + 3);
	}
	return NULL;
}

// Whatever the other one has done so far, who has set bits finds that they are dirty: a flush or a
// durable write that follows commits.
static void two_that_set_the_same_bits_both_find_them_dirty(void **state)
{
	static struct race r;
	struct overlay_layout l;
	pthread_t thread;
	assert_int_equal(overlay_layout(1 * MIB, &l), 0);
	assert_int_equal(overlay_map_init(&r.m, &l), 0);
	assert_int_equal(pthread_create(&thread, NULL, set_only, &r), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		set_and_look(&r, i);
		overlay_map_stage(&r.m);
		overlay_map_commit(&r.m, false);
		meet(&r, i * MEETINGS + 3);
	}
	pthread_join(thread, NULL);
	assert_int_equal(r.missed, 0);
	assert_false(overlay_map_has_dirty(&r.m));
	overlay_map_done(&r.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_reads_as_it_was_written),
		cmocka_unit_test(bad_headers_are_refused),
		cmocka_unit_test(the_map_finds_runs_of_both_kinds),
		cmocka_unit_test(bits_set_during_a_commit_belong_to_the_next),
		cmocka_unit_test(bits_are_safe_from_their_note_or_commit_on),
		cmocka_unit_test(two_that_set_the_same_bits_both_find_them_dirty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
