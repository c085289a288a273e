// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover with well-behaved targets: what it advertises and when it stops,
// immediate data, ends of commands and of connections. What holds for every mover is in
// initiator_movers_test.c.
#include "transport/iser/dmi_iser_rig.h"

static struct rig r; // large

static void good(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	response(rg, bhs, 0, 0, 0, NULL, 0);
}

// What the first command's PDU was.
static uint8_t seen_hdr[28], seen_bhs[48], seen_data[8192];
static uint32_t seen_len;
static int seen_reserved, seen_live;

static void see(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	memcpy(seen_hdr, rg->hdr, 28);
	memcpy(seen_bhs, bhs, 48);
	memcpy(seen_data, data, len);
	seen_len = len;
	seen_live = device(rg)->live;
	good(rg, bhs, data, len);
}

static void one(uint32_t len, bool is_write)
{
	static uint8_t mem[1 << 20];
	static struct sg sg;
	sg = (struct sg){ .addr = mem, .len = len };
	for (uint32_t i = 0; i < len; i++)
		mem[i] = (uint8_t)(i * 7);
	r.script = see;
	add(&r, &sg, 1, len, is_write);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(get_be24(seen_bhs + 5), seen_len);
}

static void assert_no_tag(const uint8_t *stag)
{
	static const uint8_t zeros[12];
	assert_memory_equal(stag, zeros, 12);
}

static int setup(void **state)
{
	rig_init(&r, &iser_carrier);
	return 0;
}

static int teardown(void **state)
{
	rig_done(&r);
	return 0;
}

static void a_connect_says_whether_invalidations_are_taken(void **state)
{
	static const uint8_t taken[4] = { 0x80 }, refused[4] = { 0xc0 };
	one(0, false);
	assert_int_equal(device(&r)->qps[0]->options.private_len, 4);
	assert_memory_equal(device(&r)->qps[0]->private_data, taken, 4);
	rig_done(&r);
	rig_init(&r, &iser_carrier);
	device(&r)->provider.takes_invalidation = false;
	one(0, false);
	assert_memory_equal(device(&r)->qps[0]->private_data, refused, 4);
}

static void see_reserved(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	seen_reserved = device(rg)->reserved;
	rig_end(rg);
}

static void receive_buffers_are_there_before_the_login(void **state)
{
	r.stays_in_login = true;
	r.script = see_reserved;
	rig_run(&r);
	assert_true(seen_reserved > (int)r.tasks_max);
}

static void a_read_advertises_all_its_memory(void **state)
{
	one(70000, false);
	assert_int_equal(seen_hdr[0], ISER_CONTROL | ISER_RSV);
	assert_no_tag(seen_hdr + 4);
	assert_int_equal(get_be32(seen_hdr + 16), device(&r)->exposed[0].rkey);
	assert_int_equal(get_be64(seen_hdr + 20), 0xabc000);
	assert_int_equal(device(&r)->exposed[0].access, RNIC_REMOTE_WRITE | RNIC_SCRATCH);
	assert_int_equal(device(&r)->exposed[0].len, 70000);
	assert_int_equal(get_be32(seen_bhs + 20), 70000);
}

static void a_write_of_one_pdu_travels_with_its_command(void **state)
{
	one(8192, true);
	assert_int_equal(seen_hdr[0], ISER_CONTROL);
	assert_no_tag(seen_hdr + 4);
	assert_int_equal(seen_len, 8192);
	for (uint32_t i = 0; i < 8192; i++)
		assert_int_equal(seen_data[i], (uint8_t)(i * 7));
	assert_int_equal(device(&r)->exposed_count, 0);
}

static void a_longer_write_advertises_all_and_sends_nothing(void **state)
{
	one(8193, true);
	assert_int_equal(seen_hdr[0], ISER_CONTROL | ISER_WSV);
	assert_int_equal(get_be32(seen_hdr + 4), device(&r)->exposed[0].rkey);
	assert_int_equal(get_be64(seen_hdr + 8), 0xabc000);
	assert_no_tag(seen_hdr + 16);
	assert_int_equal(seen_len, 0);
	assert_int_equal(device(&r)->exposed[0].access, RNIC_REMOTE_READ);
	assert_int_equal(device(&r)->exposed[0].len, 8193);
}

