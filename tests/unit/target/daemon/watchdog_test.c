// SPDX-License-Identifier: BSD-2-Clause
// target/watchdog.c: the manager hears of a daemon whose workers go round, and of no other.
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/watchdog.h"

static struct {
	int manager; // its socket
	struct worker *control, *workers[2];
	struct watchdog watchdog;
	sem_t is_held, go_on;
	struct msg hold;
} rig;

static void begin(void *arg)
{
	watchdog_init(&rig.watchdog, rig.control);
}

static void end(void *arg)
{
	watchdog_done(&rig.watchdog);
}

static int set_up(void **state)
{
	struct err e = { 0 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char name[sizeof a.sun_path + 1];
	int len = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "farblock-watchdog-%d", getpid());
	snprintf(name, sizeof name, "@%s", a.sun_path + 1);
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "20000", 1);
	unsetenv("WATCHDOG_PID");
	rig.manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
	assert_return_code(bind(rig.manager, (struct sockaddr *)&a, size), 0);
	sem_init(&rig.is_held, 0, 0);
	sem_init(&rig.go_on, 0, 0);
	struct worker_options control = { .name = "control", .cpu = -1, .is_control = true };
	struct worker_options data = { .name = "worker", .cpu = -1 };
	assert_int_equal(worker_new(&rig.control, &control, &e), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(worker_new(&rig.workers[i], &data, &e), 0);
		assert_int_equal(worker_start(rig.workers[i], &e), 0);
	}
	assert_int_equal(worker_start(rig.control, &e), 0);
	worker_call(rig.control, begin, NULL);
	return 0;
}

static int tear_down(void **state)
{
	worker_call(rig.control, end, NULL);
	for (int i = 0; i < 2; i++)
		worker_free(rig.workers[i]);
	worker_free(rig.control);
	close(rig.manager);
	return 0;
}

static void hears_watchdog(void)
{
	char text[64] = "";
	assert_true(recv(rig.manager, text, sizeof text - 1, 0) > 0);
	assert_string_equal(text, "WATCHDOG=1");
}

static void a_daemon_whose_workers_go_round_is_heard_of_again_and_again(void **state)
{
	for (int i = 0; i < 3; i++)
		hears_watchdog();
}

static void hold(struct msg *m)
{
	sem_post(&rig.is_held);
	sem_wait(&rig.go_on);
}

static void see_report(void *arg)
{
	*(bool *)arg = rig.watchdog.beats[1].is_reported;
}

static void see_deadline(void *arg)
{
	*(uint64_t *)arg = rig.watchdog.timer.deadline_ns;
}

static void wait_for_its_next_round(void)
{
	uint64_t before = 0, now = 0;
	worker_call(rig.control, see_deadline, &before);
	do
		worker_call(rig.control, see_deadline, &now);
	while (now == before);
}

static void a_worker_that_hangs_silences_it_until_it_goes_on(void **state)
{
	char text[64];
	bool is_reported = false;
	rig.hold.fn = hold;
	worker_post(rig.workers[1], &rig.hold);
	sem_wait(&rig.is_held);
	while (!is_reported)
		worker_call(rig.control, see_report, &is_reported);
	while (recv(rig.manager, text, sizeof text, MSG_DONTWAIT) > 0)
		;
	wait_for_its_next_round();
	wait_for_its_next_round();
	assert_int_equal(recv(rig.manager, text, sizeof text, MSG_DONTWAIT), -1);
	sem_post(&rig.go_on);
	hears_watchdog();
}

static void nobody_is_told_who_has_not_asked(void **state)
{
	assert_int_equal(watchdog_interval("30000000", "77", 77), 30000000);
	assert_int_equal(watchdog_interval("30000000", NULL, 77), 30000000);
	assert_int_equal(watchdog_interval("30000000", "78", 77), 0);
	assert_int_equal(watchdog_interval(NULL, NULL, 77), 0);
	assert_int_equal(watchdog_interval("-1", NULL, 77), 0);
	assert_int_equal(watchdog_interval("12x", NULL, 77), 0);
	assert_int_equal(watchdog_interval("99999999999999999999999", NULL, 77), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_daemon_whose_workers_go_round_is_heard_of_again_and_again, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_worker_that_hangs_silences_it_until_it_goes_on,
						set_up, tear_down),
		cmocka_unit_test(nobody_is_told_who_has_not_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
