// SPDX-License-Identifier: BSD-2-Clause
// Commands of a session: the window, unit attentions, lost connections, Reject.
#include "initiator/iscsi/session_rig.h"

// --- commands ---

static void commands_end_in_the_order_of_the_answers(void **state)
{
	struct rig r;
	rig_init(&r);
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(r.done_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.order[i], i);
		assert_true(scsi_cmd_is_good(&r.cmds[i]));
	}
	rig_done(&r);
}

// One command fits the window; every answer opens it for one more, the last by a NOP-In alone.
static void pdu_narrow(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t nop[48];
	if ((bhs[0] & 0x3f) != ISCSI_OP_SCSI_CMD) {
		fake_pdu(c, bhs, data, len);
		return;
	}
	assert_int_equal(c->f->seen[ISCSI_OP_SCSI_CMD], ++c->f->step); // never two at once
	c->max_cmd_sn = c->exp_cmd_sn - 1;
	fake_status(c, bhs, SCSI_GOOD, NULL, 0);
	c->max_cmd_sn = c->exp_cmd_sn;
	fake_head(c, nop, ISCSI_OP_NOP_IN, ISCSI_F, NULL);
	put_be32(nop + 20, ISCSI_TAG_NONE);
	fake_say(c, nop, NULL, 0);
}

static void a_closed_window_holds_commands_until_a_nop_in_opens_it(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.window = 1;
	r.fake.pdu = pdu_narrow;
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(r.done_count, 3);
	assert_int_equal(r.fake.seen[ISCSI_OP_NOP_OUT], 0);
	rig_done(&r);
}

static void pdu_depth(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD)
		assert_int_equal(c->f->seen[ISCSI_OP_SCSI_CMD], ++c->f->step);
	fake_pdu(c, bhs, data, len);
}

static void no_more_commands_than_the_queue_depth_are_in_flight(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.queue_depth = 1;
	r.fake.pdu = pdu_depth;
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(r.done_count, 3);
	rig_done(&r);
}

static void pdu_attention(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			  uint32_t len)
{
	static const uint8_t sense[20] = { 0, 18, 0x70, 0, 6, [14] = 0x29 };
	if ((bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD && !c->f->step++)
		fake_status(c, bhs, SCSI_CHECK_CONDITION, sense, sizeof sense);
	else
		fake_pdu(c, bhs, data, len);
}

static void the_unit_attention_of_a_new_nexus_is_passed_over(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_attention;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_true(scsi_cmd_is_good(&r.cmds[0]));
	assert_int_equal(r.fake.seen[ISCSI_OP_SCSI_CMD], 2);
	rig_done(&r);
}

static void pdu_failure(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t rsp[48];
	if ((bhs[0] & 0x3f) != ISCSI_OP_SCSI_CMD) {
		fake_pdu(c, bhs, data, len);
		return;
	}
	fake_head(c, rsp, ISCSI_OP_SCSI_RSP, ISCSI_F, bhs);
	rsp[2] = ISCSI_RSP_TARGET_FAILURE;
	c->stat_sn++;
	fake_say(c, rsp, NULL, 0);
}

static void a_target_failure_is_no_status(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_failure;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_int_equal(r.cmds[0].res, -EREMOTEIO);
	assert_string_equal(r.cmds[0].refusal, "response 0x01");
	rig_done(&r);
}

static void up_bad_commands(struct rig *r)
{
	struct scsi_cmd *c = &r->cmds[0];
	scsi_cmd_init(c, 0);
	scsi_cmd_data(c, r->mem[0], 512, false);
	c->len = 513; // more than its memory
	assert_int_equal(scsi_cmd_submit(r->s, c), -EINVAL);
	c->len = 512;
	c->is_write = true; // both ways
	assert_int_equal(scsi_cmd_submit(r->s, c), -EINVAL);
	scsi_session_logout(r->s);
	assert_int_equal(scsi_cmd_submit(r->s, c), -ENOTCONN);
}

static void commands_that_cannot_be_right_are_refused(void **state)
{
	struct rig r;
	rig_init(&r);
	r.on_up = up_bad_commands;
	rig_run(&r);
	assert_int_equal(r.fake.seen[ISCSI_OP_SCSI_CMD], 0);
	rig_done(&r);
}

static void a_session_may_be_freed_from_a_commands_end(void **state)
{
	struct rig r;
	rig_init(&r);
	r.frees_when_done = true;
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(r.done_count, 3);
	assert_int_equal(r.closes, 0);
	rig_done(&r);
}

// --- lost connections ---

static void pdu_drop_first(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			   uint32_t len)
{
	if (c->number == 0 && (bhs[0] & 0x3f) == ISCSI_OP_SCSI_CMD) {
		if (c->f->seen[ISCSI_OP_SCSI_CMD] == 3)
			fake_close(c);
		return;
	}
	fake_pdu(c, bhs, data, len);
}

static void commands_in_flight_are_sent_again_after_a_lost_connection(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_drop_first;
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(r.ups, 2);
	assert_int_equal(r.downs, 1);
	assert_int_equal(r.done_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r.order[i], i);
		assert_true(scsi_cmd_is_good(&r.cmds[i]));
	}
	rig_done(&r);
}

