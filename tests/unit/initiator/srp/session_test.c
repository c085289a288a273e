// SPDX-License-Identifier: BSD-2-Clause
// Sessions over SRP: channels to one nexus, commands over them, loss and return, aborts, the end.
#include "initiator/srp/session_rig.h"

static void up_one(void)
{
	if (r.ups == 1)
		submit();
}

static void up_six(void)
{
	for (int i = 0; i < 6 && r.ups == 1; i++)
		submit();
}

static unsigned multi_logins(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r.target.logins; i++)
		n += (r.target.conns[i].login.flags & SRP_MULTICHAN_MASK) == SRP_MULTICHAN_MULTI;
	return n;
}

// --- login and channels ---

static void a_session_logs_in_and_out(void **state)
{
	r.on_up = up_six;
	run();
	assert_int_equal(r.target.logins, 1);
	assert_int_equal(r.commands[0], 6);
	assert_int_equal(r.closes, 1);
	assert_int_equal(r.why.code, 0);
	assert_string_equal(r.info.transport, "SRP (iwarp)");
	assert_int_equal(r.info.immediate_max, 8192);
}

static void commands_go_over_all_channels_in_turn(void **state)
{
	r.config.channels = 3;
	r.on_up = up_six;
	run();
	assert_int_equal(r.target.logins, 3);
	assert_int_equal(multi_logins(), 2);
	assert_int_equal(r.target.conns[0].login.flags & SRP_MULTICHAN_MASK, SRP_MULTICHAN_SINGLE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(r.commands[i], 2);
	assert_int_equal(r.info.channels, 3);
}

static uint64_t tags[CMDS];
static unsigned tag_count;

static void keep_tags(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_CMD)
		tags[tag_count++] = c->tag;
	count_and_answer(c, iu, len);
}

static void tags_are_unique_in_the_nexus(void **state)
{
	tag_count = 0;
	r.config.channels = 3;
	r.target.iu = keep_tags;
	r.on_up = up_six;
	run();
	assert_int_equal(tag_count, 6);
	for (unsigned i = 0; i < 6; i++)
		for (unsigned k = 0; k < i; k++)
			assert_true(tags[i] != tags[k]);
}

static void a_session_does_without_refused_channels(void **state)
{
	r.config.channels = 4;
	r.target.rejects = SRP_REJ_CHANNEL_LIMIT;
	r.target.rejects_from = 2;
	r.on_up = up_six;
	run();
	assert_int_equal(r.info.channels, 2);
	assert_int_equal(r.info.channels_wanted, 4);
	assert_non_null(strstr(r.info.fewer.text, "0x00010006"));
	assert_int_equal(r.commands[0] + r.commands[1], 6);
	assert_int_equal(r.why.code, 0);
}

static bool hang_up_at_the_second(struct st_conn *c)
{
	if (c == r.target.conns)
		return true;
	st_hang_up(r.target.conns);
	return false;
}

static void a_channel_lost_before_the_last_is_up_names_its_peer(void **state)
{
	r.config.channels = 2;
	r.target.login = hang_up_at_the_second;
	run();
	assert_int_equal(r.ups, 0);
	assert_int_equal(strncmp(r.why.text, "127.0.0.1:", 10), 0);
}

static void a_refused_session_ends_with_words(void **state)
{
	r.target.rejects = SRP_REJ_NO_SUCH_PORT;
	run();
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.closes, 1);
	assert_non_null(strstr(r.why.text, "127.0.0.1:"));
	assert_non_null(strstr(r.why.text, "0x00010003"));
	assert_non_null(strstr(r.why.text, "initiator ib.11111111111111111111111111111111"));
}

static void a_target_that_takes_short_ius_only_gets_short_ones(void **state)
{
	r.target.rejects = SRP_REJ_IU_TOO_LARGE;
	run();
	assert_int_equal(r.target.logins, 2);
	assert_int_equal(r.target.conns[0].login.it_iu_len, 68 + 8192);
	assert_in_range(r.target.conns[1].login.it_iu_len, 64, 2132);
	assert_non_null(strstr(r.why.text, "0x00010002"));
}

