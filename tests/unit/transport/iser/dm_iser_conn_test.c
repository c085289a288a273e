// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover as a connection: accept, login, control PDUs and their limits, what is
// malformed, the close. RFC 7145 5, 8, 9.
#include "transport/iser/dm_iser_rig.h"

static void private_data_answers_what_the_peer_takes(void **state)
{
	static const struct {
		uint8_t peer, len, answer;
		bool device;
	} rows[] = {
		{0xc0,	4, 0xc0, true },
		 { 0x80, 4, 0x80, true },
		  { 0x80, 4, 0xc0, false},
		{ 0x00, 0, 0xc0, true },
		 { 0x00, 4, 0x80, true },
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		fake.private_data[0] = rows[i].peer;
		fake.request.private_len = rows[i].len;
		fake.rnic.limits.can_invalidate = rows[i].device;
		open_login();
		assert_int_equal(fake.answer_len, 4);
		assert_int_equal(fake.answer[0], rows[i].answer);
		shut();
	}
}

static void buffers_are_there_before_the_peer_can_send(void **state)
{
	open_login();
	assert_true(fake.reserved_at_accept >= 1);
	dm->window = 100;
	dm->ops->full_feature(dm, &params);
	assert_int_equal(fake.reserved, 108);
	shut();
}

static void without_receive_buffers_the_peer_is_refused(void **state)
{
	struct err e;
	fake.refuses_reserve = true;
	assert_int_equal(dm_iser_new(&dm, &fake.request, NULL, &up, NULL, &e), -ENOMEM);
	assert_int_equal(fake.rejects, 1);
	assert_int_equal(fake.accepts, 0);
}

static void without_registered_memory_the_peer_is_refused(void **state)
{
	struct err e;
	fake.knows_nothing = true;
	assert_int_equal(dm_iser_new(&dm, &fake.request, NULL, &up, NULL, &e), -ENOBUFS);
	assert_int_equal(fake.rejects, 1);
}

static void type_of_service_and_partition_are_asked_for(void **state)
{
	static const struct rnic_qp_options wanted = { .tos = 0x68, .pkey = 0x8001 };
	struct err e;
	assert_int_equal(dm_iser_new(&dm, &fake.request, &wanted, &up, NULL, &e), 0);
	assert_int_equal(fake.tos, 0x68);
	assert_int_equal(fake.pkey, 0x8001);
	dm->sns = &sns;
	shut();
}

static void a_peer_with_one_buffer_begins_with_one_command(void **state)
{
	static const struct {
		const char *carrier;
		uint8_t flags;
		uint32_t first;
	} rows[] = {
		{"iWARP",	   0xc0, 1},
		{ "iWARP",	   0x80, 0},
		{ "RoCE v2",    0xc0, 0},
		{ "InfiniBand", 0xc0, 0},
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		fake.request.carrier = rows[i].carrier;
		fake.private_data[0] = rows[i].flags;
		open_login();
		assert_int_equal(dm->first_window, rows[i].first);
		shut();
	}
}

static void a_peer_that_loses_immediate_data_is_offered_none(void **state)
{
	for (unsigned flag = 0; flag <= 0x40; flag += 0x40) {
		setup(NULL);
		fake.private_data[0] = (uint8_t)(0x80 | flag);
		open_login();
		assert_int_equal(dm->has_no_immediate, flag != 0);
		shut();
	}
}

// --- control PDUs ---

static void login(const void *text, uint32_t len)
{
	uint8_t msg[ISER_HDR_LEN + ISCSI_BHS_LEN + 9000] = { ISER_CONTROL };
	msg[28] = ISCSI_OP_LOGIN_REQ | ISCSI_I;
	put_be24(msg + 28 + 5, len);
	memcpy(msg + 76, text, len);
	fake_receive(msg, 76 + len);
}

static void a_login_request_is_handed_up_whole(void **state)
{
	open_login();
	login("a=b", 4);
	assert_int_equal(controls, 1);
	assert_int_equal(last_len, 4);
	assert_string_equal(last_data, "a=b");
	shut();
}

