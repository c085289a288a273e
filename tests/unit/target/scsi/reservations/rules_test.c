// SPDX-License-Identifier: BSD-2-Clause
// Who may read and write under each type of reservation, and RESERVE/RELEASE(6/10). The
// nexuses are on two workers: the snapshots of both are seen.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "target/scsi/reservations/pr_bench.h"
#include "target/scsi/reservations/table.h"

enum { HOLDER, REGISTRANT, STRANGER, LATECOMER, NEXUSES };

static int setup(void **state)
{
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = NEXUSES });
	return 0;
}

static int teardown(void **state)
{
	bench_done(&b);
	return 0;
}

static void expect_access(unsigned type, unsigned nexus, bool reads, bool writes)
{
	assert_int_equal(read_one(nexus), reads ? STATUS_GOOD : STATUS_RESERVATION_CONFLICT);
	assert_int_equal(write_one(nexus), writes ? STATUS_GOOD : STATUS_RESERVATION_CONFLICT);
}

static void each_type_lets_through_whom_it_should(void **state)
{
	static const struct {
		uint8_t type;
		bool registrant_reads, registrant_writes, stranger_reads;
	} rows[] = {
		{PR_WE,	 true,  false, true },
		{ PR_EA,	 false, false, false},
		{ PR_WE_RO, true,  true,	true },
		{ PR_EA_RO, true,  true,	false},
		{ PR_WE_AR, true,  true,	true },
		{ PR_EA_AR, true,  true,	false},
	};
	pr_register(HOLDER);
	pr_register(REGISTRANT);
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pr_out(HOLDER, OUT_RESERVE, rows[i].type, key_of(HOLDER), 0, 0);
		expect_access(rows[i].type, HOLDER, true, true);
		expect_access(rows[i].type, REGISTRANT, rows[i].registrant_reads,
			      rows[i].registrant_writes);
		expect_access(rows[i].type, STRANGER, rows[i].stranger_reads, false);
		pr_out(HOLDER, OUT_RELEASE, rows[i].type, key_of(HOLDER), 0, 0);
		pending_ua(REGISTRANT);
		expect_access(0, STRANGER, true, true);
	}
}

static void a_session_that_comes_later_is_bound_too(void **state)
{
	pr_register(HOLDER);
	pr_out(HOLDER, OUT_RESERVE, PR_EA, key_of(HOLDER), 0, 0);
	bench_relogin(&b, LATECOMER);
	pending_ua(LATECOMER);
	expect_access(PR_EA, LATECOMER, false, false);
}

static void what_tells_about_the_unit_is_always_allowed(void **state)
{
	pr_register(HOLDER);
	pr_out(HOLDER, OUT_RESERVE, PR_EA, key_of(HOLDER), 0, 0);
	assert_int_equal(BENCH_IN(&b, STRANGER, &c, 96, 0x12, 0, 0, 0, 96, 0), 0);
	assert_int_equal(BENCH_IN(&b, STRANGER, &c, 8, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
	assert_int_equal(BENCH_NONE(&b, STRANGER, &c, 0, 0, 0, 0, 0, 0), 0);
	assert_int_equal(pr_in(STRANGER, 0, 8), 0);
	assert_int_equal(pr_out(STRANGER, OUT_REGISTER, 0, 0, 9, 0), 0);
}

// --- RESERVE and RELEASE ---

static int reserve6(unsigned nexus)
{
	return BENCH_NONE(&b, nexus, &c, 0x16, 0, 0, 0, 0, 0);
}

static int release6(unsigned nexus)
{
	return BENCH_NONE(&b, nexus, &c, 0x17, 0, 0, 0, 0, 0);
}

static void reserve_keeps_the_others_out(void **state)
{
	assert_int_equal(reserve6(0), 0);
	assert_int_equal(reserve6(0), 0);
	assert_int_equal(reserve6(1), STATUS_RESERVATION_CONFLICT);
	expect_access(0, 0, true, true);
	expect_access(0, 1, false, false);
	assert_int_equal(BENCH_IN(&b, 1, &c, 255, 0x1a, 0, 0x3f, 0, 255, 0),
			 STATUS_RESERVATION_CONFLICT);
}

static void release_by_another_does_nothing(void **state)
{
	reserve6(0);
	assert_int_equal(release6(1), 0);
	assert_int_equal(write_one(1), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(release6(0), 0);
	assert_int_equal(reserve6(1), 0);
}

static void the_ten_byte_forms_are_the_same_reservation(void **state)
{
	assert_int_equal(BENCH_NONE(&b, 0, &c, 0x56, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
	assert_int_equal(write_one(1), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(BENCH_NONE(&b, 0, &c, 0x57, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
	assert_int_equal(write_one(1), 0);
}

static void a_reset_ends_reserve(void **state)
{
	reserve6(0);
	assert_int_equal(bench_tmf(&b, 1, TMF_LU_RESET, 0), TMF_COMPLETE);
	pending_ua(1);
	assert_int_equal(reserve6(1), 0);
}

static void nexus_loss_ends_reserve(void **state)
{
	reserve6(1);
	bench_nexus_free(&b, 1);
	bench_settle(&b);
	assert_int_equal(reserve6(0), 0);
	assert_int_equal(write_one(0), 0);
}

static void leave(void *nexus)
{
	nexus_leave(nexus);
}

static void a_logout_ends_reserve_before_its_answer(void **state)
{
	for (int i = 0; i < 200; i++) {
		assert_int_equal(reserve6(1), 0);
		bench_on_nexus(&b, 1, leave, b.nexuses[1]);
		assert_int_equal(write_one(0), 0); // at once, whatever the other workers know
	}
}

static void reserve_excludes_persistent_reservations(void **state)
{
	reserve6(0);
	assert_int_equal(pr_in(0, 0, 8), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 0, 5, 0), STATUS_RESERVATION_CONFLICT);
}

static void registrants_may_reserve_without_effect(void **state)
{
	pr_register(0);
	assert_int_equal(reserve6(0), 0);
	assert_int_equal(write_one(1), 0);
	assert_int_equal(reserve6(1), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(release6(1), 0);
}

static void extents_and_third_parties_are_refused(void **state)
{
	BENCH_NONE(&b, 0, &c, 0x16, 0x10, 0, 0, 0, 0);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_type_lets_through_whom_it_should),
		T(a_session_that_comes_later_is_bound_too),
		T(what_tells_about_the_unit_is_always_allowed),
		T(reserve_keeps_the_others_out),
		T(release_by_another_does_nothing),
		T(the_ten_byte_forms_are_the_same_reservation),
		T(a_reset_ends_reserve),
		T(nexus_loss_ends_reserve),
		T(a_logout_ends_reserve_before_its_answer),
		T(reserve_excludes_persistent_reservations),
		T(registrants_may_reserve_without_effect),
		T(extents_and_third_parties_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