static void the_next_portal_is_tried(void **state)
{
	struct err e;
	r.config.portals[1] = r.config.portals[0];
	assert_int_equal(tcp_addr_parse(&r.config.portals[0], "127.0.0.1:1", 0, &e), 0);
	r.config.portal_count = 2;
	run();
	assert_int_equal(r.ups, 1);
}

static void what_is_not_valid_is_refused_at_once(void **state)
{
	struct srps_config good = r.config, c;
	struct scsi_session *s;
	struct err e;
	c = good, c.channels = SRPS_CHANNELS_MAX + 1;
	assert_int_equal(srps_session_new(&s, r.w, &c, &ops, NULL, &e), -EINVAL);
	c = good, c.portal_count = 0;
	assert_int_equal(srps_session_new(&s, r.w, &c, &ops, NULL, &e), -EINVAL);
	c = good, c.provider_count = 0;
	assert_int_equal(srps_session_new(&s, r.w, &c, &ops, NULL, &e), -EINVAL);
	c = good, c.it_iu_len = 63;
	assert_int_equal(srps_session_new(&s, r.w, &c, &ops, NULL, &e), -EINVAL);
	run();
}

// --- loss and return ---

// The third command's connection, in the first session.
static void hang_up_once(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	static unsigned seen;
	seen = c == r.target.conns && c->ius == 1 ? 0 : seen;
	if (iu[0] == SRP_CMD && r.ups == 1 && ++seen == 3)
		st_hang_up(c);
	else if (r.ups > 1)
		count_and_answer(c, iu, len);
}

static void lost_commands_go_again(void **state)
{
	r.target.iu = hang_up_once;
	r.on_up = up_six;
	run();
	assert_int_equal(r.ups, 2);
	assert_int_equal(r.downs, 1);
	assert_int_equal(r.retries, 1);
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.cmds[i].res, 0);
}

static void one_lost_channel_ends_the_others(void **state)
{
	r.config.channels = 3;
	r.target.iu = hang_up_once;
	r.on_up = up_six;
	run();
	assert_int_equal(r.ups, 2);
	assert_int_equal(r.target.logins, 6);
	assert_int_equal(multi_logins(), 4);
	assert_int_equal(r.commands[0] + r.commands[1] + r.commands[2], 0);
	assert_int_equal(r.commands[3] + r.commands[4] + r.commands[5], 6);
}

// Two commands are answered and the connection is broken in one piece: it is over for the device
// when the next commands are about to be sent.
static void answer_two_and_break(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	const struct srp_desc nowhere = { .va = 0x1000, .key = 0xdeadbeef, .len = 8 };
	struct srp_response rsp = { .credits = 1 };
	static uint64_t first;
	if (r.ups > 1 || iu[0] != SRP_CMD) {
		count_and_answer(c, iu, len);
	} else if (c->ius == 1) {
		first = c->tag;
	} else {
		rsp.tag = first;
		st_respond(c, &rsp);
		st_answer(c, iu);
		st_write(c, &nowhere, memory, 8);
	}
}

static void up_six_reads(void)
{
	for (int i = 0; i < 6 && r.ups == 1; i++)
		submit_data(SCSI_READ_10, sizeof memory[0]);
}

static void a_connection_that_breaks_while_commands_wait_is_replaced(void **state)
{
	r.target.accept.credits = 3;
	r.target.iu = answer_two_and_break;
	r.on_up = up_six_reads;
	run();
	assert_int_equal(r.ups, 2);
}

static void without_replacement_time_a_lost_session_ends(void **state)
{
	r.config.replacement_timeout = 0;
	r.target.iu = hang_up_once;
	r.on_up = up_six;
	run();
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.closes, 1);
	assert_int_not_equal(r.why.code, 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.cmds[i].res, -ENOTCONN);
}

static void down_reject(void)
{
	r.target.rejects = SRP_REJ_NO_SUCH_PORT;
}

