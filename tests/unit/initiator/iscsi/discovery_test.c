// SPDX-License-Identifier: BSD-2-Clause
// SendTargets from a fake target: one answer, many parts, garbage, answers without end.
#include "initiator/iscsi/fake_target.h"

enum { FOUND_MAX = 8 };

struct rig {
	struct worker *w;
	struct fake fake;
	struct ini_config config;
	struct ini_discovery *d;
	struct sendtargets_record found[FOUND_MAX];
	int count, dones;
	struct err why;
	struct msg start;
};

static void on_found(struct ini_discovery *d, const struct sendtargets_record *rec)
{
	struct rig *r = ini_discovery_arg(d);
	assert_true(r->count < FOUND_MAX);
	r->found[r->count++] = *rec;
}

static void on_done(struct ini_discovery *d, const struct err *why)
{
	struct rig *r = ini_discovery_arg(d);
	r->dones++;
	r->why = *why;
	worker_stop(r->w);
}

static void rig_start(struct msg *m)
{
	static const struct ini_discovery_ops ops = { .found = on_found, .done = on_done };
	struct rig *r = container_of(m, struct rig, start);
	struct err e;
	if (ini_discovery_new(&r->d, r->w, &r->config, &ops, r, &e) < 0)
		fail_msg("%s", e.text);
}

static void rig_run(struct rig *r, void (*pdu)(struct fake_conn *c, const uint8_t *bhs,
					       const uint8_t *data, uint32_t len))
{
	memset(r, 0, sizeof *r);
	r->w = make_worker(true, 0);
	fake_init(&r->fake, r->w);
	r->fake.pdu = pdu;
	fake_config(&r->fake, &r->config);
	r->start.fn = rig_start;
	worker_post(r->w, &r->start);
	run_guarded(r->w);
	assert_int_equal(r->dones, 1);
}

static void rig_done(struct rig *r)
{
	fake_done(&r->fake);
	worker_free(r->w);
}

static void text(struct fake_conn *c, const uint8_t *to, uint8_t flags, uint32_t ttt,
		 const void *data, uint32_t len)
{
	uint8_t rsp[48];
	fake_head(c, rsp, ISCSI_OP_TEXT_RSP, flags, to);
	put_be32(rsp + 20, ttt);
	c->stat_sn++;
	fake_say(c, rsp, data, len);
}

static bool is_text(struct fake_conn *c, const uint8_t *bhs)
{
	if ((bhs[0] & 0x3f) == ISCSI_OP_LOGOUT_REQ)
		fake_logout(c, bhs);
	return (bhs[0] & 0x3f) == ISCSI_OP_TEXT_REQ;
}

static const char two[] = "TargetName=" IQN "\0TargetAddress=10.0.0.1:3260,1\0"
			  "TargetAddress=[fe80::1]:3261,2\0TargetName=" IQN ".2";

static void pdu_two(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (!is_text(c, bhs))
		return;
	assert_int_equal(len, sizeof "SendTargets=All");
	assert_string_equal((const char *)data, "SendTargets=All");
	assert_int_equal(bhs[1], ISCSI_F);
	text(c, bhs, ISCSI_F, ISCSI_TAG_NONE, two, sizeof two);
}

static void check_two(const struct rig *r)
{
	assert_int_equal(r->why.code, 0);
	assert_int_equal(r->count, 3);
	assert_string_equal(r->found[0].target_name, IQN);
	assert_string_equal(r->found[0].address.host, "10.0.0.1");
	assert_string_equal(r->found[1].target_name, IQN);
	assert_string_equal(r->found[1].address.host, "fe80::1");
	assert_int_equal(r->found[1].address.port, 3261);
	assert_int_equal(r->found[1].address.tpgt, 2);
	assert_string_equal(r->found[2].target_name, IQN ".2");
	assert_false(r->found[2].has_address);
}

static void every_target_is_told_with_every_address(void **state)
{
	struct rig r;
	rig_run(&r, pdu_two);
	check_two(&r);
	assert_int_equal(r.fake.seen[ISCSI_OP_LOGOUT_REQ], 1);
	rig_done(&r);
}

// Seven bytes a response; the last has the rest.
static void pdu_parts(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (!is_text(c, bhs))
		return;
	uint32_t at = (uint32_t)c->f->step, n = sizeof two - at < 7 ? sizeof two - at : 7;
	if (at) {
		assert_int_equal(get_be32(bhs + 20), 0x1000 + at - 7);
		assert_int_equal(len, 0);
	}
	c->f->step += 7;
	bool is_last = at + n == sizeof two;
	text(c, bhs, is_last ? ISCSI_F : ISCSI_TEXT_C, is_last ? ISCSI_TAG_NONE : 0x1000 + at,
	     two + at, n);
}