static void what_the_target_takes_bounds_immediate_data(void **state)
{
	r.params.max_send_data = 512;
	one(513, true);
	assert_int_equal(seen_hdr[0], ISER_CONTROL | ISER_WSV);
	rig_done(&r);
	rig_init(&r, &iser_carrier);
	r.params.first_burst = 512;
	one(513, true);
	assert_int_equal(seen_hdr[0], ISER_CONTROL | ISER_WSV);
	rig_done(&r);
	rig_init(&r, &iser_carrier);
	r.params.immediate_data = false;
	one(512, true);
	assert_int_equal(seen_hdr[0], ISER_CONTROL | ISER_WSV);
}

static void a_command_without_data_advertises_nothing(void **state)
{
	one(0, false);
	assert_int_equal(seen_hdr[0], ISER_CONTROL);
	assert_no_tag(seen_hdr + 4);
	assert_no_tag(seen_hdr + 16);
	assert_int_equal(device(&r)->exposed_count, 0);
}

static void memory_is_out_of_reach_when_the_command_is_done(void **state)
{
	one(4096, false);
	assert_int_equal(seen_live, 1);
	assert_int_equal(device(&r)->live, 0);
}

static void script_respond_then_send(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
				     uint32_t len)
{
	good(rg, bhs, data, len);
	assert_int_equal(rg->done_count, 0);
	assert_int_equal(device(rg)->live, 0);
	fake_let_go(device(rg)->qps[0], 0);
	assert_int_equal(rg->done_count, 1);
}

static void done_waits_for_the_device_to_let_go(void **state)
{
	uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	device(&r)->holds_sends = true;
	r.script = script_respond_then_send;
	add(&r, &sg, 1, sizeof mem, true);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
}

static void script_invalidate(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint32_t rkey = get_be32(rg->hdr + 16);
	response_inv(rg, bhs, &rkey);
}

static void a_response_may_invalidate_its_commands_stag(void **state)
{
	uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_invalidate;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(device(&r)->live, 0);
}

static void script_short(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	response(rg, bhs, ISCSI_RSP_UNDERFLOW, 0, 100, NULL, 0);
}

static void script_check_condition(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
				   uint32_t len)
{
	static const uint8_t sense[20] = { 0, 18, 0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24 };
	response(rg, bhs, 0, 2, 0, sense, sizeof sense);
}

static void a_read_has_what_the_residual_leaves(void **state)
{
	uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_short;
	struct dmi_task *t = add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(t->data_len, 412);
	assert_int_equal(t->residual, 100);
}

// All is said to have come, or all but 100 bytes; 300 were written, then 500.
static void a_read_has_no_more_than_the_device_saw_written(void **state)
{
	static const struct {
		uint64_t moved;
		void (*script)(struct rig *, const uint8_t *, const uint8_t *, uint32_t);
		uint32_t data_len;
	} rows[] = {
		{300,  good,	     300},
		{ 300, script_short, 300},
		{ 500, script_short, 412},
		{ 600, good,	     512},
	};
	uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		rig_done(&r);
		rig_init(&r, &iser_carrier);
		device(&r)->moved = &rows[i].moved;
		r.script = rows[i].script;
		struct dmi_task *t = add(&r, &sg, 1, sizeof mem, false);
		rig_run(&r);
		assert_int_equal(t->data_len, rows[i].data_len);
		assert_int_equal(t->residual, 512 - rows[i].data_len);
	}
}

// GOOD, but the device saw only 300 bytes requested; or it does not count.
static void a_write_is_as_long_as_the_device_saw_requested(void **state)
{
	static const uint64_t moved = 300;
	static uint8_t mem[20000];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	for (int counts = 0; counts < 2; counts++) {
		rig_done(&r);
		rig_init(&r, &iser_carrier);
		device(&r)->moved = counts ? &moved : NULL;
		r.script = good;
		struct dmi_task *t = add(&r, &sg, 1, sizeof mem, true);
		rig_run(&r);
		assert_int_equal(t->residual_flags, counts ? ISCSI_RSP_UNDERFLOW : 0);
		assert_int_equal(t->residual, counts ? 19700 : 0);
	}
}

static void a_failed_read_has_no_data_unless_told(void **state)
{
	uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_check_condition;
	struct dmi_task *t = add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(t->status, 2);
	assert_int_equal(t->data_len, 0);
	assert_int_equal(t->sense_len, 18);
	assert_int_equal(t->sense[12], 0x24);
}

static void script_ping(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t nop[48] = { ISCSI_OP_NOP_IN, ISCSI_F };
	put_be32(nop + 16, DMI_ROLE_TAG | 1);
	put_be32(nop + 20, ISCSI_TAG_NONE);
	put_be32(nop + 24, 1);
	put_be32(nop + 28, 1);
	put_be32(nop + 32, 200);
	say(rg, nop, NULL, 0);
	rig_end(rg);
}

