// SPDX-License-Identifier: BSD-2-Clause
// Responses wait for aborted commands: order, the last one that ends, forgetting.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/rdma/drain.h"

static struct rnic_drain drain;
static struct rnic_held held[4];
static int sent[4], sent_count;

static void on_send(struct rnic_held *h)
{
	assert_false(list_linked(&h->link));
	sent[sent_count++] = (int)(h - held);
}

static int setup(void **state)
{
	rnic_drain_init(&drain);
	for (int i = 0; i < 4; i++)
		held[i] = (struct rnic_held){ .send = on_send };
	sent_count = 0;
	return 0;
}

static void without_a_draining_command_a_response_goes_at_once(void **state)
{
	assert_true(rnic_drain_send(&drain, &held[0]));
	assert_int_equal(sent_count, 1);
	assert_int_equal(drain.held_count, 0);
}

static void responses_go_in_order_after_the_last_command(void **state)
{
	rnic_drain_begin(&drain);
	rnic_drain_begin(&drain);
	for (int i = 0; i < 3; i++)
		assert_false(rnic_drain_send(&drain, &held[i]));
	assert_int_equal(drain.held_count, 3);
	rnic_drain_end(&drain);
	assert_int_equal(sent_count, 0);
	rnic_drain_end(&drain);
	assert_int_equal(sent_count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sent[i], i);
	assert_int_equal(drain.held_count, 0);
}

static void a_forgotten_response_is_not_sent(void **state)
{
	rnic_drain_begin(&drain);
	rnic_drain_send(&drain, &held[0]);
	rnic_drain_send(&drain, &held[1]);
	rnic_drain_forget(&drain, &held[0]);
	rnic_drain_forget(&drain, &held[0]);
	assert_int_equal(drain.held_count, 1);
	rnic_drain_end(&drain);
	assert_int_equal(sent_count, 1);
	assert_int_equal(sent[0], 1);
}

static void abort_again(struct rnic_held *h)
{
	on_send(h);
	rnic_drain_begin(&drain);
}

static void a_command_that_drains_meanwhile_keeps_the_rest(void **state)
{
	held[0].send = abort_again;
	rnic_drain_begin(&drain);
	rnic_drain_send(&drain, &held[0]);
	rnic_drain_send(&drain, &held[1]);
	rnic_drain_end(&drain);
	assert_int_equal(sent_count, 1);
	rnic_drain_end(&drain);
	assert_int_equal(sent_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_draining_command_a_response_goes_at_once, setup),
		cmocka_unit_test_setup(responses_go_in_order_after_the_last_command, setup),
		cmocka_unit_test_setup(a_forgotten_response_is_not_sent, setup),
		cmocka_unit_test_setup(a_command_that_drains_meanwhile_keeps_the_rest, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
