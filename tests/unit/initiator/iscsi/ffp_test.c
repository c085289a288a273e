// SPDX-License-Identifier: BSD-2-Clause
// Full feature phase of a session: task management, pings, asynchronous messages.
#include <errno.h>
#include <sys/epoll.h>

#include "initiator/iscsi/session_rig.h"
#include "initiator/iscsi/session_priv.h"

// --- task management ---

static void tmf_done(struct scsi_tmf *t)
{
	struct rig *r = t->arg;
	r->tmf_done++;
	assert_int_equal(t->res, 0);
	scsi_session_logout(r->s);
}

static void up_and_abort(struct rig *r)
{
	r->logs_out_when_done = false;
	submit(r, 1);
	submit(r, 2);
}

static struct rig *tmf_rig;
static void pdu_tmf(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	struct rig *r = tmf_rig;
	uint8_t rsp[48];
	switch (bhs[0] & 0x3f) {
	case ISCSI_OP_SCSI_CMD:
		if (c->f->seen[ISCSI_OP_SCSI_CMD] == 2) // both are there, none is answered
			assert_int_equal(scsi_tmf_submit(r->s, &r->tmf), 0);
		break;
	case ISCSI_OP_TMF_REQ:
		assert_int_equal(r->done_count, 0);
		assert_int_equal(bhs[0] & ISCSI_I, ISCSI_I);
		if (r->tmf.cmd) {
			assert_int_equal(get_be32(bhs + 20), task_of(r->tmf.cmd)->itt);
			assert_int_equal(get_be32(bhs + 32), task_of(r->tmf.cmd)->cmd_sn);
		}
		fake_head(c, rsp, ISCSI_OP_TMF_RSP, ISCSI_F, bhs);
		fake_say(c, rsp, NULL, 0);
		c->stat_sn++;
		break;
	default:
		fake_pdu(c, bhs, data, len);
	}
}

static void an_aborted_command_ends_before_the_abort(void **state)
{
	struct rig r;
	rig_init(&r);
	tmf_rig = &r;
	r.fake.pdu = pdu_tmf;
	r.tmf = (struct scsi_tmf){
		.function = SCSI_TMF_ABORT_TASK, .cmd = &r.cmds[0], .done = tmf_done, .arg = &r
	};
	r.on_up = up_and_abort;
	rig_run(&r);
	assert_int_equal(r.tmf_done, 1);
	assert_int_equal(r.order[0], 0);
	assert_int_equal(r.cmds[0].res, -ECANCELED);
	assert_int_equal(r.cmds[1].res, -ESHUTDOWN); // by the logout
	rig_done(&r);
}

static void a_lun_reset_ends_the_commands_of_that_lun_alone(void **state)
{
	struct rig r;
	rig_init(&r);
	tmf_rig = &r;
	r.fake.pdu = pdu_tmf;
	r.tmf = (struct scsi_tmf){
		.function = SCSI_TMF_LUN_RESET, .lun = {0, 2},
			 .done = tmf_done, .arg = &r
	};
	r.on_up = up_and_abort;
	rig_run(&r);
	assert_int_equal(r.order[0], 1);
	assert_int_equal(r.cmds[1].res, -ECANCELED);
	assert_int_equal(r.cmds[0].res, -ESHUTDOWN);
	rig_done(&r);
}

// The reset ends the command of the abort that waits behind it.
static struct scsi_tmf second;

static void second_done(struct scsi_tmf *t)
{
	assert_int_equal(tmf_rig->tmf_done, 1);
	scsi_session_logout(tmf_rig->s);
}

static void reset_done(struct scsi_tmf *t)
{
	((struct rig *)t->arg)->tmf_done++;
}

static void pdu_two_tmfs(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	pdu_tmf(c, bhs, data, len);
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD && c->f->seen[ISCSI_OP_SCSI_CMD] == 2)
		assert_int_equal(scsi_tmf_submit(tmf_rig->s, &second), 0);
}