static void a_port_that_is_gone_ends_a_lost_session(void **state)
{
	r.target.iu = hang_up_once;
	r.on_up = up_six;
	r.on_down = down_reject;
	run();
	assert_int_equal(r.ups, 1);
	assert_non_null(strstr(r.why.text, "0x00010003"));
}

static void down_reject_busy(void)
{
	if (r.downs == 1)
		r.target.rejects = SRP_REJ_INSUFFICIENT_RESOURCES;
}

static void accept_later(struct scsi_session *s, const struct err *why, unsigned seconds)
{
	if (++r.retries == 2)
		r.target.rejects = 0;
}

static void a_target_without_resources_is_tried_again(void **state)
{
	struct scsi_session_ops later = ops;
	later.retry = accept_later;
	r.target.iu = hang_up_once;
	r.on_up = up_six;
	r.on_down = down_reject_busy;
	struct err e;
	assert_int_equal(srps_session_new(&r.s, r.w, &r.config, &later, NULL, &e), 0);
	run_guarded(r.w);
	assert_int_equal(r.ups, 2);
	assert_int_equal(r.done, 6);
	assert_int_equal(r.retries, 2);
}

static void log_out_here(void)
{
	scsi_session_logout(r.s);
}

static void hang_up_twice(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_CMD && r.ups < 3)
		st_hang_up(c);
	else
		count_and_answer(c, iu, len);
}

static void a_session_that_is_lost_at_once_waits_longer(void **state)
{
	uint64_t begin = clock_ns();
	r.target.iu = hang_up_twice;
	r.on_up = up_one;
	run();
	assert_int_equal(r.ups, 3);
	assert_int_equal(r.cmds[0].res, 0);
	assert_true(clock_ns() - begin >= 1000000000ull);
}

static void a_lost_session_can_be_logged_out(void **state)
{
	r.target.iu = hang_up_once;
	r.on_up = up_six;
	r.on_down = log_out_here;
	run();
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.why.code, 0);
	for (int i = 0; i < 6; i++)
		assert_int_not_equal(r.cmds[i].res, 0);
}

// --- refusals ---

static void refuse(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct srp_response s = { .credits = 1, .tag = c->tag, .has_code = true };
	s.code = c->ius == 1 ? SRP_RSP_INVALID_FIELDS : 0x7f;
	if (iu[0] == SRP_CMD)
		st_respond(c, &s);
}

static void up_two(void)
{
	submit();
	submit();
}

static void assert_text(const struct scsi_cmd *c, int res, const char *words)
{
	char text[200];
	assert_int_equal(c->res, res);
	scsi_cmd_text(c, text, sizeof text);
	assert_string_equal(text, words);
}

static void a_refused_command_says_why(void **state)
{
	r.target.iu = refuse;
	r.on_up = up_two;
	run();
	assert_text(&r.cmds[0], -EREMOTEIO,
		    "target refused the command, RSP_CODE 0x02: invalid fields");
	assert_text(&r.cmds[1], -EREMOTEIO, "target refused the command, RSP_CODE 0x7f: unknown");
	assert_int_equal(r.ups, 1);
}

static void answer_without_a_credit(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	const struct srp_response s = { .tag = c->tag };
	if (iu[0] == SRP_CMD)
		st_respond(c, &s);
}

static void a_command_without_a_credit_says_so(void **state)
{
	r.config.command_timeout = 1;
	r.target.accept.credits = 2;
	r.target.iu = answer_without_a_credit;
	r.on_up = up_two;
	run();
	assert_int_equal(r.cmds[0].res, 0);
	assert_text(&r.cmds[1], -ETIMEDOUT,
		    "timed out before it was sent: the target grants no requests");
}

// --- aborts ---

static void mute_but_aborts(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_TSK_MGMT)
		st_answer(c, iu);
}