static void an_answer_in_parts_is_joined(void **state)
{
	struct rig r;
	rig_run(&r, pdu_parts);
	check_two(&r);
	rig_done(&r);
}

static void pdu_late_garbage(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			     uint32_t len)
{
	static const char bad[] = "TargetName=" IQN "\0TargetAddress=10.0.0.1:3260,1\0Nonsense";
	if (is_text(c, bhs))
		text(c, bhs, ISCSI_F, ISCSI_TAG_NONE, bad, sizeof bad);
}

static void an_answer_that_is_damaged_tells_nothing(void **state)
{
	struct rig r;
	rig_run(&r, pdu_late_garbage);
	assert_int_equal(r.count, 0);
	assert_int_equal(r.why.code, -EPROTO);
	rig_done(&r);
}

static void pdu_shell(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static const char bad[] = "TargetName=iqn.x\nfoo\0TargetAddress=`reboot`:1,1";
	if (is_text(c, bhs))
		text(c, bhs, ISCSI_F, ISCSI_TAG_NONE, bad, sizeof bad);
}

static void names_with_control_characters_are_refused(void **state)
{
	struct rig r;
	rig_run(&r, pdu_shell);
	assert_int_equal(r.count, 0);
	assert_int_equal(r.why.code, -EPROTO);
	rig_done(&r);
}

static void pdu_endless(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static char much[65536];
	if (!is_text(c, bhs))
		return;
	memset(much, 'x', sizeof much);
	text(c, bhs, ISCSI_TEXT_C, 1, much, sizeof much);
}

static void an_answer_without_end_is_given_up(void **state)
{
	struct rig r;
	rig_run(&r, pdu_endless);
	assert_int_equal(r.why.code, -EMSGSIZE);
	assert_true(r.fake.seen[ISCSI_OP_TEXT_REQ] <= INI_DISCOVERY_TEXT_MAX / 65536 + 1);
	rig_done(&r);
}

static void pdu_empty_parts(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			    uint32_t len)
{
	if (is_text(c, bhs))
		text(c, bhs, 0, 1, NULL, 0);
}

static void empty_parts_without_end_are_given_up(void **state)
{
	struct rig r;
	rig_run(&r, pdu_empty_parts);
	assert_int_equal(r.why.code, -EMSGSIZE);
	rig_done(&r);
}

static void pdu_other_tag(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			  uint32_t len)
{
	uint8_t to[48];
	memcpy(to, bhs, 48);
	to[19] ^= 1;
	if (is_text(c, bhs))
		text(c, to, ISCSI_F, ISCSI_TAG_NONE, two, sizeof two);
}

static void an_answer_to_another_request_is_refused(void **state)
{
	struct rig r;
	rig_run(&r, pdu_other_tag);
	assert_int_equal(r.count, 0);
	assert_int_equal(r.why.code, -EPROTO);
	rig_done(&r);
}

static void pdu_twice(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (!is_text(c, bhs))
		return;
	text(c, bhs, ISCSI_F, ISCSI_TAG_NONE, two, sizeof two);
	text(c, bhs, ISCSI_F, ISCSI_TAG_NONE, two, sizeof two);
}

static void targets_are_told_once(void **state)
{
	struct rig r;
	rig_run(&r, pdu_twice);
	assert_int_equal(r.count, 3);
	rig_done(&r);
}

static void pdu_nothing(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (is_text(c, bhs))
		text(c, bhs, ISCSI_F, ISCSI_TAG_NONE, NULL, 0);
}

static void a_portal_without_targets_is_no_error(void **state)
{
	struct rig r;
	rig_run(&r, pdu_nothing);
	assert_int_equal(r.count, 0);
	assert_int_equal(r.why.code, 0);
	rig_done(&r);
}

static void pdu_gone(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	fake_close(c);
}

static void a_connection_lost_before_the_answer_is_an_error(void **state)
{
	struct rig r;
	rig_run(&r, pdu_gone);
	assert_int_not_equal(r.why.code, 0);
	rig_done(&r);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_target_is_told_with_every_address),
		cmocka_unit_test(an_answer_in_parts_is_joined),
		cmocka_unit_test(an_answer_that_is_damaged_tells_nothing),
		cmocka_unit_test(names_with_control_characters_are_refused),
		cmocka_unit_test(an_answer_without_end_is_given_up),
		cmocka_unit_test(empty_parts_without_end_are_given_up),
		cmocka_unit_test(an_answer_to_another_request_is_refused),
		cmocka_unit_test(targets_are_told_once),
		cmocka_unit_test(a_portal_without_targets_is_no_error),
		cmocka_unit_test(a_connection_lost_before_the_answer_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
