// SPDX-License-Identifier: BSD-2-Clause
// START STOP UNIT: ejecting, loading, preventing. Nexus 0 does, nexus 1 watches.
#include "target/scsi/sbc/sbc_test.h"

#define REMOVAL_PREVENTED SENSE(SK_ILLEGAL_REQUEST, 0x53, 0x02)
#define MEDIUM_CHANGED	  SENSE(SK_UNIT_ATTENTION, 0x28, 0x00)
enum { START = 1, LOEJ = 2, NO_FLUSH = 4 };

static uint8_t start_stop(unsigned nexus, uint8_t how)
{
	uint8_t cdb[6] = { 0x1b, 0, 0, 0, how };
	return st_on(nexus, cdb, 6, NULL, 0, NULL, 0);
}

static uint8_t ready(unsigned nexus)
{
	uint8_t cdb[6] = { 0 };
	return st_on(nexus, cdb, 6, NULL, 0, NULL, 0);
}

static uint8_t prevent(unsigned nexus, uint8_t how)
{
	uint8_t cdb[6] = { 0x1e, 0, 0, 0, how };
	return st_on(nexus, cdb, 6, NULL, 0, NULL, 0);
}

static void removable(void)
{
	__atomic_store_n(&st_lu()->attr.removable, 1, __ATOMIC_RELAXED);
}

static void an_ejected_medium_is_not_present(void **state)
{
	removable();
	assert_int_equal(start_stop(0, LOEJ), STATUS_GOOD);
	st_refused(ready(0), SENSE_MEDIUM_NOT_PRESENT);
	st_refused(ready(1), SENSE_MEDIUM_NOT_PRESENT);
}

static void a_loaded_medium_is_ready_and_others_learn_of_it(void **state)
{
	removable();
	assert_int_equal(start_stop(0, LOEJ), STATUS_GOOD);
	assert_int_equal(start_stop(0, LOEJ | START), STATUS_GOOD);
	assert_int_equal(ready(0), STATUS_GOOD);
	st_refused(ready(1), MEDIUM_CHANGED);
	assert_int_equal(ready(1), STATUS_GOOD);
}

static void loading_what_is_loaded_tells_nobody(void **state)
{
	removable();
	assert_int_equal(start_stop(0, LOEJ | START), STATUS_GOOD);
	assert_int_equal(ready(1), STATUS_GOOD);
}

static void a_nexus_that_prevents_removal_stops_every_nexus(void **state)
{
	removable();
	assert_int_equal(prevent(1, 1), STATUS_GOOD);
	st_refused(start_stop(0, LOEJ), REMOVAL_PREVENTED);
	st_refused(start_stop(1, LOEJ), REMOVAL_PREVENTED);
	assert_int_equal(ready(0), STATUS_GOOD);
	assert_int_equal(prevent(1, 0), STATUS_GOOD);
	assert_int_equal(start_stop(0, LOEJ), STATUS_GOOD);
}

static void preventing_stops_loading_too(void **state)
{
	removable();
	assert_int_equal(start_stop(0, LOEJ), STATUS_GOOD);
	assert_int_equal(prevent(1, 1), STATUS_GOOD);
	st_refused(start_stop(0, LOEJ | START), REMOVAL_PREVENTED);
	st_refused(ready(0), SENSE_MEDIUM_NOT_PRESENT);
	assert_int_equal(prevent(1, 0), STATUS_GOOD);
	assert_int_equal(start_stop(0, LOEJ | START), STATUS_GOOD);
	assert_int_equal(ready(0), STATUS_GOOD);
}

static void a_fixed_medium_can_not_be_ejected(void **state)
{
	st_refused(start_stop(0, LOEJ), SENSE_INVALID_FIELD_CDB);
	assert_int_equal(ready(0), STATUS_GOOD);
}

static void stopping_without_loej_leaves_the_unit_ready(void **state)
{
	assert_int_equal(start_stop(0, 0), STATUS_GOOD);
	assert_int_equal(start_stop(0, NO_FLUSH), STATUS_GOOD);
	assert_int_equal(start_stop(0, START), STATUS_GOOD);
	assert_int_equal(ready(0), STATUS_GOOD);
}

static void power_conditions_are_good_and_eject_nothing(void **state)
{
	removable();
	for (uint8_t power = 1; power < 16; power++)
		assert_int_equal(start_stop(0, (uint8_t)(power << 4 | LOEJ)), STATUS_GOOD);
	assert_int_equal(ready(0), STATUS_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(an_ejected_medium_is_not_present),
		ST_TEST(a_loaded_medium_is_ready_and_others_learn_of_it),
		ST_TEST(loading_what_is_loaded_tells_nobody),
		ST_TEST(a_nexus_that_prevents_removal_stops_every_nexus),
		ST_TEST(preventing_stops_loading_too),
		ST_TEST(a_fixed_medium_can_not_be_ejected),
		ST_TEST(stopping_without_loej_leaves_the_unit_ready),
		ST_TEST(power_conditions_are_good_and_eject_nothing),
	};
	return st_main(tests);
}
