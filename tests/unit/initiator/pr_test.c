// SPDX-License-Identifier: BSD-2-Clause
// Parameter data of persistent reservations.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/pr.h"

static void types_have_names_abbreviations_and_numbers(void **state)
{
	assert_int_equal(pr_type_parse("write-exclusive"), 1);
	assert_int_equal(pr_type_parse("EARO"), 6);
	assert_int_equal(pr_type_parse("8"), 8);
	assert_string_equal(pr_type_name(3), "exclusive-access");
	assert_string_equal(pr_type_name(9), "type 9");
	static const char *const wrong[] = { "", "0", "2", "4", "9", "1x", "write" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(pr_type_parse(wrong[i]), 0);
}

static void only_received_keys_are_taken(void **state)
{
	static const uint8_t b[] = { 0, 0, 0, 9, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 };
	struct pr_list l;
	uint64_t key;
	assert_false(pr_list_parse(&l, b, 7));
	assert_true(pr_list_parse(&l, b, sizeof b));
	assert_int_equal(l.generation, 9);
	assert_true(l.is_cut);
	assert_true(pr_key_at(&l, 0, &key));
	assert_int_equal(key, 1);
	assert_false(pr_key_at(&l, 1, &key));
}

static void a_reservation_has_a_key_and_a_type(void **state)
{
	static const uint8_t none[8] = { 0 };
	static const uint8_t held[24] = { [7] = 16, [15] = 0x42, [21] = 0x05 };
	struct pr_list l;
	struct pr_reservation r;
	assert_true(pr_list_parse(&l, none, sizeof none));
	assert_false(pr_reservation_parse(&l, &r));
	assert_true(pr_list_parse(&l, held, sizeof held));
	assert_true(pr_reservation_parse(&l, &r));
	assert_int_equal(r.key, 0x42);
	assert_int_equal(r.type, 5);
}

static void a_transport_id_beyond_the_answer_ends_the_list(void **state)
{
	uint8_t b[8 + 24 + 24] = { [7] = 48, [15] = 1, [20] = 1, [21] = 3, [31] = 24, [32] = 4 };
	struct pr_list l;
	struct pr_registration r;
	uint32_t at = 0;
	memset(b + 40, 0xab, 16);
	assert_true(pr_list_parse(&l, b, sizeof b));
	assert_true(pr_registration_next(&l, &at, &r));
	assert_true(r.is_holder);
	assert_string_equal(r.port, "abababababababab:abababababababab");
	assert_int_equal(at, l.len);
	at = 0;
	b[31] = 25;
	assert_false(pr_registration_next(&l, &at, &r));
}

static void capabilities_name_the_types(void **state)
{
	static const uint8_t b[8] = { 0, 8, 0x1d, 0x91, 0xea, 1 };
	struct pr_capabilities c;
	assert_false(pr_capabilities_parse(&c, b, 7));
	assert_true(pr_capabilities_parse(&c, b, sizeof b));
	assert_true(c.persists && c.is_persistent && c.has_types && !c.replaces_lost);
	assert_int_equal(c.types, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_have_names_abbreviations_and_numbers),
		cmocka_unit_test(only_received_keys_are_taken),
		cmocka_unit_test(a_reservation_has_a_key_and_a_type),
		cmocka_unit_test(a_transport_id_beyond_the_answer_ends_the_list),
		cmocka_unit_test(capabilities_name_the_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
