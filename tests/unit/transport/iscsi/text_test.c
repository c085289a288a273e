// SPDX-License-Identifier: BSD-2-Clause
// Text segments, numbers, binary values, names, addresses and SendTargets answers.
#include "transport/iscsi/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "transport/iscsi/name.h"
#include "transport/iscsi/sendtargets.h"

#define TEXT(s) (s), sizeof(s) // the literal's own NUL ends the last pair

static void test_pairs_come_in_order(void **state)
{
	struct text_iter it;
	struct text_pair p;
	text_iter_init(&it, TEXT("A=1\0Bb=x=y\0\0\0C="));
	assert_int_equal(text_next(&it, &p), 1);
	assert_true(text_key_is(&p, "A"));
	assert_string_equal(p.value, "1");
	assert_int_equal(text_next(&it, &p), 1);
	assert_true(text_key_is(&p, "Bb"));
	assert_false(text_key_is(&p, "B"));
	assert_string_equal(p.value, "x=y");
	assert_int_equal(text_next(&it, &p), 1);
	assert_int_equal(p.value_len, 0);
	assert_int_equal(text_next(&it, &p), 0);
}

static int first(const char *text, size_t len)
{
	// An exact heap copy lets AddressSanitizer see a read past the end.
	char *copy = malloc(len ? len : 1);
	memcpy(copy, text, len);
	struct text_iter it;
	struct text_pair p;
	text_iter_init(&it, copy, len);
	int rc = text_next(&it, &p);
	free(copy);
	return rc;
}

static void test_malformed_pairs_are_errors(void **state)
{
	char long_key[66];
	memset(long_key, 'k', 64);
	memcpy(long_key + 64, "=", 2);
	assert_int_equal(first("A=1", 3), -EPROTO); // no NUL
	assert_int_equal(first(TEXT("A")), -EPROTO);
	assert_int_equal(first(TEXT("=1")), -EPROTO);
	assert_int_equal(first(TEXT("A b=1")), -EPROTO);
	assert_int_equal(first(TEXT("A\n=1")), -EPROTO);
	assert_int_equal(first(TEXT("\xc3\xa4=1")), -EPROTO);
	assert_int_equal(first(long_key, sizeof long_key), -EPROTO);
	assert_int_equal(first(long_key + 1, sizeof long_key - 1), 1); // 63 bytes
	assert_int_equal(first("", 0), 0);
}

static void test_a_pair_is_found_by_its_key(void **state)
{
	struct text_pair p;
	assert_int_equal(text_find(TEXT("A=1\0B=2"), "B", &p), 1);
	assert_string_equal(p.value, "2");
	assert_int_equal(text_find(TEXT("A=1\0B=2"), "C", &p), 0);
	assert_int_equal(text_find(TEXT("A=1\0B"), "C", &p), -EPROTO);
}

static void test_list_items(void **state)
{
	const char *at = "CHAP,,None", *item;
	size_t len;
	assert_true(text_list_next(&at, &item, &len));
	assert_int_equal(len, 4);
	assert_true(text_list_next(&at, &item, &len));
	assert_int_equal(len, 0);
	assert_true(text_list_next(&at, &item, &len));
	assert_memory_equal(item, "None", len);
	assert_false(text_list_next(&at, &item, &len));
}

static void test_numbers_are_decimal_or_hexadecimal(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{"0",		       0,	  0  },
		{ "512",			 0,	    512},
		{ "0x200",		   0,	      512},
		{ "0XfF",		  0,	     255},
		{ "007",			 0,	    7  },
		{ "",		      -EINVAL, 0	 },
		{ "0x",			-EINVAL, 0  },
		{ "-1",			-EINVAL, 0  },
		{ "+1",			-EINVAL, 0  },
		{ " 1",			-EINVAL, 0  },
		{ "1 ",			-EINVAL, 0  },
		{ "1f",			-EINVAL, 0  },
		{ "1~2",			 -EINVAL, 0  },
		{ "601",			 -ERANGE, 0  },
		{ "18446744073709551616", -ERANGE, 0  },
		{ "0x10000000000000001",	 -ERANGE, 0  },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t n = 77;
		assert_int_equal(text_number(rows[i].text, 0, 600, &n), rows[i].rc);
		assert_int_equal(n, rows[i].rc ? 77 : rows[i].value);
	}
	uint64_t n;
	assert_int_equal(text_number("511", 512, 600, &n), -ERANGE);
}

