// SPDX-License-Identifier: BSD-2-Clause
// NBD's negotiation: the options of a good client, and those of a bad one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/attach/socket/negotiation.h"
#include "transport/wire/be.h"

#define IHAVEOPT 0x49484156454f5054ull
#define REPLY	 0x0003e889045565a9ull

enum {
	EXPORT_NAME = 1,
	ABORT = 2,
	LIST = 3,
	STARTTLS = 5,
	INFO = 6,
	GO = 7,
	STRUCTURED = 8,
	LIST_CONTEXTS = 9,
	SET_CONTEXTS = 10
};
enum { ACK = 1, SERVER = 2, INFORMATION = 3, CONTEXT = 4 };
#define UNSUPPORTED 0x80000001u
#define INVALID	    0x80000003u
#define UNKNOWN	    0x80000006u
#define TOO_BIG	    0x80000009u

static struct negotiation n;
static uint8_t out[NEGOTIATION_OUT_MAX];
static size_t out_len;

static void take(const void *in, uint32_t len)
{
	assert_int_equal(n.want, len);
	out_len = negotiation_take(&n, in, out);
	assert_true(out_len <= sizeof out);
}

static int begin_with(uint32_t flags)
{
	static const struct negotiation_export export = { .name = "disk",
							  .bytes = 1 << 20,
							  .block_size = 512,
							  .preferred = 4096,
							  .data_max = 32 << 20,
							  .flags = 0x6d,
							  .context = 9 };
	uint8_t b[4];
	assert_int_equal(negotiation_begin(&n, &export, out), 18);
	assert_memory_equal(out, "NBDMAGICIHAVEOPT\0\3", 18);
	put_be32(b, flags);
	take(b, 4);
	return 0;
}

static int begin(void **state)
{
	return begin_with(3);
}

static void option(uint32_t option, const void *data, uint32_t len)
{
	uint8_t b[16];
	put_be64(b, IHAVEOPT);
	put_be32(b + 8, option);
	put_be32(b + 12, len);
	take(b, 16);
	if (len)
		take(data, len);
}

// The reply at this place; returns the place of the next one.
static size_t expect(size_t at, uint32_t option, uint32_t type, uint32_t len)
{
	assert_true(at + 20 + len <= out_len);
	assert_true(get_be64(out + at) == REPLY);
	assert_int_equal(get_be32(out + at + 8), option);
	assert_int_equal(get_be32(out + at + 12), type);
	assert_int_equal(get_be32(out + at + 16), len);
	return at + 20 + len;
}

static void go_begins_the_transmission(void **state)
{
	option(GO, "\0\0\0\4disk\0\1\0\3", 12);
	size_t at = expect(0, GO, INFORMATION, 12);
	assert_int_equal(get_be64(out + 22), 1 << 20);
	assert_int_equal(get_be16(out + 30), 0x6d);
	at = expect(at, GO, INFORMATION, 14);
	assert_int_equal(expect(at, GO, ACK, 0), out_len);
	assert_int_equal(n.state, NEGOTIATION_DONE);
}

static void info_does_not(void **state)
{
	option(INFO, "\0\0\0\0\0\0", 6);
	expect(expect(expect(0, INFO, INFORMATION, 12), INFO, INFORMATION, 14), INFO, ACK, 0);
	assert_int_equal(n.state, NEGOTIATION_WANTS_OPTION);
}

// NBD_INFO_BLOCK_SIZE: minimum, preferred and maximum, also if the client has not asked for them.
static void info_and_go_tell_the_block_sizes(void **state)
{
	static const struct {
		const char *data;
		uint32_t len;
	} asked[] = {
		{"\0\0\0\0\0\0",		  6 },
		{ "\0\0\0\0\0\1\0\3",	      8 },
		{ "\0\0\0\4disk\0\2\0\3\0\1", 14},
	};
	for (unsigned i = 0; i < 2 * sizeof asked / sizeof *asked; i++) {
		const uint8_t *info = out + 20 + 12 + 20;
		uint32_t kind = i % 2 ? GO : INFO;
		begin_with(3);
		option(kind, asked[i / 2].data, asked[i / 2].len);
		expect(expect(0, kind, INFORMATION, 12), kind, INFORMATION, 14);
		assert_int_equal(get_be16(info), 3);
		assert_int_equal(get_be32(info + 2), 512);
		assert_int_equal(get_be32(info + 6), 4096);
		assert_int_equal(get_be32(info + 10), 32 << 20);
	}
}

