// SPDX-License-Identifier: BSD-2-Clause
// Logging in, being refused and redirected.
#include "initiator/iscsi/session_rig.h"

// --- login ---

static void a_session_logs_in_and_out(void **state)
{
	struct rig r;
	rig_init(&r);
	r.on_up = up_logout;
	rig_run(&r);
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.closes, 1);
	assert_true(r.is_settled);
	assert_int_equal(r.why.code, 0);
	assert_int_equal(r.fake.seen[ISCSI_OP_LOGOUT_REQ], 1);
	rig_done(&r);
}

static void pdu_cleanup_failed(struct fake_conn *c, const uint8_t *to, const uint8_t *data,
			       uint32_t len)
{
	uint8_t bhs[48];
	if ((to[0] & 0x3f) != ISCSI_OP_LOGOUT_REQ)
		return;
	fake_head(c, bhs, ISCSI_OP_LOGOUT_RSP, ISCSI_F, to);
	bhs[2] = ISCSI_LOGOUT_RSP_CLEANUP_FAILED;
	fake_say(c, bhs, NULL, 0);
}

static void a_logout_that_fails_proves_nothing(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.pdu = pdu_cleanup_failed;
	r.on_up = up_logout;
	rig_run(&r);
	assert_int_equal(r.closes, 1);
	assert_false(r.is_settled);
	rig_done(&r);
}

static void a_portal_that_refuses_is_followed_by_the_next(void **state)
{
	struct rig r;
	struct fake dead;
	rig_init(&r);
	fake_init(&dead, r.w);
	r.config.portals[1] = r.config.portals[0];
	r.config.portals[0] = dead.addr;
	r.config.portal_count = 2;
	fake_done(&dead); // no listener there now
	r.on_up = up_logout;
	rig_run(&r);
	assert_int_equal(r.ups, 1);
	rig_done(&r);
}

static void nobody_there_is_told_with_the_address(void **state)
{
	struct rig r;
	char text[TCP_ADDR_TEXT];
	struct fake dead;
	rig_init(&r);
	fake_init(&dead, r.w);
	r.config.portals[0] = dead.addr;
	fake_done(&dead);
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.why.code, -ECONNREFUSED);
	assert_non_null(strstr(r.why.text, tcp_addr_format(&dead.addr, text)));
	rig_done(&r);
}

static void a_refused_login_is_not_tried_again(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.status = ISCSI_LOGIN_NOT_FOUND;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.fake.count, 1);
	assert_non_null(strstr(r.why.text, "target not found"));
	rig_done(&r);
}

static void chap(struct rig *r, const char *target_knows)
{
	struct err e;
	r->fake.has_terms = true;
	iscsi_offer_init(&r->fake.terms.offer);
	r->fake.terms.is_auth_required = true;
	r->fake.terms.chap_algs = CHAP_ALGS_ALL;
	chap_creds_set(&r->fake.terms.initiator, "me", "0123456789abcdef", &e);
	chap_creds_set(&r->fake.terms.target, "it", target_knows, &e);
	chap_creds_set(&r->config.login.initiator, "me", "0123456789abcdef", &e);
	chap_creds_set(&r->config.login.target, "it", "fedcba9876543210", &e);
	r->on_up = up_logout;
}

static void mutual_chap_logs_in(void **state)
{
	struct rig r;
	rig_init(&r);
	chap(&r, "fedcba9876543210");
	rig_run(&r);
	assert_int_equal(r.ups, 1);
	rig_done(&r);
}

static void a_target_with_the_wrong_secret_is_not_logged_in_to(void **state)
{
	struct rig r;
	rig_init(&r);
	chap(&r, "fedcba9876543211");
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_non_null(strstr(r.why.text, "wrong secret"));
	rig_done(&r);
}

static void login_junk(struct fake_conn *c, const uint8_t *bhs, const char *text, uint32_t len)
{
	uint8_t junk[48];
	memset(junk, 0xa5, sizeof junk);
	junk[4] = 0;
	fake_say(c, junk, NULL, 0);
}

static void junk_instead_of_a_login_response_ends_the_session(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.login = login_junk;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.closes, 1);
	rig_done(&r);
}

static void login_status(struct fake_conn *c, const uint8_t *bhs, uint8_t flags, uint16_t status,
			 const char *text, uint32_t len)
{
	uint8_t rsp[48];
	fake_head(c, rsp, ISCSI_OP_LOGIN_RSP, flags, bhs);
	memcpy(rsp + 8, bhs + 8, 6);
	put_be16(rsp + 36, status);
	c->stat_sn++;
	fake_say(c, rsp, text, len);
}

static void login_endless(struct fake_conn *c, const uint8_t *bhs, const char *text, uint32_t len)
{
	login_status(c, bhs, bhs[1] & ISCSI_LOGIN_CSG_MASK, 0, NULL, 0);
}

