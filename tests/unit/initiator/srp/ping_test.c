// SPDX-License-Identifier: BSD-2-Clause
// Pings of sessions over SRP: an INQUIRY that asks for nothing, over channels that are silent.
#include "initiator/srp/session_rig.h"

#define INQUIRY 0x12

static unsigned pings, pings_left, answered;
static struct scsi_tmf tmf;

static bool is_ping(const uint8_t *iu, uint32_t len)
{
	struct srp_command c;
	struct err e;
	return iu[0] == SRP_CMD && !srp_command_parse(&c, iu, len, SRP_IMM_OFFSET, &e) &&
	       c.cdb[0] == INQUIRY;
}

static void stay(void)
{
}

static void up_eight(void)
{
	for (int i = 0; i < CMDS && r.ups == 1; i++)
		submit();
}

static int begin(void **state)
{
	setup(state);
	pings = answered = 0;
	pings_left = 2;
	r.config.ping_interval = r.config.ping_timeout = 1;
	r.on_up = stay;
	return 0;
}

// --- a session that is idle ---

static void refuse_pings(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	static const uint8_t sense[18] = { 0x70, 0, 5, [7] = 10, [12] = 0x25 }; // no such LUN
	struct srp_response a = {
		.credits = 1, .status = 2, .sense = sense, .sense_len = sizeof sense
	};
	if (!is_ping(iu, len)) // I_LOGOUT
		return;
	memcpy(&a.tag, iu + 8, 8);
	st_respond(c, &a);
	r.commands[c - r.target.conns]++;
	if (++pings == pings_left)
		scsi_session_logout(r.s);
}

static void an_idle_session_is_pinged_and_any_answer_will_do(void **state)
{
	r.config.ping_timeout = 5;
	r.target.iu = refuse_pings;
	run();
	assert_int_equal(pings, 2);
	assert_int_equal(r.downs, 0);
	assert_int_equal(r.why.code, 0);
}

static void each_silent_channel_is_pinged(void **state)
{
	r.config.ping_timeout = 5;
	r.config.channels = 3;
	pings_left = 3;
	r.target.iu = refuse_pings;
	run();
	for (int i = 0; i < 3; i++)
		assert_int_equal(r.commands[i], 1);
}

// --- a target that is silent ---

static void mute_at_first(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	pings += is_ping(iu, len);
	if (c != r.target.conns)
		count_and_answer(c, iu, len);
	else if (iu[0] == SRP_CMD && !is_ping(iu, len))
		r.commands[0]++;
}

static void commands_of_a_silent_target_go_again(void **state)
{
	r.target.iu = mute_at_first;
	r.on_up = up_eight;
	run();
	assert_int_equal(r.downs, 1);
	assert_int_equal(pings, 1);
	for (int i = 0; i < CMDS; i++)
		assert_int_equal(r.cmds[i].res, 0);
}

static void a_ping_has_a_credit_of_its_own(void **state)
{
	r.target.accept.credits = 8;
	r.target.iu = mute_at_first;
	r.on_up = up_eight;
	run();
	assert_int_equal(pings, 1);
	assert_int_equal(r.commands[0], 6); // one more is kept for task management
	assert_int_equal(r.downs, 1);
}

static void the_loss_says_what_was_not_answered(void **state)
{
	r.config.replacement_timeout = 0;
	r.target.iu = mute_at_first;
	run();
	assert_int_equal(r.why.code, -ETIMEDOUT);
	assert_non_null(strstr(r.why.text, "no answer to an INQUIRY within 1 s"));
}

// --- a target that answers other commands ---

static void again(struct scsi_cmd *c)
{
	if (++answered == 30)
		scsi_session_logout(r.s);
	else
		assert_int_equal(scsi_cmd_submit(r.s, c), 0);
}

static struct timer slow;
static struct st_conn *to_answer;
static uint8_t last_iu[SRP_SHORT_LEN];

static void on_slow(struct timer *t)
{
	if (to_answer->qp)
		st_answer(to_answer, last_iu);
}

static void answer_slowly_but_pings(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (is_ping(iu, len)) {
		pings++;
	} else if (iu[0] == SRP_CMD) {
		to_answer = c;
		memcpy(last_iu, iu, sizeof last_iu);
		timer_init(&slow, on_slow);
		timer_arm(r.w, &slow, pings ? 100000 : 2500000);
	}
}

static void up_again_and_again(void)
{
	submit();
	r.cmds[0].done = again;
	r.done++; // not counted
}

static void a_target_that_answers_commands_is_alive(void **state)
{
	r.config.ping_timeout = 2;
	r.target.iu = answer_slowly_but_pings;
	r.on_up = up_again_and_again;
	run();
	assert_true(pings >= 1);
	assert_int_equal(r.downs, 0);
	assert_int_equal(answered, 30);
}

// --- a ping that is aborted ---

static void on_tmf(struct scsi_tmf *t)
{
	assert_int_equal(t->response, SCSI_TMF_COMPLETE);
}

static void reset_after_the_ping(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (!is_ping(iu, len)) {
		st_answer(c, iu);
	} else if (!pings++) {
		tmf = (struct scsi_tmf){ .function = SCSI_TMF_LUN_RESET, .done = on_tmf };
		assert_int_equal(scsi_tmf_submit(r.s, &tmf), 0);
	} else {
		st_answer(c, iu);
		scsi_session_logout(r.s);
	}
}

static void a_reset_of_lun_0_ends_the_ping(void **state)
{
	r.config.ping_timeout = 5;
	r.target.iu = reset_after_the_ping;
	run();
	assert_int_equal(pings, 2);
	assert_int_equal(r.downs, 0);
}

// --- none ---

static void without_an_interval_there_are_no_pings(void **state)
{
	r.config.ping_interval = 0;
	r.config.command_timeout = r.config.abort_timeout = 1;
	r.config.replacement_timeout = 0;
	r.target.iu = mute_at_first;
	r.on_up = up_eight;
	run();
	assert_int_equal(pings, 0);
	assert_int_equal(r.commands[0], CMDS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_idle_session_is_pinged_and_any_answer_will_do),
		T(each_silent_channel_is_pinged),
		T(commands_of_a_silent_target_go_again),
		T(a_ping_has_a_credit_of_its_own),
		T(the_loss_says_what_was_not_answered),
		T(a_target_that_answers_commands_is_alive),
		T(a_reset_of_lun_0_ends_the_ping),
		T(without_an_interval_there_are_no_pings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
