// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel moves data: direct, indirect and external descriptors, immediate
// data, what is invalid, and the response behind the data. T10 SRP 5.4, 6.8.
#include "transport/srp/target_rig.h"

#include "core/peer_memory.h"

// --- data-in ---

static void data_is_written_before_the_response_goes(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	memset(memory[1], 0x5a, 4096);
	read_direct(1, 0x1000, 4096);
	assert_int_equal(fake.posted_count, 2);
	assert_int_equal(fake.posted[0]->opcode, RNIC_WRITE);
	assert_int_equal(fake.posted[1]->opcode, RNIC_SEND);
	fake_run();
	assert_memory_equal(fake.remote + 0x1000, memory[1], 4096);
	struct srp_response r = heard(0);
	assert_int_equal(r.tag, 1);
	assert_int_equal(r.credits, 1);
	assert_int_equal(r.status, 0);
	assert_false(r.has_code);
	shut();
}

static void a_command_is_released_when_its_response_has_left(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	read_direct(1, 0, 512);
	fake_step();
	assert_int_equal(one[1].releases, 0);
	fake_step();
	assert_int_equal(one[1].releases, 1);
	shut();
}

static void payload_is_not_copied(void **state)
{
	uint64_t before = copied_bytes();
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = one[2].want = ROOM;
	read_direct(1, 0, ROOM);
	write_direct(2, 0, ROOM);
	fake_run();
	assert_int_equal(one[2].data_res, 0);
	assert_memory_equal(memory[2], fake.remote, ROOM);
	assert_int_equal(copied_bytes(), before);
	shut();
}

static void a_piece_is_written_when_the_one_before_has_left(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	one[1].piece = 3000;
	memset(memory[1], 0x5a, 4096);
	read_direct(1, 0x1000, 4096);
	assert_int_equal(fake.posted_count, 1);
	assert_true(fake.posted[0]->flags & RNIC_SIGNALED);
	fake_step();
	assert_int_equal(one[1].answers, 1);
	assert_int_equal(fake.posted[0]->opcode, RNIC_WRITE);
	fake_run();
	assert_memory_equal(fake.remote + 0x1000, memory[1], 4096);
	assert_int_equal(heard(0).tag, 1);
	shut();
}

// The second piece begins within the second descriptor.
static void pieces_need_not_be_descriptors(void **state)
{
	static const struct srp_desc d[3] = {
		{0x3000,  FAKE_RKEY, 1000},
		{ 0x1000, FAKE_RKEY, 2000},
		{ 0x5000, FAKE_RKEY, 3000}
	};
	struct side s = { SRP_INDIRECT, 6000, d, 1, 3, 0x8000 }; // two of them are external
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = one[2].want = 6000;
	one[1].piece = one[2].piece = 2500;
	for (unsigned i = 0; i < 6000; i++)
		memory[1][i] = (uint8_t)(i * 7);
	table_put(0x8000, d, 3);
	command(1, none, s);
	fake_run();
	assert_memory_equal(fake.remote + 0x3000, memory[1], 1000);
	assert_memory_equal(fake.remote + 0x1000, memory[1] + 1000, 2000);
	assert_memory_equal(fake.remote + 0x5000, memory[1] + 3000, 3000);
	command(2, s, none);
	fake_run();
	assert_int_equal(one[2].answers, 3);
	assert_memory_equal(memory[2], memory[1], 6000);
	shut();
}

static void a_piece_in_flight_delays_the_end_of_an_aborted_command(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	one[1].piece = 3000;
	read_direct(1, 0, 4096);
	drop(1);
	assert_int_equal(one[1].releases, 0);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(one[1].answers, 0);
	shut();
}

static void nothing_is_written_beyond_the_descriptor(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	fake.remote_len = 512; // one byte more fails
	read_direct(1, 0, 512);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	shut();
}

static void only_what_was_produced_is_written(void **state)
{
	open_channel();
	one[1].plan = ANSWER;
	one[1].data_in = 100;
	one[1].result.flags = SRP_DIUNDER;
	one[1].result.in_residual = 412;
	uint8_t behind = fake.remote[100];
	read_direct(1, 0, 512);
	fake_run();
	assert_int_equal(fake.remote[100], behind);
	assert_int_equal(heard(0).flags, SRP_DIUNDER);
	assert_int_equal(heard(0).in_residual, 412);
	shut();
}