static void a_late_command_is_aborted(void **state)
{
	r.config.command_timeout = 1;
	r.target.iu = mute_but_aborts;
	r.on_up = up_six;
	run();
	assert_int_equal(r.ups, 1);
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.cmds[i].res, -ETIMEDOUT);
}

static void mute(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
}

static void a_target_that_does_not_abort_loses_its_session(void **state)
{
	r.config.command_timeout = r.config.abort_timeout = 1;
	r.target.iu = mute;
	r.on_up = up_one;
	run();
	assert_int_equal(r.cmds[0].res, -ETIMEDOUT);
	assert_int_equal(r.downs, 1);
}

static void fail_aborts(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct srp_response s = { .credits = 1, .has_code = true, .code = SRP_RSP_TMF_FAILED };
	memcpy(&s.tag, iu + 8, 8);
	if (iu[0] == SRP_TSK_MGMT)
		st_respond(c, &s);
}

static void a_failed_abort_loses_the_session(void **state)
{
	r.config.command_timeout = 1;
	r.target.iu = fail_aborts;
	r.on_up = up_one;
	run();
	assert_int_equal(r.cmds[0].res, -ETIMEDOUT);
	assert_int_equal(r.downs, 1);
}

// --- task management ---

static struct scsi_tmf tmf;
static unsigned commands_seen, requests[ST_CONNS], done_before;

static void on_tmf(struct scsi_tmf *t)
{
	done_before = r.done;
	scsi_session_logout(r.s);
}

static void prepare(enum scsi_tmf_function function, struct scsi_cmd *c)
{
	tmf = (struct scsi_tmf){
		.function = function, .cmd = c, .lun = {0, 3},
			 .done = on_tmf
	};
	commands_seen = done_before = 0;
	memset(requests, 0, sizeof requests);
	r.stays_when_done = true;
}

// Answers task management alone, which begins when six commands are there.
static void ask_after_six(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_CMD && ++commands_seen == 6)
		assert_int_equal(scsi_tmf_submit(r.s, &tmf), 0);
	if (iu[0] == SRP_TSK_MGMT) {
		requests[c - r.target.conns]++;
		st_answer(c, iu);
	}
}

static void a_lun_reset_ends_the_commands_of_every_channel(void **state)
{
	prepare(SCSI_TMF_LUN_RESET, NULL);
	r.config.channels = 3;
	r.target.iu = ask_after_six;
	r.on_up = up_six;
	run();
	assert_int_equal(tmf.res, 0);
	assert_int_equal(tmf.response, SCSI_TMF_COMPLETE);
	assert_int_equal(done_before, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.cmds[i].res, -ECANCELED);
	for (int i = 0; i < 3; i++)
		assert_int_equal(requests[i], 1);
}

static void an_abort_ends_its_command_alone(void **state)
{
	prepare(SCSI_TMF_ABORT_TASK, &r.cmds[4]);
	r.config.channels = 3;
	r.target.iu = ask_after_six;
	r.on_up = up_six;
	run();
	assert_int_equal(tmf.response, SCSI_TMF_COMPLETE);
	assert_int_equal(done_before, 1);
	assert_int_equal(r.cmds[4].res, -ECANCELED);
	assert_int_equal(requests[0] + requests[1] + requests[2], 1);
}

static void answer_before_the_abort(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	static struct srp_response s;
	if (iu[0] == SRP_CMD) {
		s = (struct srp_response){ .credits = 1, .tag = c->tag };
		assert_int_equal(scsi_tmf_submit(r.s, &tmf), 0);
	} else if (iu[0] == SRP_TSK_MGMT) {
		st_respond(c, &s);
		st_answer(c, iu);
	}
}

static void an_abort_of_an_answered_command_finds_no_task(void **state)
{
	prepare(SCSI_TMF_ABORT_TASK, &r.cmds[0]);
	r.target.iu = answer_before_the_abort;
	r.on_up = up_one;
	run();
	assert_int_equal(tmf.response, SCSI_TMF_NO_TASK);
	assert_int_equal(r.cmds[0].res, 0);
}

