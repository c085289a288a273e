// SPDX-License-Identifier: BSD-2-Clause
// The table of refused logins: repeats fold, and a crowd of one address displaces itself.
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/fabric/refusals.h"

#define TABLE 64

static struct login_refusal got[TABLE];

static uint64_t total(unsigned n)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += got[i].count;
	return sum;
}

static const struct login_refusal *entry(unsigned n, const char *initiator)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(got[i].initiator, initiator))
			return &got[i];
	return NULL;
}

// The table outlives a test: each begins with what the ones before have noted.
static uint64_t before(void)
{
	return total(login_refusals(got, TABLE));
}

static void repeats_are_one_entry(void **state)
{
	uint64_t old = before();
	for (int i = 0; i < 5; i++)
		refusal_note("iqn.a", "iqn.t", i ? "10.0.0.1:7" : "10.0.0.1:99", REFUSED_OTHER,
			     0x203, "none");
	unsigned n = login_refusals(got, TABLE);
	assert_int_equal(total(n), old + 5);
	assert_int_equal(entry(n, "iqn.a")->count, 5);
	assert_string_equal(entry(n, "iqn.a")->peer, "10.0.0.1:7");
}

static void each_cause_and_address_is_an_entry(void **state)
{
	static const char *const causes[] = { "no CHAP", "wrong user", "wrong secret" };
	for (unsigned i = 0; i < 12; i++)
		refusal_note("iqn.b", "iqn.t", i < 9 ? "10.0.0.4:7" : "10.0.0.5:7", REFUSED_OTHER,
			     0x201, causes[i % 3]);
	unsigned n = login_refusals(got, TABLE), found = 0;
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(got[i].initiator, "iqn.b")) {
			bool is_first = !strcmp(got[i].peer, "10.0.0.4:7");
			assert_int_equal(got[i].count, is_first ? 3 : 1);
			found++;
		}
	assert_int_equal(found, 6);
}

static void those_without_a_name_fold_by_address(void **state)
{
	for (int i = 0; i < 4; i++)
		refusal_note("", "", i % 2 ? "10.0.0.2:1" : "[fe80::2]:1", REFUSED_OTHER, 0x302,
			     "full");
	unsigned n = login_refusals(got, TABLE), found = 0;
	for (unsigned i = 0; i < n; i++)
		if (got[i].status == 0x302) {
			assert_int_equal(got[i].count, 2);
			found++;
		}
	assert_int_equal(found, 2);
}

static void a_crowd_displaces_its_own_entries_and_no_count_is_lost(void **state)
{
	uint64_t old = before();
	refusal_note("iqn.lonely", "iqn.t", "10.0.0.3:1", REFUSED_OTHER, 0x201, "wrong secret");
	for (int i = 0; i < 1000; i++) {
		char name[32];
		snprintf(name, sizeof name, "iqn.crowd%d", i);
		refusal_note(name, "iqn.t", "10.9.9.9:1", REFUSED_OTHER, i % 2 ? 0x203 : 0x202,
			     "no");
	}
	unsigned n = login_refusals(got, TABLE);
	assert_int_equal(n, TABLE);
	assert_int_equal(total(n), old + 1001);
	assert_non_null(entry(n, "iqn.lonely"));
	assert_non_null(entry(n, "iqn.crowd999"));
	assert_null(entry(n, "iqn.crowd0"));
	assert_string_equal(entry(n, "(several)")->peer, "10.9.9.9:1");
	assert_string_equal(entry(n, "(several)")->target, "iqn.t");
}

static void many_addresses_fold_by_status(void **state)
{
	uint64_t old = before();
	for (int i = 0; i < 1000; i++) {
		char peer[32];
		snprintf(peer, sizeof peer, "10.1.%d.%d:1", i / 250, i % 250);
		refusal_note("", "", peer, REFUSED_OTHER, 0x302, "full");
	}
	unsigned n = login_refusals(got, TABLE);
	assert_int_equal(n, TABLE);
	assert_int_equal(total(n), old + 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeats_are_one_entry),
		cmocka_unit_test(each_cause_and_address_is_an_entry),
		cmocka_unit_test(those_without_a_name_fold_by_address),
		cmocka_unit_test(a_crowd_displaces_its_own_entries_and_no_count_is_lost),
		cmocka_unit_test(many_addresses_fold_by_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
