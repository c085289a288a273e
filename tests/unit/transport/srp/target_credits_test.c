// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel keeps the REQUEST LIMIT: responses, CRED_REQ, AER_REQ, the ping,
// and peers that exceed it. T10 SRP 5.2, 6.10 to 6.15.
#include "transport/srp/target_rig.h"

// The initiator's view: what it was granted and has used.
static int limit, limit_max;

static void hear(unsigned *n)
{
	for (; *n < fake.sent_count; ++*n) {
		uint8_t opcode = fake.sent[*n].data[0];
		if (opcode == SRP_RSP || opcode == SRP_CRED_REQ || opcode == SRP_AER_REQ)
			limit += (int)get_be32(fake.sent[*n].data + 4);
		limit_max = limit > limit_max ? limit : limit_max;
	}
}

static void a_response_returns_its_credit(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	assert_int_equal(credits_left(), CREDITS);
	read_direct(1, 0, 512);
	assert_int_equal(credits_left(), CREDITS);
	fake_run();
	assert_int_equal(heard(0).credits, 1);
	shut();
}

static void credits_are_taken_until_the_response(void **state)
{
	open_channel();
	for (unsigned i = 0; i < CREDITS; i++) {
		one[i].plan = WAIT;
		read_direct(i, 0, 512);
	}
	assert_int_equal(credits_left(), 0);
	for (unsigned i = 0; i < CREDITS; i++)
		answer(i);
	fake_run();
	assert_int_equal(credits_left(), CREDITS);
	shut();
}

static void a_peer_that_exceeds_its_limit_is_closed(void **state)
{
	open_channel();
	for (unsigned i = 0; i < CREDITS + 1; i++) {
		one[i].plan = WAIT;
		read_direct(i, 0, 512);
	}
	assert_int_equal(one[CREDITS].arrivals, 0);
	assert_int_equal(fake.closes, 1);
	assert_int_equal(fake.why.code, -EPROTO);
	fake_run();
	assert_int_equal(heard_short(0, SRP_T_LOGOUT, NULL), SRP_LOGOUT_INVALID_IU);
	shut();
}

static void task_management_takes_a_credit(void **state)
{
	open_channel();
	for (unsigned i = 0; i < CREDITS + 1; i++)
		task_mgmt(i, 0);
	assert_int_equal(tmfs, CREDITS);
	assert_int_equal(fake.closes, 1);
	shut();
}

static void the_next_response_carries_the_credits_of_aborted_commands(void **state)
{
	open_channel();
	for (unsigned i = 0; i < 4; i++) {
		one[i].plan = WAIT;
		read_direct(i, 0, 512);
	}
	drop(0);
	drop(1);
	assert_int_equal(fake.posted_count, 0);
	answer(2);
	fake_run();
	assert_int_equal(heard(0).credits, 3);
	shut();
}

static void without_a_response_to_come_cred_req_returns_credits(void **state)
{
	uint64_t tag;
	open_channel();
	one[1].plan = WAIT;
	read_direct(1, 0, 512);
	drop(1);
	fake_run();
	assert_int_equal(heard_short(0, SRP_CRED_REQ, &tag), 1);
	assert_int_equal(credits_left(), CREDITS);
	say_short(SRP_CRED_RSP, tag);
	assert_int_equal(fake.closes, 0);
	shut();
}

static void a_command_that_is_dropped_returns_its_credit(void **state)
{
	open_channel();
	one[1].plan = WAIT;
	one[2].plan = IGNORE;
	read_direct(1, 0, 512);
	read_direct(2, 0, 512);
	answer(1);
	fake_run();
	assert_int_equal(heard(0).credits, 2);
	shut();
}

static void half_of_the_limit_is_returned_by_cred_req(void **state)
{
	open_channel();
	for (unsigned i = 0; i < CREDITS; i++) {
		one[i].plan = WAIT;
		read_direct(i, 0, 512);
	}
	for (unsigned i = 0; i < CREDITS / 2; i++) {
		assert_int_equal(fake.posted_count, 0);
		drop(i);
	}
	fake_run();
	assert_int_equal(fake.sent_count, 1);
	assert_int_equal(heard_short(0, SRP_CRED_REQ, NULL), CREDITS / 2);
	shut();
}

static void one_cred_req_at_a_time(void **state)
{
	uint64_t tag;
	open_channel();
	for (unsigned i = 0; i < 3; i++) {
		one[i].plan = ABORT;
		read_direct(i, 0, 512);
	}
	fake_run();
	assert_int_equal(fake.sent_count, 1);
	assert_int_equal(heard_short(0, SRP_CRED_REQ, &tag), 1);
	say_short(SRP_CRED_RSP, tag);
	fake_run();
	assert_int_equal(fake.sent_count, 2);
	assert_int_equal(heard_short(1, SRP_CRED_REQ, NULL), 2);
	shut();
}

