// SPDX-License-Identifier: BSD-2-Clause
// login --foreground: logs in again when the process of a disk has died or the login has failed,
// and logs out at SIGTERM or SIGINT. The disks do not depend on this process: one that is started
// again takes care of what it finds. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/notify.h"
#include "initiator/program/attach.h"
#include "initiator/program/child.h"
#include "initiator/program/login.h"

enum { TICK = 5, WAIT_MAX = 60 }; // seconds: between two looks, two attempts

struct look {
	const struct tool *tool;
	const char *login; // NULL: all
	bool has_dead;
};

static void on_child(int number)
{
}

// The end of a process of ours ends the wait at once; those of an earlier command are looked at.
static void catch_children(void)
{
	struct sigaction a = { .sa_handler = on_child };
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaction(SIGCHLD, &a, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static uint64_t now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

static void wait_for_child(void)
{
	struct timespec limit = { .tv_sec = TICK };
	sigset_t open;
	sigemptyset(&open);
	ppoll(NULL, 0, &limit, &open);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static bool is_dead(const struct holder_files *f)
{
	struct err e;
	struct json_object *o = holder_ask(f, "status", &e);
	json_object_put(o);
	return !o && holder_is_gone(&e);
}

static bool found(void *arg, const char *name)
{
	struct look *l = arg;
	struct holder_files f;
	struct json_object *o = NULL, *v;
	struct err ignored;
	if (!holder_files(&f, attach_run_dir(l->tool), name, &ignored))
		o = holder_state_read(&f, &ignored);
	if (json_object_object_get_ex(o, "login", &v) &&
	    (!l->login || !strcmp(l->login, json_object_get_string(v))))
		l->has_dead |= is_dead(&f);
	json_object_put(o);
	return !l->has_dead;
}

static bool has_dead(const struct tool *t, const char *login)
{
	struct look l = { .tool = t, .login = login };
	struct err ignored;
	holder_each(attach_run_dir(t), found, &l, &ignored);
	return l.has_dead;
}

static bool has_failed(int status)
{
	return status && status != TOOL_LOGGED_IN;
}

// Nothing that time changes.
static bool is_final(int status)
{
	return status == TOOL_USAGE || status == TOOL_RECORD || status == TOOL_NOT_FOUND;
}

static void keep(struct tool *t, int (*once)(struct tool *t, const char **ret_login), int status,
		 const char *login)
{
	unsigned wait = TICK;
	uint64_t last = now_s();
	while (!child_interrupted()) {
		wait_for_child(); // the children of a failed attempt have ended, too
		uint64_t past = now_s() - last;
		bool is_due = has_failed(status) && past >= wait;
		if (child_interrupted() || past < TICK || (!is_due && !has_dead(t, login)))
			continue;
		status = once(t, &login);
		wait = !has_failed(status) ? TICK : wait < WAIT_MAX / 2 ? wait * 2 : WAIT_MAX;
		last = now_s();
	}
}

int login_stay(struct tool *t, int (*once)(struct tool *t, const char **ret_login))
{
	const char *login = NULL;
	child_catch_signals();
	catch_children();
	int status = once(t, &login);
	if (is_final(status) || child_interrupted())
		return status;
	notify_manager("READY=1");
	keep(t, once, status, login);
	notify_manager("STOPPING=1");
	status = logout_of(t, login);
	return status == TOOL_NOT_FOUND ? TOOL_OK : status;
}
