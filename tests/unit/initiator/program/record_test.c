// SPDX-License-Identifier: BSD-2-Clause
// Logins that save the same record at once: both succeed, and the record is one of theirs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/whole_file.h"
#include "initiator/program/login.h"

static char dir[64];
static int other; // exit status of the other login

static int save(char *url)
{
	static struct tool t;
	struct err e;
	int r = tool_options_parse(&t.o, TOOL_LOG_IN, 1, &url, &e);
	if (!r)
		r = record_save(&t, dir, "data", &e);
	if (r)
		print_error("%s\n", e.text);
	return r;
}

// Another process saves the record when this one has written its file, and not renamed it yet.
static void on_step(const char *step)
{
	int status;
	if (strcmp(step, "rename") != 0)
		return;
	file_step_hook = NULL;
	pid_t pid = fork();
	if (!pid)
		_exit(save((char[]){ "iscsi://b/iqn.2025-01.org:t" }) != 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	other = status;
}

static void both_logins_save(void **state)
{
	char path[96], *text;
	size_t len;
	struct err e;
	file_step_hook = on_step;
	assert_int_equal(save((char[]){ "iscsi://a/iqn.2025-01.org:t" }), 0);
	assert_int_equal(other, 0);
	snprintf(path, sizeof path, "%s/data.conf", dir);
	assert_int_equal(whole_file_read(path, &text, &len, &e), 0);
	assert_string_equal(text, "url = iscsi://a/iqn.2025-01.org:t\nstartup = manual\n");
	free(text);
	unlink(path);
	assert_int_equal(rmdir(dir), 0); // nothing else is left
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(both_logins_save) };
	snprintf(dir, sizeof dir, "/tmp/farblock-record.XXXXXX");
	return mkdtemp(dir) ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
