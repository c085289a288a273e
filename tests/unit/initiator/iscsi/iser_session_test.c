// SPDX-License-Identifier: BSD-2-Clause
// Sessions over RDMA: logging in, and everything that has to wait for a connection to be gone,
// because until then the target may reach the commands' memory.
#include "initiator/iscsi/rdma_target.h"
#include "initiator/iscsi/session_rig.h"

static struct rig r;
static struct fake_rnic f;
static struct rnic_provider other; // a second one
static int other_connects;
static struct timer later;
static int done_at_close;

static int other_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			 const struct tcp_addr *local, const struct rnic_qp_options *o,
			 const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	other_connects++;
	return fake_connect(ret, w, peer, local, o, ops, owner, e);
}

static int setup(void **state)
{
	rig_init(&r);
	fake_rnic_init(&f, r.w);
	other = f.provider;
	other.name = "other";
	other.connect = other_connect;
	r.config.providers[0] = &f.provider;
	r.config.provider_count = 1;
	far_init(&f);
	other_connects = 0;
	return 0;
}

static int teardown(void **state)
{
	rig_done(&r);
	fake_rnic_done(&f);
	return 0;
}

static void a_session_logs_in_and_out_over_rdma(void **state)
{
	r.on_up = up_three_commands;
	rig_run(&r);
	assert_int_equal(logins, 1);
	assert_int_equal(commands, 3);
	assert_int_equal(r.why.code, 0);
}

static struct ini_session_info info;

static void up_look(struct rig *rg)
{
	ini_session_info(rg->s, &info);
	scsi_session_logout(rg->s);
}

static void what_rdma_cannot_do_is_not_agreed_on(void **state)
{
	iscsi_offer_set(&r.config.login.offer, "InitialR2T", "No", NULL);
	iscsi_offer_set(&r.config.login.offer, "HeaderDigest", "CRC32C", NULL);
	r.on_up = up_look;
	rig_run(&r);
	assert_string_equal(info.transport, "iSER (fake0)");
	assert_true(info.params.rdma_extensions);
	assert_true(info.params.initial_r2t);
	assert_false(info.params.header_digest);
	assert_int_equal(info.params.max_send_data, 8192);
	assert_int_equal(info.params.max_recv_data, 8192);
}

// --- connections that take their time to close ---

static void read_one(struct rig *rg)
{
	struct scsi_cmd *c = &rg->cmds[rg->submitted];
	struct scsi_args args = { .len = 1 };
	scsi_cmd_set(c, 0, SCSI_READ_10, &args, rg->mem[rg->submitted], 512);
	c->done = on_cmd_done;
	c->arg = rg;
	rg->submitted++;
	assert_int_equal(scsi_cmd_submit(rg->s, c), 0);
}

static void close_now(struct timer *t)
{
	done_at_close = r.done_count;
	assert_int_equal(f.live, 1); // still within reach, and so not done
	assert_int_equal(f.qp_count, 1);
	assert_int_equal(r.closes, 0);
	is_mute = f.holds_closes = false;
	fake_close_held(f.qps[0]);
}

static void free_it(struct timer *t)
{
	scsi_session_free(r.s);
	timer_init(&later, close_now);
	timer_arm(r.w, &later, 20000);
}

static void up_read_and_free(struct rig *rg)
{
	read_one(rg);
	timer_init(&later, free_it);
	timer_arm(rg->w, &later, 20000);
}

static void a_freed_sessions_commands_end_when_the_connection_is_gone(void **state)
{
	is_mute = f.holds_closes = true;
	r.on_up = up_read_and_free;
	r.logs_out_when_done = false;
	rig_run(&r);
	assert_int_equal(done_at_close, 0);
	assert_int_equal(r.done_count, 1);
	assert_int_equal(r.cmds[0].res, -ESHUTDOWN);
}

static void log_out(struct timer *t)
{
	scsi_session_logout(r.s);
	timer_init(&later, close_now);
	timer_arm(r.w, &later, 20000);
}

