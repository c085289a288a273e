// SPDX-License-Identifier: BSD-2-Clause
// The list of discovery: as written, byte by byte, as read, and what is refused.
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transport/srp/list.h"

#define A "ib.0011223344556677aabbccddeeff0011"
#define B "ib.fe800000000000000002c903000a1b2c"

static uint8_t page[SRP_LIST_MAX];
static struct srp_list_out out;
static struct err e;

static struct tcp_addr address(const char *text)
{
	struct tcp_addr a;
	assert_int_equal(tcp_addr_parse(&a, text, 3261, NULL), 0);
	return a;
}

static int append(const char *name, const char *portal)
{
	struct tcp_addr a = address(portal);
	return srp_list_append(&out, name, &a);
}

static void the_page_is_as_documented(void **state)
{
	static const char head[] = "\x3f\xc0\x00\x81"
				   "farblock"
				   "\x01\x00\x00\x00",
			  text[] = A " 192.0.2.1:3261,[2001:db8::7]:4000\0" B " 10.0.0.1:1";
	srp_list_begin(&out, page, sizeof page);
	assert_int_equal(append(A, "192.0.2.1"), 0);
	assert_int_equal(append(NULL, "[2001:db8::7]:4000"), 0);
	assert_int_equal(append(B, "10.0.0.1:1"), 0);
	uint32_t len = srp_list_end(&out, false);
	assert_int_equal(len, sizeof head - 1 + sizeof text);
	assert_memory_equal(page, head, sizeof head - 1);
	assert_memory_equal(page + 16, text, sizeof text);
}

static void what_is_written_is_read(void **state)
{
	static const struct {
		const char *name, *portal;
	} rows[] = {
		{A,  "192.0.2.1:3261"    },
		{ A, "[2001:db8::7]:4000"},
		{ B, "10.0.0.1:1"	  },
	};
	struct srp_list l;
	struct srp_listed one;
	char text[TCP_ADDR_TEXT];
	srp_list_begin(&out, page, sizeof page);
	append(A, rows[0].portal);
	append(NULL, rows[1].portal);
	append(B, rows[2].portal);
	assert_int_equal(srp_list_parse(&l, page, srp_list_end(&out, true), &e), 0);
	assert_true(l.is_cut);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(srp_list_next(&l, &one, &e), 1);
		assert_string_equal(tcp_addr_format(&one.portal, text), rows[i].portal);
		assert_int_equal(one.target[15], i < 2 ? 0x11 : 0x2c);
	}
	assert_int_equal(srp_list_next(&l, &one, &e), 0);
}

static void an_interface_is_not_told(void **state)
{
	srp_list_begin(&out, page, sizeof page);
	assert_int_equal(append(A, "[fe80::1%lo]:3261"), 0);
	assert_string_equal((char *)page + 16, A " [fe80::1]:3261");
}

static void an_entry_that_does_not_fit_changes_nothing(void **state)
{
	const uint32_t room = 16 + sizeof A + sizeof "192.0.2.1:3261"; // with blank and NUL
	srp_list_begin(&out, page, room);
	assert_int_equal(append(A, "192.0.2.1:32611"), -ENOSPC);
	assert_int_equal(out.len, 16);
	assert_int_equal(append(A, "192.0.2.1:3261"), 0);
	assert_int_equal(out.len, room);
	assert_int_equal(append(NULL, "192.0.2.1:3261"), -ENOSPC);
	assert_int_equal(append(B, "192.0.2.1:3261"), -ENOSPC);
	assert_int_equal(srp_list_end(&out, true), room);
	assert_string_equal((char *)page + 16, A " 192.0.2.1:3261");
}

static void a_page_has_at_most_65535_bytes(void **state)
{
	static uint8_t larger[1 << 17];
	struct srp_list l;
	struct srp_listed one;
	unsigned count = 0, found = 0;
	srp_list_begin(&out, larger, sizeof larger);
	while (!append(A, "192.0.2.1:3261"))
		count++;
	uint32_t len = srp_list_end(&out, true);
	assert_in_range(len, SRP_LIST_MAX - 60, SRP_LIST_MAX);
	assert_int_equal(srp_list_parse(&l, larger, len, &e), 0);
	while (srp_list_next(&l, &one, &e) > 0)
		found++;
	assert_int_equal(found, count);
}

