// SPDX-License-Identifier: BSD-2-Clause
// Attributes of a storage object, before and while it is served.
#include <errno.h>

#include "target/scsi/lu_attr.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/scsi_test.h"

static struct lu_attr attr;
static struct err e;

static int check(void)
{
	struct bs_limits limits = { .block_size = 512 };
	return lu_attr_check(&attr, &limits, &e);
}

static void the_defaults_go_together(void **state)
{
	attr_defaults(lu_attr_rows, &attr);
	assert_int_equal(check(), 0);
}

static void every_name_is_there_once(void **state)
{
	for (const struct attr_row *r = lu_attr_rows; r->name; r++)
		assert_ptr_equal(attr_find(lu_attr_rows, r->name), r);
}

static void every_default_is_in_its_own_range(void **state)
{
	for (const struct attr_row *r = lu_attr_rows; r->name; r++)
		assert_int_equal(attr_set(r, &attr, r->default_text, &e), 0);
}

// The names that rtslib writes into saveconfig.json for block and file storage objects.
static void every_name_of_rtslib_is_known(void **state)
{
	static const char *const names[] = {
		"alua_support",
		"block_size",
		"emulate_3pc",
		"emulate_caw",
		"emulate_dpo",
		"emulate_fua_read",
		"emulate_fua_write",
		"emulate_model_alias",
		"emulate_pr",
		"emulate_rest_reord",
		"emulate_rsoc",
		"emulate_tas",
		"emulate_tpu",
		"emulate_tpws",
		"emulate_ua_intlck_ctrl",
		"emulate_write_cache",
		"enforce_pr_isids",
		"force_pr_aptpl",
		"hw_block_size",
		"hw_max_sectors",
		"hw_pi_prot_type",
		"hw_queue_depth",
		"is_nonrot",
		"max_unmap_block_desc_count",
		"max_unmap_lba_count",
		"max_write_same_len",
		"optimal_sectors",
		"pgr_support",
		"pi_prot_format",
		"pi_prot_type",
		"pi_prot_verify",
		"queue_depth",
		"submit_type",
		"unmap_granularity",
		"unmap_granularity_alignment",
		"unmap_zeroes_data",
	};
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		const struct attr_row *row = attr_find(lu_attr_rows, names[i]);
		assert_non_null(row);
		assert_int_equal(row->flags & ATTR_OWN, 0);
	}
}

static void a_block_size_between_the_powers_is_refused(void **state)
{
	attr_defaults(lu_attr_rows, &attr);
	attr.block_size = 520;
	assert_int_equal(check(), -EINVAL);
	assert_non_null(strstr(e.text, "520"));
}

static void an_alignment_past_the_granularity_is_refused(void **state)
{
	attr_defaults(lu_attr_rows, &attr);
	attr.unmap_granularity = 8;
	attr.unmap_granularity_alignment = 8;
	assert_int_equal(check(), -EINVAL);
}

static void a_read_only_attribute_cannot_be_set(void **state)
{
	start(NULL);
	assert_int_equal(bench_attr(&b, "hw_queue_depth", "4"), -EPERM);
}

static void a_value_out_of_range_changes_nothing(void **state)
{
	start(NULL);
	assert_int_equal(bench_attr(&b, "queue_depth", "0"), -EINVAL);
	assert_int_equal(b.lu->attr.queue_depth, 512);
}

static void a_new_identity_is_told(void **state)
{
	start(NULL);
	assert_int_equal(bench_attr(&b, "vendor", "ACME"), 0);
	bench_settle(&b);
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x3f, 0x03));
	BENCH_IN(&b, 0, &c, 96, 0x12, 0, 0, 0, 96, 0);
	assert_memory_equal(c.data + 8, "ACME    ", 8);
}

static void the_same_value_is_not_told(void **state)
{
	start(NULL);
	assert_int_equal(bench_attr(&b, "vendor", "FARBLOCK"), 0);
	bench_settle(&b);
	assert_int_equal(tur(0), 0);
}

static void a_mode_setting_is_told_as_mode_change(void **state)
{
	start(NULL);
	bench_attr(&b, "emulate_tas", "0");
	bench_settle(&b);
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x2a, 0x01));
}

static void faults_from_the_beginning_are_in_force(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"error_read_ppm=1000000", NULL}
	    });
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_READ_ERROR);
}

static void both_filters_stand_on_each_other(void **state)
{
	start(NULL);
	assert_int_equal(bench_attr(&b, "delay_read_us", "1"), 0);
	assert_int_equal(bench_attr(&b, "error_read_ppm", "1000000"), 0);
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	expect_code(SENSE_READ_ERROR);
	assert_int_equal(bench_attr(&b, "error_read_ppm", "0"), 0);
	expect_good(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0));
	assert_false(c.in_place);
}

static void the_longest_transfer_is_a_hardware_attribute(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"max_transfer_kib=1024", NULL}
	   });
	assert_int_equal(b.lu->attr.hw_max_sectors, 2048);
	assert_int_equal(lu_max_transfer(b.lu), 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_defaults_go_together),
		T(every_name_is_there_once),
		T(every_default_is_in_its_own_range),
		T(every_name_of_rtslib_is_known),
		T(a_block_size_between_the_powers_is_refused),
		T(an_alignment_past_the_granularity_is_refused),
		T(a_read_only_attribute_cannot_be_set),
		T(a_value_out_of_range_changes_nothing),
		T(a_new_identity_is_told),
		T(the_same_value_is_not_told),
		T(a_mode_setting_is_told_as_mode_change),
		T(faults_from_the_beginning_are_in_force),
		T(both_filters_stand_on_each_other),
		T(the_longest_transfer_is_a_hardware_attribute),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