static void sense_is_cut_to_the_agreed_length(void **state)
{
	static uint8_t sense[252];
	open_channel();
	one[1].plan = ANSWER;
	one[1].result.status = 2;
	one[1].result.sense = sense;
	one[1].result.sense_len = sizeof sense;
	read_direct(1, 0, 512);
	fake_run();
	assert_int_equal(fake.sent[0].len, 256);
	assert_int_equal(heard(0).sense_len, 256 - SRP_RSP_LEN);
	assert_int_equal(heard(0).status, 2);
	shut();
}

// Descriptors of 1 to 5000 bytes all over the memory; their sum.
static uint32_t scatter(struct srp_desc *d, uint32_t n)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		d[i] = (struct srp_desc){ 0x10000 + (n - i) * 6000, FAKE_RKEY, 1 + i * 997 % 5000 };
		sum += d[i].len;
	}
	return sum;
}

static void assert_scattered(const struct srp_desc *d, uint32_t n, const uint8_t *data)
{
	for (uint32_t i = 0; i < n; data += d[i++].len)
		assert_memory_equal(fake.remote + d[i].va, data, d[i].len);
}

static void data_in_follows_the_descriptors_of_a_table(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	open_channel();
	for (uint32_t i = 0; i < len; i++)
		memory[1][i] = (uint8_t)(i * 13);
	one[1].plan = ANSWER;
	one[1].data_in = len;
	command(1, none,
		(struct side){ .format = SRP_INDIRECT, .len = len, .descs = d, .count = 12 });
	fake_run();
	assert_scattered(d, 12, memory[1]);
	assert_int_equal(heard(0).tag, 1);
	shut();
}

static void less_data_in_than_the_table_has_ends_in_its_middle(void **state)
{
	struct srp_desc d[3] = {
		{0,     FAKE_RKEY, 100},
		       { 1000, FAKE_RKEY, 100},
		 { 2000, FAKE_RKEY, 100}
	};
	open_channel();
	memset(memory[1], 0xcc, ROOM);
	memset(fake.remote, 0, 3000);
	one[1].plan = ANSWER;
	one[1].data_in = 150;
	command(1, none,
		(struct side){ .format = SRP_INDIRECT, .len = 300, .descs = d, .count = 3 });
	fake_run();
	assert_int_equal(fake.remote[99], 0xcc);
	assert_int_equal(fake.remote[1049], 0xcc);
	assert_int_equal(fake.remote[1050], 0);
	assert_int_equal(fake.remote[2000], 0);
	shut();
}

// --- data-out ---

static void data_out_comes_from_the_descriptors_of_a_table(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	open_channel();
	one[1].want = len;
	command(1, (struct side){ .format = SRP_INDIRECT, .len = len, .descs = d, .count = 12 },
		none);
	assert_true(one[1].t.is_fetching);
	fake_run();
	assert_int_equal(one[1].data_res, 0);
	assert_scattered(d, 12, memory[1]);
	assert_int_equal(heard(0).tag, 1);
	shut();
}

static void more_data_out_than_described_is_not_read(void **state)
{
	open_channel();
	one[1].want = 513;
	write_direct(1, 0, 512);
	assert_int_equal(one[1].data_res, -EMSGSIZE);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	shut();
}

static void data_goes_both_ways(void **state)
{
	const struct srp_desc out = { 0, FAKE_RKEY, 1024 }, in = { 0x8000, FAKE_RKEY, 2048 };
	open_channel();
	one[1].plan = WAIT;
	one[1].want = 1024;
	command(1, (struct side){ .format = SRP_DIRECT, .len = 1024, .descs = &out },
		(struct side){ .format = SRP_DIRECT, .len = 2048, .descs = &in });
	memset(memory[1], 0x77, 2048);
	one[1].data_in = 2048;
	answer(1);
	fake_run();
	assert_memory_equal(fake.remote + 0x8000, memory[1], 2048);
	shut();
}

// --- immediate data ---