static void a_login_response_goes_out_as_it_is(void **state)
{
	static uint8_t text[8192];
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_LOGIN_RSP };
	memset(text, 'x', sizeof text);
	put_be32(bhs + 24, 77);
	open_login();
	dm->ops->send(dm, bhs, text, sizeof text, DM_IS_LOGIN);
	fake_run();
	struct iser_msg m = heard(0);
	assert_int_equal(m.pdu.data_len, sizeof text);
	assert_memory_equal(m.data, text, sizeof text);
	assert_int_equal(get_be32(m.bhs + 24), 77);
	assert_int_equal(sns.stat_sn, 1);
	shut();
}

static void data_is_padded(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_LOGIN_RSP };
	open_login();
	dm->ops->send(dm, bhs, "abcde", 5, DM_IS_LOGIN);
	fake_run();
	assert_int_equal(fake.sent[0].len, 76 + 8);
	assert_int_equal(heard(0).pdu.data_len, 5);
	assert_memory_equal(fake.sent[0].data + 76, "abcde\0\0", 8);
	shut();
}

static void numbers_are_stamped(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
	open_full();
	sns = (struct dm_sns){ 10, 20, 30 };
	dm->ops->send(dm, bhs, NULL, 0, 0);
	dm->ops->send(dm, bhs, NULL, 0, DM_ADVANCES);
	fake_run();
	assert_int_equal(get_be32(heard(0).bhs + 24), 10);
	assert_int_equal(get_be32(heard(1).bhs + 24), 10);
	assert_int_equal(get_be32(heard(1).bhs + 28), 20);
	assert_int_equal(get_be32(heard(1).bhs + 32), 30);
	assert_int_equal(sns.stat_sn, 11);
	shut();
}

static void no_message_after_login_has_more_than_128_bytes_of_data(void **state)
{
	uint8_t data[600] = { 0 }, bhs[ISCSI_BHS_LEN] = { ISCSI_OP_TEXT_RSP, ISCSI_F };
	open_full();
	dm->ops->send(dm, bhs, data, sizeof data, DM_ADVANCES);
	bhs[0] = ISCSI_OP_NOP_IN;
	dm->ops->send(dm, bhs, data, 40, DM_ADVANCES);
	fake_run();
	assert_int_equal(fake.sent[0].len, 76 + 128);
	assert_int_equal(fake.sent[1].len, 76);
	assert_int_equal(heard(1).pdu.data_len, 0);
	shut();
}

static void discovery_may_answer_with_more(void **state)
{
	uint8_t data[600] = { 0 }, bhs[ISCSI_BHS_LEN] = { ISCSI_OP_TEXT_RSP, ISCSI_F };
	params.is_discovery = true;
	open_full();
	dm->ops->send(dm, bhs, data, sizeof data, DM_ADVANCES);
	fake_run();
	assert_int_equal(heard(0).pdu.data_len, 600);
	shut();
}

static void sent_comes_when_it_has_left(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_LOGOUT_RSP, ISCSI_F };
	open_full();
	dm->ops->send(dm, bhs, NULL, 0, DM_ADVANCES | DM_WANTS_SENT);
	assert_int_equal(sents, 0);
	fake_run();
	assert_int_equal(sents, 1);
	shut();
}

static void a_peer_that_takes_no_answers_is_given_up(void **state)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
	open_full();
	for (unsigned i = 0; i < 2000 && !fake.closes; i++)
		dm->ops->send(dm, bhs, NULL, 0, DM_ADVANCES);
	assert_int_equal(fake.why.code, -ENOBUFS);
	shut();
}