static void an_abort_that_waits_for_a_reset_finds_no_task(void **state)
{
	struct rig r;
	rig_init(&r);
	tmf_rig = &r;
	r.fake.pdu = pdu_two_tmfs;
	r.tmf = (struct scsi_tmf){
		.function = SCSI_TMF_LUN_RESET, .lun = {0, 2},
			 .done = reset_done, .arg = &r
	};
	second = (struct scsi_tmf){ .function = SCSI_TMF_ABORT_TASK,
				    .cmd = &r.cmds[1],
				    .done = second_done };
	r.on_up = up_and_abort;
	rig_run(&r);
	assert_int_equal(r.cmds[1].res, -ECANCELED);
	assert_int_equal(second.response, SCSI_TMF_NO_TASK);
	assert_int_equal(r.fake.seen[ISCSI_OP_TMF_REQ], 1);
	rig_done(&r);
}

static void up_late(struct rig *r)
{
	if (r->ups > 1)
		return;
	submit(r, 0);
	r->cmds[0].timeout = 1;
}

static void pdu_late(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t rsp[48];
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		return;
	if ((bhs[0] & 0x3f) != ISCSI_OP_TMF_REQ) {
		fake_pdu(c, bhs, data, len);
		return;
	}
	assert_int_equal(bhs[1], ISCSI_F | ISCSI_TMF_ABORT_TASK);
	fake_head(c, rsp, ISCSI_OP_TMF_RSP, ISCSI_F, bhs);
	fake_say(c, rsp, NULL, 0);
}

static void a_command_that_takes_too_long_is_aborted(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.command_timeout = 1;
	r.fake.pdu = pdu_late;
	r.on_up = up_late;
	rig_run(&r);
	assert_int_equal(r.cmds[0].res, -ETIMEDOUT);
	assert_int_equal(r.fake.seen[ISCSI_OP_TMF_REQ], 1);
	assert_int_equal(r.ups, 1);
	rig_done(&r);
}

// --- pings ---

static void ping_done(struct ini_ping *p)
{
	struct rig *r = p->arg;
	assert_int_equal(p->res, 0);
	r->ping_done++;
	scsi_session_logout(r->s);
}

static void up_ping(struct rig *r)
{
	r->ping = (struct ini_ping){ .done = ping_done, .arg = r };
	assert_int_equal(ini_ping(r->s, &r->ping), 0);
	struct ini_ping other = { .done = ping_done };
	assert_int_equal(ini_ping(r->s, &other), -EBUSY);
}

static void pdu_echo(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t nop[48];
	if ((bhs[0] & 0x3f) != ISCSI_OP_NOP_OUT) {
		fake_pdu(c, bhs, data, len);
		return;
	}
	fake_head(c, nop, ISCSI_OP_NOP_IN, ISCSI_F, bhs);
	put_be32(nop + 20, ISCSI_TAG_NONE);
	fake_say(c, nop, NULL, 0);
}

static void a_ping_is_answered(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_echo;
	r.on_up = up_ping;
	rig_run(&r);
	assert_int_equal(r.ping_done, 1);
	rig_done(&r);
}

static void pdu_pinging(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static uint8_t cmd[48];
	uint8_t nop[48];
	switch (bhs[0] & 0x3f) {
	case ISCSI_OP_SCSI_CMD:
		memcpy(cmd, bhs, 48);
		fake_head(c, nop, ISCSI_OP_NOP_IN, ISCSI_F, NULL);
		memcpy(nop + 8, "\0\5\0\0\0\0\0\0", 8);
		put_be32(nop + 20, 0x12345678);
		fake_say(c, nop, NULL, 0);
		break;
	case ISCSI_OP_NOP_OUT:
		assert_int_equal(bhs[0], ISCSI_I | ISCSI_OP_NOP_OUT);
		assert_int_equal(get_be32(bhs + 16), ISCSI_TAG_NONE);
		assert_int_equal(get_be32(bhs + 20), 0x12345678);
		assert_memory_equal(bhs + 8, "\0\5\0\0\0\0\0\0", 8);
		fake_status(c, cmd, SCSI_GOOD, NULL, 0);
		break;
	default:
		fake_pdu(c, bhs, data, len);
	}
}