static void immediate_data_stays_in_its_receive_buffer(void **state)
{
	open_channel();
	one[1].plan = WAIT;
	one[1].want = 4096;
	command(1, (struct side){ .format = SRP_IMMEDIATE, .len = 4096 }, none);
	assert_int_equal(fake.rx_out, 1);
	uint64_t before = copied_bytes();
	fetch(1);
	assert_int_equal(copied_bytes() - before, 4096);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(one[1].data_res, 0);
	for (uint32_t i = 0; i < 4096; i++)
		assert_int_equal(memory[1][i], (uint8_t)(0x81 + i));
	fake_run();
	shut();
}

static void immediate_data_is_copied_when_buffers_are_scarce(void **state)
{
	open_channel();
	fake.is_scarce = true;
	one[1].plan = WAIT;
	one[1].want = 1000;
	command(1, (struct side){ .format = SRP_IMMEDIATE, .len = 1000 }, none);
	assert_int_equal(fake.rx_out, 0);
	fetch(1);
	assert_int_equal(one[1].data_res, 0);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(memory[1][i], (uint8_t)(0x81 + i));
	fake_run();
	shut();
}

// While peers keep too much, each may keep 16 KiB.
static void copies_of_immediate_data_are_limited(void **state)
{
	unsigned failed = 0;
	open_channel();
	fake.is_scarce = true;
	peer_memory_take(PEER_DATA_OUT, 1 << 30);
	for (unsigned i = 0; i < 10; i++) {
		one[i].plan = WAIT;
		one[i].want = 8192;
		command(i, (struct side){ .format = SRP_IMMEDIATE, .len = 8192 }, none);
	}
	for (unsigned i = 0; i < 10; i++) {
		fetch(i);
		failed += one[i].data_res == -ENOBUFS;
	}
	peer_memory_give(PEER_DATA_OUT, 1 << 30);
	assert_int_equal(failed, 10 - 2);
	fake_run();
	shut();
}

static void commands_with_too_many_descriptors_are_told_to_wait(void **state)
{
	static struct srp_desc d[250];
	open_channel();
	peer_memory_take(PEER_DATA_OUT, 1 << 30);
	for (unsigned i = 0; i < 250; i++)
		d[i] = (struct srp_desc){ i * 64, FAKE_RKEY, 16 };
	for (unsigned i = 0; i < 6; i++) {
		one[i].plan = WAIT;
		command(i, none,
			(struct side){
				.format = SRP_INDIRECT, .len = 4000, .descs = d, .count = 250 });
	}
	peer_memory_give(PEER_DATA_OUT, 1 << 30);
	fake_run();
	assert_int_equal(fake.sent_count, 2);
	assert_true(one[3].is_held);
	assert_int_equal(one[4].releases, 1);
	assert_false(one[4].is_held);
	assert_int_equal(heard(0).tag, 4);
	assert_int_equal(heard(0).status, 8);
	assert_int_equal(heard(0).credits, 1);
	shut();
}

static void an_aborted_command_returns_its_receive_buffer(void **state)
{
	open_channel();
	one[1].plan = ABORT;
	command(1, (struct side){ .format = SRP_IMMEDIATE, .len = 4096 }, none);
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(one[1].releases, 1);
	shut();
}

// --- external tables ---

static void data_out_comes_from_an_external_table(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	open_channel();
	table_put(0x80000, d, 12);
	one[1].want = len;
	command(1,
		(struct side){ .format = SRP_INDIRECT,
			       .len = len,
			       .descs = d,
			       .count = 2,
			       .entries = 12,
			       .table = 0x80000 },
		none);
	assert_int_equal(fake.posted_count, 1);
	assert_int_equal(fake.posted[0]->bytes, 12 * SRP_DIRECT_LEN);
	assert_false(one[1].t.is_fetching);
	fake_run();
	assert_int_equal(one[1].data_res, 0);
	assert_scattered(d, 12, memory[1]);
	shut();
}

static void data_in_goes_to_an_external_table(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	uint64_t before = copied_bytes();
	open_channel();
	table_put(0x80000, d, 12);
	memset(memory[1], 0x3c, len);
	one[1].plan = ANSWER;
	one[1].data_in = len;
	command(1, none,
		(struct side){
			.format = SRP_INDIRECT, .len = len, .entries = 12, .table = 0x80000 });
	fake_run();
	assert_scattered(d, 12, memory[1]);
	assert_int_equal(copied_bytes(), before);
	assert_false(heard(0).has_code);
	shut();
}