static void a_login_without_end_is_given_up(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.login = login_endless;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_true(r.fake.seen[ISCSI_OP_LOGIN_REQ] <= LOGIN_EXCHANGES_MAX + 1);
	assert_non_null(strstr(r.why.text, "too many responses"));
	rig_done(&r);
}

static void login_silence(struct fake_conn *c, const uint8_t *bhs, const char *text, uint32_t len)
{
}

static void a_target_that_does_not_answer_the_login_is_given_up(void **state)
{
	struct rig r;
	rig_init(&r);
	r.config.login_timeout = 1;
	r.fake.login = login_silence;
	rig_run(&r);
	assert_int_equal(r.why.code, -ETIMEDOUT);
	rig_done(&r);
}

static void redirect(struct fake_conn *c, const uint8_t *bhs, const struct tcp_addr *to)
{
	char text[128], addr[TCP_ADDR_TEXT];
	int n = snprintf(text, sizeof text, "TargetAddress=%s", tcp_addr_format(to, addr));
	login_status(c, bhs, bhs[1] & ISCSI_LOGIN_CSG_MASK, ISCSI_LOGIN_MOVED_TEMPORARILY, text,
		     (uint32_t)n + 1);
	fake_close(c);
}

static struct fake *redirect_to;
static void login_redirect_other(struct fake_conn *c, const uint8_t *bhs, const char *text,
				 uint32_t len)
{
	redirect(c, bhs, &redirect_to->addr);
}

static void a_redirect_is_followed(void **state)
{
	struct rig r;
	struct fake other;
	rig_init(&r);
	fake_init(&other, r.w);
	other.pdu = fake_pdu;
	redirect_to = &other;
	r.fake.login = login_redirect_other;
	r.on_up = up_logout;
	rig_run(&r);
	assert_int_equal(r.ups, 1);
	assert_int_equal(other.count, 1);
	fake_done(&other);
	rig_done(&r);
}

static void login_redirect_self(struct fake_conn *c, const uint8_t *bhs, const char *text,
				uint32_t len)
{
	redirect(c, bhs, &c->f->addr);
}

static void redirects_in_a_circle_end(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.login = login_redirect_self;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.why.code, -ELOOP);
	assert_true(r.fake.count < 16);
	rig_done(&r);
}

static void login_redirect_nowhere(struct fake_conn *c, const uint8_t *bhs, const char *text,
				   uint32_t len)
{
	static const char bad[] = "TargetAddress=$(reboot):x";
	login_status(c, bhs, bhs[1] & ISCSI_LOGIN_CSG_MASK, ISCSI_LOGIN_MOVED_PERMANENTLY, bad,
		     sizeof bad);
}

static void a_redirect_to_no_address_fails(void **state)
{
	struct rig r;
	rig_init(&r);
	r.fake.login = login_redirect_nowhere;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_non_null(strstr(r.why.text, "valid TargetAddress"));
	rig_done(&r);
}

static void configurations_that_cannot_work_are_refused_at_once(void **state)
{
	struct rig r;
	struct err e;
	struct scsi_session *s;
	rig_init(&r);
	struct ini_config c = r.config;
	c.portal_count = 0;
	assert_int_equal(ini_session_new(&s, r.w, &c, &rig_ops, &r, &e), -EINVAL);
	c = r.config;
	c.queue_depth = INI_QUEUE_DEPTH_MAX + 1;
	assert_int_equal(ini_session_new(&s, r.w, &c, &rig_ops, &r, &e), -EINVAL);
	c = r.config;
	c.login.target_name[0] = 0;
	assert_int_equal(ini_session_new(&s, r.w, &c, &rig_ops, &r, &e), -EINVAL);
	rig_done(&r);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_logs_in_and_out),
		cmocka_unit_test(a_logout_that_fails_proves_nothing),
		cmocka_unit_test(a_portal_that_refuses_is_followed_by_the_next),
		cmocka_unit_test(nobody_there_is_told_with_the_address),
		cmocka_unit_test(a_refused_login_is_not_tried_again),
		cmocka_unit_test(mutual_chap_logs_in),
		cmocka_unit_test(a_target_with_the_wrong_secret_is_not_logged_in_to),
		cmocka_unit_test(junk_instead_of_a_login_response_ends_the_session),
		cmocka_unit_test(a_login_without_end_is_given_up),
		cmocka_unit_test(a_target_that_does_not_answer_the_login_is_given_up),
		cmocka_unit_test(a_redirect_is_followed),
		cmocka_unit_test(redirects_in_a_circle_end),
		cmocka_unit_test(a_redirect_to_no_address_fails),
		cmocka_unit_test(configurations_that_cannot_work_are_refused_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
