// SPDX-License-Identifier: BSD-2-Clause
// The process that holds an attachment, and what the command hears of it: one JSON object through a
// pipe, the status or an error. The program's thread.
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/lockfile.h"
#include "core/notify.h"
#include "initiator/holder/holder.h"
#include "initiator/program/attach.h"
#include "initiator/program/child.h"

void attach_print(void *arg, struct json_object *o)
{
	const struct tool *t = arg;
	struct json_object *v;
	if (t->o.is_json)
		printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	else if (json_object_object_get_ex(o, "device", &v))
		printf("%s\n", json_object_get_string(v));
	fflush(stdout);
}

// ---- in the foreground ----

static void ready_here(void *arg, struct json_object *status)
{
	attach_print(arg, status);
	notify_manager("READY=1");
}

enum { PAUSE_MAX = 30000 }; // ms between two attempts of --keep-trying

int attach_in_foreground(struct tool *t, const struct holder_config *c)
{
	struct err e;
	int r = attach_keep_check(c->run_dir, c->name, &e);
	if (!r && c->is_root)
		r = attach_leave_root(c->run_dir, &e);
	if (!r)
		r = holder_run(c, ready_here, t, &e);
	if (t->o.keeps_trying)
		child_catch_signals();
	for (unsigned ms = 1000; r < 0 && t->o.keeps_trying;
	     ms = ms * 2 < PAUSE_MAX ? ms * 2 : PAUSE_MAX) {
		if (r != -ECANCELED)
			tool_say_waiting(&e);
		if (child_pause(ms) == -EINTR)
			return TOOL_OK;
		r = holder_run(c, ready_here, t, &e);
	}
	return r < 0 ? tool_fail_by(&e) : TOOL_OK;
}

// ---- the child ----

static void ready_far(void *arg, struct json_object *status)
{
	int *fd = arg;
	const char *text = json_object_to_json_string_ext(status, JSON_C_TO_STRING_PLAIN);
	if (write(*fd, text, strlen(text)) < 0)
		errno = 0; // the command has gone; the disk stays
	close(*fd);
	*fd = -1;
}

static void tell_error(int fd, const struct err *e)
{
	struct json_object *o = json_object_new_object();
	holder_answer_add_error(o, e);
	ready_far(&fd, o);
	json_object_put(o);
}

// A regular file, or -1: to open a FIFO would wait for its reader.
static int open_log(const char *path)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		      0600);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

// Empties the log while it has the lock of the name, which the attachment takes later. False: the
// log is that of another process.
static bool take_log(const struct holder_config *c, int log)
{
	struct holder_files f;
	struct err ignored;
	int lock;
	if (holder_files(&f, c->run_dir, c->name, &ignored) ||
	    lockfile_take(f.lock, &lock, &ignored) < 0)
		return false;
	if (log >= 0 && ftruncate(log, 0) < 0)
		errno = 0;
	close(lock);
	return true;
}

// Its own session, no terminal, no directory that it keeps busy; its log is a file. Returns whether
// the log is its own.
static bool leave_terminal(const struct holder_config *c, const char *path)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err ignored;
	setsid();
	folder_make(c->run_dir, 0700, &ignored);
	int log = open_log(path);
	bool is_own = take_log(c, log);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (log >= 0 || null >= 0)
		dup2(log >= 0 ? log : null, STDERR_FILENO);
	if (chdir("/") < 0)
		errno = 0;
	return is_own;
}

static int hold(void *arg, int fd)
{
	const struct holder_config *c = arg;
	struct err e;
	int r = holder_run(c, ready_far, &fd, &e);
	if (r < 0 && fd >= 0)
		tell_error(fd, &e);
	else if (r < 0)
		tool_say("%s: %s", c->name, e.text);
	return r < 0 ? -r : 0;
}

static int hold_root(const struct holder_config *c, int fd)
{
	struct err e;
	int r = attach_leave_root(c->run_dir, &e);
	if (r < 0) {
		tell_error(fd, &e);
		return -r;
	}
	holder_process_protect(c->argv0);
	return attach_keep(c, hold, fd);
}

static int leave_and_hold(void *arg, int fd)
{
	const struct holder_config *c = arg;
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s.log", c->run_dir, c->name);
	bool is_own = leave_terminal(c, path);
	int r = c->is_root ? hold_root(c, fd) : hold(arg, fd);
	if (r > 0 && r != EEXIST && is_own) // else the log is needed, or that of another process
		unlink(path);
	return r;
}

// ---- the command ----

// What it has done is undone by the process itself, also if that has just begun to hold.
static int undo(const struct holder_config *c, const struct child *child)
{
	tool_say("%s: interrupted; undoing the attachment", c->name);
	kill(child->pid, SIGTERM);
	child_wait(child);
	return child_interrupted();
}

static void say_path(const char *name, struct json_object *path)
{
	const char *state = json_scalar_or_empty(path, "state");
	const char *why = json_scalar_or_empty(path, "last_error");
	if (strcmp(state, disk_path_state_text(DISK_PATH_UP)) &&
	    strcmp(state, disk_path_state_text(DISK_PATH_STANDBY)))
		tool_say("%s: path %s is not up: %s%s%s", name, json_scalar_or_empty(path, "url"),
			 state, *why ? ": " : "", why);
}

// Paths that are not up: the disk is attached all the same.
static void say_paths(struct json_object *status)
{
	struct json_object *paths;
	if (!json_object_object_get_ex(status, "paths", &paths) ||
	    !json_object_is_type(paths, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(paths); i++)
		say_path(json_scalar_or_empty(status, "name"), json_object_array_get_idx(paths, i));
}

static int conclude(const struct holder_config *c, const struct child *child, attach_ready *ready,
		    void *arg, struct err *e)
{
	const char *text = child->text;
	struct json_object *o = text[0] ? json_read(text, strlen(text), "answer", e) : NULL;
	int status = TOOL_FAILED;
	if (!o) {
		child_wait(child);
		err_set(e, -ECHILD, "%s: its process ended without an answer (see %s/%s.log)",
			c->name, c->run_dir, c->name);
	} else if (holder_answer_error(o, e)) {
		child_wait(child);
		status = tool_status_of(e);
	} else {
		if (!c->login) // which does not wait for each path
			say_paths(o);
		ready(arg, o);
		status = TOOL_OK;
	}
	json_object_put(o);
	return status;
}

int attach_try(struct tool *t, const struct holder_config *c, attach_ready *ready, void *arg,
	       struct err *e)
{
	static struct child child;
	char what[HOLDER_NAME_MAX + 8];
	if (attach_keep_check(c->run_dir, c->name, e) < 0 ||
	    child_start(&child, leave_and_hold, (void *)c, e) < 0)
		return tool_status_of(e);
	snprintf(what, sizeof what, "attach %s", c->name);
	tool_progress_begin_time(t, what, 0);
	tool_progress_note("waiting (Ctrl-C ends it)");
	int r = child_hear(&child);
	tool_progress_end();
	return r < 0 ? undo(c, &child) : conclude(c, &child, ready, arg, e);
}

int attach_in_background(struct tool *t, const struct holder_config *c, attach_ready *ready,
			 void *arg)
{
	struct err e;
	int status = attach_try(t, c, ready, arg, &e);
	return status && status < 128 ? tool_fail(status, &e) : status;
}