static void an_external_table_that_does_not_add_up_is_refused(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	open_channel();
	d[7].len++;
	table_put(0x80000, d, 12);
	const struct side s = {
		.format = SRP_INDIRECT, .len = len, .entries = 12, .table = 0x80000
	};
	one[1].want = len;
	command(1, s, none);
	one[2].plan = ANSWER;
	one[2].data_in = len;
	command(2, none, s);
	fake_run();
	assert_int_equal(one[1].data_res, -EPROTO);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(heard(i).has_code);
		assert_int_equal(heard(i).code, SRP_RSP_INVALID_FIELDS);
	}
	assert_int_equal(fake.posted_count, 4); // two tables, two responses
	shut();
}

static void tables_in_memory_are_limited(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	open_channel();
	table_put(0x80000, d, 12);
	const struct side s = {
		.format = SRP_INDIRECT, .len = len, .entries = 12, .table = 0x80000
	};
	for (unsigned i = 0; i < 10; i++) {
		one[i].want = len;
		command(i, s, none);
	}
	assert_int_equal(fake.posted_count, 4);
	fake_run();
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(one[i].data_res, 0);
		assert_int_equal(one[i].releases, 1);
		assert_scattered(d, 12, memory[i]);
	}
	shut();
}

static void requests_in_flight_are_limited(void **state)
{
	static struct srp_desc d[1000];
	open_channel();
	for (unsigned i = 0; i < 1000; i++)
		d[i] = (struct srp_desc){ i * 64, FAKE_RKEY, 64 };
	table_put(0x80000, d, 1000);
	memset(memory[1], 0x99, ROOM);
	one[1].plan = ANSWER;
	one[1].data_in = 64000;
	fake.rnic.limits.max_send_wr = 4096;
	command(1, none,
		(struct side){
			.format = SRP_INDIRECT, .len = 64000, .entries = 1000, .table = 0x80000 });
	fake_step(); // the table
	struct rnic_transfer *move = &one[1].t.move;
	assert_int_equal(move->in_flight, 512);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	assert_memory_equal(fake.remote, memory[1], 64000);
	shut();
}

// --- memory of the pool ---

static struct buf *taken[8192];

static unsigned take_all(void)
{
	unsigned n = 0;
	while (n < 8192 && (taken[n] = buf_get(worker, BUF_MIN)))
		n++;
	return n;
}

// Gives all back; the pool wakes the waiter.
static void give_all(unsigned n, struct buf_wait *wait)
{
	while (n)
		buf_put(taken[--n]);
	assert_true(list_linked(&wait->link));
	buf_wait_cancel(wait); // as the pool does
	wait->fn(wait);
}

static void a_table_waits_for_memory(void **state)
{
	struct srp_desc d[12];
	uint32_t len = scatter(d, 12);
	open_channel();
	table_put(0x80000, d, 12);
	one[1].want = len;
	unsigned n = take_all();
	command(1,
		(struct side){
			.format = SRP_INDIRECT, .len = len, .entries = 12, .table = 0x80000 },
		none);
	assert_int_equal(fake.posted_count, 0);
	give_all(n, &one[1].t.wait);
	fake_run();
	assert_int_equal(one[1].data_res, 0);
	assert_scattered(d, 12, memory[1]);
	shut();
}

static void memory_unknown_to_the_device_goes_through_the_pool(void **state)
{
	open_channel();
	fake.unknown = memory[1];
	fake.unknown_len = 2 * ROOM;
	memset(memory[1], 0x12, ROOM);
	one[1].plan = ANSWER;
	one[1].data_in = one[2].want = 5000;
	unsigned n = take_all();
	read_direct(1, 0x4000, 5000);
	write_direct(2, 0x8000, 5000);
	assert_int_equal(fake.posted_count, 0);
	struct buf_wait *second = &one[2].t.wait;
	give_all(n, &one[1].t.wait);
	buf_wait_cancel(second);
	second->fn(second);
	fake_run();
	assert_memory_equal(fake.remote + 0x4000, memory[1], 5000);
	assert_memory_equal(memory[2], fake.remote + 0x8000, 5000);
	assert_int_equal(one[1].releases + one[2].releases, 2);
	shut();
}