static void an_answer_to_nothing_ends_the_channel(void **state)
{
	static const struct {
		enum srp_opcode opcode;
		bool asks;
	} rows[] = {
		{SRP_CRED_RSP,	false},
		{ SRP_AER_RSP,  false},
		{ SRP_CRED_RSP, true },
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		open_channel();
		one[1].plan = ANSWER;
		read_direct(1, 0, 512);
		if (rows[i].asks)
			assert_true(srp_ping(ch));
		say_short(rows[i].opcode, 4711);
		fake_run();
		assert_int_equal(heard_short(rows[i].asks ? 2 : 1, SRP_T_LOGOUT, NULL),
				 SRP_LOGOUT_SPURIOUS_RSP);
		shut();
	}
}

static void a_ping_is_answered_once(void **state)
{
	struct srp_channel_info info;
	uint64_t tag;
	open_channel();
	one[1].plan = ANSWER;
	assert_false(srp_ping(ch)); // nothing before the first IU
	read_direct(1, 0, 512);
	assert_true(srp_ping(ch));
	assert_false(srp_ping(ch));
	srp_channel_info(ch, &info);
	assert_true(info.asked.since_ns);
	fake_run();
	assert_int_equal(heard_short(1, SRP_CRED_REQ, &tag), 0);
	say_short(SRP_CRED_RSP, tag);
	srp_channel_info(ch, &info);
	assert_false(info.asked.since_ns);
	assert_true(srp_ping(ch));
	shut();
}

static void one_event_at_a_time(void **state)
{
	static const uint8_t lun[8] = { 0, 7 }, sense[18] = { 0x70 };
	struct srp_event v;
	struct err e;
	open_channel();
	one[1].plan = ANSWER;
	assert_false(srp_send_event(ch, lun, sense, sizeof sense)); // nothing before the first IU
	read_direct(1, 0, 512);
	assert_true(srp_send_event(ch, lun, sense, sizeof sense));
	assert_false(srp_send_event(ch, lun, sense, sizeof sense));
	fake_run();
	assert_int_equal(srp_event_parse(&v, fake.sent[1].data, fake.sent[1].len, &e), 0);
	assert_int_equal(v.lun[1], 7);
	assert_int_equal(v.sense_len, sizeof sense);
	say_short(SRP_AER_RSP, v.tag);
	assert_int_equal(fake.closes, 0);
	assert_true(srp_send_event(ch, lun, sense, sizeof sense));
	shut();
}

// The role answers and aborts at random; the initiator uses what it gets.
static void credits_never_exceed_the_limit(void **state)
{
	unsigned seen = 0, random = 12345, commands = 0;
	uint64_t tag;
	open_channel();
	limit = limit_max = CREDITS;
	for (unsigned i = 0; i < 100; i++) {
		random = random * 1103515245 + 12345;
		unsigned k = random >> 16 & 31;
		if (one[k].is_held) {
			(random >> 22 & 1 ? answer : drop)(k);
		} else if (limit) {
			one[k].plan = WAIT;
			limit--;
			commands++;
			read_direct(k, 0, 512);
		}
		fake_run();
		unsigned from = seen;
		hear(&seen);
		assert_int_equal(limit, credits_left());
		for (; from < seen; from++)
			if (fake.sent[from].data[0] == SRP_CRED_REQ) {
				heard_short(from, SRP_CRED_REQ, &tag);
				say_short(SRP_CRED_RSP, tag);
			}
	}
	assert_true(commands > CREDITS);
	assert_int_equal(limit_max, CREDITS);
	assert_int_equal(fake.closes, 0);
	shut();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_response_returns_its_credit, setup),
		cmocka_unit_test_setup(credits_are_taken_until_the_response, setup),
		cmocka_unit_test_setup(a_peer_that_exceeds_its_limit_is_closed, setup),
		cmocka_unit_test_setup(task_management_takes_a_credit, setup),
		cmocka_unit_test_setup(the_next_response_carries_the_credits_of_aborted_commands,
				       setup),
		cmocka_unit_test_setup(without_a_response_to_come_cred_req_returns_credits, setup),
		cmocka_unit_test_setup(a_command_that_is_dropped_returns_its_credit, setup),
		cmocka_unit_test_setup(half_of_the_limit_is_returned_by_cred_req, setup),
		cmocka_unit_test_setup(one_cred_req_at_a_time, setup),
		cmocka_unit_test_setup(an_answer_to_nothing_ends_the_channel, setup),
		cmocka_unit_test_setup(a_ping_is_answered_once, setup),
		cmocka_unit_test_setup(one_event_at_a_time, setup),
		cmocka_unit_test_setup(credits_never_exceed_the_limit, setup),
	};
	return cmocka_run_group_tests(tests, make_workers, free_workers);
}