static void up_once_commands(struct rig *r)
{
	if (r->ups > 1)
		return;
	for (int i = 0; i < 3; i++) {
		submit(r, 0);
		r->cmds[i].is_once = i == 1;
	}
}

static void a_command_that_may_run_once_is_not_sent_again(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_drop_first;
	r.on_up = up_once_commands;
	rig_run(&r);
	assert_int_equal(r.cmds[0].res, 0);
	assert_int_equal(r.cmds[1].res, -ENOTCONN);
	assert_int_equal(r.cmds[2].res, 0);
	assert_int_equal(r.fake.seen[ISCSI_OP_SCSI_CMD], 5);
	rig_done(&r);
}

static void pdu_drop_always(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			    uint32_t len)
{
	fake_close(c);
}

static void without_a_replacement_timeout_a_lost_session_is_over(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.replacement_timeout = 0;
	r.fake.pdu = pdu_drop_always;
	r.logs_out_when_done = false;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.cmds[0].res, -ENOTCONN);
	assert_int_not_equal(r.why.code, 0);
	rig_done(&r);
}

static void pdu_reject(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t rej[48];
	if ((bhs[0] & 0x3f) != ISCSI_OP_SCSI_CMD || c->number) {
		fake_pdu(c, bhs, data, len);
		return;
	}
	if (c->f->seen[ISCSI_OP_SCSI_CMD] != 2)
		return;
	fake_head(c, rej, ISCSI_OP_REJECT, ISCSI_F, NULL);
	rej[2] = ISCSI_REJECT_INVALID_FIELD;
	fake_say(c, rej, bhs, 48);
}

static void a_rejected_command_fails_and_the_others_go_on(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_reject;
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(r.cmds[0].res, 0);
	assert_int_equal(r.cmds[1].res, -EPROTO);
	assert_int_equal(r.cmds[2].res, 0);
	assert_int_equal(r.ups, 2);
	rig_done(&r);
}

static void pdu_short_reject(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			     uint32_t len)
{
	uint8_t rej[48];
	fake_head(c, rej, ISCSI_OP_REJECT, ISCSI_F, NULL);
	fake_say(c, rej, bhs, 44);
}

static void a_reject_without_a_whole_header_ends_the_connection(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.replacement_timeout = 0;
	r.fake.pdu = pdu_short_reject;
	r.logs_out_when_done = false;
	r.on_up = up_one_command;
	rig_run(&r);
	assert_non_null(strstr(r.why.text, "rejected header is missing"));
	rig_done(&r);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_end_in_the_order_of_the_answers),
		cmocka_unit_test(a_closed_window_holds_commands_until_a_nop_in_opens_it),
		cmocka_unit_test(no_more_commands_than_the_queue_depth_are_in_flight),
		cmocka_unit_test(the_unit_attention_of_a_new_nexus_is_passed_over),
		cmocka_unit_test(a_target_failure_is_no_status),
		cmocka_unit_test(commands_that_cannot_be_right_are_refused),
		cmocka_unit_test(a_session_may_be_freed_from_a_commands_end),
		cmocka_unit_test(commands_in_flight_are_sent_again_after_a_lost_connection),
		cmocka_unit_test(a_command_that_may_run_once_is_not_sent_again),
		cmocka_unit_test(without_a_replacement_timeout_a_lost_session_is_over),
		cmocka_unit_test(a_rejected_command_fails_and_the_others_go_on),
		cmocka_unit_test(a_reject_without_a_whole_header_ends_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