static void test_binary_values(void **state)
{
	static const struct {
		const char *text;
		int rc;
		size_t len;
	} rows[] = {
		{"0x00ff",	    0,	       2},
		{ "0XAbCd",	    0,	       2},
		{ "0x",		-EINVAL,	 0},
		{ "0xabc",	   -EINVAL,   0},
		{ "0xgg",	  -EINVAL,   0},
		{ "00ff",	  -EINVAL,   0},
		{ "0x0011223344", -EMSGSIZE, 0},
		{ "0bAAEC",	    0,	       3},
		{ "0bAA==",	    0,	       1},
		{ "0BAAE=",	    0,	       2},
		{ "0bAA",	  0,	     1},
		{ "0bAB==",	    -EINVAL,   0},
		{ "0bA",		 -EINVAL,	  0},
		{ "0bA===",	    -EINVAL,   0},
		{ "0b====",	    -EINVAL,   0},
		{ "0b",		-EINVAL,	 0},
		{ "0bAA=",	   -EINVAL,   0},
		{ "0bA=A=",	    -EINVAL,   0},
		{ "0bAA*C",	    -EINVAL,   0},
		{ "0bAAECAwQF",	-EMSGSIZE, 0},
		{ "",	      -EINVAL,   0},
		{ "abc",		 -EINVAL,	  0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t out[4];
		size_t len = 99;
		assert_int_equal(text_binary_decode(rows[i].text, out, 4, &len), rows[i].rc);
		assert_int_equal(len, rows[i].rc ? 99 : rows[i].len);
	}
}

static void test_binary_round_trip_at_every_length(void **state)
{
	uint8_t data[40], back[40];
	char buf[128];
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 37 + 251);
	for (size_t n = 1; n <= sizeof data; n++) {
		size_t len;
		struct text_out o;
		text_out_init(&o, buf, sizeof buf);
		assert_int_equal(text_append_base64(&o, "K", data, n), 0);
		assert_int_equal(text_binary_decode(buf + 2, back, sizeof back, &len), 0);
		assert_int_equal(len, n);
		assert_memory_equal(back, data, n);
		text_out_init(&o, buf, sizeof buf);
		assert_int_equal(text_append_hex(&o, "K", data, n), 0);
		assert_int_equal(o.len, 2 + 2 + 2 * n + 1);
		assert_int_equal(text_binary_decode(buf + 2, back, n, &len), 0);
		assert_memory_equal(back, data, n);
	}
}

static void test_append_is_whole_or_not_at_all(void **state)
{
	char buf[8];
	struct text_out o;
	text_out_init(&o, buf, sizeof buf);
	assert_int_equal(text_append(&o, "A", "1"), 0);
	assert_int_equal(text_append(&o, "B", "222"), -ENOSPC);
	assert_true(o.is_full);
	assert_int_equal(o.len, 4);
	assert_int_equal(text_append(&o, "B", "2"), 0);
	assert_memory_equal(buf, "A=1\0B=2", 8);
	assert_int_equal(text_append_hex(&o, "C", "x", 1), -ENOSPC);
	assert_int_equal(text_append_base64(&o, "C", "x", SIZE_MAX), -ENOSPC);
	assert_int_equal(o.len, 8);
	assert_int_equal(text_append(&o, "a=b", ""), -EINVAL);
	assert_int_equal(text_append(&o, "", "x"), -EINVAL);
}

