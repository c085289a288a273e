// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel as a connection: accept and refusal, aborts, task management,
// malformed IUs, the close in every state. T10 SRP 5.1, 5.5, 6.3 to 6.9.
#include "transport/srp/target_rig.h"

// --- login ---

static void the_login_is_answered_in_the_private_data(void **state)
{
	struct srp_accept a;
	struct err e;
	options.tos = 0x68;
	options.pkey = 0x8001;
	open_channel();
	assert_int_equal(srp_accept_parse(&a, fake.answer, fake.answer_len, &e), 0);
	assert_int_equal(a.tag, 99);
	assert_int_equal(a.credits, CREDITS);
	assert_int_equal(a.it_iu_len, SRP_IT_IU_MAX);
	assert_int_equal(a.flags, SRP_IMMED_SUPPORTED);
	assert_int_equal(fake.tos, 0x68);
	assert_int_equal(fake.pkey, 0x8001);
	shut();
}

static void buffers_are_there_before_the_peer_can_send(void **state)
{
	open_channel();
	assert_true(fake.reserved_at_accept >= CREDITS);
	shut();
}

static void assert_refused(int code, enum srp_rej_reason why)
{
	enum srp_rej_reason reason;
	struct err e;
	assert_int_equal(srp_channel_new(&ch, &fake.request, &options, &up, NULL, &e), code);
	assert_int_equal(fake.rejects, 1);
	assert_int_equal(fake.accepts, 0);
	assert_int_equal(fake.reserved, 0);
	assert_int_equal(srp_reject_parse(&reason, fake.answer, fake.answer_len, &e), 0);
	assert_int_equal(reason, why);
}

static void without_receive_buffers_the_peer_is_refused(void **state)
{
	fake.refuses_reserve = true;
	assert_refused(-ENOMEM, SRP_REJ_INSUFFICIENT_RESOURCES);
}

static void without_registered_memory_the_peer_is_refused(void **state)
{
	fake.knows_nothing = true;
	assert_refused(-ENOBUFS, SRP_REJ_INSUFFICIENT_RESOURCES);
}

static void without_rdma_reads_the_peer_is_refused(void **state)
{
	fake.request.reads_out = 0;
	assert_refused(-EPROTO, SRP_REJ_UNABLE_TO_ESTABLISH);
}

// --- aborts ---

static void an_aborted_read_ends_before_the_task_management_response(void **state)
{
	open_channel();
	one[1].want = 4096;
	write_direct(1, 0, 4096);
	task_mgmt(200, 1);
	assert_int_equal(last_tmf.task_tag, 1);
	drop(1);
	assert_int_equal(one[1].releases, 0);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE);
	assert_int_equal(fake.posted_count, 1); // the Read
	fake_step();
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(one[1].answers, 0);
	fake_run();
	assert_int_equal(heard(0).tag, 200);
	assert_true(heard(0).has_code);
	assert_int_equal(heard(0).code, SRP_RSP_COMPLETE);
	assert_int_equal(heard(0).credits, 2);
	assert_int_equal(fake.sent_count, 1);
	shut();
}

static void an_aborted_fetch_of_a_table_ends_before_the_response(void **state)
{
	open_channel();
	one[1].want = 4096;
	command(1, (struct side){ .format = SRP_INDIRECT, .len = 4096, .entries = 2 }, none);
	task_mgmt(200, 1);
	drop(1);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE);
	assert_int_equal(fake.posted_count, 1);
	fake_run();
	assert_int_equal(fake.posted_count, 2); // its data was not read
	assert_int_equal(heard(0).tag, 200);
	shut();
}

static void a_response_waits_for_reads_in_flight(void **state)
{
	open_channel();
	one[1].plan = WAIT;
	one[1].want = 4096;
	write_direct(1, 0, 4096);
	fetch(1);
	answer(1);
	assert_int_equal(fake.posted_count, 1);
	fake_run();
	assert_int_equal(one[1].answers, 0);
	assert_int_equal(heard(0).tag, 1);
	assert_int_equal(one[1].releases, 1);
	shut();
}

