// SPDX-License-Identifier: BSD-2-Clause
// The target's iSER mover moves data: RDMA Writes and the response behind them, immediate and
// unsolicited data, RDMA Reads, aborts in their middle. What holds for every mover is in
// target_movers_test.c. RFC 7145 7.3.
#include "transport/iser/dm_iser_priv.h" // first: the rig has a global dm
#include "transport/iser/dm_iser_rig.h"

// --- reads ---

static void data_is_written_before_the_status_goes(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	memset(memory[1], 0x5a, 4096);
	say((struct say){ .itt = 1, .edtl = 4096, .is_read = true, .base = 0x1000 });
	assert_int_equal(fake.posted_count, 2);
	assert_int_equal(fake.posted[0]->opcode, RNIC_WRITE);
	assert_int_equal(fake.posted[1]->opcode, RNIC_SEND);
	fake_run();
	assert_memory_equal(fake.remote + 0x1000, memory[1], 4096);
	struct iser_msg m = heard(0);
	assert_int_equal(m.pdu.opcode, ISCSI_OP_SCSI_RSP);
	assert_int_equal(m.pdu.data_len, 0);
	assert_int_equal(get_be32(m.bhs + 16), 1);
	assert_int_equal(get_be32(m.bhs + 24), 1); // StatSN
	assert_int_equal(sns.stat_sn, 2);
	shut();
}

static void payload_is_not_copied(void **state)
{
	uint64_t before = copied_bytes();
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = ROOM;
	say((struct say){ .itt = 1, .edtl = ROOM, .is_read = true });
	one[2].want = ROOM;
	say((struct say){ .itt = 2, .edtl = ROOM, .is_write = true });
	fake_run();
	assert_int_equal(one[2].data_res, 0);
	assert_memory_equal(memory[2], fake.remote, ROOM);
	assert_int_equal(copied_bytes(), before);
	shut();
}

static void a_command_is_released_when_its_status_has_left(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	fake_step();
	assert_int_equal(one[1].releases, 0);
	fake_step();
	assert_int_equal(one[1].releases, 1);
	shut();
}

static void a_piece_is_written_when_the_one_before_has_left(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	one[1].piece = 3000;
	memset(memory[1], 0x5a, 4096);
	say((struct say){ .itt = 1, .edtl = 4096, .is_read = true, .base = 0x1000 });
	assert_int_equal(fake.posted_count, 1);
	assert_true(fake.posted[0]->flags & RNIC_SIGNALED);
	fake_step();
	assert_int_equal(one[1].answers, 1);
	assert_int_equal(fake.posted[0]->opcode, RNIC_WRITE);
	fake_run();
	assert_memory_equal(fake.remote + 0x1000, memory[1], 4096);
	assert_int_equal(heard(0).pdu.opcode, ISCSI_OP_SCSI_RSP);
	shut();
}

static void a_piece_in_flight_delays_the_end_of_an_aborted_command(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	one[1].piece = 3000;
	say((struct say){ .itt = 1, .edtl = 4096, .is_read = true });
	drop(&one[1]);
	assert_int_equal(one[1].releases, 0);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(one[1].answers, 0);
	shut();
}

static void a_piece_is_read_after_the_one_before(void **state)
{
	open_full();
	one[1].want = 9000;
	one[1].piece = 4000;
	for (unsigned i = 0; i < 9000; i++)
		fake.remote[0x1000 + i] = (uint8_t)(i * 7);
	say((struct say){ .itt = 1, .edtl = 9000, .is_write = true, .base = 0x1000 });
	assert_int_equal(fake.posted_count, 1);
	fake_run();
	assert_int_equal(one[1].answers, 3);
	assert_memory_equal(memory[1], fake.remote + 0x1000, 9000);
	shut();
}

static void only_what_was_produced_is_written(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 100;
	one[1].result.residual_flags = ISCSI_RSP_UNDERFLOW;
	one[1].result.residual = 412;
	uint8_t behind = fake.remote[100];
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	fake_run();
	assert_int_equal(fake.remote[100], behind);
	assert_int_equal(heard(0).bhs[1], ISCSI_F | ISCSI_RSP_UNDERFLOW);
	assert_int_equal(get_be32(heard(0).bhs + 44), 412);
	shut();
}

static void nothing_is_written_beyond_what_was_expected(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 4096;
	fake.remote_len = 512; // one byte more fails
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	fake_run();
	assert_int_equal(one[1].releases, 1);
	shut();
}

