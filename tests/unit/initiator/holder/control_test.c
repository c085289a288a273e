// SPDX-License-Identifier: BSD-2-Clause
// The socket of an attachment's process: clients that send slowly, wrongly, or not at all.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "initiator/holder/control.h"

static char path[64];
static struct control control;

static int begin(void **state)
{
	struct err e;
	snprintf(path, sizeof path, "/tmp/control_test.%d", getpid());
	return control_open(&control, path, &e);
}

static int end(void **state)
{
	control_close(&control);
	unlink(path);
	return 0;
}

static int connect_client(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(a.sun_path, path, strlen(path) + 1);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static bool is_closed(int fd)
{
	char byte;
	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void a_request_in_pieces_is_one(void **state)
{
	int fd = connect_client();
	say(fd, "detach ");
	control_run(&control, 0);
	assert_null(control_next(&control));
	say(fd, "force\n");
	control_run(&control, 1);
	struct control_client *client = control_next(&control);
	assert_non_null(client);
	assert_int_equal(client->request, HOLDER_DETACH_FORCE);
	assert_null(control_next(&control)); // once
	struct json_object *o = json_object_new_object();
	control_answer(client, o);
	json_object_put(o);
	char text[8] = "";
	assert_int_equal(recv(fd, text, sizeof text, MSG_DONTWAIT), 2);
	assert_string_equal(text, "{}");
	close(fd);
}

static void one_limit_of_time_holds_for_the_whole_request(void **state)
{
	int fd = connect_client();
	enum { STEP = CONTROL_REQUEST_MS / 5 };
	for (unsigned ms = 0; ms < CONTROL_REQUEST_MS; ms += STEP) {
		say(fd, "d");
		control_run(&control, ms);
		assert_false(is_closed(fd));
	}
	assert_int_equal(control_timeout(&control, CONTROL_REQUEST_MS - STEP), STEP);
	say(fd, "d");
	control_run(&control, CONTROL_REQUEST_MS);
	assert_true(is_closed(fd));
	assert_int_equal(control_timeout(&control, CONTROL_REQUEST_MS), -1);
	close(fd);
}

static void a_client_that_gets_no_cpu_for_30_s_is_served(void **state)
{
	int fd = connect_client();
	control_run(&control, 0);
	control_run(&control, 30000);
	say(fd, "status\n");
	control_run(&control, 30001);
	assert_non_null(control_next(&control));
	close(fd);
}

static void a_slow_client_delays_no_other(void **state)
{
	int slow = connect_client();
	say(slow, "s");
	control_run(&control, 0);
	int fd = connect_client();
	say(fd, "status\n");
	control_run(&control, 1);
	struct control_client *client = control_next(&control);
	assert_non_null(client);
	assert_int_equal(client->request, HOLDER_STATUS);
	close(slow);
	close(fd);
}

static void clients_are_bounded_and_the_longest_goes(void **state)
{
	int fds[CONTROL_CLIENTS_MAX];
	struct pollfd polled[CONTROL_FDS_MAX];
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		fds[i] = connect_client();
		control_run(&control, i);
	}
	assert_int_equal(control_fds(&control, polled), CONTROL_FDS_MAX);
	int fd = connect_client();
	say(fd, "status\n");
	control_run(&control, 100);
	assert_non_null(control_next(&control));
	assert_true(is_closed(fds[0]));
	assert_false(is_closed(fds[1]));
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		close(fds[i]);
	close(fd);
}

static void a_client_that_is_to_be_answered_keeps_its_place(void **state)
{
	int fds[CONTROL_CLIENTS_MAX];
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		fds[i] = connect_client();
		say(fds[i], "detach\n");
	}
	control_run(&control, 0);
	int fd = connect_client();
	control_run(&control, CONTROL_REQUEST_MS);
	assert_true(is_closed(fd));
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		assert_false(is_closed(fds[i]));
		close(fds[i]);
	}
	close(fd);
}

static void what_is_no_request_is_closed(void **state)
{
	static const char *const bad[] = { "x\n", "status\n\n",
					   "0123456789012345678901234567890123" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int fd = connect_client();
		char byte;
		say(fd, bad[i]);
		control_run(&control, 0);
		assert_null(control_next(&control));
		ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
		assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
		close(fd);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_in_pieces_is_one),
		TEST(one_limit_of_time_holds_for_the_whole_request),
		TEST(a_client_that_gets_no_cpu_for_30_s_is_served),
		TEST(a_slow_client_delays_no_other),
		TEST(clients_are_bounded_and_the_longest_goes),
		TEST(a_client_that_is_to_be_answered_keeps_its_place),
		TEST(what_is_no_request_is_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
