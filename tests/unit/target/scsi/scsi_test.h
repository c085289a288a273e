// SPDX-License-Identifier: BSD-2-Clause
// Common start of the device server's tests: cmocka, one bench, one command. A test calls start();
// the teardown ends the bench.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "target/scsi/scsi_bench.h"
#include "transport/wire/be.h"

static struct bench b;
static struct bench_cmd c;
static bool is_started;

static inline void start(const struct bench_options *o)
{
	bench_init(&b, o);
	is_started = true;
}

static inline int stop(void **state)
{
	if (is_started)
		bench_done(&b);
	is_started = false;
	return 0;
}

#define T(f) cmocka_unit_test_teardown(f, stop)

#define expect_good(x) assert_int_equal((x), STATUS_GOOD)
#define expect_code(x)                                                                             \
	do {                                                                                       \
		assert_int_equal(c.status, STATUS_CHECK_CONDITION);                                \
		assert_int_equal(c.code, (x));                                                     \
	} while (0)

// TEST UNIT READY through nexus n: its sense code, 0: GOOD.
static inline uint32_t tur(unsigned n)
{
	BENCH_NONE(&b, n, &c, 0, 0, 0, 0, 0, 0);
	return c.code;
}
