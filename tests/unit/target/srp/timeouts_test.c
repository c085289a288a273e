// SPDX-License-Identifier: BSD-2-Clause
// What an initiator may leave undone, and for how long, by a clock of the test. The channels say
// what the test wants: the functions of transport/srp are its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/worker.h"
#include "target/scsi/nexus.h"
#include "target/srp/session.h"
#include "target/srp/srp.h"
#include "target/srp/timeouts.h"
#include "target/srp/worker.h"

#define SECOND 1000000000ull
#define NOW    (10000 * SECOND)

enum { CHANNELS = 2 };

static struct one {
	struct session_channel role;
	struct srp_channel_info info;
	unsigned pings, closes;
	char why[sizeof((struct err *)0)->text];
} one[CHANNELS];
static struct srp_session session;
static struct nexus nexus;
static struct worker *worker;
static bool is_short;

static struct one *one_of(const struct srp_channel *ch)
{
	return (struct one *)ch;
}

// --- what the channels say and are told ---

void __wrap_srp_channel_info(const struct srp_channel *ch, struct srp_channel_info *ret);
bool __wrap_srp_ping(struct srp_channel *ch);
void __wrap_srp_channel_close(struct srp_channel *ch, bool is_graceful,
			      enum srp_logout_reason reason, const struct err *why);

void __wrap_srp_channel_info(const struct srp_channel *ch, struct srp_channel_info *ret)
{
	*ret = one_of(ch)->info;
}

bool __wrap_srp_ping(struct srp_channel *ch)
{
	if (!one_of(ch)->info.ius_in)
		return false;
	one_of(ch)->pings++;
	return true;
}

void __wrap_srp_channel_close(struct srp_channel *ch, bool is_graceful,
			      enum srp_logout_reason reason, const struct err *why)
{
	struct one *o = one_of(ch);
	if (!o->closes++)
		snprintf(o->why, sizeof o->why, "%s", why->text);
}

// --- the rig ---

static int start_worker(void **state)
{
	const struct worker_options o = { .name = "test", .cpu = -1 };
	struct err e;
	return worker_new(&worker, &o, &e) || worker_start(worker, &e);
}

static int stop_worker(void **state)
{
	worker_free(worker);
	return 0;
}

// A session with two channels that have sent IUs, the last just now.
static int setup(void **state)
{
	static const struct tcp_addr peer;
	memset(&session, 0, sizeof session);
	memset(one, 0, sizeof one);
	nexus = (struct nexus){ 0 };
	session.session.nexus = &nexus;
	session.session.worker = worker;
	session.session.state = SESSION_LIVE;
	session.session.peer_addr = &peer;
	session.session.start_ns = SECOND;
	session.has_heard = true;
	list_init(&session.channels);
	for (unsigned i = 0; i < CHANNELS; i++) {
		one[i].role.session = &session;
		one[i].role.ch = (struct srp_channel *)&one[i];
		one[i].info = (struct srp_channel_info){ .last_rx_ns = NOW, .ius_in = 1 };
		list_push_back(&session.channels, &one[i].role.link);
	}
	is_short = false;
	return 0;
}

static void check_run(void *arg)
{
	srp_worker()->is_short = is_short;
	srp_timeouts_check(&session, *(uint64_t *)arg);
	srp_worker()->is_short = false;
}

static void check(uint64_t now)
{
	worker_call(worker, check_run, &now);
}

// Whether the first channel is closed at NOW, where this waits for so many seconds, and has not
// moved for so many.
static bool is_ended(struct srp_wait *wait, uint64_t since, uint64_t stuck)
{
	one[0].closes = 0;
	*wait = (struct srp_wait){ NOW - since * SECOND, NOW - stuck * SECOND };
	check(NOW);
	*wait = (struct srp_wait){ 0 };
	session.is_closing = false;
	return one[0].closes;
}

// --- what is not answered or not taken ---

static const struct {
	size_t at; // of its srp_wait
	const char *stuck, *all;
} waits[] = {
	{offsetof(struct srp_channel_info,  reads),  "RDMA Reads not answered for 30 s",
	  "RDMA Reads not answered in full for 300 s" },
	{ offsetof(struct srp_channel_info, output), "responses not received for 30 s",
	  "responses not received in full for 300 s"  },
	{ offsetof(struct srp_channel_info, asked),  "no answer to CRED_REQ or AER_REQ for 31 s",
	  "no answer to CRED_REQ or AER_REQ for 301 s"},
};

static struct srp_wait *wait_at(unsigned i)
{
	return (struct srp_wait *)((char *)&one[0].info + waits[i].at);
}

static void what_does_not_move_ends_the_channel_in_30_s(void **state)
{
	for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
		assert_false(is_ended(wait_at(i), 30, 30));
		assert_true(is_ended(wait_at(i), 31, 31));
		assert_string_equal(one[0].why, waits[i].stuck);
	}
}