static void an_expected_length_of_0_makes_no_request(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 64;
	say((struct say){ .itt = 1, .edtl = 0, .is_read = true, .has_no_tag = true });
	assert_int_equal(fake.posted_count, 1);
	assert_int_equal(fake.posted[0]->opcode, RNIC_SEND);
	fake_run();
	shut();
}

static void a_read_without_memory_ends_the_connection(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 64;
	say((struct say){ .itt = 1, .edtl = 64, .is_read = true, .has_no_tag = true });
	assert_int_equal(fake.closes, 1);
	assert_int_equal(fake.why.code, -EPROTO);
	shut();
}

static void writes_are_split_at_what_the_device_takes(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].nsg = 7;
	one[1].data_in = 7 * 1000;
	for (unsigned i = 0; i < 7; i++)
		one[1].sg[i] = (struct sg){ .addr = memory[1] + i * 2000, .len = 1000 };
	for (unsigned i = 0; i < 7; i++)
		memset(memory[1] + i * 2000, (int)i + 1, 1000);
	fake.rnic.limits.max_message = 3500;
	say((struct say){ .itt = 1, .edtl = 7000, .is_read = true });
	fake_run();
	assert_int_equal(fake.posted_count, 3); // 4 pieces of 3500 bytes, twice, and the status
	for (unsigned i = 0; i < 7; i++)
		assert_memory_equal(fake.remote + i * 1000, memory[1] + i * 2000, 1000);
	shut();
}

static void a_region_registered_in_parts_is_split_there(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 8192;
	memset(memory[1], 0x42, 8192);
	fake.seam = memory[1] + 5000;
	uint64_t before = copied_bytes();
	say((struct say){ .itt = 1, .edtl = 8192, .is_read = true });
	fake_run();
	assert_memory_equal(fake.remote, memory[1], 8192);
	assert_int_equal(copied_bytes(), before);
	shut();
}

static void memory_unknown_to_the_device_is_copied_and_counted(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 8192;
	memset(memory[1], 0x43, 8192);
	fake.unknown = memory[1];
	fake.unknown_len = ROOM;
	uint64_t before = copied_bytes();
	say((struct say){ .itt = 1, .edtl = 8192, .is_read = true });
	memset(memory[1], 0, 8192);
	fake_run();
	for (unsigned i = 0; i < 8192; i++)
		assert_int_equal(fake.remote[i], 0x43);
	assert_int_equal(copied_bytes(), before + 8192);
	shut();
}

static void small_parameter_data_is_no_payload(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 36;
	fake.unknown = memory[1];
	fake.unknown_len = ROOM;
	uint64_t before = copied_bytes();
	say((struct say){ .itt = 1, .edtl = 36, .is_read = true });
	fake_run();
	assert_memory_equal(fake.remote, memory[1], 36);
	assert_int_equal(copied_bytes(), before);
	shut();
}

static void one_round(void)
{
	worker_stop(worker);
	worker_run(worker);
}

static void without_buffers_data_waits_for_some(void **state)
{
	struct buf *taken[16];
	unsigned n = 0;
	open_full();
	one[1].plan = ANSWER;
	one[1].data_in = 2048;
	memset(memory[1], 0x44, 2048);
	fake.unknown = memory[1];
	fake.unknown_len = ROOM;
	for (uint32_t size = BUF_MAX; size >= BUF_MIN; size /= 2)
		while (n < 16 && (taken[n] = buf_get(worker, size)))
			n++;
	say((struct say){ .itt = 1, .edtl = 2048, .is_read = true });
	assert_int_equal(fake.posted_count, 0);
	for (unsigned i = 0; i < n; i++)
		buf_put(taken[i]);
	one_round();
	fake_run();
	assert_int_equal(fake.remote[2047], 0x44);
	assert_int_equal(one[1].releases, 1);
	shut();
}

// --- status ---

static void sense_is_cut_to_what_initiators_have_room_for(void **state)
{
	uint8_t sense[252];
	memset(sense, 0x70, sizeof sense);
	open_full();
	one[1].plan = ANSWER;
	one[1].result.status = 2;
	one[1].result.sense = sense;
	one[1].result.sense_len = sizeof sense;
	say((struct say){ .itt = 1 });
	fake_run();
	struct iser_msg m = heard(0);
	assert_int_equal(m.bhs[3], 2);
	assert_int_equal(m.pdu.data_len, 128);
	assert_int_equal(get_be16(m.data), 126);
	assert_memory_equal(m.data + 2, sense, 126);
	shut();
}

