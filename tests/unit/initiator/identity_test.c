// SPDX-License-Identifier: BSD-2-Clause
// Identity of a logical unit: what is another disk, and what a power on means to this one.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/identity.h"

#define POWER_ON (ATTENTION_LOOK | ATTENTION_POWER_ON)

// A T10 designator, a NAA one, and a port's, which is no part of the identity.
static const uint8_t designators[] = {
	0, 0x83, 0, 28, 2, 1, 0, 4, 'd', 'i',  's', 'k', 1, 3, 0, 8,
	6, 0,	 0, 0,	0, 0, 0, 1, 1,	 0x94, 0,   4,	 0, 0, 0, 7,
};

// As old units are: without VPD page 86h.
static struct identity without_extended_inquiry_data(void)
{
	struct identity i = { .blocks = 1000, .block_size = 512 };
	static const uint8_t serial[] = { 0, 0x80, 0, 2, '4', '2' };
	static const uint8_t caching[24] = { 23, 0, 0, 0, 0x08, 18 };
	identity_designators(&i, designators, sizeof designators);
	identity_serial(&i, serial, sizeof serial);
	identity_caching(&i, caching, sizeof caching);
	return i;
}

static struct identity disk(void)
{
	struct identity i = without_extended_inquiry_data();
	static const uint8_t extended[64] = { 0, 0x86, 0, 60 };
	identity_extended(&i, extended, sizeof extended);
	return i;
}

static enum scsi_lu_change compare(const struct identity *after, unsigned attentions)
{
	struct identity before = disk();
	struct err why = { 0 };
	enum scsi_lu_change change = identity_compare(&before, after, attentions, &why);
	assert_int_equal(change != SCSI_LU_SAME, why.code != 0);
	return change;
}

static void a_durable_disk_survives_a_power_on(void **state)
{
	struct identity i = disk();
	assert_true(identity_is_durable(&i));
	assert_int_equal(compare(&i, POWER_ON), SCSI_LU_SAME);
}

static void a_volatile_disk_survives_a_lost_nexus_alone(void **state)
{
	struct identity i = disk();
	i.has_volatile = true;
	assert_int_equal(compare(&i, identity_attention(0x29, 0x07)), SCSI_LU_SAME);
	assert_int_equal(compare(&i, identity_attention(0x29, 0x03)), SCSI_LU_SAME);
	assert_int_equal(compare(&i, identity_attention(0x29, 0x00)), SCSI_LU_RESTARTED);
	assert_int_equal(compare(&i, identity_attention(0x29, 0x01)), SCSI_LU_RESTARTED);
}

static void a_write_cache_does_not_survive_a_power_on(void **state)
{
	struct identity i = disk();
	i.has_write_cache = true;
	assert_int_equal(compare(&i, POWER_ON), SCSI_LU_RESTARTED);
}

static void a_disk_that_does_not_say_is_not_taken_for_durable(void **state)
{
	struct identity i = disk();
	i.has_caching = false;
	assert_int_equal(compare(&i, POWER_ON), SCSI_LU_RESTARTED);
}

static void an_old_disk_is_durable_without_a_write_cache(void **state)
{
	struct identity before = without_extended_inquiry_data(), after = before;
	struct err why = { 0 };
	assert_int_equal(identity_compare(&before, &after, POWER_ON, &why), SCSI_LU_SAME);
	after.has_write_cache = true;
	assert_int_equal(identity_compare(&before, &after, POWER_ON, &why), SCSI_LU_RESTARTED);
}

static void another_designator_serial_number_or_block_size_is_another_disk(void **state)
{
	struct identity i = disk();
	i.designators[i.designators_len - 1]++;
	assert_int_equal(compare(&i, 0), SCSI_LU_REPLACED);
	i = disk();
	i.serial[1]++;
	assert_int_equal(compare(&i, 0), SCSI_LU_REPLACED);
	i = disk();
	i.serial_len = 0;
	assert_int_equal(compare(&i, 0), SCSI_LU_REPLACED);
	i = disk();
	i = disk();
	i.block_size = 4096;
	assert_int_equal(compare(&i, 0), SCSI_LU_REPLACED);
}

static void a_new_size_of_a_disk_with_a_name_is_not_another_disk(void **state)
{
	struct identity i = disk();
	i.blocks++;
	assert_int_equal(compare(&i, 0), SCSI_LU_GREW);
	assert_int_equal(compare(&i, POWER_ON), SCSI_LU_GREW);
	i.has_write_cache = true; // what is lost counts more
	assert_int_equal(compare(&i, POWER_ON), SCSI_LU_RESTARTED);
	i = disk();
	i.blocks--;
	assert_int_equal(compare(&i, 0), SCSI_LU_SHRANK);
}

static void a_new_size_of_a_disk_without_a_name_is_another_disk(void **state)
{
	struct identity before = disk(), after;
	struct err why;
	before.designators_len = before.serial_len = 0;
	after = before;
	assert_int_equal(identity_compare(&before, &after, 0, &why), SCSI_LU_SAME);
	after.blocks++;
	assert_int_equal(identity_compare(&before, &after, 0, &why), SCSI_LU_REPLACED);
}

static void a_further_designator_or_another_path_is_the_same_disk(void **state)
{
	uint8_t more[sizeof designators + 8];
	static const uint8_t eui[] = { 1, 2, 0, 4, 9, 9, 9, 9 };
	struct identity i = disk();
	memcpy(more, designators, sizeof designators);
	memcpy(more + sizeof designators, eui, sizeof eui);
	more[3] += sizeof eui;
	more[sizeof designators - 1]++; // the port group
	i.designators_len = 0;
	identity_designators(&i, more, sizeof more);
	assert_int_equal(compare(&i, 0), SCSI_LU_SAME);
}

static void a_changed_medium_is_another_one_on_a_durable_disk_too(void **state)
{
	struct identity i = disk();
	assert_int_equal(compare(&i, identity_attention(0x28, 0x00)), SCSI_LU_REPLACED);
}

static void a_page_cut_anywhere_is_read_to_its_end_only(void **state)
{
	for (uint32_t len = 0; len <= sizeof designators; len++) {
		struct identity i = { 0 };
		uint8_t *page = malloc(len + !len); // a sanitizer sees what is read beyond it
		assert_non_null(page);
		memcpy(page, designators, len);
		identity_designators(&i, page, len);
		identity_serial(&i, page, len);
		identity_extended(&i, page, len);
		identity_caching(&i, page, len);
		assert_true(i.designators_len <= len && i.serial_len <= len);
		free(page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_durable_disk_survives_a_power_on),
		cmocka_unit_test(a_volatile_disk_survives_a_lost_nexus_alone),
		cmocka_unit_test(a_write_cache_does_not_survive_a_power_on),
		cmocka_unit_test(a_disk_that_does_not_say_is_not_taken_for_durable),
		cmocka_unit_test(an_old_disk_is_durable_without_a_write_cache),
		cmocka_unit_test(another_designator_serial_number_or_block_size_is_another_disk),
		cmocka_unit_test(a_new_size_of_a_disk_with_a_name_is_not_another_disk),
		cmocka_unit_test(a_new_size_of_a_disk_without_a_name_is_another_disk),
		cmocka_unit_test(a_further_designator_or_another_path_is_the_same_disk),
		cmocka_unit_test(a_changed_medium_is_another_one_on_a_durable_disk_too),
		cmocka_unit_test(a_page_cut_anywhere_is_read_to_its_end_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