static void a_targets_ping_is_answered_with_its_tag_and_lun(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_pinging;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_int_equal(r.fake.seen[ISCSI_OP_NOP_OUT], 1);
	assert_true(scsi_cmd_is_good(&r.cmds[0]));
	rig_done(&r);
}

static void pdu_nothing(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (c->number)
		fake_pdu(c, bhs, data, len);
}

static void up_again_logout(struct rig *r)
{
	if (r->ups == 2)
		scsi_session_logout(r->s);
}

static void a_target_that_answers_no_ping_is_left(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.noop_out_interval = r.config.noop_out_timeout = 1;
	r.fake.pdu = pdu_nothing;
	r.on_up = up_again_logout;
	rig_run(&r);
	assert_int_equal(r.ups, 2);
	assert_int_equal(r.downs, 1);
	rig_done(&r);
}

static struct timer talk;
static struct rig *talk_rig;
static struct fake_conn *talk_conn;
static unsigned words;

static void on_talk(struct timer *t)
{
	uint8_t nop[48];
	if (++words == 12) {
		scsi_session_logout(talk_rig->s);
		return;
	}
	fake_head(talk_conn, nop, ISCSI_OP_NOP_IN, ISCSI_F, NULL);
	put_be32(nop + 20, ISCSI_TAG_NONE);
	fake_say(talk_conn, nop, NULL, 0);
	timer_arm(talk_rig->w, t, 300000);
}

static void pdu_talk(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if ((bhs[0] & 0x3f) != ISCSI_OP_NOP_OUT) {
		fake_pdu(c, bhs, data, len);
	} else if (!talk_conn) {
		talk_conn = c;
		timer_init(&talk, on_talk);
		timer_arm(talk_rig->w, &talk, 300000);
	}
}

static void up_stay(struct rig *r)
{
}

// The answer may be behind much data, on a slow link.
static void a_target_that_sends_is_alive_though_it_answers_no_ping(void **state)
{
	struct rig r;
	rig_init(&r);
	talk_rig = &r;
	r.config.noop_out_interval = 1;
	r.config.noop_out_timeout = 2;
	r.fake.pdu = pdu_talk;
	r.on_up = up_stay;
	rig_run(&r);
	assert_int_equal(words, 12);
	assert_int_equal(r.downs, 0);
	rig_done(&r);
}

// NOP-Ins without end, from a target that reads nothing.
static void flood_on(struct watch *wa, uint32_t events)
{
	struct fake_conn *c = container_of(wa, struct fake_conn, watch);
	static uint8_t nops[128 * 48];
	static size_t at;
	ssize_t n;
	for (size_t i = 0; i < sizeof nops; i += 48)
		fake_head(c, nops + i, ISCSI_OP_NOP_IN, ISCSI_F, NULL);
	while ((n = write(wa->fd, nops + at, sizeof nops - at)) > 0)
		at = (at + (size_t)n) % sizeof nops;
	if (errno != EAGAIN)
		watch_remove(c->f->w, wa);
}

static void pdu_flood(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	int small = 4096;
	watch_remove(c->f->w, &c->watch);
	assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
	c->watch.fn = flood_on;
	assert_int_equal(watch_add(c->f->w, &c->watch, c->fd, EPOLLOUT), 0);
}

static void a_flood_of_pings_leaves_memory_bounded(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.replacement_timeout = 0;
	r.logs_out_when_done = false;
	r.fake.pdu = pdu_flood;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_int_equal(r.closes, 1);
	assert_non_null(strstr(r.why.text, "responses without reading them"));
	close(r.fake.conns[0].fd);
	r.fake.conns[0].fd = -1;
	rig_done(&r);
}