static void the_tag_of_the_command_is_invalidated_where_agreed(void **state)
{
	fake.private_data[0] = 0x80;
	open_full();
	for (unsigned i = 1; i < 4; i++)
		one[i].plan = ANSWER;
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	say((struct say){ .itt = 2, .edtl = 512, .is_write = true, .stag = 77 });
	say((struct say){ .itt = 3, .edtl = 512, .is_write = true, .has_no_tag = true });
	fake_run();
	assert_int_equal(fake.sent[0].opcode, RNIC_SEND_INVALIDATE);
	assert_int_equal(fake.sent[0].rkey, FAKE_RKEY);
	assert_int_equal(fake.sent[1].rkey, 77);
	assert_int_equal(fake.sent[2].opcode, RNIC_SEND);
	shut();
}

static void nothing_is_invalidated_where_not_agreed(void **state)
{
	open_full();
	one[1].plan = ANSWER;
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	fake_run();
	assert_int_equal(fake.sent[0].opcode, RNIC_SEND);
	shut();
}

// --- writes ---

static void data_out_is_read_from_the_initiator(void **state)
{
	open_full();
	one[1].want = 5000;
	one[1].nsg = 3;
	one[1].sg[0] = (struct sg){ .addr = memory[1], .len = 2000 };
	one[1].sg[1] = (struct sg){ .addr = memory[1] + 4000, .len = 2000 };
	one[1].sg[2] = (struct sg){ .addr = memory[1] + 8000, .len = 2000 };
	say((struct say){ .itt = 1, .edtl = 5000, .is_write = true, .base = 0x800 });
	fake_run();
	assert_int_equal(one[1].answers, 1);
	assert_int_equal(one[1].data_res, 0);
	assert_memory_equal(memory[1], fake.remote + 0x800, 2000);
	assert_memory_equal(memory[1] + 4000, fake.remote + 0x800 + 2000, 2000);
	assert_memory_equal(memory[1] + 8000, fake.remote + 0x800 + 4000, 1000);
	assert_int_equal(heard(0).pdu.opcode, ISCSI_OP_SCSI_RSP);
	shut();
}

static void immediate_data_is_copied_once_and_the_rest_read(void **state)
{
	uint64_t before = copied_bytes();
	open_full();
	one[1].want = 4096;
	say((struct say){ .itt = 1, .edtl = 4096, .imm = 1024, .is_write = true, .base = 0x2000 });
	fake_run();
	assert_int_equal(one[1].data_res, 0);
	assert_unsolicited(1, 0, 1024);
	// The advertised memory begins behind what came with the command.
	assert_memory_equal(memory[1] + 1024, fake.remote + 0x2000, 3072);
	assert_int_equal(copied_bytes(), before + 1024);
	shut();
}

static void a_peer_that_says_so_advertises_the_whole_memory(void **state)
{
	params.tagged_solicited_only = false;
	open_full();
	one[1].want = 4096;
	say((struct say){ .itt = 1, .edtl = 4096, .imm = 1024, .is_write = true, .base = 0x2000 });
	fake_run();
	assert_memory_equal(memory[1] + 1024, fake.remote + 0x2000 + 1024, 3072);
	shut();
}

static void data_that_all_came_at_once_needs_no_read(void **state)
{
	open_full();
	one[1].want = 512;
	say((struct say){
		.itt = 1, .edtl = 512, .imm = 512, .is_write = true, .has_no_tag = true });
	assert_int_equal(one[1].data_res, 0);
	assert_unsolicited(1, 0, 512);
	assert_int_equal(fake.posted_count, 1);
	fake_run();
	shut();
}

static void immediate_data_waits_in_its_buffer(void **state)
{
	open_full();
	one[1].plan = WAIT;
	one[1].want = 512;
	say((struct say){ .itt = 1, .edtl = 512, .imm = 512, .is_write = true });
	assert_int_equal(fake.rx_out, 1);
	fetch(&one[1]);
	assert_int_equal(fake.rx_out, 0);
	assert_unsolicited(1, 0, 512);
	fake_run();
	shut();
}