static void numbers_open_the_window(void **state)
{
	r.script = script_ping;
	rig_run(&r);
	assert_int_equal(r.windows, 1);
	assert_int_equal(r.sns.max_cmd_sn, 200);
	assert_int_equal(r.sns.exp_stat_sn, 2);
}

static void script_drop(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	rg->dm->ops->drop(rg->dm, &rg->tasks[0].dm);
}

static void a_dropped_command_is_out_of_reach_and_done(void **state)
{
	uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	r.script = script_drop;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -ECANCELED);
	assert_int_equal(device(&r)->live, 0);
}

static void script_close(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	int before = rg->done_count;
	if (rg->pdus < 2)
		return;
	rig_end(rg);
	// The target may still reach their memory.
	assert_int_equal(rg->done_count, before);
}

static void a_close_ends_commands_when_the_queue_pair_has_closed(void **state)
{
	uint8_t mem[2][512];
	struct sg sg[2] = {
		{.addr = mem[0],  .len = 512},
		{ .addr = mem[1], .len = 512}
	};
	r.script = script_close;
	r.ends_when_done = false;
	add(&r, &sg[0], 1, 512, false);
	add(&r, &sg[1], 1, 512, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_int_equal(r.res[1], -EPIPE);
}

// --- devices that want registered memory ---

static void a_device_that_needs_it_gets_the_commands_memory_registered(void **state)
{
	device(&r)->exposes_registered_only = true;
	one(70000, false);
	assert_int_equal(device(&r)->exposed_count, 1);
	assert_int_equal(device(&r)->exposed[0].len, 70000);
}

static void script_gathered(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	memcpy(seen_data, device(rg)->exposed[0].sg.addr, 8192);
	good(rg, bhs, data, len);
}

static void pieces_of_a_write_are_gathered_where_only_one_is_taken(void **state)
{
	static uint8_t a[4096], b[8192];
	struct sg sg[2] = {
		{.addr = a,  .len = sizeof a},
		{ .addr = b, .len = sizeof b}
	};
	memset(a, 1, sizeof a);
	memset(b, 2, sizeof b);
	device(&r)->exposes_registered_only = true;
	r.script = script_gathered;
	add(&r, sg, 2, sizeof a + sizeof b, true);
	rig_run(&r);
	assert_memory_equal(seen_data, a, 4096);
	assert_memory_equal(seen_data + 4096, b, 4096);
}

static void script_scattered(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	memset(device(rg)->exposed[0].sg.addr, 3, 500);
	memset(device(rg)->exposed[0].sg.addr + 500, 4, 500);
	response(rg, bhs, ISCSI_RSP_UNDERFLOW, 0, 24, NULL, 0);
}

static void pieces_of_a_read_get_what_came_and_no_more(void **state)
{
	uint8_t a[500], b[524];
	struct sg sg[2] = {
		{.addr = a,  .len = sizeof a},
		{ .addr = b, .len = sizeof b}
	};
	memset(b, 9, sizeof b);
	device(&r)->exposes_registered_only = true;
	r.script = script_scattered;
	add(&r, sg, 2, sizeof a + sizeof b, false);
	rig_run(&r);
	assert_int_equal(a[499], 3);
	assert_int_equal(b[0], 4);
	assert_int_equal(b[499], 4);
	assert_int_equal(b[500], 9);
}

static bool is_second_tasks(struct fake_rnic *f, const void *addr)
{
	return addr == r.tasks[1].dm.sg[0].addr;
}

static uint32_t numbers[3];

static void note_number(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	numbers[rg->pdus - 1] = get_be32(bhs + 24);
	good(rg, bhs, data, len);
}

static void three(bool are_written, uint32_t len)
{
	static uint8_t mem[3][9000];
	static struct sg sg[3];
	r.script = note_number;
	for (int i = 0; i < 3; i++) {
		sg[i] = (struct sg){ .addr = mem[i], .len = len };
		add(&r, &sg[i], 1, len, are_written);
	}
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.res[1], -ENOMEM);
	assert_int_equal(r.res[2], 0);
	assert_int_equal(r.pdus, 2);
	assert_int_equal(numbers[1], numbers[0] + 1);
	assert_int_equal(r.why.code, -ESHUTDOWN);
}

