// SPDX-License-Identifier: BSD-2-Clause
// The soft threshold of thin provisioning.
#include "target/scsi/sbc/sbc_test.h"

#include "target/scsi/sbc/thin_threshold.h"

#define SOFT_THRESHOLD SENSE(SK_UNIT_ATTENTION, 0x38, 0x07)

static uint8_t ready(unsigned nexus)
{
	static const uint8_t cdb[6];
	return st_on(nexus, cdb, 6, NULL, 0, NULL, 0);
}

static void check_at(uint64_t used)
{
	st.used = used;
	thin_check(st_lu());
}

static void passing_the_threshold_tells_every_nexus_once(void **state)
{
	st_lu()->attr.thin_threshold_percent = 80;
	check_at(799);
	assert_int_equal(ready(0), STATUS_GOOD);
	check_at(800);
	check_at(900);
	for (unsigned i = 0; i < ST_NEXUSES; i++) {
		st_refused(ready(i), SOFT_THRESHOLD);
		assert_int_equal(ready(i), STATUS_GOOD);
	}
}

static void passing_it_again_tells_again(void **state)
{
	st_lu()->attr.thin_threshold_percent = 80;
	check_at(800);
	st_refused(ready(0), SOFT_THRESHOLD);
	check_at(700);
	assert_int_equal(ready(0), STATUS_GOOD);
	check_at(801);
	st_refused(ready(0), SOFT_THRESHOLD);
}

static void no_threshold_tells_nobody(void **state)
{
	check_at(1000);
	assert_int_equal(ready(0), STATUS_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(passing_the_threshold_tells_every_nexus_once),
		ST_TEST(passing_it_again_tells_again),
		ST_TEST(no_threshold_tells_nobody),
	};
	return st_main(tests);
}