static void waiting_commands_do_not_take_every_buffer(void **state)
{
	enum { WAITING = 32 };
	open_full();
	for (unsigned i = 0; i < WAITING; i++) {
		one[i].plan = WAIT;
		one[i].want = 512;
		say((struct say){ .itt = i, .edtl = 512, .imm = 512, .is_write = true });
	}
	assert_int_equal(fake.rx_out, 16); // the window; the rest is parked
	for (unsigned i = 0; i < WAITING; i++) {
		fetch(&one[i]);
		assert_unsolicited(i, 0, 512);
	}
	fake_run();
	shut();
}

static void data_that_is_not_wanted_is_dropped(void **state)
{
	open_full();
	one[1].want = 100;
	say((struct say){ .itt = 1, .edtl = 512, .imm = 512, .is_write = true });
	assert_unsolicited(1, 0, 100);
	assert_int_equal(memory[1][100], 0);
	fake_run();
	shut();
}

static void a_write_without_memory_for_the_rest_fails(void **state)
{
	open_full();
	one[1].want = 1024;
	say((struct say){
		.itt = 1, .edtl = 1024, .imm = 512, .is_write = true, .has_no_tag = true });
	assert_int_equal(one[1].data_res, -EPROTO);
	assert_int_equal(fake.posted[0]->opcode, RNIC_SEND);
	fake_run();
	shut();
}

static void nothing_is_read_beyond_what_was_expected(void **state)
{
	open_full();
	one[1].want = 1024;
	say((struct say){ .itt = 1, .edtl = 1023, .is_write = true });
	assert_int_equal(one[1].data_res, -EMSGSIZE);
	fake_run();
	assert_int_equal(fake.sent_count, 1);
	shut();
}

static void reads_go_through_a_buffer_where_they_must(void **state)
{
	open_full();
	one[1].want = 3000;
	fake.unknown = memory[1];
	fake.unknown_len = ROOM;
	uint64_t before = copied_bytes();
	say((struct say){ .itt = 1, .edtl = 3000, .is_write = true, .base = 64 });
	fake_run();
	assert_memory_equal(memory[1], fake.remote + 64, 3000);
	assert_int_equal(copied_bytes(), before + 3000);
	shut();
}

// The wait for a buffer ends with a request that the queue pair refuses.
static void data_that_cannot_be_read_is_not_given(void **state)
{
	static struct buf *taken[8192];
	unsigned n = 0;
	open_full();
	one[1].want = 3000;
	fake.knows_nothing = true;
	while (n < 8192 && (taken[n] = buf_get(worker, BUF_MIN)))
		n++;
	say((struct say){ .itt = 1, .edtl = 3000, .is_write = true, .base = 64 });
	assert_int_equal(fake.posted_count, 0);
	assert_int_equal(fake.closes, 0);
	while (n)
		buf_put(taken[--n]);
	const struct dm_iser *d = container_of(dm, struct dm_iser, dm);
	struct buf_wait *wait = &list_entry(d->tasks.next, struct dm_iser_task, link)->wait;
	buf_wait_cancel(wait); // as the pool does
	wait->fn(wait);
	assert_int_equal(fake.closes, 1);
	assert_int_equal(one[1].answers, 0);
	shut();
}

// --- unsolicited Data-Out ---

static void open_unsolicited(void)
{
	params.initial_r2t = false;
	open_full();
}

static void out(uint32_t itt, uint32_t offset, uint32_t len, uint32_t sn, bool is_last)
{
	say((struct say){ .itt = itt,
			  .offset = offset,
			  .imm = len,
			  .sn = sn,
			  .opcode = ISCSI_OP_DATA_OUT,
			  .flags = is_last ? ISCSI_F : 1 });
}

static void unsolicited_data_comes_before_the_rest_is_read(void **state)
{
	open_unsolicited();
	one[1].want = 8192;
	say((struct say){ .itt = 1,
			  .edtl = 8192,
			  .imm = 1000,
			  .is_write = true,
			  .is_open = true,
			  .base = 0x4000 });
	out(1, 1000, 1000, 0, false);
	assert_int_equal(fake.posted_count, 0);
	out(1, 2000, 500, 1, true);
	fake_run();
	assert_int_equal(one[1].data_res, 0);
	assert_unsolicited(1, 0, 2500);
	assert_memory_equal(memory[1] + 2500, fake.remote + 0x4000, 8192 - 2500);
	shut();
}