static int parse(const char *entries, size_t len)
{
	struct srp_list l;
	struct srp_listed one;
	srp_list_begin(&out, page, sizeof page);
	memcpy(page + 16, entries, len);
	out.len += (uint32_t)len;
	uint32_t whole = srp_list_end(&out, false);
	uint8_t *exact = malloc(whole);
	memcpy(exact, page, whole);
	int r = srp_list_parse(&l, exact, whole, &e);
	while (!r && (r = srp_list_next(&l, &one, &e)) > 0)
		r = 0;
	free(exact);
	return r;
}

static void other_entries_are_refused(void **state)
{
#define ROW(text)                                                                                  \
	{                                                                                          \
		text, sizeof(text)                                                                 \
	}
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		ROW(""),
		ROW(A),
		ROW(A " "),
		ROW(A " ,1.2.3.4:1"),
		ROW(A " 1.2.3.4:1,"),
		ROW(A " 1.2.3.4:1,,1.2.3.4:1"),
		ROW(A "  1.2.3.4:1"),
		ROW(A ",1.2.3.4:1"),
		ROW(A " 1.2.3.4"),
		ROW(A " 1.2.3.4:0"),
		ROW(A " 1.2.3.4:65536"),
		ROW(A " 0.0.0.0:3261"),
		ROW(A " [::]:3261"),
		ROW(A " [fe80::1%lo]:3261"),
		ROW(A " ::1"),
		ROW(A " host:3261"),
		ROW(A " 1.2.3.4:1 "),
		ROW(A " 1.2.3.4:1\x1b[2J"),
		ROW("IB.0011223344556677aabbccddeeff0011 1.2.3.4:1"),
		ROW("ib.0011223344556677AABBCCDDEEFF0011 1.2.3.4:1"),
		ROW("ib.0011223344556677aabbccddeeff001g 1.2.3.4:1"),
		ROW("ib.0011223344556677aabbccddeeff001 1.2.3.4:1"),
		ROW("ib.0011223344556677aabbccddeeff00111 1.2.3.4:1"),
		ROW(A " 1.2.3.4:1\0"),
		{A " 1.2.3.4:1", sizeof(A " 1.2.3.4:1") - 1},
		{ A,	     20			},
	};
#undef ROW
	assert_int_equal(parse(A " 1.2.3.4:1", sizeof(A " 1.2.3.4:1")), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (parse(rows[i].text, rows[i].len) != -EPROTO)
			fail_msg("accepted: '%s'", rows[i].text);
}

static void a_header_is_refused_that_does_not_fit(void **state)
{
	static const struct {
		unsigned at;
		uint8_t value;
	} rows[] = {
		{1,   0x83},
		     { 2,  1   },
		 { 3,  0	},
		    { 3,	 11  },
		{ 3,  255 },
		     { 4,  'F' },
		 { 11, 0	 },
		    { 12, 2   },
	};
	struct srp_list l;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		srp_list_begin(&out, page, sizeof page);
		append(A, "192.0.2.1");
		uint32_t len = srp_list_end(&out, false);
		assert_int_equal(srp_list_parse(&l, page, len, &e), 0);
		page[rows[i].at] = rows[i].value;
		assert_int_equal(srp_list_parse(&l, page, len, &e), -EPROTO);
	}
	srp_list_begin(&out, page, sizeof page);
	uint32_t len = srp_list_end(&out, false);
	for (uint32_t n = 0; n < len; n++)
		assert_int_equal(srp_list_parse(&l, page, n, &e), -EPROTO);
}

static void what_follows_the_page_is_ignored(void **state)
{
	struct srp_list l;
	struct srp_listed one;
	srp_list_begin(&out, page, sizeof page);
	uint32_t len = srp_list_end(&out, false);
	memset(page + len, 'x', 100);
	assert_int_equal(srp_list_parse(&l, page, len + 100, &e), 0);
	assert_int_equal(srp_list_next(&l, &one, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_as_documented),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(an_interface_is_not_told),
		cmocka_unit_test(an_entry_that_does_not_fit_changes_nothing),
		cmocka_unit_test(a_page_has_at_most_65535_bytes),
		cmocka_unit_test(other_entries_are_refused),
		cmocka_unit_test(a_header_is_refused_that_does_not_fit),
		cmocka_unit_test(what_follows_the_page_is_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
