// SPDX-License-Identifier: BSD-2-Clause
// STags whose slots come back, with the same key in the end. RFC 5042 5.4.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/rdma/iwarp/iw_priv.h"

static uint8_t memory[16];
static const struct sg piece = { .addr = memory, .len = sizeof memory };

static struct iw_stag *stag_for(struct iw_stags *t, struct iw_qp *qp)
{
	struct iw_stag *s = iw_stag_new(t, qp, &piece, 1, sizeof memory, 0, RNIC_REMOTE_READ);

	assert_non_null(s);
	return s;
}

static void a_connection_holds_its_stag(void **state)
{
	static struct iw_qp qp;
	struct iw_stags t = { 0 };

	assert_int_equal(iw_stags_init(&t), 0);
	struct iw_stag *s = stag_for(&t, &qp);
	assert_true(iw_stag_holds(s, &qp, s->stag));
	iw_stag_free(&t, s);
	iw_stags_done(&t);
}

static void a_stag_that_came_back_to_another_connection_is_not_held(void **state)
{
	static struct iw_qp qp, other;
	struct iw_stags t = { 0 };

	assert_int_equal(iw_stags_init(&t), 0);
	struct iw_stag *s = stag_for(&t, &qp);
	uint32_t stag = s->stag;
	do {
		iw_stag_free(&t, s);
		s = stag_for(&t, &other);
	} while (s->stag != stag);
	assert_false(iw_stag_holds(s, &qp, stag));
	iw_stag_free(&t, s);
	iw_stags_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_holds_its_stag),
		cmocka_unit_test(a_stag_that_came_back_to_another_connection_is_not_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