// --- asynchronous messages ---

static void say_async(struct fake_conn *c, uint8_t event, const void *data, uint32_t len)
{
	uint8_t bhs[48];
	fake_head(c, bhs, ISCSI_OP_ASYNC, ISCSI_F, NULL);
	bhs[36] = event;
	fake_say(c, bhs, data, len);
	c->stat_sn++;
}

static void pdu_async_logout(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			     uint32_t len)
{
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD && c->number == 0)
		say_async(c, ISCSI_ASYNC_LOGOUT, NULL, 0);
	fake_pdu(c, bhs, data, len);
}

static void up_command_each_time(struct rig *r)
{
	submit(r, 0);
	r->logs_out_when_done = r->ups == 2;
}

static void a_target_that_asks_for_a_logout_gets_it_and_is_logged_in_to_again(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_async_logout;
	r.on_up = up_command_each_time;
	rig_run(&r);
	assert_int_equal(r.ups, 2);
	assert_int_equal(r.fake.seen[ISCSI_OP_LOGOUT_REQ], 2);
	assert_true(scsi_cmd_is_good(&r.cmds[0]));
	rig_done(&r);
}

static void pdu_async_scsi(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			   uint32_t len)
{
	uint8_t sense[20] = { 0, 18, 0x70, 0, 6, [14] = 0x3f, [15] = 0x0e };
	uint8_t lying[20] = { 0xff, 0xff, 0x70 };
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		say_async(c, ISCSI_ASYNC_SCSI, sense, sizeof sense);
		say_async(c, ISCSI_ASYNC_SCSI, lying, sizeof lying);
	}
	fake_pdu(c, bhs, data, len);
}

static void scsi_events_come_with_sense_that_lies_in_the_message(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_async_scsi;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_int_equal(r.asyncs, 1);
	rig_done(&r);
}

static void pdu_unasked(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t rsp[48];
	fake_head(c, rsp, (uint8_t)c->f->step, ISCSI_F, bhs);
	put_be32(rsp + 20, ISCSI_TAG_NONE);
	fake_say(c, rsp, NULL, 0);
}

static void answers_that_nobody_asked_for_end_the_connection(void **state)
{
	static const uint8_t opcodes[] = { ISCSI_OP_LOGIN_RSP, ISCSI_OP_TEXT_RSP,
					   ISCSI_OP_LOGOUT_RSP };
	for (size_t i = 0; i < sizeof opcodes; i++) {
		struct rig r;
		rig_init(&r);
		r.config.replacement_timeout = 0;
		r.logs_out_when_done = false;
		r.fake.step = opcodes[i];
		r.fake.pdu = pdu_unasked;
		r.on_up = up_one_command;
		rig_run(&r);
		assert_int_equal(r.why.code, -EPROTO);
		assert_int_equal(r.cmds[0].res, -ENOTCONN);
		rig_done(&r);
	}
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_aborted_command_ends_before_the_abort),
		cmocka_unit_test(a_lun_reset_ends_the_commands_of_that_lun_alone),
		cmocka_unit_test(an_abort_that_waits_for_a_reset_finds_no_task),
		cmocka_unit_test(a_command_that_takes_too_long_is_aborted),
		cmocka_unit_test(a_ping_is_answered),
		cmocka_unit_test(a_targets_ping_is_answered_with_its_tag_and_lun),
		cmocka_unit_test(a_target_that_answers_no_ping_is_left),
		cmocka_unit_test(a_target_that_sends_is_alive_though_it_answers_no_ping),
		cmocka_unit_test(a_flood_of_pings_leaves_memory_bounded),
		cmocka_unit_test(a_target_that_asks_for_a_logout_gets_it_and_is_logged_in_to_again),
		cmocka_unit_test(scsi_events_come_with_sense_that_lies_in_the_message),
		cmocka_unit_test(answers_that_nobody_asked_for_end_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
