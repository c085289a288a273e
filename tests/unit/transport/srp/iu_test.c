// SPDX-License-Identifier: BSD-2-Clause
// The other IUs against hand-made bytes: TSK_MGMT, RSP, AER_REQ and those of 16 bytes. T10 SRP 6.6,
// 6.7, 6.9 to 6.15.
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "transport/srp/iu.h"

#define TAG 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8

// clang-format off
static const uint8_t tag_bytes[8] = { TAG };
static const uint8_t lun[8] = { 0x40, 0x07 };

static const uint8_t command[48] = {
	0x02, 0, 0, 0, 0, 0, 0, 0, TAG, 0, 0, 0, 0,
	0x40, 0x07, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0,
	0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
	0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
};

static const uint8_t mgmt[48] = {
	0x01, 0x02, 0, 0, 0, 0, 0, 0, TAG, 0, 0, 0, 0,
	0x40, 0x07, 0, 0, 0, 0, 0, 0,		// LUN
	0, 0, 0x01, 0,				// ABORT TASK
	0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8,
};

static const uint8_t failed[36 + 18] = {
	0xc1, 0, 0, 0, 0xff, 0xff, 0xff, 0xfe, TAG, // RSP, -2 credits
	0, 0, 0x0a, 0x02,			// SNSVALID, DOUNDER; CHECK CONDITION
	0x01, 0x02, 0x03, 0x04,			// residuals
	0x05, 0x06, 0x07, 0x08,
	0, 0, 0, 18, 0, 0, 0, 0,
	0x70, 0, 0x05, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24,
};

static const uint8_t refused[36 + 4] = {
	0xc1, 0, 0, 0, 0, 0, 0, 1, TAG,
	0, 0, 0x01, 0x00,			// RSPVALID
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 4, 0, 0, 0, 0x05,		// failed
};

static const uint8_t event[36 + 18] = {
	0x82, 0, 0, 0, 0, 0, 0, 3, TAG, 0, 0, 0, 0,
	0x40, 0x07, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 18, 0, 0, 0, 0,
	0x70, 0, 0x06, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x3f, 0x0e,
};
// clang-format on

static uint64_t tag(void)
{
	uint64_t v;
	memcpy(&v, tag_bytes, sizeof v);
	return v;
}

static void set32(uint8_t *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void a_command_is_written(void **state)
{
	uint8_t out[48];
	memset(out, 0xff, sizeof out);
	srp_command_put(out, tag(), lun, SRP_ATTR_ORDERED, command + 32);
	assert_memory_equal(out, command, 48);
}

static void task_management_is_read_and_written(void **state)
{
	struct srp_task_mgmt m;
	uint8_t out[48];
	memset(out, 0xff, sizeof out);
	assert_int_equal(srp_task_mgmt_parse(&m, mgmt, 48, NULL), 0);
	assert_true(m.tag == tag());
	assert_memory_equal(&m.task_tag, mgmt + 32, 8);
	assert_ptr_equal(m.lun, mgmt + 20);
	assert_int_equal(m.function, SRP_TMF_ABORT_TASK);
	assert_int_equal(m.sol_not, SRP_SCSOLNT);
	srp_task_mgmt_put(out, &m);
	assert_memory_equal(out, mgmt, 48);
}

static void sense_data_is_read_and_written(void **state)
{
	struct srp_response r;
	uint8_t out[sizeof failed];
	memset(out, 0xff, sizeof out);
	assert_int_equal(srp_response_parse(&r, failed, sizeof failed, NULL), 0);
	assert_true(r.tag == tag());
	assert_int_equal(r.credits, -2);
	assert_int_equal(r.flags, SRP_SNSVALID | SRP_DOUNDER);
	assert_int_equal(r.status, 2);
	assert_int_equal(r.out_residual, 0x01020304);
	assert_int_equal(r.in_residual, 0x05060708);
	assert_false(r.has_code);
	assert_ptr_equal(r.sense, failed + 36);
	assert_int_equal(r.sense_len, 18);
	assert_int_equal(srp_response_put(out, sizeof out, &r), sizeof failed);
	assert_memory_equal(out, failed, sizeof failed);
}

static void a_code_is_read_and_written(void **state)
{
	struct srp_response r;
	uint8_t out[sizeof refused];
	memset(out, 0xff, sizeof out);
	assert_int_equal(srp_response_parse(&r, refused, sizeof refused, NULL), 0);
	assert_true(r.has_code);
	assert_int_equal(r.code, SRP_RSP_TMF_FAILED);
	assert_null(r.sense);
	assert_int_equal(srp_response_put(out, sizeof out, &r), sizeof refused);
	assert_memory_equal(out, refused, sizeof refused);
}

static void sense_data_is_cut_to_the_room(void **state)
{
	struct srp_response r;
	uint8_t out[sizeof failed];
	assert_int_equal(srp_response_parse(&r, failed, sizeof failed, NULL), 0);
	for (uint32_t size = 40; size <= sizeof failed; size++) {
		memset(out, 0xff, sizeof out);
		assert_int_equal(srp_response_put(out, size, &r), size);
		assert_int_equal(out[31], size - 36);
		for (uint32_t i = size; i < sizeof out; i++)
			assert_int_equal(out[i], 0xff);
	}
	r.has_code = true;
	assert_int_equal(srp_response_put(out, 40, &r), 40);
	assert_int_equal(out[18], SRP_RSPVALID | SRP_DOUNDER); // no sense data
	assert_int_equal(out[31], 0);
}

// len bytes of iu, in memory of that length.
static int parse_response(const uint8_t *iu, uint32_t len)
{
	struct srp_response r;
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, iu, len);
	int ret = srp_response_parse(&r, copy, len, NULL);
	free(copy);
	return ret;
}