static void an_aborted_read_does_not_reach_memory_through_the_pool(void **state)
{
	open_channel();
	fake.unknown = memory[1];
	fake.unknown_len = ROOM;
	memset(memory[1], 0x12, ROOM);
	one[1].want = 4096;
	write_direct(1, 0x8000, 4096);
	drop(1);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(memory[1][0], 0x12);
	shut();
}

// --- invalid commands ---

static void a_table_in_the_iu_that_does_not_add_up_is_refused(void **state)
{
	struct srp_desc d[2] = {
		{0,     FAKE_RKEY, 100},
		       { 1000, FAKE_RKEY, 100}
	};
	open_channel();
	command(1, none,
		(struct side){ .format = SRP_INDIRECT, .len = 201, .descs = d, .count = 2 });
	fake_run();
	assert_int_equal(one[1].arrivals, 0);
	assert_int_equal(heard(0).tag, 1);
	assert_int_equal(heard(0).code, SRP_RSP_INVALID_FIELDS);
	assert_int_equal(heard(0).credits, 1);
	assert_int_equal(fake.closes, 0);
	shut();
}

static void immediate_data_that_was_not_agreed_on_ends_the_channel(void **state)
{
	options.accept.flags = 0;
	open_channel();
	one[1].plan = ANSWER;
	read_direct(1, 0, 512);
	command(2, (struct side){ .format = SRP_IMMEDIATE, .len = 512 }, none);
	fake_run();
	assert_int_equal(one[2].arrivals, 0);
	assert_int_equal(heard_short(1, SRP_T_LOGOUT, NULL), SRP_LOGOUT_INVALID_IU);
	assert_true(fake.closes && fake.is_lingering);
	shut();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(data_is_written_before_the_response_goes, setup),
		cmocka_unit_test_setup(a_command_is_released_when_its_response_has_left, setup),
		cmocka_unit_test_setup(payload_is_not_copied, setup),
		cmocka_unit_test_setup(a_piece_is_written_when_the_one_before_has_left, setup),
		cmocka_unit_test_setup(pieces_need_not_be_descriptors, setup),
		cmocka_unit_test_setup(a_piece_in_flight_delays_the_end_of_an_aborted_command,
				       setup),
		cmocka_unit_test_setup(nothing_is_written_beyond_the_descriptor, setup),
		cmocka_unit_test_setup(only_what_was_produced_is_written, setup),
		cmocka_unit_test_setup(sense_is_cut_to_the_agreed_length, setup),
		cmocka_unit_test_setup(data_in_follows_the_descriptors_of_a_table, setup),
		cmocka_unit_test_setup(less_data_in_than_the_table_has_ends_in_its_middle, setup),
		cmocka_unit_test_setup(data_out_comes_from_the_descriptors_of_a_table, setup),
		cmocka_unit_test_setup(more_data_out_than_described_is_not_read, setup),
		cmocka_unit_test_setup(data_goes_both_ways, setup),
		cmocka_unit_test_setup(immediate_data_stays_in_its_receive_buffer, setup),
		cmocka_unit_test_setup(immediate_data_is_copied_when_buffers_are_scarce, setup),
		cmocka_unit_test_setup(copies_of_immediate_data_are_limited, setup),
		cmocka_unit_test_setup(commands_with_too_many_descriptors_are_told_to_wait, setup),
		cmocka_unit_test_setup(an_aborted_command_returns_its_receive_buffer, setup),
		cmocka_unit_test_setup(data_out_comes_from_an_external_table, setup),
		cmocka_unit_test_setup(data_in_goes_to_an_external_table, setup),
		cmocka_unit_test_setup(an_external_table_that_does_not_add_up_is_refused, setup),
		cmocka_unit_test_setup(tables_in_memory_are_limited, setup),
		cmocka_unit_test_setup(requests_in_flight_are_limited, setup),
		cmocka_unit_test_setup(a_table_waits_for_memory, setup),
		cmocka_unit_test_setup(memory_unknown_to_the_device_goes_through_the_pool, setup),
		cmocka_unit_test_setup(an_aborted_read_does_not_reach_memory_through_the_pool,
				       setup),
		cmocka_unit_test_setup(a_table_in_the_iu_that_does_not_add_up_is_refused, setup),
		cmocka_unit_test_setup(immediate_data_that_was_not_agreed_on_ends_the_channel,
				       setup),
	};
	return cmocka_run_group_tests(tests, make_workers, free_workers);
}