static void up_read_and_log_out(struct rig *rg)
{
	read_one(rg);
	timer_init(&later, log_out);
	timer_arm(rg->w, &later, 20000);
}

static void a_session_is_over_after_its_last_command(void **state)
{
	is_mute = f.holds_closes = true;
	r.on_up = up_read_and_log_out;
	r.logs_out_when_done = false;
	rig_run(&r);
	assert_int_equal(done_at_close, 0);
	assert_int_equal(r.done_count, 1);
	assert_int_equal(r.closes, 1);
}

static void wait_for_ping(struct timer *t)
{
	if (!f.qps[0]->qp.is_closing) {
		timer_arm(r.w, &later, 20000);
		return;
	}
	timer_init(&later, close_now);
	timer_arm(r.w, &later, 50000);
}

static void up_read_and_wait(struct rig *rg)
{
	if (rg->ups > 1)
		return;
	read_one(rg);
	timer_init(&later, wait_for_ping);
	timer_arm(rg->w, &later, 20000);
}

static void commands_go_again_when_the_lost_connection_is_gone(void **state)
{
	is_mute = f.holds_closes = true;
	r.config.noop_out_interval = r.config.noop_out_timeout = 1;
	r.on_up = up_read_and_wait;
	rig_run(&r);
	assert_int_equal(done_at_close, 0);
	assert_int_equal(logins, 2);
	assert_int_equal(commands, 2);
	assert_int_equal(r.done_count, 1);
	assert_int_equal(r.cmds[0].res, 0);
}

static void up_read_once_and_wait(struct rig *rg)
{
	up_read_and_wait(rg);
	rg->cmds[0].is_once = true;
}

static void a_command_that_must_not_go_again_ends_with_the_lost_connection(void **state)
{
	is_mute = f.holds_closes = true;
	r.config.noop_out_interval = r.config.noop_out_timeout = 1;
	r.on_up = up_read_once_and_wait;
	rig_run(&r);
	assert_int_equal(commands, 1);
	assert_int_equal(r.cmds[0].res, -ENOTCONN);
}

// --- providers ---

static void two_providers(int code, const char *text)
{
	r.config.providers[1] = &other;
	r.config.provider_count = 2;
	f.fails_at_once = true;
	err_set(&f.connect_fail, code, "%s", text);
}

static int no_device(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		     const struct tcp_addr *local, const struct rnic_qp_options *o,
		     const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	return err_set(e, -ENODEV, "no device");
}

static void where_no_device_reaches_the_next_provider_is_tried(void **state)
{
	r.config.providers[1] = &other;
	r.config.provider_count = 2;
	f.provider.connect = no_device;
	r.on_up = up_logout;
	rig_run(&r);
	assert_int_equal(other_connects, 1);
	assert_int_equal(logins, 1);
	assert_int_equal(r.why.code, 0);
}

static void a_refusal_is_told_rather_than_a_missing_device(void **state)
{
	two_providers(-ECONNREFUSED, "refused by the far end");
	f.provider.connect = no_device;
	rig_run(&r);
	assert_int_equal(r.why.code, -ECONNREFUSED);
	assert_non_null(strstr(r.why.text, "refused by the far end"));
	rig_done(&r);
	fake_rnic_done(&f);
	setup(NULL);
	two_providers(-ENODEV, "no device");
	rig_run(&r);
	assert_int_equal(r.why.code, -ENODEV);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_session_logs_in_and_out_over_rdma),
		T(what_rdma_cannot_do_is_not_agreed_on),
		T(a_freed_sessions_commands_end_when_the_connection_is_gone),
		T(a_session_is_over_after_its_last_command),
		T(commands_go_again_when_the_lost_connection_is_gone),
		T(a_command_that_must_not_go_again_ends_with_the_lost_connection),
		T(where_no_device_reaches_the_next_provider_is_tried),
		T(a_refusal_is_told_rather_than_a_missing_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
