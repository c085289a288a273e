// SPDX-License-Identifier: BSD-2-Clause
// What one connection may keep, by what all of them do, and when memory has been freed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/peer_memory.h"

#define KIB (1ull << 10)
#define MIB (1ull << 20)

static void the_more_all_keep_the_less_each_may(void **state)
{
	static const struct {
		enum peer_memory kind;
		uint64_t all, most;
	} rows[] = {
		{PEER_ANSWERS,	0,		   4 * MIB  },
		{ PEER_ANSWERS,	16 * MIB,	  4 * MIB  },
		{ PEER_ANSWERS,	16 * MIB + 1,  64 * KIB },
		{ PEER_ANSWERS,	32 * MIB,	  64 * KIB },
		{ PEER_ANSWERS,	32 * MIB + 1,  4 * KIB  },
		{ PEER_DATA_OUT, 64 * MIB,	   16 * MIB },
		{ PEER_DATA_OUT, 64 * MIB + 1,  256 * KIB},
		{ PEER_DATA_OUT, 128 * MIB + 1, 16 * KIB },
	};
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum peer_memory other = PEER_ANSWERS + PEER_DATA_OUT - rows[i].kind;
		peer_memory_take(rows[i].kind, rows[i].all);
		assert_int_equal(peer_memory_limit(rows[i].kind), rows[i].most);
		assert_false(peer_memory_is_short(other));
		peer_memory_give(rows[i].kind, rows[i].all);
	}
}

static void memory_was_freed_once_when_most_of_it_is(void **state)
{
	peer_memory_was_freed(); // of the test before
	peer_memory_take(PEER_ANSWERS, 4 * MIB - 1);
	peer_memory_give(PEER_ANSWERS, 4 * MIB - 1);
	assert_false(peer_memory_was_freed());
	peer_memory_take(PEER_ANSWERS, 4 * MIB);
	peer_memory_take(PEER_DATA_OUT, 4 * MIB);
	peer_memory_give(PEER_DATA_OUT, 4 * MIB);
	assert_false(peer_memory_was_freed()); // half is
	peer_memory_give(PEER_ANSWERS, 2 * MIB);
	assert_true(peer_memory_was_freed());
	assert_false(peer_memory_was_freed());
	peer_memory_give(PEER_ANSWERS, 2 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_more_all_keep_the_less_each_may),
		cmocka_unit_test(memory_was_freed_once_when_most_of_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