static void without_rdma_in_flight_the_response_goes_at_once(void **state)
{
	open_channel();
	one[1].plan = WAIT;
	write_direct(1, 0, 4096);
	task_mgmt(200, 1);
	drop(1);
	assert_int_equal(one[1].releases, 1);
	srp_answer_tmf(ch, 200, SRP_RSP_TMF_FAILED);
	fake_run();
	assert_int_equal(heard(0).code, SRP_RSP_TMF_FAILED);
	shut();
}

// Another channel of the nexus drains.
static void a_held_response_is_forgotten_with_its_channel(void **state)
{
	open_channel();
	rnic_drain_begin(&drain);
	task_mgmt(200, 1);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE);
	assert_int_equal(drain.held_count, 1);
	fake_end(-ECONNRESET);
	assert_int_equal(drain.held_count, 0);
	rnic_drain_end(&drain);
	shut();
}

// A result whose Reads are in flight: its response must not come after the answer.
static void the_answer_to_task_management_comes_after_results(void **state)
{
	open_channel();
	one[1].plan = WAIT;
	one[1].want = 4096;
	write_direct(1, 0, 4096);
	fetch(1);
	answer(1);
	task_mgmt(200, 1);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE);
	assert_int_equal(fake.posted_count, 1);
	fake_run();
	assert_int_equal(heard(0).tag, 1);
	assert_int_equal(heard(1).tag, 200);
	shut();
}

static void posted_responses_do_not_delay_it(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	read_direct(1, 0, 4096);
	task_mgmt(200, 1);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE);
	assert_int_equal(fake.posted_count, 3);
	fake_run();
	assert_int_equal(heard(1).tag, 200);
	shut();
}

// Another channel of the nexus writes data that the initiator waits for no longer.
static void it_comes_after_the_data_of_other_channels(void **state)
{
	struct err e;
	struct srp_channel *first;
	open_channel();
	first = ch;
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	read_direct(1, 0, 4096);
	// The provider has one queue pair, so the second channel sends on that of the first.
	assert_int_equal(srp_channel_new(&ch, &fake.request, &options, &up, NULL, &e), 0);
	task_mgmt(200, 1);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE);
	assert_int_equal(fake.posted_count, 2);
	assert_int_equal(drain.held_count, 1);
	fake_run();
	assert_int_equal(heard(0).tag, 1);
	assert_int_equal(heard(1).tag, 200);
	srp_channel_free(first);
	shut();
}

static void a_task_that_waits_for_its_turn_can_be_aborted(void **state)
{
	open_channel();
	for (unsigned i = 0; i < 6; i++) {
		one[i].want = 4096;
		command(i, (struct side){ .format = SRP_INDIRECT, .len = 4096, .entries = 2 },
			none);
	}
	assert_int_equal(fake.posted_count, 4);
	drop(5);
	drop(4);
	assert_int_equal(one[4].releases + one[5].releases, 2);
	shut();
}

static void a_wait_for_a_buffer_ends_with_the_task(void **state)
{
	static struct buf *taken[8192];
	unsigned n = 0;
	open_channel();
	while (n < 8192 && (taken[n] = buf_get(worker, BUF_MIN)))
		n++;
	one[1].want = one[2].want = 4096;
	for (unsigned i = 1; i < 3; i++)
		command(i, (struct side){ .format = SRP_INDIRECT, .len = 4096, .entries = 2 },
			none);
	assert_int_equal(fake.posted_count, 0);
	drop(1);
	assert_int_equal(one[1].releases, 1);
	while (n)
		buf_put(taken[--n]);
	fake_end(-ECONNRESET);
	assert_int_equal(one[2].releases, 1);
	shut();
}

// --- malformed IUs ---

