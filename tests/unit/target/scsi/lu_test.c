// SPDX-License-Identifier: BSD-2-Clause
// Life of a logical unit across workers: references, channels, rounds, end under load.
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/scsi_test.h"

static void a_unit_lives_as_long_as_a_nexus_holds_it(void **state)
{
	int value;
	start(NULL);
	lu_get(b.lu);
	for (unsigned i = 0; i < 100; i++)
		lu_put(lu_get(b.lu));
	lu_put(b.lu);
	sem_getvalue(&b.closed, &value);
	assert_int_equal(value, 0);
	assert_int_equal(tur(0), 0);
}

static struct worker *closed_on;

static void note_closed(void *arg)
{
	closed_on = worker_self();
	sem_post(arg);
}

static void put_lu(void *arg)
{
	lu_put(arg);
}

// As those of the saved file are: the control thread does not run yet when they are made.
static void a_unit_made_before_the_control_thread_runs_is_closed_there(void **state)
{
	sem_t closed;
	start(NULL);
	sem_init(&closed, 0, 0);
	struct lu *other = bench_lu(&b, "other", "2", &(struct bench_options){ 0 });
	other->control = NULL;
	lu_set_closed(other, b.control, note_closed, &closed);
	bench_on_nexus(&b, 0, put_lu, other);
	sem_wait(&closed);
	assert_ptr_equal(closed_on, b.control);
	sem_destroy(&closed);
}

static void units_have_ids_of_their_own(void **state)
{
	start(NULL);
	struct lu *other = bench_lu(&b, "other", "2", &(struct bench_options){ 0 });
	assert_int_not_equal(other->id, b.lu->id);
	lu_put(other);
}

static void each_worker_has_its_own_channel(void **state)
{
	start(&(struct bench_options){ .workers = 3, .nexuses = 4 });
	assert_non_null(b.lu->channels[0]);
	assert_non_null(b.lu->channels[1]);
	assert_non_null(b.lu->channels[2]);
	assert_ptr_equal(b.nexuses[0]->luns[0]->channel, b.nexuses[3]->luns[0]->channel);
	assert_ptr_not_equal(b.nexuses[0]->luns[0]->channel, b.nexuses[1]->luns[0]->channel);
}

struct round_test {
	struct lu_round round;
	struct lu_round_ops ops;
	unsigned seen; // atomic
	sem_t done;
};

static void round_each(struct lu_channel *ch, struct lu_round *r)
{
	struct round_test *t = container_of(r, struct round_test, round);
	if (worker_self() == ch->worker)
		__atomic_add_fetch(&t->seen, 1, __ATOMIC_RELAXED);
}

static void round_over(struct lu_round *r)
{
	sem_post(&container_of(r, struct round_test, round)->done);
}

static void round_begin(void *arg)
{
	struct round_test *t = arg;
	lu_round_start(&t->round, b.lu, &t->ops);
}

static void a_round_visits_every_channel_on_its_worker(void **state)
{
	static struct round_test t = {
		.ops = {.each = round_each, .done = round_over}
	};
	start(&(struct bench_options){ .workers = 3, .nexuses = 3 });
	t.seen = 0;
	sem_init(&t.done, 0, 0);
	bench_on_nexus(&b, 1, round_begin, &t);
	sem_wait(&t.done);
	assert_int_equal(t.seen, 3);
}

static struct bench_cmd reading;

