// SPDX-License-Identifier: BSD-2-Clause
// The list of types, option rows, defaults of absent slots, the null type.
#include "backstores/contract.h"

#include "backstores/types.h"

static struct backstore *open_null(const struct subject *s, bool is_new)
{
	struct bs_config c = config_of("null", "n0");
	c.size = SUBJECT_SIZE;
	return must_open("null", &c);
}

static void every_type_is_found_by_its_name(void **state)
{
	static const char *const names[] = { "block", "fileio", "null", "pscsi", "ramdisk" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_ptr_equal(backstore_type_find(names[i]), backstore_types[i]);
		assert_string_equal(backstore_types[i]->name, names[i]);
	}
	assert_null(backstore_types[5]);
	assert_null(backstore_type_find("error"));
	assert_null(backstore_type_find(""));
}

static void every_option_row_has_help_and_a_default_that_parses(void **state)
{
	for (const struct backstore_type *const *t = backstore_types; *t; t++) {
		for (const struct bs_option *o = (*t)->options; o->name; o++) {
			struct bs_config c;
			struct err e = { 0 };
			assert_true(strlen(o->help) > 0);
			backstore_config_init(&c, *t);
			if (o->default_text)
				assert_int_equal(
					backstore_config_set(&c, *t, o->name, o->default_text, &e),
					0);
		}
	}
}

static void options_are_set_from_text(void **state)
{
	const struct backstore_type *t = backstore_type_find("fileio");
	struct bs_config c;
	struct err e;
	backstore_config_init(&c, t);
	assert_true(c.sparse);
	assert_false(c.write_back);
	assert_int_equal(backstore_config_set(&c, t, "size", "1G", &e), 0);
	assert_int_equal(c.size, 1ull << 30);
	assert_int_equal(backstore_config_set(&c, t, "sparse", "no", &e), 0);
	assert_false(c.sparse);
	assert_int_equal(backstore_config_set(&c, t, "write_back", "true", &e), 0);
	assert_true(c.write_back);
	assert_int_equal(backstore_config_set(&c, t, "dev", "/a/b", &e), 0);
	assert_string_equal(c.dev, "/a/b");
}

static void bad_option_texts_are_refused_in_words(void **state)
{
	static const struct {
		const char *key, *text, *word;
	} cases[] = {
		{"size",	  "lots",		  "size"						 },
		{ "size",	  "-1",			"size"						 },
		{ "size",	  "99999999999999999999", "size"						 },
		{ "size",	  "0",		       "size: invalid value '0'"				 },
		{ "size",	  "0k",			"size: invalid value '0k'"				   },
		{ "write_back", "maybe",		 "write_back"					      },
		{ "cache",	   "unsafe",
		  "cache: invalid value 'unsafe' (none|writethrough|writeback)"					},
		{ "cache",	   "",		       "cache: invalid value ''"				 },
		{ "cache",	   "non",		  "cache: invalid value 'non'"			       },
		{ "dev",	 "",		     "dev: empty value"					},
		{ "nullio",	    "true",		    "nullio: fileio has no such option (options: dev, size"},
	};
	const struct backstore_type *t = backstore_type_find("fileio");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bs_config c;
		struct err e = { 0 };
		backstore_config_init(&c, t);
		struct bs_config before = c;
		assert_true(backstore_config_set(&c, t, cases[i].key, cases[i].text, &e) < 0);
		if (!strstr(e.text, cases[i].word))
			fail_msg("\"%s\" without \"%s\"", e.text, cases[i].word);
		assert_memory_equal(&c, &before, sizeof(c));
	}
}

static void a_missing_required_option_is_named(void **state)
{
	struct bs_config c = config_of("fileio", "f0");
	must_refuse("fileio", &c, -EINVAL, "fileio f0: dev: missing", "path of the file");
	c = config_of("ramdisk", "rd0");
	must_refuse("ramdisk", &c, -EINVAL, "ramdisk rd0: size: missing", "1G");
}

static void an_option_of_another_type_is_refused(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = MIB;
	c.dev = "/x";
	must_refuse("ramdisk", &c, -EINVAL, "dev: ramdisk has no such option", "size, nullio");
}

