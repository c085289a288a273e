// SPDX-License-Identifier: BSD-2-Clause
// What codes of devices and of connection management mean; how a machine without devices is told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "transport/rdma/verbs/priv.h"

static void every_completion_status_has_a_code_and_words(void **state)
{
	assert_int_equal(verbs_wc_status(IBV_WC_SUCCESS).code, 0);
	for (int s = IBV_WC_LOC_LEN_ERR; s <= IBV_WC_GENERAL_ERR; s++) {
		struct verbs_status is = verbs_wc_status((enum ibv_wc_status)s);
		assert_true(is.code < 0);
		assert_true(strlen(is.text) > 0);
	}
}

static void refused_rights_and_flushes_are_told_apart(void **state)
{
	assert_int_equal(verbs_wc_status(IBV_WC_REM_ACCESS_ERR).code, -EACCES);
	assert_int_equal(verbs_wc_status(IBV_WC_WR_FLUSH_ERR).code, -ECANCELED);
	assert_int_equal(verbs_wc_status(IBV_WC_RETRY_EXC_ERR).code, -ETIMEDOUT);
}

static void events_that_end_a_connection_say_why(void **state)
{
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_DISCONNECTED, 0).code, -ECONNRESET);
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_DEVICE_REMOVAL, 0).code, -ENODEV);
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_REJECTED, 28).code, -ECONNREFUSED);
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH).code,
			 -ENETUNREACH);
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_UNREACHABLE, 0).code, -ETIMEDOUT);
}

static void events_that_end_nothing_have_no_code(void **state)
{
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_ESTABLISHED, 0).code, 0);
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_ADDR_RESOLVED, 0).code, 0);
	assert_int_equal(verbs_cm_status(RDMA_CM_EVENT_CONNECT_REQUEST, 0).code, 0);
}

static void a_memlock_limit_that_is_reached_is_named_with_its_cure(void **state)
{
	struct rlimit old, low;
	struct err e;

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	low = old;
	low.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &low), 0);
	assert_int_equal(verbs_register_error(&e, ENOMEM, "mlx5_0", 8 << 20), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
	assert_non_null(strstr(e.text, "mlx5_0"));
	assert_non_null(strstr(e.text, "65536"));
	assert_non_null(strstr(e.text, "LimitMEMLOCK=infinity"));
}

static void another_failure_of_registration_is_not_blamed_on_memlock(void **state)
{
	struct err e;

	assert_int_equal(verbs_register_error(&e, EFAULT, "mlx5_0", 4096), -EFAULT);
	assert_null(strstr(e.text, "memlock"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_completion_status_has_a_code_and_words),
		cmocka_unit_test(refused_rights_and_flushes_are_told_apart),
		cmocka_unit_test(events_that_end_a_connection_say_why),
		cmocka_unit_test(events_that_end_nothing_have_no_code),
		cmocka_unit_test(a_memlock_limit_that_is_reached_is_named_with_its_cure),
		cmocka_unit_test(another_failure_of_registration_is_not_blamed_on_memlock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