static void counters_count(void **state)
{
	struct dm_counters n;
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F };
	open_full();
	say((struct say){ .opcode = ISCSI_OP_TMF_REQ, .flags = ISCSI_F, .itt = 5 });
	dm->ops->send(dm, bhs, NULL, 0, DM_ADVANCES);
	fake_run();
	fake.qp.bytes_in = 11;
	fake.qp.bytes_out = 12;
	fake.qp.last_rx_ns = 13;
	dm->ops->counters(dm, &n);
	assert_int_equal(n.pdus_in, 1);
	assert_int_equal(n.pdus_out, 1);
	assert_int_equal(n.bytes_in, 11);
	assert_int_equal(n.bytes_out, 12);
	assert_int_equal(n.last_rx_ns, 13);
	assert_int_equal(n.closing_ns, 0);
	shut();
}

// --- Hello ---

static void hello_is_answered_once(void **state)
{
	uint8_t msg[ISER_HDR_LEN] = { ISER_HELLO, 0xaa, 0, 16 };
	open_login();
	fake_receive(msg, sizeof msg);
	fake_run();
	struct iser_msg m = heard(0);
	assert_int_equal(m.opcode, ISER_HELLO_REPLY);
	assert_int_equal(m.depth, fake.reads_out);
	assert_int_equal(fake.sent[0].len, ISER_HDR_LEN);
	fake_receive(msg, sizeof msg);
	assert_int_equal(fake.why.code, -EPROTO);
	shut();
}

static void hello_reply_is_nothing_for_a_target(void **state)
{
	uint8_t msg[ISER_HDR_LEN] = { ISER_HELLO_REPLY, 0xaa, 0, 16 };
	open_login();
	fake_receive(msg, sizeof msg);
	assert_int_equal(fake.why.code, -EPROTO);
	shut();
}

// --- what is malformed ---

static void expect_close_of(const void *msg, uint32_t len)
{
	open_login();
	fake_receive(msg, len);
	assert_int_equal(fake.closes, 1);
	assert_int_equal(fake.why.code, -EPROTO);
	assert_int_equal(controls, 0);
	shut();
}

static void a_message_shorter_than_its_header_closes(void **state)
{
	uint8_t msg[76] = { ISER_CONTROL };
	msg[28] = ISCSI_OP_LOGIN_REQ;
	for (uint32_t len = 0; len < sizeof msg; len++) {
		setup(NULL);
		expect_close_of(msg, len);
	}
}

static void a_length_beyond_what_was_received_closes(void **state)
{
	uint8_t msg[100] = { ISER_CONTROL };
	msg[28] = ISCSI_OP_LOGIN_REQ;
	put_be24(msg + 33, 25);
	expect_close_of(msg, sizeof msg);
	setup(NULL);
	put_be24(msg + 33, 0xffffff);
	expect_close_of(msg, sizeof msg);
}

static void more_received_than_declared_closes(void **state)
{
	uint8_t msg[100] = { ISER_CONTROL };
	msg[28] = ISCSI_OP_LOGIN_REQ;
	put_be24(msg + 33, 19);
	expect_close_of(msg, sizeof msg);
}

static void an_ahs_beyond_the_message_closes(void **state)
{
	uint8_t msg[100] = { ISER_CONTROL };
	msg[28] = ISCSI_OP_LOGIN_REQ;
	msg[32] = 255;
	expect_close_of(msg, sizeof msg);
}

static void an_unknown_opcode_of_the_header_closes(void **state)
{
	uint8_t msg[76] = { 0x40 };
	msg[28] = ISCSI_OP_LOGIN_REQ;
	expect_close_of(msg, sizeof msg);
}

static void a_command_before_login_closes_without_effect(void **state)
{
	open_login();
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	assert_int_equal(fake.why.code, -EPROTO);
	assert_int_equal(one[1].arrivals, 0);
	shut();
}

static void more_data_than_was_declared_to_be_taken_closes(void **state)
{
	params.max_recv_data = 512;
	open_full();
	say((struct say){ .itt = 1, .edtl = 4096, .imm = 513, .is_write = true });
	assert_int_equal(fake.why.code, -EPROTO);
	assert_int_equal(one[1].arrivals, 0);
	shut();
}

