// SPDX-License-Identifier: BSD-2-Clause
// target/daemon.c: what is left when the daemon has ended.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/daemon.h"

static char folder[64], config[96], state[96], control[96];

static int setup(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/farblock-end.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(config, sizeof config, "%s/saveconfig.json", folder);
	snprintf(state, sizeof state, "%s/state", folder);
	snprintf(control, sizeof control, "%s/control.sock", folder);
	return 0;
}

static int teardown(void **unused)
{
	char command[96];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

// What ends the process, such as a leak checker, may take longer than the grace.
static void no_alarm_is_left(void **unused)
{
	const struct daemon_options o = { .config = config,
					  .state_dir = state,
					  .socket = control,
					  .metrics = "off",
					  .workers = 1 };
	struct err e = { 0 };
	sigset_t term;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &term, NULL), 0);
	assert_return_code(kill(getpid(), SIGTERM), 0); // it ends as soon as it runs
	assert_int_equal(daemon_run(&o, &e), 0);
	assert_int_equal(alarm(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_alarm_is_left, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