static void shorter_responses_are_refused(void **state)
{
	for (uint32_t len = 0; len < sizeof failed; len++)
		assert_int_equal(parse_response(failed, len), -EPROTO);
	for (uint32_t len = 0; len < sizeof refused; len++)
		assert_int_equal(parse_response(refused, len), -EPROTO);
	assert_int_equal(parse_response(failed, sizeof failed), 0);
}

static void lengths_of_a_response_are_added_in_64_bits(void **state)
{
	uint8_t iu[sizeof failed];
	memcpy(iu, failed, sizeof iu);
	iu[18] |= SRP_RSPVALID;
	set32(iu + 28, 0xfffffff0);
	set32(iu + 32, 0x10); // 2^32 with the sense data
	assert_int_equal(parse_response(iu, sizeof iu), -EPROTO);
	set32(iu + 28, 0);
	set32(iu + 32, 0xffffffdc); // 0 with the header
	assert_int_equal(parse_response(iu, sizeof iu), -EPROTO);
}

static void a_length_without_its_flag_is_ignored(void **state)
{
	struct srp_response r;
	uint8_t iu[sizeof failed];
	memcpy(iu, failed, sizeof iu);
	set32(iu + 32, 0xffffffff);
	assert_int_equal(srp_response_parse(&r, iu, sizeof iu, NULL), 0);
	assert_ptr_equal(r.sense, iu + 36);
	iu[18] = 0;
	assert_int_equal(srp_response_parse(&r, iu, 36, NULL), 0);
	assert_int_equal(r.sense_len, 0);
	assert_null(r.sense);
}

static void response_data_has_four_bytes(void **state)
{
	uint8_t iu[sizeof refused];
	memcpy(iu, refused, sizeof iu);
	for (uint32_t len = 0; len < 4; len++) {
		set32(iu + 32, len);
		assert_int_equal(parse_response(iu, sizeof iu), -EPROTO);
	}
}

static void an_event_is_read_and_written(void **state)
{
	struct srp_event v;
	uint8_t out[sizeof event];
	memset(out, 0xff, sizeof out);
	assert_int_equal(srp_event_parse(&v, event, sizeof event, NULL), 0);
	assert_true(v.tag == tag());
	assert_int_equal(v.credits, 3);
	assert_ptr_equal(v.lun, event + 20);
	assert_ptr_equal(v.sense, event + 36);
	assert_int_equal(v.sense_len, 18);
	assert_int_equal(srp_event_put(out, sizeof out, &v), sizeof event);
	assert_memory_equal(out, event, sizeof event);
	assert_int_equal(srp_event_put(out, 40, &v), 40);
	assert_int_equal(out[31], 4);
	assert_int_equal(srp_event_put(out, 36, &v), 36);
}