static void test_names_are_normalised(void **state)
{
	char name[ISCSI_NAME_MAX + 1], longest[ISCSI_NAME_MAX + 2];
	memset(longest, 'a', sizeof longest);
	assert_int_equal(iscsi_name_normalize("IQN.2001-04.COM.Example:X_y", 27, name, NULL), 0);
	assert_string_equal(name, "iqn.2001-04.com.example:x_y");
	assert_int_equal(
		iscsi_name_normalize("\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xbe", 9, name, NULL), 0);
	assert_int_equal(iscsi_name_normalize(longest, ISCSI_NAME_MAX, name, NULL), 0);
	assert_int_equal(iscsi_name_normalize(longest, ISCSI_NAME_MAX + 1, name, NULL), -EINVAL);
	assert_int_equal(iscsi_name_normalize("", 0, name, NULL), -EINVAL);
	static const char *const bad[] = { "a b",
					   "a\tb",
					   "a\x7f",
					   "\x80",
					   "\xc0\x80",
					   "\xe0\x80\x80",
					   "\xed\xa0\x80",
					   "\xf4\x90\x80\x80",
					   "\xe2\x82",
					   "\xff",
					   "a\xc2\x9b"
					   "2J",
					   "a\xe2\x80\xae" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(iscsi_name_normalize(bad[i], strlen(bad[i]), name, NULL), -EINVAL);
}

static void test_names_for_new_objects(void **state)
{
	static const char *const good[] = { "iqn.2003-01.org.example", "iqn.2003-12.org:a:b",
					    "eui.02004567a425678d", "naa.52004567ba64678d",
					    "naa.62004567ba64678d0123456789abcdef" };
	static const char *const bad[] = { "",
					   "iqn.",
					   "iqn.2003-13.org",
					   "iqn.2003-00.org",
					   "iqn.2003-01.",
					   "iqn.2003-01.:x",
					   "iqn.03-01.org",
					   "iqn.2003-01.org:a_b",
					   "iqn.2003-01.org/x",
					   "eui.123",
					   "naa.52004567ba64678",
					   "eui.02004567A425678D",
					   "foo" };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(iscsi_name_check(good[i], NULL), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(iscsi_name_check(bad[i], NULL), -EINVAL);
}

static void test_isids_are_random_and_shown_in_hexadecimal(void **state)
{
	char text[ISCSI_ISID_TEXT];
	uint8_t isid[6] = { 0, 2, 0x3d, 0, 0xab, 1 }, other[6];
	iscsi_isid_format(isid, text);
	assert_string_equal(text, "0x00023d00ab01");
	assert_int_equal(iscsi_isid_random(isid), 0);
	assert_int_equal(iscsi_isid_random(other), 0);
	assert_int_equal(isid[0] & ISCSI_ISID_TYPE_MASK, ISCSI_ISID_TYPE_RANDOM);
	assert_memory_not_equal(isid, other, 6);
}

static void test_target_addresses_are_taken_apart(void **state)
{
	static const struct {
		const char *text, *host;
		unsigned port;
		int tpgt;
	} rows[] = {
		{"10.0.0.1:3260,1",	     "10.0.0.1",	 3260, 1	 },
		{ "10.0.0.1",		      "10.0.0.1",	  3260, -1   },
		{ "[fe80::1%eth0]:860,65535", "fe80::1%eth0", 860,  65535},
		{ "[::1]",			   "::1",	  3260, -1   },
		{ "host.example,0",	    "host.example", 3260, 0    },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct iscsi_address a;
		assert_int_equal(iscsi_address_parse(rows[i].text, &a, NULL), 0);
		assert_string_equal(a.host, rows[i].host);
		assert_int_equal(a.port, rows[i].port);
		assert_int_equal(a.has_tpgt ? a.tpgt : -1, rows[i].tpgt);
	}
}

static void test_bad_addresses(void **state)
{
	static const char *const bad[] = { "",	      ":3260", "[::1",	   "[]:1",	"h:0",
					   "h:65536", "h:",    "h:1,",	   "h:1,65536", "h:1,1x",
					   "h:0x10",  "a b",   "h;reboot", "[::1]x",	"::1" };
	struct iscsi_address a;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(iscsi_address_parse(bad[i], &a, NULL), -EINVAL);
	char longest[300];
	memset(longest, 'h', 256);
	longest[256] = 0;
	assert_int_equal(iscsi_address_parse(longest, &a, NULL), -EINVAL);
	longest[255] = 0;
	assert_int_equal(iscsi_address_parse(longest, &a, NULL), 0);
}

static void test_sendtargets_round_trip(void **state)
{
	char buf[512];
	struct text_out o;
	struct sendtargets_iter it;
	struct sendtargets_record r;
	text_out_init(&o, buf, sizeof buf);
	assert_int_equal(sendtargets_append_name(&o, "iqn.2003-01.org.x:1"), 0);
	assert_int_equal(sendtargets_append_address(&o, "127.0.0.1", 3260, 1), 0);
	assert_int_equal(sendtargets_append_address(&o, "::1", 3261, 2), 0);
	assert_int_equal(sendtargets_append_name(&o, "iqn.2003-01.org.x:2"), 0);
	assert_int_equal(sendtargets_append_name(&o, "iqn.2003-01.org.x:3"), 0);
	sendtargets_iter_init(&it, buf, o.len);
	assert_int_equal(sendtargets_next(&it, &r, NULL), 1);
	assert_string_equal(r.target_name, "iqn.2003-01.org.x:1");
	assert_string_equal(r.address.host, "127.0.0.1");
	assert_int_equal(sendtargets_next(&it, &r, NULL), 1);
	assert_string_equal(r.address.host, "::1");
	assert_int_equal(r.address.port, 3261);
	assert_int_equal(r.address.tpgt, 2);
	assert_int_equal(sendtargets_next(&it, &r, NULL), 1);
	assert_string_equal(r.target_name, "iqn.2003-01.org.x:2");
	assert_false(r.has_address);
	assert_int_equal(sendtargets_next(&it, &r, NULL), 1);
	assert_string_equal(r.target_name, "iqn.2003-01.org.x:3");
	assert_int_equal(sendtargets_next(&it, &r, NULL), 0);
}

static int walk(const char *text, size_t len)
{
	struct sendtargets_iter it;
	struct sendtargets_record r;
	int rc;
	sendtargets_iter_init(&it, text, len);
	while ((rc = sendtargets_next(&it, &r, NULL)) > 0)
		;
	return rc;
}

static void test_hostile_sendtargets_answers(void **state)
{
	assert_int_equal(walk(TEXT("TargetAddress=1.2.3.4")), -EPROTO);
	assert_int_equal(walk(TEXT("TargetName=a b")), -EPROTO);
	assert_int_equal(walk(TEXT("TargetName=a\0TargetAddress=;")), -EPROTO);
	assert_int_equal(walk(TEXT("TargetName=a\0Other=1")), -EPROTO);
	assert_int_equal(walk("TargetName=a", 12), -EPROTO);
	assert_int_equal(walk(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_come_in_order),
		cmocka_unit_test(test_malformed_pairs_are_errors),
		cmocka_unit_test(test_a_pair_is_found_by_its_key),
		cmocka_unit_test(test_list_items),
		cmocka_unit_test(test_numbers_are_decimal_or_hexadecimal),
		cmocka_unit_test(test_binary_values),
		cmocka_unit_test(test_binary_round_trip_at_every_length),
		cmocka_unit_test(test_append_is_whole_or_not_at_all),
		cmocka_unit_test(test_names_are_normalised),
		cmocka_unit_test(test_names_for_new_objects),
		cmocka_unit_test(test_isids_are_random_and_shown_in_hexadecimal),
		cmocka_unit_test(test_target_addresses_are_taken_apart),
		cmocka_unit_test(test_bad_addresses),
		cmocka_unit_test(test_sendtargets_round_trip),
		cmocka_unit_test(test_hostile_sendtargets_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