static void malformed_ius_end_the_channel(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t len;
	} rows[] = {
		{SRP_CMD,	   0   },
		       { SRP_CMD,	  47  },
		{ SRP_TSK_MGMT,	47  },
		      { SRP_CRED_RSP,  15	 },
		{ SRP_LOGIN_REQ, 64  },
		       { SRP_RSP,	  64  },
		{ 0x55,		64  },
		      { SRP_CMD,	 8300},
	};
	uint8_t iu[8300] = { 0 };
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		options.accept.it_iu_len = 8299;
		open_channel();
		one[1].plan = ANSWER;
		read_direct(1, 0, 512);
		iu[0] = rows[i].opcode;
		fake_receive(iu, rows[i].len);
		assert_int_equal(fake.closes, 1);
		assert_int_equal(fake.why.code, -EPROTO);
		fake_run();
		assert_int_equal(heard_short(1, SRP_T_LOGOUT, NULL), SRP_LOGOUT_INVALID_IU);
		shut();
	}
}

static void a_malformed_first_iu_is_not_answered(void **state)
{
	uint8_t iu[64] = { SRP_LOGIN_REQ };
	open_channel();
	fake_receive(iu, sizeof iu);
	assert_int_equal(fake.closes, 1);
	assert_int_equal(fake.posted_count, 0);
	shut();
}

// --- close ---

static void a_logout_is_handed_up(void **state)
{
	open_channel();
	say_short(SRP_I_LOGOUT, 5);
	assert_int_equal(logouts, 1);
	assert_int_equal(fake.closes, 0);
	shut();
}

static void a_graceful_close_says_why_behind_the_responses(void **state)
{
	struct err why;
	struct srp_channel_info info;
	err_set(&why, -ESHUTDOWN, "disabled");
	open_channel();
	one[1].plan = ANSWER;
	read_direct(1, 0, 512);
	srp_channel_close(ch, true, SRP_LOGOUT_NO_TARGET_PORT, &why);
	srp_channel_close(ch, true, SRP_LOGOUT_NO_REASON, &why);
	assert_true(fake.is_lingering);
	srp_channel_info(ch, &info);
	assert_true(info.closing_ns);
	fake_run();
	assert_int_equal(fake.sent_count, 2);
	assert_int_equal(heard_short(1, SRP_T_LOGOUT, NULL), SRP_LOGOUT_NO_TARGET_PORT);
	srp_channel_close(ch, false, SRP_LOGOUT_NO_REASON, &why);
	assert_false(fake.is_lingering);
	fake_end(0);
	assert_int_equal(closed_why.code, -ESHUTDOWN);
	shut();
}

static void what_arrives_during_the_close_is_ignored(void **state)
{
	struct err why;
	err_set(&why, -ESHUTDOWN, "disabled");
	open_channel();
	srp_channel_close(ch, true, SRP_LOGOUT_NO_REASON, &why);
	one[1].plan = ANSWER;
	read_direct(1, 0, 512);
	assert_int_equal(one[1].arrivals, 0);
	assert_int_equal(fake.rx_out, 0);
	shut();
}

static void all_states(void)
{
	const struct side ext = { .format = SRP_INDIRECT, .len = 4096, .entries = 2 };
	for (unsigned i = 0; i < 12; i++)
		one[i].plan = WAIT;
	one[1].plan = FETCH; // a Read
	one[2].plan = ANSWER;
	one[2].data_in = 4096; // a Write
	one[1].want = 4096;
	write_direct(0, 0, 4096);
	write_direct(1, 0, 4096);
	read_direct(2, 0, 4096);
	command(3, (struct side){ .format = SRP_IMMEDIATE, .len = 4096 }, none);
	for (unsigned i = 4; i < 10; i++) { // tables, and tasks that wait for their turn
		one[i].plan = FETCH;
		one[i].want = 4096;
		command(i, ext, none);
	}
	one[10].want = 4096;
	write_direct(10, 0, 4096);
	fetch(10);
	answer(10); // waits for its Read
	task_mgmt(200, 1);
	drop(1);
	srp_answer_tmf(ch, 200, SRP_RSP_COMPLETE); // waits for a Read
}

