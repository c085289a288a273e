// SPDX-License-Identifier: BSD-2-Clause
// The login's codec against hand-made bytes. T10 SRP 6.3 to 6.5; the layout for RDMA-CM is Linux's.
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transport/srp/login.h"

// clang-format off
static const uint8_t request_ib[64] = {
	0x00, 0, 0, 0, 0, 0, 0, 0,		// LOGIN_REQ
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, // tag
	0x00, 0x00, 0x20, 0x44, 0, 0, 0, 0,	// IUs of 8260 bytes
	0x00, 0x06, 0x81, 0x00,			// direct, indirect; immediate, MULTI
	0x00, 0x44, 0x00, 0x00,			// at 68
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, // initiator
	0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
	0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, // target
	0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,
};

static const uint8_t request_cm[56] = {
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	0x00, 0x06, 0x81, 0x00,			// formats, flags, LOGIN_REQ
	0x00, 0x00, 0x20, 0x44,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
	0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
	0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,
	0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,
	0x00, 0x44, 0, 0, 0, 0, 0, 0,
};

static const uint8_t response[52] = {
	0xc0, 0, 0, 0, 0x00, 0x00, 0x00, 0x80,	// LOGIN_RSP, 128 credits
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	0x00, 0x00, 0x21, 0x00,			// 8448
	0x00, 0x00, 0x01, 0x00,			// 256
	0x00, 0x06, 0x82, 0x00,			// immediate, channels maintained
};

static const uint8_t rejection[32] = {
	0xc2, 0, 0, 0, 0x00, 0x01, 0x00, 0x03,	// LOGIN_REJ, no such port
	0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8,
	0, 0, 0, 0, 0, 0, 0, 0,
	0x00, 0x06, 0, 0, 0, 0, 0, 0,
};
// clang-format on

static uint64_t tag(void)
{
	uint64_t v;
	memcpy(&v, request_ib + 8, sizeof v);
	return v;
}

static void check_request(const struct srp_login *l)
{
	assert_true(l->tag == tag());
	assert_int_equal(l->it_iu_len, 8260);
	assert_int_equal(l->formats, SRP_FMT_DIRECT | SRP_FMT_INDIRECT);
	assert_int_equal(l->flags, SRP_IMMED_REQUESTED | SRP_MULTICHAN_MULTI);
	assert_int_equal(l->imm_offset, 68);
	assert_memory_equal(l->initiator, request_ib + 32, 16);
	assert_memory_equal(l->target, request_ib + 48, 16);
}

static void both_layouts_say_the_same(void **state)
{
	struct srp_login l;
	assert_int_equal(srp_login_parse(&l, request_ib, 64, true, NULL), 0);
	check_request(&l);
	assert_int_equal(srp_login_parse(&l, request_cm, 56, false, NULL), 0);
	check_request(&l);
}

static void both_layouts_are_written(void **state)
{
	struct srp_login l;
	uint8_t ib[64], cm[56];
	memset(ib, 0xff, sizeof ib);
	memset(cm, 0xff, sizeof cm);
	assert_int_equal(srp_login_parse(&l, request_cm, 56, false, NULL), 0);
	srp_login_put(ib, &l);
	srp_login_put_cm(cm, &l);
	assert_memory_equal(ib, request_ib, 64);
	assert_memory_equal(cm, request_cm, 56);
}

static void the_layout_for_rdma_cm_is_known_over_ib(void **state)
{
	// As a connection manager of InfiniBand delivers it: padded to 92 bytes.
	uint8_t data[92] = { 0 };
	struct srp_login l;
	memcpy(data, request_cm, 56);
	assert_int_equal(srp_login_parse(&l, data, sizeof data, true, NULL), 0);
	check_request(&l);
	memset(data, 0, sizeof data);
	memcpy(data, request_ib, 64);
	assert_int_equal(srp_login_parse(&l, data, sizeof data, true, NULL), 0);
	check_request(&l);
}

static void a_tag_of_zeroes_is_not_an_opcode_of_rdma_cm(void **state)
{
	// Its first byte is LOGIN_REQ's opcode too.
	uint8_t data[64] = { 0 };
	struct srp_login l;
	memcpy(data, request_cm, 56);
	memset(data, 0, 8);
	assert_int_equal(srp_login_parse(&l, data, sizeof data, false, NULL), 0);
	assert_true(l.tag == 0);
	assert_int_equal(l.imm_offset, 68);
	assert_memory_equal(l.target, request_ib + 48, 16);
}

static void shorter_requests_are_refused(void **state)
{
	struct srp_login l;
	struct err e;
	for (uint32_t len = 0; len < 56; len++)
		assert_int_equal(srp_login_parse(&l, request_cm, len, false, &e), -EPROTO);
	for (uint32_t len = 0; len < 64; len++) // byte 11 is of the tag
		assert_int_equal(srp_login_parse(&l, request_ib, len, true, &e), -EPROTO);
}