static void list_names_the_export(void **state)
{
	option(LIST, NULL, 0);
	size_t at = expect(0, LIST, SERVER, 8);
	assert_memory_equal(out + 24, "disk", 4);
	assert_int_equal(expect(at, LIST, ACK, 0), out_len);
	option(LIST, "x", 1);
	expect(0, LIST, INVALID, 0);
}

static void export_name_has_zeroes_unless_refused(void **state)
{
	option(EXPORT_NAME, "disk", 4);
	assert_int_equal(out_len, 10);
	assert_int_equal(n.state, NEGOTIATION_DONE);
	begin_with(1);
	option(EXPORT_NAME, NULL, 0);
	assert_int_equal(out_len, 134);
	begin_with(3);
	option(EXPORT_NAME, "other", 5);
	assert_int_equal(n.state, NEGOTIATION_FAILED);
}

static void abort_is_acknowledged(void **state)
{
	option(ABORT, NULL, 0);
	expect(0, ABORT, ACK, 0);
	assert_int_equal(n.state, NEGOTIATION_FAILED);
}

static void what_it_does_not_have_is_refused(void **state)
{
	option(STARTTLS, NULL, 0);
	expect(0, STARTTLS, UNSUPPORTED, 0);
	option(GO, "\0\0\0\5other\0\0", 11);
	expect(0, GO, UNKNOWN, 0);
	assert_int_equal(n.state, NEGOTIATION_WANTS_OPTION);
}

static void lengths_that_lie_are_refused(void **state)
{
	static const struct {
		const char *data;
		uint32_t len;
	} rows[] = {
		{"\0\0\0\0",	      4},
		   { "\0\0\0\1\0\0",	     6},
		   { "\xff\xff\xff\xff\0\0", 6},
		{ "\0\0\0\0\xff\xff",     6},
		   { "\0\0\0\0\0\0x",	      7},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		option(GO, rows[i].data, rows[i].len);
		expect(0, GO, INVALID, 0);
	}
}

static void structured_replies_permit_df(void **state)
{
	option(STRUCTURED, "x", 1);
	expect(0, STRUCTURED, INVALID, 0);
	assert_false(n.is_structured);
	option(STRUCTURED, NULL, 0);
	assert_int_equal(expect(0, STRUCTURED, ACK, 0), out_len);
	assert_true(n.is_structured);
	option(GO, "\0\0\0\0\0\0", 6);
	assert_int_equal(get_be16(out + 30), 0x6d | 0x80);
}

static void expect_context(uint32_t kind, uint32_t id)
{
	size_t at = expect(0, kind, CONTEXT, 4 + 15);
	assert_int_equal(get_be32(out + 20), id);
	assert_memory_equal(out + 24, "base:allocation", 15);
	assert_int_equal(expect(at, kind, ACK, 0), out_len);
}

#define QUERY(text) "\0\0\0\4disk\0\0\0\1\0\0\0" text

static void base_allocation_is_set(void **state)
{
	option(STRUCTURED, NULL, 0);
	option(SET_CONTEXTS, "\0\0\0\0\0\0\0\2\0\0\0\1x\0\0\0\17base:allocation", 32);
	expect_context(SET_CONTEXTS, 9);
	assert_true(n.has_allocation);
	option(SET_CONTEXTS, QUERY("\5") "base:", 21); // replaces it; no wildcard here
	assert_int_equal(expect(0, SET_CONTEXTS, ACK, 0), out_len);
	assert_false(n.has_allocation);
}