static void a_name_is_needed(void **state)
{
	struct bs_config c = config_of("null", "");
	c.size = MIB;
	must_refuse("null", &c, -EINVAL, "null", "name: missing");
	c.name = NULL;
	must_refuse("null", &c, -EINVAL, "null (no name)", "name: missing");
}

static void an_impossible_block_size_is_refused(void **state)
{
	static const uint32_t bad[] = { 1, 511, 513, 8192, 1u << 31 };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bs_config c = config_of("null", "n0");
		c.size = MIB;
		c.block_size = bad[i];
		must_refuse("null", &c, -EINVAL, "block_size", "512, 1024, 2048 or 4096");
	}
}

static void an_impossible_null_size_is_refused(void **state)
{
	struct bs_config c = config_of("null", "n0");
	c.size = 511;
	must_refuse("null", &c, -EINVAL, "null n0: size", "out of range");
	c.size = UINT64_MAX;
	must_refuse("null", &c, -EINVAL, "null n0: size", "out of range");
}

static const struct bs_option no_options[] = { { 0 } };

static int bare_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	bs->limits.size = MIB;
	bs->limits.block_size = 512;
	return 0;
}

static void absent_slots_refuse(void **state)
{
	static const struct backstore_type bare = { .name = "bare",
						    .options = no_options,
						    .size = sizeof(struct backstore),
						    .open = bare_open };
	struct bs_config c = { .name = "b" };
	struct backstore *bs;
	struct err e;
	bool is_changed;
	assert_int_equal(backstore_open(&bs, &bare, &c, &e), 0);
	assert_int_equal(io_one(bs, BS_READ, 0, 512, arena), -EOPNOTSUPP);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), -EOPNOTSUPP);
	assert_int_equal(backstore_resize(bs, 2 * MIB, &e), -EOPNOTSUPP);
	assert_string_equal(e.text, "bare b: resize: bare storage cannot be resized");
	assert_int_equal(backstore_refresh(bs, &is_changed, &e), 0);
	assert_false(is_changed);
	backstore_close(bs);
}

static void notes_gather_as_lines_and_never_overflow(void **state)
{
	struct bs_config c = config_of("null", "n0");
	c.size = MIB;
	struct backstore *bs = must_open("null", &c);
	backstore_note(bs, "one %d", 1);
	backstore_note(bs, "two");
	assert_string_equal(bs->note, "one 1\ntwo");
	for (int i = 0; i < 100; i++)
		backstore_note(bs, "a longer line to fill what is left");
	assert_int_equal(strlen(bs->note), sizeof(bs->note) - 1);
	backstore_close(bs);
}

static void closing_nothing_is_fine(void **state)
{
	backstore_close(NULL);
}

static void null_keeps_nothing(void **state)
{
	struct backstore *bs = open_null(NULL, true);
	put_pattern(bs, 0, MIB, 1);
	expect_zeroes(bs, 0, MIB);
	backstore_close(bs);
}

static void unknown_operations_are_refused(void **state)
{
	struct backstore *bs = open_null(NULL, true);
	assert_int_equal(io_one(bs, BS_OP_MAX, 0, 512, NULL), -EOPNOTSUPP);
	backstore_close(bs);
}

int main(void)
{
	static const struct subject subject = { "null", IS_GROWING | IS_THIN | IS_EXPLAINED,
						open_null, NULL, NULL };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_found_by_its_name),
		cmocka_unit_test(every_option_row_has_help_and_a_default_that_parses),
		cmocka_unit_test(options_are_set_from_text),
		cmocka_unit_test(bad_option_texts_are_refused_in_words),
		cmocka_unit_test(a_missing_required_option_is_named),
		cmocka_unit_test(an_option_of_another_type_is_refused),
		cmocka_unit_test(a_name_is_needed),
		cmocka_unit_test(an_impossible_block_size_is_refused),
		cmocka_unit_test(an_impossible_null_size_is_refused),
		cmocka_unit_test(absent_slots_refuse),
		cmocka_unit_test(notes_gather_as_lines_and_never_overflow),
		cmocka_unit_test(closing_nothing_is_fine),
		cmocka_unit_test(null_keeps_nothing),
		cmocka_unit_test(unknown_operations_are_refused),
	};
	int failed = cmocka_run_group_tests(tests, start_worker, stop_worker);
	return failed + contract_run(&subject);
}