static void every_other_opcode_is_refused(void **state)
{
	uint8_t cm[56], rsp[52], rej[32];
	struct srp_login l;
	struct srp_accept a;
	enum srp_rej_reason reason;
	memcpy(cm, request_cm, sizeof cm);
	memcpy(rsp, response, sizeof rsp);
	memcpy(rej, rejection, sizeof rej);
	for (unsigned op = 0; op < 256; op++) {
		cm[11] = rsp[0] = rej[0] = (uint8_t)op;
		assert_int_equal(srp_login_parse(&l, cm, 56, false, NULL), op ? -EPROTO : 0);
		assert_int_equal(srp_accept_parse(&a, rsp, 52, NULL), op == 0xc0 ? 0 : -EPROTO);
		assert_int_equal(srp_reject_parse(&reason, rej, 32, NULL),
				 op == 0xc2 ? 0 : -EPROTO);
	}
}

static void a_response_is_read_and_written(void **state)
{
	struct srp_accept a;
	uint8_t out[52];
	memset(out, 0xff, sizeof out);
	assert_int_equal(srp_accept_parse(&a, response, 52, NULL), 0);
	assert_true(a.tag == tag());
	assert_int_equal(a.credits, 128);
	assert_int_equal(a.it_iu_len, 8448);
	assert_int_equal(a.ti_iu_len, 256);
	assert_int_equal(a.formats, 6);
	assert_int_equal(a.flags, SRP_IMMED_SUPPORTED | SRP_MULTICHAN_MAINTAINED);
	srp_accept_put(out, &a);
	assert_memory_equal(out, response, 52);
}

static void shorter_responses_are_refused(void **state)
{
	struct srp_accept a;
	enum srp_rej_reason reason;
	for (uint32_t len = 0; len < 52; len++)
		assert_int_equal(srp_accept_parse(&a, response, len, NULL), -EPROTO);
	for (uint32_t len = 0; len < 32; len++)
		assert_int_equal(srp_reject_parse(&reason, rejection, len, NULL), -EPROTO);
}

// Sets one 32-bit field of the response.
static int parse_with(unsigned at, uint32_t value)
{
	uint8_t rsp[52];
	struct srp_accept a;
	memcpy(rsp, response, sizeof rsp);
	for (unsigned i = 0; i < 4; i++)
		rsp[at + i] = (uint8_t)(value >> (24 - 8 * i));
	return srp_accept_parse(&a, rsp, sizeof rsp, NULL);
}

static void a_response_without_credit_is_refused(void **state)
{
	assert_int_equal(parse_with(4, 0), -EPROTO);
	assert_int_equal(parse_with(4, 0x80000000), -EPROTO); // a delta is signed
	assert_int_equal(parse_with(4, 0xffffffff), -EPROTO);
	assert_int_equal(parse_with(4, 0x7fffffff), 0);
	assert_int_equal(parse_with(4, 1), 0);
}

static void a_response_with_short_ius_is_refused(void **state)
{
	assert_int_equal(parse_with(16, 63), -EPROTO);
	assert_int_equal(parse_with(16, 64), 0);
	assert_int_equal(parse_with(20, 39), -EPROTO); // RSP with a code
	assert_int_equal(parse_with(20, 40), 0);
}

static void a_rejection_is_read_and_written(void **state)
{
	enum srp_rej_reason reason;
	uint8_t out[32];
	memset(out, 0xff, sizeof out);
	assert_int_equal(srp_reject_parse(&reason, rejection, 32, NULL), 0);
	assert_int_equal(reason, SRP_REJ_NO_SUCH_PORT);
	srp_reject_put(out, tag(), SRP_REJ_NO_SUCH_PORT);
	assert_memory_equal(out, rejection, 32);
}

static void every_reason_has_a_text(void **state)
{
	for (unsigned reason = 0x00010000; reason <= 0x00010006; reason++)
		assert_non_null(srp_reject_text((enum srp_rej_reason)reason));
	assert_null(srp_reject_text((enum srp_rej_reason)0x00010007));
	assert_null(srp_reject_text((enum srp_rej_reason)0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_layouts_say_the_same),
		cmocka_unit_test(both_layouts_are_written),
		cmocka_unit_test(the_layout_for_rdma_cm_is_known_over_ib),
		cmocka_unit_test(a_tag_of_zeroes_is_not_an_opcode_of_rdma_cm),
		cmocka_unit_test(shorter_requests_are_refused),
		cmocka_unit_test(every_other_opcode_is_refused),
		cmocka_unit_test(a_response_is_read_and_written),
		cmocka_unit_test(shorter_responses_are_refused),
		cmocka_unit_test(a_response_without_credit_is_refused),
		cmocka_unit_test(a_response_with_short_ius_is_refused),
		cmocka_unit_test(a_rejection_is_read_and_written),
		cmocka_unit_test(every_reason_has_a_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
