// SPDX-License-Identifier: BSD-2-Clause
// The initiator's end of a channel against targets that lie: the connection ends, with words, and
// every command with it.
#include "transport/srp/initiator_rig.h"

enum { READ_LEN = 1000, WRITE_LEN = 20000 };

static struct rig r; // large
static uint8_t iu[SRP_AER_REQ_LEN + 600];

static struct srp_response response(struct st_conn *c)
{
	return (struct srp_response){ .tag = c->tag, .credits = 1 };
}

static void h_unknown_tag(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.tag ^= 1ull << 40;
	st_respond(c, &s);
}
static void h_slot_beyond_the_last(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.tag |= 0xff;
	st_respond(c, &s);
}
static void h_twice(struct st_conn *c)
{
	struct srp_response s = response(c);
	st_respond(c, &s);
	st_respond(c, &s);
}
static void h_task_management_was_not_asked_for(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.tag = 1ull << 63 | 1;
	s.has_code = true;
	st_respond(c, &s);
}
static void h_residual_beyond_a_read(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.flags = SRP_DIUNDER;
	s.in_residual = READ_LEN + 1;
	st_respond(c, &s);
}
static void h_residual_of_4_gib(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.flags = SRP_DIUNDER;
	s.in_residual = UINT32_MAX;
	st_respond(c, &s);
}
static void h_residual_beyond_a_write(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.flags = SRP_DOUNDER;
	s.out_residual = WRITE_LEN + 1;
	st_respond(c, &s);
}
// RSP whose lengths say more than it has.
static void miscount(struct st_conn *c, uint8_t flags, uint32_t rsp, uint32_t sense, uint32_t len)
{
	struct srp_response s = response(c);
	memset(iu, 0, sizeof iu);
	srp_response_put(iu, sizeof iu, &s);
	iu[18] = flags;
	put_be32(iu + 28, sense);
	put_be32(iu + 32, rsp);
	st_say(c, iu, len);
}
static void h_sense_beyond_the_iu(struct st_conn *c)
{
	miscount(c, SRP_SNSVALID, 0, 18, SRP_RSP_LEN + 17);
}
static void h_sense_of_4_gib(struct st_conn *c)
{
	miscount(c, SRP_SNSVALID, 0, UINT32_MAX, SRP_RSP_LEN + 17);
}
static void h_lengths_that_add_up_to_little(struct st_conn *c)
{
	miscount(c, SRP_SNSVALID | SRP_RSPVALID, UINT32_MAX, 5, SRP_RSP_LEN + 4);
}
static void h_response_data_beyond_the_iu(struct st_conn *c)
{
	miscount(c, SRP_RSPVALID, 8, 0, SRP_RSP_LEN + 4);
}
static void h_response_data_of_3_bytes(struct st_conn *c)
{
	miscount(c, SRP_RSPVALID, 3, 0, SRP_RSP_LEN + 4);
}
static void h_short_response(struct st_conn *c)
{
	miscount(c, 0, 0, 0, SRP_RSP_LEN - 1);
}
static void h_credit_overflow(struct st_conn *c)
{
	struct srp_response s = response(c);
	s.credits = INT32_MAX;
	st_respond(c, &s);
}
static void h_credit_overflow_by_request(struct st_conn *c)
{
	st_short(c, SRP_CRED_REQ, 7, INT32_MAX);
}
static void h_credit_underflow(struct st_conn *c)
{
	st_short(c, SRP_CRED_REQ, 7, 0x80000000u);
	st_short(c, SRP_CRED_REQ, 8, 0x80000000u);
}
static void h_short_credit_request(struct st_conn *c)
{
	memset(iu, 0, sizeof iu);
	iu[0] = SRP_CRED_REQ;
	st_say(c, iu, SRP_SHORT_LEN - 1);
}
static void h_short_event(struct st_conn *c)
{
	memset(iu, 0, sizeof iu);
	iu[0] = SRP_AER_REQ;
	st_say(c, iu, SRP_AER_REQ_LEN - 1);
}
static void h_event_with_sense_beyond_it(struct st_conn *c)
{
	memset(iu, 0, sizeof iu);
	iu[0] = SRP_AER_REQ;
	put_be32(iu + 28, 600);
	st_say(c, iu, SRP_AER_REQ_LEN + 18);
}
static void h_empty(struct st_conn *c)
{
	st_say(c, "", 0);
}
static void h_one_byte(struct st_conn *c)
{
	iu[0] = SRP_RSP;
	st_say(c, iu, 1);
}
static void h_login_response(struct st_conn *c)
{
	const struct srp_accept a = { .credits = 9 };
	srp_accept_put(iu, &a);
	st_say(c, iu, SRP_LOGIN_RSP_LEN);
}
static void h_command(struct st_conn *c)
{
	memset(iu, 0, sizeof iu);
	iu[0] = SRP_CMD;
	st_say(c, iu, SRP_CMD_LEN);
}
static void h_unknown_opcode(struct st_conn *c)
{
	memset(iu, 0x77, sizeof iu);
	st_say(c, iu, 100);
}
static void h_logout(struct st_conn *c)
{
	st_short(c, SRP_T_LOGOUT, 0, SRP_LOGOUT_INVALID_IU);
}
static void h_logout_for_an_unknown_reason(struct st_conn *c)
{
	st_short(c, SRP_T_LOGOUT, 0, 0xdead);
}
static void h_short_logout(struct st_conn *c)
{
	iu[0] = SRP_T_LOGOUT;
	st_say(c, iu, 8);
}
static void h_requests_without_taking_answers(struct st_conn *c)
{
	for (int i = 0; i < 1000; i++)
		st_short(c, SRP_CRED_REQ, (uint64_t)i, 0);
	st_short(c, SRP_T_LOGOUT, 0, SRP_LOGOUT_INACTIVE);
}
static void h_hang_up(struct st_conn *c)
{
	st_hang_up(c);
}