static void unsolicited_data_waits_for_its_place(void **state)
{
	open_unsolicited();
	one[1].plan = WAIT;
	one[1].want = 2000;
	say((struct say){ .itt = 1, .edtl = 2000, .imm = 1000, .is_write = true, .is_open = true });
	out(1, 1000, 1000, 0, true);
	assert_int_equal(fake.rx_out, 1);
	fetch(&one[1]);
	assert_unsolicited(1, 0, 2000);
	fake_run();
	shut();
}

static void solicited_data_out_ends_the_connection(void **state)
{
	open_unsolicited();
	say((struct say){
		.itt = 1, .imm = 8, .ttt = 5, .opcode = ISCSI_OP_DATA_OUT, .flags = ISCSI_F });
	assert_int_equal(fake.why.code, -EPROTO);
	shut();
}

static void owed_data_is_known_to_be_owed(void **state)
{
	open_unsolicited();
	assert_int_equal(dm->ops->oldest_owed(dm), 0);
	one_round(); // so that there is a time
	one[1].plan = WAIT;
	say((struct say){ .itt = 1, .edtl = 4000, .is_write = true, .is_open = true });
	assert_int_equal(dm->ops->oldest_owed(dm), worker_now(worker));
	shut();
}

static void a_read_in_flight_is_owed_data(void **state)
{
	open_full();
	one_round();
	one[1].want = 512;
	say((struct say){ .itt = 1, .edtl = 512, .is_write = true });
	assert_int_equal(dm->ops->oldest_owed(dm), worker_now(worker));
	fake_run();
	assert_int_equal(dm->ops->oldest_owed(dm), 0);
	shut();
}

static void what_has_not_left_is_known_since_when(void **state)
{
	struct dm_counters n;
	open_full();
	one_round();
	one[1].plan = ANSWER;
	one[1].data_in = 512;
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	dm->ops->counters(dm, &n);
	assert_int_equal(n.tx_stuck_ns, worker_now(worker));
	fake_run();
	dm->ops->counters(dm, &n);
	assert_int_equal(n.tx_stuck_ns, 0);
	shut();
}

static void data_is_owed_since_the_command_however_it_trickles(void **state)
{
	struct dm_counters n;
	open_unsolicited();
	one_round();
	uint64_t before = worker_now(worker);
	one[1].plan = WAIT;
	say((struct say){ .itt = 1, .edtl = 4000, .is_write = true, .is_open = true });
	one_round();
	out(1, 0, 100, 0, false);
	dm->ops->counters(dm, &n);
	assert_int_equal(n.owed_since_ns, before);
	assert_int_equal(dm->ops->oldest_owed(dm), worker_now(worker));
	shut();
}

// --- early ends ---

static void send_tmf_response(void)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_OP_TMF_RSP, ISCSI_F };
	dm->ops->send(dm, bhs, NULL, 0, DM_ADVANCES);
}

static void an_aborted_command_is_released_after_its_reads(void **state)
{
	open_full();
	one[1].want = 4096;
	say((struct say){ .itt = 1, .edtl = 4096, .is_write = true });
	drop(&one[1]);
	assert_int_equal(one[1].releases, 0);
	fake_run();
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(one[1].answers, 0);
	assert_int_equal(fake.sent_count, 0);
	shut();
}

static void a_tmf_response_waits_for_reads_in_flight(void **state)
{
	open_full();
	one[1].want = 4096;
	one[2].plan = ANSWER;
	say((struct say){ .itt = 1, .edtl = 4096, .is_write = true });
	drop(&one[1]);
	send_tmf_response();
	say((struct say){ .itt = 2 }); // others go on
	assert_int_equal(fake.posted_count, 2);
	fake_run();
	assert_int_equal(heard(0).pdu.opcode, ISCSI_OP_SCSI_RSP);
	assert_int_equal(get_be32(heard(0).bhs + 24), 1);
	assert_int_equal(heard(1).pdu.opcode, ISCSI_OP_TMF_RSP);
	assert_int_equal(get_be32(heard(1).bhs + 24), 2);
	shut();
}

static void a_tmf_response_with_nothing_in_flight_goes_at_once(void **state)
{
	open_full();
	one[1].plan = WAIT;
	say((struct say){ .itt = 1, .edtl = 512, .imm = 512, .is_write = true });
	drop(&one[1]);
	assert_int_equal(one[1].releases, 1);
	send_tmf_response();
	assert_int_equal(fake.posted_count, 1);
	fake_run();
	shut();
}