static void up_reset(void)
{
	assert_int_equal(scsi_tmf_submit(r.s, &tmf), 0);
}

static void a_reset_of_the_target_is_not_sent(void **state)
{
	prepare(SCSI_TMF_TARGET_WARM_RESET, NULL);
	r.target.iu = ask_after_six;
	r.on_up = up_reset;
	run();
	assert_int_equal(tmf.res, 0);
	assert_int_equal(tmf.response, SCSI_TMF_UNSUPPORTED);
	assert_int_equal(requests[0], 0);
}

// --- the end ---

static void log_out_at_the_third(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_CMD && c->ius == 3)
		scsi_session_logout(r.s);
}

static void a_logout_ends_commands(void **state)
{
	r.target.iu = log_out_at_the_third;
	r.on_up = up_six;
	r.stays_when_done = true;
	run();
	assert_int_equal(r.closes, 1);
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.cmds[i].res, -ESHUTDOWN);
}

static void free_session(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (c->ius == 3)
		scsi_session_free(r.s);
}

static void a_freed_session_ends_its_commands(void **state)
{
	r.config.channels = 2;
	r.target.iu = free_session;
	r.on_up = up_six;
	r.stays_when_done = true;
	run();
	assert_int_equal(r.closes, 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.cmds[i].res, -ESHUTDOWN);
}

static void write_data(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	static uint8_t bytes[16384];
	struct srp_desc d;
	r.commands[0]++;
	if (iu[0] == SRP_CMD && (iu[5] & 0x0f) == SRP_DIRECT) {
		memset(bytes, 0x5a, sizeof bytes);
		st_desc(&d, iu, len, true);
		st_write(c, &d, bytes, d.len);
	}
	if (iu[0] == SRP_CMD && iu[5] >> 4 == SRP_IMMEDIATE)
		assert_int_equal(iu[68], 0xa5);
	st_answer(c, iu);
}

static void data_goes_both_ways(void)
{
	memset(memory[0], 0xa5, sizeof memory[0]);
	submit_data(SCSI_WRITE_10, 512);
	submit_data(SCSI_READ_10, 16384);
}

static void reads_and_writes_have_their_data(void **state)
{
	r.target.iu = write_data;
	r.on_up = data_goes_both_ways;
	run();
	assert_int_equal(r.cmds[0].res, 0);
	assert_int_equal(r.cmds[1].data_len, 16384);
	assert_int_equal(memory[1][0], 0x5a);
	assert_int_equal(memory[1][16383], 0x5a);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_session_logs_in_and_out),
		T(commands_go_over_all_channels_in_turn),
		T(tags_are_unique_in_the_nexus),
		T(a_session_does_without_refused_channels),
		T(a_channel_lost_before_the_last_is_up_names_its_peer),
		T(a_refused_session_ends_with_words),
		T(a_target_that_takes_short_ius_only_gets_short_ones),
		T(the_next_portal_is_tried),
		T(what_is_not_valid_is_refused_at_once),
		T(lost_commands_go_again),
		T(one_lost_channel_ends_the_others),
		T(a_connection_that_breaks_while_commands_wait_is_replaced),
		T(without_replacement_time_a_lost_session_ends),
		T(a_port_that_is_gone_ends_a_lost_session),
		T(a_target_without_resources_is_tried_again),
		T(a_session_that_is_lost_at_once_waits_longer),
		T(a_lost_session_can_be_logged_out),
		T(a_refused_command_says_why),
		T(a_command_without_a_credit_says_so),
		T(a_late_command_is_aborted),
		T(a_target_that_does_not_abort_loses_its_session),
		T(a_failed_abort_loses_the_session),
		T(a_lun_reset_ends_the_commands_of_every_channel),
		T(an_abort_ends_its_command_alone),
		T(an_abort_of_an_answered_command_finds_no_task),
		T(a_reset_of_the_target_is_not_sent),
		T(a_logout_ends_commands),
		T(a_freed_session_ends_its_commands),
		T(reads_and_writes_have_their_data),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
