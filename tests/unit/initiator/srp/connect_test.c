// SPDX-License-Identifier: BSD-2-Clause
// initiator/srp/session_connect.c: connects that fail in a way that another may not.
#include "transport/srp/scripted_target.h"

#include "core/offload.h"
#include "initiator/srp/initiator.h"

static struct {
	struct worker *w;
	struct st_target target;
	struct srps_config config;
	struct scsi_session *s;
	struct msg start;
	unsigned failing, connects, ups;
	struct err why;
} r;

static int connect_or_fail(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			   const struct tcp_addr *local, const struct rnic_qp_options *o,
			   const struct rnic_qp_ops *qp_ops, void *owner, struct err *e)
{
	struct err why;
	int n = rnic_iwarp.connect(ret, w, peer, local, o, qp_ops, owner, e);
	if (n == 0 && r.connects++ < r.failing) {
		err_set(&why, -EAGAIN, "the device refused the peer's reply");
		rnic_close(*ret, false, &why);
	}
	return n;
}

static void on_up(struct scsi_session *s)
{
	r.ups++;
	scsi_session_logout(s);
}

static void on_down(struct scsi_session *s, const struct err *why)
{
}

static void on_retry(struct scsi_session *s, const struct err *why, unsigned seconds)
{
}

static void on_async(struct scsi_session *s, const uint8_t *sense, size_t len)
{
}

static void on_closed(struct scsi_session *s, const struct err *why)
{
	r.why = *why;
	scsi_session_free(s);
}

static void on_freed(void *arg)
{
	st_stop(&r.target);
}

static const struct scsi_session_ops ops = { .up = on_up,
					     .down = on_down,
					     .retry = on_retry,
					     .async = on_async,
					     .closed = on_closed,
					     .freed = on_freed };

static void start(struct msg *m)
{
	struct err e;
	if (srps_session_new(&r.s, r.w, &r.config, &ops, NULL, &e) < 0)
		fail_msg("%s", e.text);
}

// A session with this many channels; the first connects fail.
static void run_failing(unsigned channels, unsigned failing)
{
	static struct rnic_provider provider;

	memset(&r, 0, sizeof r);
	provider = rnic_iwarp;
	provider.connect = connect_or_fail;
	r.failing = failing;
	r.w = make_worker(false, 0);
	st_start(&r.target, r.w);
	srps_config_init(&r.config);
	r.config.channels = channels;
	r.config.portals[0] = *rnic_listener_addr(r.target.listener);
	r.config.portal_count = 1;
	r.config.providers[0] = &provider;
	r.config.provider_count = 1;
	r.start.fn = start;
	worker_post(r.w, &r.start);
	run_guarded(r.w);
	offload_shutdown();
	worker_free(r.w);
}

static void a_connect_that_may_succeed_at_once_is_tried_again(void **state)
{
	run_failing(1, 3);
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.connects, 4);
	assert_int_equal(r.why.code, 0);
}

static void channels_begin_after_the_retries(void **state)
{
	run_failing(2, 2);
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.connects, 4);
	assert_int_equal(r.target.logins, 2);
}

static void a_connect_is_not_tried_again_for_ever(void **state)
{
	run_failing(1, 1000);
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.connects, 4);
	assert_int_equal(r.why.code, -ECONNRESET);
	assert_non_null(strstr(r.why.text, "the device refused the peer's reply"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connect_that_may_succeed_at_once_is_tried_again),
		cmocka_unit_test(channels_begin_after_the_retries),
		cmocka_unit_test(a_connect_is_not_tried_again_for_ever),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