static void a_wrong_pdu_is_rejected_with_its_header(void **state)
{
	open_full();
	say((struct say){ .opcode = ISCSI_OP_SNACK, .flags = ISCSI_F, .itt = 5 });
	fake_run();
	struct iser_msg m = heard(0);
	assert_int_equal(m.pdu.opcode, ISCSI_OP_REJECT);
	assert_int_equal(m.pdu.data_len, ISCSI_BHS_LEN);
	assert_int_equal(m.data[0], ISCSI_OP_SNACK);
	assert_int_equal(fake.closes, 0);
	shut();
}

// --- the close ---

static void a_lingering_close_is_timed(void **state)
{
	struct dm_counters n;
	struct err why = { .code = -ESHUTDOWN, .text = "enough" };
	open_full();
	worker_stop(worker);
	worker_run(worker);
	dm->ops->close(dm, true, &why);
	assert_true(fake.is_lingering);
	dm->ops->counters(dm, &n);
	assert_int_equal(n.closing_ns, worker_now(worker));
	fake_end(0);
	assert_int_equal(closed_why.code, -ESHUTDOWN);
	assert_string_equal(closed_why.text, "enough");
	shut();
}

static void what_comes_after_a_close_is_not_looked_at(void **state)
{
	struct err why = { .code = -ESHUTDOWN };
	open_full();
	dm->ops->close(dm, true, &why);
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	assert_int_equal(one[1].arrivals, 0);
	assert_int_equal(fake.rx_out, 0);
	shut();
}

static uint64_t pool_in_use(void)
{
	struct buf_pool_stats s;
	buf_pool_stats(worker, &s);
	return s.bytes_in_use;
}

static uint64_t buffers(void)
{
	struct dm_counters n;
	dm->ops->counters(dm, &n);
	return n.buffers;
}

static void memory_of_responses_beyond_the_window_returns_to_the_pool(void **state)
{
	enum { PINGS = 112 };
	uint64_t before = pool_in_use();
	open_full();
	echoes = true;
	for (unsigned i = 0; i < PINGS; i++)
		say((struct say){ .opcode = ISCSI_OP_NOP_OUT, .flags = ISCSI_F, .itt = i });
	uint64_t most = pool_in_use() - before;
	assert_int_equal(buffers(), most);
	fake_run();
	uint64_t least = pool_in_use() - before;
	assert_int_equal(buffers(), least);
	assert_int_equal(most, PINGS * 256); // 256 bytes each
	assert_int_equal(least, 2 * 4096);   // room for 24, of a window of 16
	shut();
	assert_int_equal(pool_in_use(), before);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(private_data_answers_what_the_peer_takes),
		T(buffers_are_there_before_the_peer_can_send),
		T(without_receive_buffers_the_peer_is_refused),
		T(without_registered_memory_the_peer_is_refused),
		T(type_of_service_and_partition_are_asked_for),
		T(a_peer_with_one_buffer_begins_with_one_command),
		cmocka_unit_test(a_peer_that_loses_immediate_data_is_offered_none),
		T(a_login_request_is_handed_up_whole),
		T(a_login_response_goes_out_as_it_is),
		T(data_is_padded),
		T(numbers_are_stamped),
		T(no_message_after_login_has_more_than_128_bytes_of_data),
		T(discovery_may_answer_with_more),
		T(memory_of_responses_beyond_the_window_returns_to_the_pool),
		T(sent_comes_when_it_has_left),
		T(a_peer_that_takes_no_answers_is_given_up),
		T(counters_count),
		T(hello_is_answered_once),
		T(hello_reply_is_nothing_for_a_target),
		T(a_message_shorter_than_its_header_closes),
		T(a_length_beyond_what_was_received_closes),
		T(more_received_than_declared_closes),
		T(an_ahs_beyond_the_message_closes),
		T(an_unknown_opcode_of_the_header_closes),
		T(a_command_before_login_closes_without_effect),
		T(more_data_than_was_declared_to_be_taken_closes),
		T(a_wrong_pdu_is_rejected_with_its_header),
		T(a_lingering_close_is_timed),
		T(what_comes_after_a_close_is_not_looked_at),
	};
	return cmocka_run_group_tests(tests, make_workers, free_workers);
}