static const struct hostile {
	const char *name;
	void (*say)(struct st_conn *c);
	bool is_write;
	const char *text; // in the reason
} hostiles[] = {
	// clang-format off
	{"unknown tag", h_unknown_tag, .text = "no command in flight"},
	{"slot beyond the last", h_slot_beyond_the_last, .text = "no command in flight"},
	{"two responses", h_twice, .text = "no command in flight"},
	{"unasked task management", h_task_management_was_not_asked_for, .text = "no command in flight"},
	{"residual beyond a read", h_residual_beyond_a_read, .text = "underflow of 1001 bytes"},
	{"residual of 4 GiB", h_residual_of_4_gib, .text = "underflow"},
	{"residual beyond a write", h_residual_beyond_a_write, .is_write = true, .text = "underflow of 20001 bytes"},
	{"sense beyond the IU", h_sense_beyond_the_iu, .text = "sense data"},
	{"sense of 4 GiB", h_sense_of_4_gib, .text = "sense data"},
	{"lengths that add up to little", h_lengths_that_add_up_to_little, .text = "response data"},
	{"response data beyond the IU", h_response_data_beyond_the_iu, .text = "response data"},
	{"response data of 3 bytes", h_response_data_of_3_bytes, .text = "3 bytes of response data"},
	{"short response", h_short_response, .text = "35 bytes instead of 36"},
	{"credit overflow", h_credit_overflow, .text = "request limit"},
	{"credit overflow by CRED_REQ", h_credit_overflow_by_request, .text = "request limit"},
	{"credit underflow", h_credit_underflow, .text = "request limit"},
	{"short CRED_REQ", h_short_credit_request, .text = "15 bytes instead of 16"},
	{"short AER_REQ", h_short_event, .text = "35 bytes instead of 36"},
	{"sense beyond the AER_REQ", h_event_with_sense_beyond_it, .text = "600 of sense data"},
	{"empty IU", h_empty, .text = "0 bytes"},
	{"IU of one byte", h_one_byte, .text = "1 bytes instead of 36"},
	{"LOGIN_RSP", h_login_response, .text = "unexpected IU 0xc0"},
	{"command", h_command, .text = "unexpected IU 0x02"},
	{"unknown opcode", h_unknown_opcode, .text = "unexpected IU 0x77"},
	{"T_LOGOUT", h_logout, .text = "it received an invalid IU"},
	{"T_LOGOUT for an unknown reason", h_logout_for_an_unknown_reason, .text = "unknown reason"},
	{"short T_LOGOUT", h_short_logout, .text = "8 bytes instead of 16"},
	{"a thousand CRED_REQs", h_requests_without_taking_answers, .text = ""},
	{"the end", h_hang_up, .text = ""},
	// clang-format on
};

static const struct hostile *hostile;

static void script(struct st_conn *c, const uint8_t *bytes, uint32_t len)
{
	if (c->ius == 2)
		hostile->say(c);
}

// Two commands: the target lies when it has the second one.
static void up_send(struct rig *rg)
{
	rig_send(rg, 0, false, 1);
	rig_send(rg, hostile->is_write ? WRITE_LEN : READ_LEN, hostile->is_write, 1);
}

static void nothing(struct rig *rg)
{
}

static void a_lie_ends_the_channel_with_words(void **state)
{
	for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++) {
		hostile = &hostiles[i];
		rig_init(&r);
		r.target.iu = script;
		r.on_up = up_send;
		r.on_done = nothing;
		rig_run(&r);
		if (!r.why.code || !strstr(r.why.text, hostile->text))
			fail_msg("%s: closed with %d '%s'", hostile->name, r.why.code, r.why.text);
		if (r.res[0] != -EPIPE)
			fail_msg("%s: a command ended with %d", hostile->name, r.res[0]);
		rig_done(&r);
	}
}

// --- a key that the target invalidates ---

static void script_invalidates(struct st_conn *c, const uint8_t *bytes, uint32_t len)
{
	struct srp_response s = response(c);
	struct srp_desc d;
	st_desc(&d, bytes, len, true);
	st_say_invalidating(c, iu, srp_response_put(iu, sizeof iu, &s), d.key);
}

static void up_read(struct rig *rg)
{
	rig_send(rg, READ_LEN, false, 1);
}

static void an_invalidated_key_ends_the_channel(void **state)
{
	rig_init(&r);
	r.target.iu = script_invalidates;
	r.on_up = up_read;
	r.on_done = nothing;
	rig_run(&r);
	assert_int_equal(r.why.code, -EPROTO);
	assert_non_null(strstr(r.why.text, "invalidated"));
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lie_ends_the_channel_with_words),
		cmocka_unit_test(an_invalidated_key_ends_the_channel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