static void a_command_whose_memory_cannot_be_registered_ends_alone(void **state)
{
	device(&r)->exposes_registered_only = true;
	device(&r)->is_full = is_second_tasks;
	three(false, 512);
	teardown(NULL);
	setup(NULL);
	device(&r)->exposes_registered_only = true;
	device(&r)->is_full = is_second_tasks;
	three(true, 9000);
}

static void a_command_for_which_the_connection_is_gone_goes_with_it(void **state)
{
	static uint8_t mem[512];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	device(&r)->expose_error = -ENOTCONN;
	r.script = good;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_int_equal(r.why.code, -ENOTCONN);
}

static bool is_task_memory(struct fake_rnic *f, const void *addr)
{
	return addr == r.tasks[0].dm.sg[0].addr;
}

static void immediate_data_of_unknown_memory_is_copied(void **state)
{
	device(&r)->is_unknown = is_task_memory;
	one(5000, true);
	assert_int_equal(seen_len, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(seen_data[i], (uint8_t)(i * 7));
	assert_int_equal(worker_counters(r.w)->payload_copy_bytes, 5000);
}

static void immediate_data_of_known_memory_is_not_copied(void **state)
{
	one(5000, true);
	assert_int_equal(worker_counters(r.w)->payload_copy_bytes, 0);
}

// --- many, and connects that fail ---

static void all_the_commands_it_takes_may_be_in_flight(void **state)
{
	static uint8_t mem[TASKS][512];
	static struct sg sg[TASKS];
	r.script = good;
	for (int i = 0; i < 120; i++) {
		sg[i] = (struct sg){ .addr = mem[i], .len = 512 };
		add(&r, &sg[i], 1, 512, i % 2);
	}
	rig_run(&r);
	assert_int_equal(r.tasks_max, 120);
	for (int i = 0; i < 120; i++)
		assert_int_equal(r.res[i], 0);
}

static void a_connect_that_fails_closes_with_a_cure(void **state)
{
	err_set(&device(&r)->connect_fail, -ECONNREFUSED, "refused");
	rig_run(&r);
	assert_int_equal(r.why.code, -ECONNREFUSED);
	assert_string_equal(r.why.text, "iSER: connect: refused (check that a target listens there "
					"with iSER enabled)");
}

static void script_flood(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t nop[48] = { ISCSI_I | ISCSI_OP_NOP_OUT, ISCSI_F };
	if (rg->pdus)
		return;
	for (int i = 0; i < 41; i++)
		rg->dm->ops->send(rg->dm, nop, NULL, 0, false);
}

static void answers_that_the_target_does_not_take_are_bounded(void **state)
{
	device(&r)->holds_sends = true;
	r.script = script_flood;
	rig_run(&r);
	assert_int_equal(r.why.code, -EPROTO);
	assert_non_null(strstr(r.why.text, "responses without receiving them"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_connect_says_whether_invalidations_are_taken),
		T(receive_buffers_are_there_before_the_login),
		T(a_read_advertises_all_its_memory),
		T(a_write_of_one_pdu_travels_with_its_command),
		T(a_longer_write_advertises_all_and_sends_nothing),
		T(what_the_target_takes_bounds_immediate_data),
		T(a_command_without_data_advertises_nothing),
		T(memory_is_out_of_reach_when_the_command_is_done),
		T(done_waits_for_the_device_to_let_go),
		T(a_response_may_invalidate_its_commands_stag),
		T(a_read_has_what_the_residual_leaves),
		T(a_read_has_no_more_than_the_device_saw_written),
		T(a_write_is_as_long_as_the_device_saw_requested),
		T(a_failed_read_has_no_data_unless_told),
		T(numbers_open_the_window),
		T(a_dropped_command_is_out_of_reach_and_done),
		T(a_close_ends_commands_when_the_queue_pair_has_closed),
		T(a_device_that_needs_it_gets_the_commands_memory_registered),
		T(pieces_of_a_write_are_gathered_where_only_one_is_taken),
		T(pieces_of_a_read_get_what_came_and_no_more),
		T(a_command_whose_memory_cannot_be_registered_ends_alone),
		T(a_command_for_which_the_connection_is_gone_goes_with_it),
		T(immediate_data_of_unknown_memory_is_copied),
		T(immediate_data_of_known_memory_is_not_copied),
		T(all_the_commands_it_takes_may_be_in_flight),
		T(a_connect_that_fails_closes_with_a_cure),
		T(answers_that_the_target_does_not_take_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