static void everything_ends_when_the_peer_is_gone(void **state)
{
	open_channel();
	all_states();
	fake_end(-ECONNRESET);
	assert_int_equal(closed_why.code, -ECONNRESET);
	for (unsigned i = 0; i < 11; i++)
		assert_int_equal(one[i].releases, 1);
	shut();
}

static void everything_ends_after_a_close(void **state)
{
	struct err why;
	err_set(&why, -ESHUTDOWN, "disabled");
	for (unsigned steps = 0; steps < 12; steps++) {
		setup(NULL);
		open_channel();
		all_states();
		for (unsigned i = 0; i < steps; i++)
			fake_step();
		srp_channel_close(ch, steps & 1, SRP_LOGOUT_NO_REASON, &why);
		for (unsigned i = 0; i < 11; i++)
			if (one[i].is_held && i % 3 == 0 && i != 2 && !one[i].t.is_ending &&
			    !one[i].t.result)
				drop(i);
		fake_end(0);
		for (unsigned i = 0; i < 11; i++)
			assert_int_equal(one[i].releases, 1);
		shut();
	}
}

static void data_asked_for_after_the_end_is_not_given(void **state)
{
	ends_on_close = false;
	open_channel();
	one[1].plan = WAIT;
	one[1].want = 512;
	write_direct(1, 0, 512);
	fake_end(-ECONNRESET);
	fetch(1); // on_data() puts the result
	assert_int_equal(one[1].data_res, -EPIPE);
	assert_int_equal(one[1].releases, 1);
	shut();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_login_is_answered_in_the_private_data, setup),
		cmocka_unit_test_setup(buffers_are_there_before_the_peer_can_send, setup),
		cmocka_unit_test_setup(without_receive_buffers_the_peer_is_refused, setup),
		cmocka_unit_test_setup(without_registered_memory_the_peer_is_refused, setup),
		cmocka_unit_test_setup(without_rdma_reads_the_peer_is_refused, setup),
		cmocka_unit_test_setup(an_aborted_read_ends_before_the_task_management_response,
				       setup),
		cmocka_unit_test_setup(an_aborted_fetch_of_a_table_ends_before_the_response, setup),
		cmocka_unit_test_setup(a_response_waits_for_reads_in_flight, setup),
		cmocka_unit_test_setup(without_rdma_in_flight_the_response_goes_at_once, setup),
		cmocka_unit_test_setup(a_held_response_is_forgotten_with_its_channel, setup),
		cmocka_unit_test_setup(the_answer_to_task_management_comes_after_results, setup),
		cmocka_unit_test_setup(posted_responses_do_not_delay_it, setup),
		cmocka_unit_test_setup(it_comes_after_the_data_of_other_channels, setup),
		cmocka_unit_test_setup(a_task_that_waits_for_its_turn_can_be_aborted, setup),
		cmocka_unit_test_setup(a_wait_for_a_buffer_ends_with_the_task, setup),
		cmocka_unit_test_setup(malformed_ius_end_the_channel, setup),
		cmocka_unit_test_setup(a_malformed_first_iu_is_not_answered, setup),
		cmocka_unit_test_setup(a_logout_is_handed_up, setup),
		cmocka_unit_test_setup(a_graceful_close_says_why_behind_the_responses, setup),
		cmocka_unit_test_setup(what_arrives_during_the_close_is_ignored, setup),
		cmocka_unit_test_setup(everything_ends_when_the_peer_is_gone, setup),
		cmocka_unit_test_setup(everything_ends_after_a_close, setup),
		cmocka_unit_test_setup(data_asked_for_after_the_end_is_not_given, setup),
	};
	return cmocka_run_group_tests(tests, make_workers, free_workers);
}