static void what_moves_goes_on(void **state)
{
	for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++)
		assert_false(is_ended(wait_at(i), 300, 30));
}

static void to_move_a_little_now_and_then_ends_the_channel_in_300_s(void **state)
{
	for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
		assert_true(is_ended(wait_at(i), 301, 0));
		assert_string_equal(one[0].why, waits[i].all);
	}
}

static void kept_buffers_leave_at_64_kib_a_second_or_in_15_s(void **state)
{
	static const struct {
		uint64_t bytes, seconds; // that they may take
	} rows[] = {
		{4096,	5 },
		     { 320 << 10, 5 },
		       { 640 << 10, 10},
		  { 64 << 20,  15}
	};
	is_short = true;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t most = rows[i].seconds;
		nexus.pool_used = rows[i].bytes;
		for (unsigned w = 0; w < 2; w++) {
			assert_false(is_ended(wait_at(w), most, 5));
			assert_true(is_ended(wait_at(w), most + 1, 0));
			assert_true(is_ended(wait_at(w), 6, 6));
		}
	}
	nexus.pool_used = 0;
	assert_false(is_ended(wait_at(1), 30, 30)); // it keeps nothing from others
	one[0].info.buffers = 4096;
	assert_true(is_ended(wait_at(1), 30, 30));
	assert_non_null(strstr(one[0].why, "out of buffer memory, and responses not received"));
}

// --- silence ---

static void a_silent_channel_is_asked_after_60_s(void **state)
{
	check(NOW + 60 * SECOND);
	assert_int_equal(one[0].pings, 0);
	check(NOW + 60 * SECOND + 1);
	assert_int_equal(one[0].pings, 1);
	one[0].info.asked = (struct srp_wait){ NOW + 60 * SECOND, NOW + 60 * SECOND };
	check(NOW + 62 * SECOND);
	assert_int_equal(one[0].pings, 1);
}

static void who_does_not_answer_on_one_channel_is_gone_from_all(void **state)
{
	assert_true(is_ended(wait_at(2), 31, 31));
	assert_int_equal(one[1].closes, 1);
}

// The second channel has sent nothing.
static void make_mute(void)
{
	one[1].info.ius_in = 0;
}

static void a_channel_without_an_iu_stays_while_another_is_heard(void **state)
{
	make_mute();
	for (uint64_t at = NOW; at < NOW + 7200 * SECOND; at += 60 * SECOND) {
		one[0].info.last_rx_ns = at; // answers
		check(at + 59 * SECOND);
	}
	assert_int_equal(one[0].closes + one[1].closes, 0);
	assert_int_equal(one[1].pings, 0);
}

static void a_channel_without_an_iu_ends_with_the_others(void **state)
{
	make_mute();
	assert_true(is_ended(wait_at(2), 31, 31));
	assert_int_equal(one[1].closes, 1);
}

static void a_channel_without_an_iu_that_is_left_alone_ends_in_120_s(void **state)
{
	make_mute();
	check(NOW);
	one[0].role.is_closed = true;
	check(NOW + 120 * SECOND);
	assert_int_equal(one[1].closes, 0);
	check(NOW + 120 * SECOND + 1);
	assert_int_equal(one[1].closes, 1);
	assert_string_equal(one[1].why, "nothing was received on any channel for 120 s");
}

// Its output moves: it is alive, although it says nothing.
static void who_reads_slowly_keeps_its_channels(void **state)
{
	make_mute();
	one[0].info.output = (struct srp_wait){ NOW, NOW + 200 * SECOND };
	check(NOW + 201 * SECOND);
	assert_int_equal(one[0].closes + one[1].closes, 0);
}

static void a_session_has_600_s_for_its_first_iu(void **state)
{
	one[0].info.ius_in = one[1].info.ius_in = 0;
	session.has_heard = false;
	session.session.start_ns = NOW;
	check(NOW + 600 * SECOND);
	assert_int_equal(one[0].closes, 0);
	check(NOW + 600 * SECOND + 1);
	assert_int_equal(one[0].closes, 1);
	assert_int_equal(one[1].closes, 1);
	assert_string_equal(one[0].why, "no IU within 600 s of the login");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		T(what_does_not_move_ends_the_channel_in_30_s),
		T(what_moves_goes_on),
		T(to_move_a_little_now_and_then_ends_the_channel_in_300_s),
		T(kept_buffers_leave_at_64_kib_a_second_or_in_15_s),
		T(a_silent_channel_is_asked_after_60_s),
		T(who_does_not_answer_on_one_channel_is_gone_from_all),
		T(a_channel_without_an_iu_stays_while_another_is_heard),
		T(a_channel_without_an_iu_ends_with_the_others),
		T(a_channel_without_an_iu_that_is_left_alone_ends_in_120_s),
		T(who_reads_slowly_keeps_its_channels),
		T(a_session_has_600_s_for_its_first_iu),
	};
	return cmocka_run_group_tests(tests, start_worker, stop_worker);
}