static void a_command_may_end_inside_its_arrival(void **state)
{
	open_full();
	one[1].plan = ABORT;
	say((struct say){ .itt = 1, .edtl = 512, .imm = 512, .is_write = true });
	assert_int_equal(one[1].releases, 1);
	assert_int_equal(fake.rx_out, 0);
	shut();
}

static void an_ignored_command_leaves_nothing(void **state)
{
	open_full();
	one[1].plan = IGNORE;
	say((struct say){ .itt = 1, .edtl = 512, .imm = 512, .is_write = true });
	assert_int_equal(fake.rx_out, 0);
	assert_int_equal(fake.posted_count, 0);
	shut();
}

static void a_close_in_the_middle_releases_everything(void **state)
{
	open_unsolicited();
	one[1].want = one[2].want = one[3].want = 4096;
	one[2].plan = WAIT;
	one[4].plan = ANSWER;
	one[4].data_in = 4096;
	say((struct say){ .itt = 1, .edtl = 4096, .is_write = true });
	say((struct say){ .itt = 2, .edtl = 4096, .imm = 100, .is_write = true });
	say((struct say){ .itt = 3, .edtl = 4096, .is_write = true, .is_open = true });
	say((struct say){ .itt = 4, .edtl = 4096, .is_read = true });
	fake_end(-ECONNRESET);
	assert_int_equal(closes, 1);
	assert_int_equal(one[1].answers, 0);
	shut();
}

static void an_answer_after_the_close_is_released_at_once(void **state)
{
	open_full();
	one[1].plan = WAIT;
	say((struct say){ .itt = 1, .edtl = 512, .is_read = true });
	one[1].result.sg = one[1].sg; // on_closed leaves it alone
	fake_end(-ECONNRESET);
	assert_int_equal(one[1].releases, 0);
	answer(&one[1]);
	assert_int_equal(one[1].releases, 1);
	shut();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(data_is_written_before_the_status_goes),
		T(payload_is_not_copied),
		T(a_command_is_released_when_its_status_has_left),
		T(a_piece_is_written_when_the_one_before_has_left),
		T(a_piece_in_flight_delays_the_end_of_an_aborted_command),
		T(a_piece_is_read_after_the_one_before),
		T(only_what_was_produced_is_written),
		T(nothing_is_written_beyond_what_was_expected),
		T(an_expected_length_of_0_makes_no_request),
		T(a_read_without_memory_ends_the_connection),
		T(writes_are_split_at_what_the_device_takes),
		T(a_region_registered_in_parts_is_split_there),
		T(memory_unknown_to_the_device_is_copied_and_counted),
		T(small_parameter_data_is_no_payload),
		T(without_buffers_data_waits_for_some),
		T(sense_is_cut_to_what_initiators_have_room_for),
		T(the_tag_of_the_command_is_invalidated_where_agreed),
		T(nothing_is_invalidated_where_not_agreed),
		T(data_out_is_read_from_the_initiator),
		T(immediate_data_is_copied_once_and_the_rest_read),
		T(a_peer_that_says_so_advertises_the_whole_memory),
		T(data_that_all_came_at_once_needs_no_read),
		T(immediate_data_waits_in_its_buffer),
		T(waiting_commands_do_not_take_every_buffer),
		T(data_that_is_not_wanted_is_dropped),
		T(a_write_without_memory_for_the_rest_fails),
		T(data_that_cannot_be_read_is_not_given),
		T(nothing_is_read_beyond_what_was_expected),
		T(reads_go_through_a_buffer_where_they_must),
		T(unsolicited_data_comes_before_the_rest_is_read),
		T(unsolicited_data_waits_for_its_place),
		T(solicited_data_out_ends_the_connection),
		T(owed_data_is_known_to_be_owed),
		T(a_read_in_flight_is_owed_data),
		T(what_has_not_left_is_known_since_when),
		T(data_is_owed_since_the_command_however_it_trickles),
		T(an_aborted_command_is_released_after_its_reads),
		T(a_tmf_response_waits_for_reads_in_flight),
		T(a_tmf_response_with_nothing_in_flight_goes_at_once),
		T(a_command_may_end_inside_its_arrival),
		T(an_ignored_command_leaves_nothing),
		T(a_close_in_the_middle_releases_everything),
		T(an_answer_after_the_close_is_released_at_once),
	};
	return cmocka_run_group_tests(tests, make_workers, free_workers);
}
