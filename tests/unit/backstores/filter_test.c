// SPDX-License-Identifier: BSD-2-Clause
// The filters error and delay: the contract through idle ones, then what they are for.
#include "backstores/contract.h"

static struct backstore *open_below(void)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = SUBJECT_SIZE;
	return must_open("ramdisk", &c);
}

static struct backstore *with_error(struct backstore *lower)
{
	struct backstore *bs;
	struct err e;
	assert_int_equal(backstore_error_new(&bs, lower, &e), 0);
	return bs;
}

static struct backstore *with_delay(struct backstore *lower)
{
	struct backstore *bs;
	struct err e;
	assert_int_equal(backstore_delay_new(&bs, lower, &e), 0);
	return bs;
}

static struct backstore *open_idle(const struct subject *s, bool is_new)
{
	return with_delay(with_error(open_below()));
}

static struct backstore *open_delaying(const struct subject *s, bool is_new)
{
	struct bs_faults faults = { .delay_read_us = 50,
				    .delay_write_us = 70,
				    .delay_flush_us = 20 };
	struct backstore *bs = open_idle(s, is_new);
	backstore_delay_set(bs, &faults);
	return bs;
}

static void a_filter_hides_the_memory_and_keeps_the_name(void **state)
{
	struct backstore *bs = with_error(open_below());
	assert_null(bs->memory);
	assert_null(backstore_map(bs, 0, 4096));
	assert_string_equal(bs->name, "rd0");
	assert_string_equal(bs->lower->type->name, "ramdisk");
	backstore_close(bs);
}

static void errors_hit_only_what_they_are_set_for(void **state)
{
	struct backstore *bs = with_error(open_below());
	struct bs_faults faults = { .error_write_ppm = 1000000 };
	put_pattern(bs, 0, MIB, 1);

	backstore_error_set(bs, &faults);
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4096, arena), -EIO);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 4096, NULL), -EIO);
	assert_int_equal(io_one(bs, BS_WRITE_ZEROES, 0, MIB, NULL), -EIO);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
	expect_pattern(bs, 0, MIB, 1);

	faults = (struct bs_faults){ .error_read_ppm = 1000000, .error_flush_ppm = 1000000 };
	backstore_error_set(bs, &faults);
	assert_int_equal(io_one(bs, BS_READ, 0, 4096, arena), -EIO);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), -EIO);
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4096, arena), 0);
	backstore_close(bs);
}

// 4000 reads at one in four: outside of 700..1300 once in 10^26 runs.
static void errors_come_at_about_their_rate(void **state)
{
	struct backstore *bs = with_error(open_below());
	struct bs_faults faults = { .error_read_ppm = 250000 };
	int failed = 0;
	backstore_error_set(bs, &faults);
	for (int i = 0; i < 4000; i++)
		failed += io_one(bs, BS_READ, 0, 512, arena) == -EIO;
	assert_in_range(failed, 700, 1300);
	backstore_close(bs);
}

static void errors_end_when_switched_off(void **state)
{
	struct backstore *bs = with_error(open_below());
	struct bs_faults faults = { .error_read_ppm = 1000000 };
	backstore_error_set(bs, &faults);
	assert_int_equal(io_one(bs, BS_READ, 0, 512, arena), -EIO);
	backstore_error_set(bs, &(struct bs_faults){ 0 });
	for (int i = 0; i < 100; i++)
		assert_int_equal(io_one(bs, BS_READ, 0, 512, arena), 0);
	backstore_close(bs);
}

static void delays_last_at_least_as_long_as_set(void **state)
{
	struct backstore *bs = with_delay(open_below());
	struct bs_faults faults = { .delay_read_us = 20000 };
	backstore_delay_set(bs, &faults);
	uint64_t start = clock_ns();
	assert_int_equal(io_one(bs, BS_READ, 0, 512, arena), 0);
	assert_true(clock_ns() - start >= 19000000);
	backstore_close(bs);
}

static void delayed_ios_wait_side_by_side(void **state)
{
	enum { N = 100 };
	static struct waited_io w[N];
	struct backstore *bs = with_delay(open_below());
	struct bs_faults faults = { .delay_flush_us = 50000 };
	backstore_delay_set(bs, &faults);
	uint64_t start = clock_ns();
	for (int i = 0; i < N; i++) {
		w[i] = (struct waited_io){ .io = { .op = BS_FLUSH } };
		waited_start(&w[i], bs);
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(waited_result(&w[i]), 0);
	// One behind the other would be 5 s.
	assert_true(clock_ns() - start < 4000000000);
	backstore_close(bs);
}

static void bounds_are_checked_before_the_delay(void **state)
{
	struct backstore *bs = with_delay(open_below());
	struct bs_faults faults = { .delay_read_us = 100000000 };
	backstore_delay_set(bs, &faults);
	assert_int_equal(io_one(bs, BS_READ, SUBJECT_SIZE, 512, arena), -ERANGE);
	backstore_close(bs);
}

static void a_filter_can_be_taken_off(void **state)
{
	struct backstore *lower = open_below();
	struct backstore *bs = with_error(lower);
	put_pattern(bs, 0, 4096, 2);
	assert_ptr_equal(backstore_filter_remove(bs), lower);
	expect_pattern(lower, 0, 4096, 2);
	assert_non_null(lower->memory);
	backstore_close(lower);
}

static void growth_shows_at_every_floor(void **state)
{
	struct backstore *bs = open_idle(NULL, true);
	struct err e;
	assert_int_equal(backstore_resize(bs, 2 * SUBJECT_SIZE, &e), 0);
	for (struct backstore *b = bs; b; b = b->lower)
		assert_int_equal(backstore_size(b), 2 * SUBJECT_SIZE);
	backstore_close(bs);
}

int main(void)
{
	enum { FLAGS = IS_STORE | IS_GROWING | IS_THIN | IS_EXPLAINED };
	static const struct subject subjects[] = {
		{"idle filters over ramdisk", FLAGS, open_idle,	 NULL, NULL},
		{ "delay over ramdisk",	FLAGS, open_delaying, NULL, NULL},
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_hides_the_memory_and_keeps_the_name),
		cmocka_unit_test(errors_hit_only_what_they_are_set_for),
		cmocka_unit_test(errors_come_at_about_their_rate),
		cmocka_unit_test(errors_end_when_switched_off),
		cmocka_unit_test(delays_last_at_least_as_long_as_set),
		cmocka_unit_test(delayed_ios_wait_side_by_side),
		cmocka_unit_test(bounds_are_checked_before_the_delay),
		cmocka_unit_test(a_filter_can_be_taken_off),
		cmocka_unit_test(growth_shows_at_every_floor),
	};
	int failed = cmocka_run_group_tests(tests, start_worker, stop_worker);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		failed += contract_run(&subjects[i]);
	return failed;
}