static void lengths_of_an_event_are_checked(void **state)
{
	struct srp_event v;
	uint8_t iu[sizeof event];
	for (uint32_t len = 0; len < sizeof event; len++)
		assert_int_equal(srp_event_parse(&v, event, len, NULL), -EPROTO);
	memcpy(iu, event, sizeof iu);
	set32(iu + 28, 19);
	assert_int_equal(srp_event_parse(&v, iu, sizeof iu, NULL), -EPROTO);
	set32(iu + 28, 0xffffffdc); // 0 with the header
	assert_int_equal(srp_event_parse(&v, iu, sizeof iu, NULL), -EPROTO);
	set32(iu + 28, 0);
	assert_int_equal(srp_event_parse(&v, iu, 36, NULL), 0);
	assert_null(v.sense);
}

static void short_ius_are_read_and_written(void **state)
{
	static const uint8_t want[16] = { 0x81, 0, 0, 0, 0x01, 0x02, 0x03, 0x04, TAG };
	uint8_t out[16];
	uint64_t got_tag;
	uint32_t value;
	memset(out, 0xff, sizeof out);
	srp_short_put(out, SRP_CRED_REQ, tag(), 0x01020304);
	assert_memory_equal(out, want, 16);
	assert_int_equal(srp_short_parse(&got_tag, &value, want, 16, NULL), 0);
	assert_true(got_tag == tag());
	assert_int_equal(value, 0x01020304);
	for (uint32_t len = 0; len < 16; len++)
		assert_int_equal(srp_short_parse(&got_tag, &value, want, len, NULL), -EPROTO);
}

static void every_other_opcode_is_refused(void **state)
{
	uint8_t m[48], r[sizeof refused], v[sizeof event];
	struct srp_task_mgmt task_mgmt;
	struct srp_response response;
	struct srp_event aer;
	memcpy(m, mgmt, sizeof m);
	memcpy(r, refused, sizeof r);
	memcpy(v, event, sizeof v);
	for (unsigned op = 0; op < 256; op++) {
		m[0] = r[0] = v[0] = (uint8_t)op;
		assert_int_equal(srp_task_mgmt_parse(&task_mgmt, m, sizeof m, NULL),
				 op == 0x01 ? 0 : -EPROTO);
		assert_int_equal(srp_response_parse(&response, r, sizeof r, NULL),
				 op == 0xc1 ? 0 : -EPROTO);
		assert_int_equal(srp_event_parse(&aer, v, sizeof v, NULL),
				 op == 0x82 ? 0 : -EPROTO);
	}
}

static void shorter_task_management_is_refused(void **state)
{
	struct srp_task_mgmt m;
	for (uint32_t len = 0; len < 48; len++)
		assert_int_equal(srp_task_mgmt_parse(&m, mgmt, len, NULL), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_written),
		cmocka_unit_test(task_management_is_read_and_written),
		cmocka_unit_test(sense_data_is_read_and_written),
		cmocka_unit_test(a_code_is_read_and_written),
		cmocka_unit_test(sense_data_is_cut_to_the_room),
		cmocka_unit_test(shorter_responses_are_refused),
		cmocka_unit_test(lengths_of_a_response_are_added_in_64_bits),
		cmocka_unit_test(a_length_without_its_flag_is_ignored),
		cmocka_unit_test(response_data_has_four_bytes),
		cmocka_unit_test(an_event_is_read_and_written),
		cmocka_unit_test(lengths_of_an_event_are_checked),
		cmocka_unit_test(short_ius_are_read_and_written),
		cmocka_unit_test(every_other_opcode_is_refused),
		cmocka_unit_test(shorter_task_management_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
