// SPDX-License-Identifier: BSD-2-Clause
// initiator/srp/session_connect.c: connects that fail in a way that another may not.
#include "initiator/srp/session_rig.h"

static unsigned failing, connects;

static int connect_or_fail(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			   const struct tcp_addr *local, const struct rnic_qp_options *o,
			   const struct rnic_qp_ops *qp_ops, void *owner, struct err *e)
{
	struct err why;
	int n = rnic_iwarp.connect(ret, w, peer, local, o, qp_ops, owner, e);
	if (n == 0 && connects++ < failing) {
		err_set(&why, -EAGAIN, "the device refused the peer's reply");
		rnic_close(*ret, false, &why);
	}
	return n;
}

// A session with this many channels; the first connects fail.
static void run_failing(unsigned channels, unsigned count)
{
	static struct rnic_provider provider;

	provider = rnic_iwarp;
	provider.connect = connect_or_fail;
	r.config.providers[0] = &provider;
	r.config.channels = channels;
	failing = count;
	connects = 0;
	run();
}

static void a_connect_that_may_succeed_at_once_is_tried_again(void **state)
{
	run_failing(1, 3);
	assert_int_equal(r.ups, 1);
	assert_int_equal(connects, 4);
	assert_int_equal(r.why.code, 0);
}

static void channels_begin_after_the_retries(void **state)
{
	run_failing(2, 2);
	assert_int_equal(r.ups, 1);
	assert_int_equal(connects, 4);
	assert_int_equal(r.target.logins, 2);
}

static void a_connect_is_not_tried_again_for_ever(void **state)
{
	run_failing(1, 1000);
	assert_int_equal(r.ups, 0);
	assert_int_equal(connects, 4);
	assert_int_equal(r.why.code, -ECONNRESET);
	assert_non_null(strstr(r.why.text, "the device refused the peer's reply"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_connect_that_may_succeed_at_once_is_tried_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(channels_begin_after_the_retries, setup, teardown),
		cmocka_unit_test_setup_teardown(a_connect_is_not_tried_again_for_ever, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
