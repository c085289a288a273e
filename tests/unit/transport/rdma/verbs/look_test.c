// SPDX-License-Identifier: BSD-2-Clause
// Devices that go without an event, in a prepared folder: each is a context whose descriptors are
// pipes, so that the other end tells when they are closed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/rdma/verbs/look.h"

static struct ibv_device device = { .dev_name = "uverbs0" };
static struct ibv_context context;
static struct rdma_cm_id id = { .verbs = &context };
static struct verbs_look look;
static struct verbs_look_ops ops;
static char folder[] = "look_test.XXXXXX";
static int commands, events; // what the kernel has of the two
static unsigned let_go;
static bool is_busy; // it cannot be let go of

static struct rdma_cm_id *fake_pin(struct rdma_cm_id *of)
{
	return of;
}

static bool count_let_go(struct verbs_open *o)
{
	if (is_busy)
		return false;
	let_go++;
	o->pin = NULL; // it has no owner
	return verbs_look_system.let_go(o);
}

static const char *path_of(const char *name)
{
	static char paths[2][64];
	static unsigned next;
	char *path = paths[next++ % 2];

	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void appear(const char *name)
{
	assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static void go(void)
{
	assert_int_equal(rmdir(path_of("uverbs0")), 0);
}

static int setup(void **state)
{
	int a[2], b[2];

	snprintf(folder, sizeof folder, "look_test.XXXXXX");
	if (!mkdtemp(folder) || pipe(a) < 0 || pipe(b) < 0)
		return -1;
	appear("uverbs0");
	ops = (struct verbs_look_ops){ .folder = folder, .pin = fake_pin, .let_go = count_let_go };
	verbs_look_init(&look, &ops);
	context = (struct ibv_context){ .device = &device, .cmd_fd = a[1], .async_fd = b[1] };
	commands = a[0];
	events = b[0];
	fcntl(commands, F_SETFL, O_NONBLOCK);
	fcntl(events, F_SETFL, O_NONBLOCK);
	let_go = 0;
	is_busy = false;
	return 0;
}

static int teardown(void **state)
{
	close(commands);
	close(events);
	close(context.cmd_fd);
	close(context.async_fd);
	rmdir(path_of("uverbs0"));
	return rmdir(folder);
}

static bool is_open(int kernels)
{
	char byte;

	return read(kernels, &byte, 1) < 0 && errno == EAGAIN;
}

static struct verbs_open *use(void)
{
	struct verbs_open *o = NULL;

	assert_int_equal(verbs_look_use(&look, &o, &id), 0);
	return o;
}

// A device without its own cm id is released with its last user.
static void end(struct verbs_open *o)
{
	o->pin = NULL;
	verbs_look_unuse(&look, o);
}

static void a_device_that_is_there_stays_open(void **state)
{
	struct verbs_open *o = use();

	verbs_look(&look);
	assert_false(verbs_open_is_gone(o));
	verbs_look_unuse(&look, o);
	verbs_look(&look);
	assert_int_equal(let_go, 0);
	assert_ptr_equal(use(), o);
	assert_true(is_open(commands) && is_open(events));
	end(o);
}

static void a_device_that_goes_is_closed_when_nothing_uses_it_any_more(void **state)
{
	struct verbs_open *o = use(), *again = NULL;

	go();
	assert_false(verbs_open_is_gone(o));
	verbs_look(&look);
	assert_true(verbs_open_is_gone(o));
	assert_true(is_open(commands) && is_open(events));
	assert_int_equal(verbs_look_use(&look, &again, &id), -ENODEV);
	verbs_look_unuse(&look, o);
	assert_int_equal(let_go, 1);
	assert_false(is_open(commands) || is_open(events));
}

static void a_device_that_goes_while_nothing_uses_it_is_closed(void **state)
{
	verbs_look_unuse(&look, use());
	go();
	verbs_look(&look);
	assert_int_equal(let_go, 1);
	assert_false(is_open(commands) || is_open(events));
}

static void one_that_could_not_be_closed_is_closed_at_the_next_look(void **state)
{
	struct verbs_open *o = use();

	go();
	is_busy = true;
	verbs_look(&look);
	verbs_look_unuse(&look, o);
	assert_true(is_open(commands));
	is_busy = false;
	verbs_look(&look);
	assert_false(is_open(commands) || is_open(events));
}

static void another_device_of_the_same_name_is_another(void **state)
{
	struct verbs_open *o = use();

	appear("other"); // before: it cannot get the same number
	go();
	assert_int_equal(rename(path_of("other"), path_of("uverbs0")), 0);
	verbs_look(&look);
	assert_true(verbs_open_is_gone(o));
	verbs_look_unuse(&look, o);
}

static void a_device_without_a_node_is_not_opened(void **state)
{
	struct verbs_open *o = NULL;

	go();
	assert_int_equal(verbs_look_use(&look, &o, &id), -ENODEV);
	assert_null(o);
}

static void without_sysfs_no_device_is_ever_gone(void **state)
{
	ops.folder = path_of("absent");
	struct verbs_open *o = use();
	verbs_look(&look);
	assert_false(verbs_open_is_gone(o));
	end(o);
	assert_true(is_open(commands));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_device_that_is_there_stays_open),
		CASE(a_device_that_goes_is_closed_when_nothing_uses_it_any_more),
		CASE(a_device_that_goes_while_nothing_uses_it_is_closed),
		CASE(one_that_could_not_be_closed_is_closed_at_the_next_look),
		CASE(another_device_of_the_same_name_is_another),
		CASE(a_device_without_a_node_is_not_opened),
		CASE(without_sysfs_no_device_is_ever_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
