// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C and the keys that are typed after it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "cli/shell/interrupt.h"

#define ROUNDS 20000

static int keys[2];
static sem_t go;

static void *type(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		while (sem_wait(&go) < 0)
			; // EINTR
		kill(getpid(), SIGINT);
		if (write(keys[1], "x", 1) != 1)
			break;
	}
	return NULL;
}

static void ctrl_c_comes_before_keys_that_are_typed_after_it(void **state)
{
	pthread_t thread;
	char key;
	unsigned late = 0;
	assert_int_equal(pipe(keys), 0);
	sem_init(&go, 0, 0);
	interrupt_catch(); // the thread inherits the mask
	assert_int_equal(pthread_create(&thread, NULL, type, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		sem_post(&go);
		late += interrupt_wait_key(keys[0], -1) != -EINTR;
		assert_int_equal(read(keys[0], &key, 1), 1);
		if (late)
			interrupt_wait(keys[0], 0);
	}
	pthread_join(thread, NULL);
	assert_int_equal(late, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ctrl_c_comes_before_keys_that_are_typed_after_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