static void contexts_are_listed(void **state)
{
	static const struct {
		const char *data;
		uint32_t len;
		bool finds;
	} rows[] = {
		{"\0\0\0\0\0\0\0\0",	      8,	 true },
		{ QUERY("\5") "base:",	       21, true },
		{ QUERY("\17") "base:allocation", 31, true },
		{ QUERY("\14") "base:another",    28, false},
		{ QUERY("\0"),		       16, false},
	};
	option(STRUCTURED, NULL, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		option(LIST_CONTEXTS, rows[i].data, rows[i].len);
		if (rows[i].finds)
			expect_context(LIST_CONTEXTS, 0);
		else
			assert_int_equal(expect(0, LIST_CONTEXTS, ACK, 0), out_len);
		assert_false(n.has_allocation);
	}
}

static void contexts_need_structured_replies(void **state)
{
	option(SET_CONTEXTS, QUERY("\17") "base:allocation", 31);
	expect(0, SET_CONTEXTS, INVALID, 0);
	assert_false(n.has_allocation);
}

static void queries_that_lie_set_nothing(void **state)
{
	static const struct {
		const char *data;
		uint32_t len, error;
	} rows[] = {
		{"\0\0\0\0",				  4,	 INVALID},
		{ "\xff\xff\xff\xff\0\0\0\1",		      8,	 INVALID},
		{ "\0\0\0\1x\0\0\0",			     8,	INVALID},
		{ "\0\0\0\1x\0\0\0\0",			       9,  UNKNOWN},
		{ "\0\0\0\0\0\0\0\1",			      8,	 INVALID},
		{ "\0\0\0\0\0\0\0\1\xff\xff\xff\xff",	      12, INVALID},
		{ QUERY("\17") "base:allocation!",		   32, INVALID},
		{ "\0\0\0\0\0\0\0\2\0\0\0\17base:allocation", 27, INVALID},
		{ "\0\0\0\0\0\0\0\x41",			8,  TOO_BIG},
	};
	option(STRUCTURED, NULL, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		option(SET_CONTEXTS, QUERY("\17") "base:allocation", 31);
		assert_true(n.has_allocation);
		option(SET_CONTEXTS, rows[i].data, rows[i].len);
		expect(0, SET_CONTEXTS, rows[i].error, 0);
		assert_false(n.has_allocation);
	}
}

static void wrong_bytes_end_it(void **state)
{
	uint8_t b[16] = { 0 };
	take(b, 16); // no magic
	assert_int_equal(n.state, NEGOTIATION_FAILED);
	begin_with(3);
	put_be64(b, IHAVEOPT);
	put_be32(b + 12, NEGOTIATION_IN_MAX + 1);
	take(b, 16); // too long
	assert_int_equal(n.state, NEGOTIATION_FAILED);
	begin_with(4); // an unknown flag
	assert_int_equal(n.state, NEGOTIATION_FAILED);
}

static void options_without_end_end_it(void **state)
{
	for (int i = 0; i < NEGOTIATION_OPTIONS_MAX; i++)
		option(STARTTLS, NULL, 0);
	option(STARTTLS, NULL, 0);
	assert_int_equal(n.state, NEGOTIATION_FAILED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, begin)
	const struct CMUnitTest tests[] = {
		T(go_begins_the_transmission),
		T(info_does_not),
		T(go_begins_the_transmission),
		T(info_and_go_tell_the_block_sizes),
		T(list_names_the_export),
		T(export_name_has_zeroes_unless_refused),
		T(abort_is_acknowledged),
		T(what_it_does_not_have_is_refused),
		T(lengths_that_lie_are_refused),
		T(wrong_bytes_end_it),
		T(options_without_end_end_it),
		T(structured_replies_permit_df),
		T(base_allocation_is_set),
		T(contexts_are_listed),
		T(contexts_need_structured_replies),
		T(queries_that_lie_set_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