static void start_reading(unsigned nexus)
{
	memset(&reading, 0, offsetof(struct bench_cmd, data));
	memcpy(reading.cdb, (uint8_t[]){ 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	reading.cdb_len = 10;
	reading.expected_in = 512;
	reading.holds_release = true;
	bench_start(&b, nexus, &reading);
	bench_wait(&reading);
}

static bool awaits_reading(const struct lu_round *r, const struct task *t)
{
	return t == &reading.task;
}

static void a_round_waits_for_the_tasks_it_names(void **state)
{
	static struct round_test t = {
		.ops = {.each = round_each, .awaits = awaits_reading, .done = round_over}
	};
	int value;
	start(&(struct bench_options){ .workers = 2, .nexuses = 2 });
	start_reading(1);
	sem_init(&t.done, 0, 0);
	bench_on_nexus(&b, 0, round_begin, &t);
	tur(1);
	bench_settle(&b);
	sem_getvalue(&t.done, &value);
	assert_int_equal(value, 0);
	bench_release(&reading);
	sem_wait(&t.done);
}

// Eight sessions on two workers write, read, compare and reset while maps change and sessions
// come and go; then everything goes away. What must not happen shows under the sanitizers.
static struct bench_cmd load[4][8];
static const uint8_t zeroes[8192];

static void load_start(unsigned nexus)
{
	for (unsigned i = 0; i < 8; i++) {
		struct bench_cmd *k = &load[nexus][i];
		memset(k, 0, offsetof(struct bench_cmd, data));
		static const uint8_t ops[8] = { 0x28, 0x2a, 0x89, 0x28, 0x2a, 0x35, 0x12, 0x28 };
		k->cdb[0] = ops[i];
		k->cdb_len = ops[i] == 0x89 ? 16 : ops[i] == 0x12 ? 6 : 10;
		if (ops[i] == 0x89) {
			k->cdb[9] = (uint8_t)(nexus + i);
			k->cdb[13] = 4;
			k->out_len = 4096;
		} else if (ops[i] != 0x12) {
			// Blocks of its own, but for one read of what is compared:
			// an initiator that races with itself gets what it asks for.
			k->cdb[4] = i ? (uint8_t)(nexus + 1) : 0;
			k->cdb[5] = (uint8_t)(2 * i);
			k->cdb[8] = ops[i] == 0x35 ? 0 : 8;
		}
		k->attr = i == 3 ? TASK_ORDERED : i == 6 ? TASK_HEAD_OF_QUEUE : TASK_SIMPLE;
		k->out = zeroes;
		if (ops[i] == 0x2a)
			k->out_len = 4096;
		if (ops[i] == 0x28)
			k->expected_in = 4096;
		bench_start(&b, nexus, k);
	}
}

static void load_wait(unsigned nexus)
{
	for (unsigned i = 0; i < 8; i++)
		bench_wait(&load[nexus][i]);
}

static void a_unit_goes_away_under_load(void **state)
{
	static const uint16_t numbers[] = { 0 };
	for (unsigned round = 0; round < 20; round++) {
		start(&(struct bench_options){ .workers = 2, .nexuses = 4 });
		for (unsigned n = 0; n < 4; n++)
			load_start(n);
		if (round % 3 == 1)
			bench_tmf(&b, round % 4, TMF_LU_RESET, 0);
		if (round % 3 == 2)
			bench_attr(&b, "delay_read_us", "10");
		bench_set_map(&b, round % 4, 0, NULL, NULL);
		bench_set_map(&b, round % 4, 1, numbers, (struct lu *const[]){ b.lu });
		for (unsigned n = 0; n < 4; n++)
			load_wait(n);
		bench_relogin(&b, (round + 1) % 4);
		stop(NULL);
	}
}

static void commands_from_two_workers_leave_every_block_whole(void **state)
{
	static uint8_t ones[4096];
	memset(ones, 0xff, sizeof ones);
	start(&(struct bench_options){ .workers = 2, .nexuses = 2, .block_size = 4096 });
	bench_attr(&b, "delay_write_us", "1");
	for (unsigned round = 0; round < 50; round++) {
		struct bench_cmd *w[2] = { &load[0][0], &load[1][0] };
		for (unsigned n = 0; n < 2; n++) {
			memset(w[n], 0, offsetof(struct bench_cmd, data));
			memcpy(w[n]->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, (uint8_t)n, 0, 0, 1, 0 },
			       10);
			w[n]->cdb_len = 10;
			w[n]->out = n ? ones : zeroes;
			w[n]->out_len = 4096;
			bench_start(&b, n, w[n]);
		}
		bench_wait(w[0]);
		bench_wait(w[1]);
		BENCH_IN(&b, 0, &c, 8192, 0x28, 0, 0, 0, 0, 0, 0, 0, 2, 0);
		assert_memory_equal(c.data, zeroes, 4096);
		assert_memory_equal(c.data + 4096, ones, 4096);
	}
}

static struct lu_counters counted(void)
{
	struct lu_counters k;
	lu_counters_sum(b.lu, &k);
	return k;
}

static void the_time_of_commands_with_the_storage_is_counted(void **state)
{
	start(&(struct bench_options){ .block_size = 4096 });
	BENCH_IN(&b, 0, &c, 4096, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	assert_int_equal(counted().storage_ns, 0); // from the disk's own memory
	bench_attr(&b, "delay_read_us", "3000");
	BENCH_IN(&b, 0, &c, 4096, 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0);
	struct lu_counters k = counted();
	assert_in_range(k.storage_ns, 3000000, (k.op[LU_OP_READ].latency_sum_us + 1) * 1000);
	stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_unit_lives_as_long_as_a_nexus_holds_it),
		T(a_unit_made_before_the_control_thread_runs_is_closed_there),
		T(units_have_ids_of_their_own),
		T(each_worker_has_its_own_channel),
		T(a_round_visits_every_channel_on_its_worker),
		T(a_round_waits_for_the_tasks_it_names),
		T(a_unit_goes_away_under_load),
		T(commands_from_two_workers_leave_every_block_whole),
		T(the_time_of_commands_with_the_storage_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
