// SPDX-License-Identifier: BSD-2-Clause
// The keeper of a disk that holds the root file system (--root-disk). The disk's process starts in
// the initramfs and ends with the machine; the keeper, which does nothing else, starts it again
// when it dies, since systemd and the program's own file are on that disk.
//
// It also has a socket, NAME.keep: a detach that finds no process asks there, as nothing else can
// end the attempts to bring the disk back. The file stays; the next keeper replaces it.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/json/json.h"
#include "initiator/holder/control.h"
#include "initiator/program/attach.h"
#include "initiator/program/child.h"

#include <json-c/json.h>

enum { AGAIN_MS = 1000, AGAIN_MAX_MS = 15000 };

// What a process that was started again says, each reason once.
static void say(const struct holder_config *c, const char *text, struct err *last)
{
	struct err e;
	struct json_object *o = text[0] ? json_read(text, strlen(text), "answer", &e) : NULL;
	if (!o)
		err_set(&e, -ECHILD, "the process ended");
	else if (!holder_answer_error(o, &e))
		err_set(&e, 0, "the process had died; another one has taken its place");
	json_object_put(o);
	if (strcmp(last->text, e.text))
		tool_say("%s: %s", c->name, e.text);
	*last = e;
}

// The command hears the first answer.
static void pass_on(const char *text, int fd)
{
	if (write(fd, text, strlen(text)) < 0)
		errno = 0; // it has gone; the disk stays
	close(fd);
}

static int fail(const struct err *e, int fd)
{
	struct json_object *o = json_object_new_object();
	holder_answer_add_error(o, e);
	if (fd >= 0)
		pass_on(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN), fd);
	else
		tool_say("%s", e->text);
	json_object_put(o);
	return 1;
}

static bool is_attached(const char *text)
{
	struct err e;
	struct json_object *o = text[0] ? json_read(text, strlen(text), "answer", &e) : NULL;
	bool is = o && !holder_answer_error(o, &e);
	json_object_put(o);
	return is;
}

// ---- its socket ----

// That of the process, with the keeper in its place.
static int files_of(struct holder_files *ret, const char *run_dir, const char *name, struct err *e)
{
	int r = holder_files(ret, run_dir, name, e);
	if (!r)
		memcpy(ret->socket + strlen(ret->socket) - 5, ".keep", 5);
	return r;
}

struct json_object *attach_keep_ask(const char *run_dir, const char *name, const char *request,
				    struct err *e)
{
	struct holder_files f;
	return files_of(&f, run_dir, name, e) < 0 ? NULL : holder_ask(&f, request, e);
}

int attach_keep_check(const char *run_dir, const char *name, struct err *e)
{
	struct json_object *o = attach_keep_ask(run_dir, name, "status", e);
	bool is_dead = o && !strcmp(json_scalar_or_empty(o, "state"), "dead");
	json_object_put(o);
	if (!is_dead)
		return 0;
	return err_set(e, -EEXIST,
		       "%s: attached already; its process has died and is being started again "
		       "(detach ends that)",
		       name);
}

struct keeper {
	const struct holder_config *config;
	int (*hold)(void *arg, int fd);
	int command; // its end of the pipe to the command, -1 after the first answer
	struct child child;
	bool is_up;    // the child holds the disk
	bool is_asked; // a detach, while it does not
	int signal;    // that asked for it; 0: a client
	struct control control;
	bool has_control;
	struct err last;
};

static void answer_status(const struct keeper *k, struct control_client *client)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "name", json_object_new_string(k->config->name));
	json_object_object_add(o, "state", json_object_new_string(k->is_up ? "attached" : "dead"));
	json_object_object_add(o, "pid", json_object_new_int(getpid()));
	control_answer(client, o);
	json_object_put(o);
}

// True: one of them asks for a detach.
static bool take_requests(struct keeper *k, uint64_t now)
{
	struct control_client *client;
	bool is_asked = false;
	if (!k->has_control)
		return false;
	control_run(&k->control, now);
	while ((client = control_next(&k->control)))
		if (client->request == HOLDER_STATUS)
			answer_status(k, client);
		else
			is_asked = true;
	return is_asked;
}

// Those that asked for a detach; e: NULL after one.
static void answer_waiting(struct keeper *k, const struct err *e)
{
	struct control_client *client;
	struct json_object *o = json_object_new_object();
	if (e)
		holder_answer_add_error(o, e);
	while (k->has_control && (client = control_waiting(&k->control, HOLDER_DETACH_FORCE)))
		control_answer(client, o);
	json_object_put(o);
}

static bool is_forced(struct keeper *k)
{
	for (unsigned i = 0; k->has_control && i < CONTROL_CLIENTS_MAX; i++)
		if (k->control.clients[i].fd >= 0 && k->control.clients[i].is_given &&
		    k->control.clients[i].request == HOLDER_DETACH_FORCE)
			return true;
	return false;
}

static void close_control(struct keeper *k)
{
	if (k->has_control)
		control_close(&k->control);
	k->has_control = false;
}

// ---- waiting ----

enum event { CAN_READ, IS_ASKED, IS_OVER };

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int timeout(const struct keeper *k, uint64_t now, uint64_t until)
{
	int of_clients = k->has_control ? control_timeout(&k->control, now) : -1;
	int own = !until ? -1 : until > now ? (int)(until - now) : 0;
	return own < 0 || (of_clients >= 0 && of_clients < own) ? of_clients : own;
}

// Until fd can be read, somebody asks for a detach, or it is until (0: without a limit).
static enum event wait_for(struct keeper *k, int fd, uint64_t until)
{
	for (;;) {
		struct pollfd fds[1 + CONTROL_FDS_MAX] = {
			{fd, POLLIN, 0}
		};
		unsigned n = 1 + (k->has_control ? control_fds(&k->control, fds + 1) : 0);
		int r = child_poll(fds, n, timeout(k, now_ms(), until));
		if (r > 0 && fds[0].revents)
			return CAN_READ;
		k->signal = child_take_signal();
		if (k->signal)
			tool_say("%s: %s: detaching it", k->config->name,
				 k->signal == SIGINT ? "SIGINT" : "SIGTERM");
		if (k->signal || take_requests(k, now_ms()))
			return IS_ASKED;
		if (until && now_ms() >= until)
			return IS_OVER;
	}
}

// ---- the child ----

// The command reads to the end, which no child may keep open; nor the socket.
static int hold_as_child(void *arg, int fd)
{
	struct keeper *k = arg;
	if (k->command >= 0)
		close(k->command);
	close_control(k);
	return k->hold((void *)k->config, fd);
}

// Without a socket nobody could ask the keeper to give the disk up: the attachment fails.
static int open_control(struct keeper *k, struct err *e)
{
	struct holder_files f;
	int r = files_of(&f, k->config->run_dir, k->config->name, e);
	if (!r)
		r = control_open(&k->control, f.socket, e);
	k->has_control = !r;
	return r;
}

static void answer_command(struct keeper *k)
{
	struct err e;
	if (!k->is_up || open_control(k, &e) == 0) {
		pass_on(k->child.text, k->command);
	} else {
		kill(k->child.pid, SIGTERM);
		fail(&e, k->command);
	}
	k->command = -1;
}

// Until it has said whether the disk is attached.
static void begin(struct keeper *k)
{
	k->is_asked = false;
	while (wait_for(k, k->child.fd, 0) == IS_ASKED) {
		k->is_asked = true;
		kill(k->child.pid, SIGTERM);
	}
	child_read(&k->child);
	k->is_up = is_attached(k->child.text);
	if (k->command >= 0)
		answer_command(k);
	else
		say(k->config, k->child.text, &k->last);
}

// The process detaches; what it refuses is forgotten here, and it is started again as before. One
// that asks here for it came before the process could be asked, or just as it ends.
static void ask_process(struct keeper *k)
{
	struct err e;
	if (k->signal)
		kill(k->child.pid, k->signal);
	err_set(&e, -EAGAIN, "%s: its process is beginning or ending (try again)", k->config->name);
	answer_waiting(k, &e);
}

// Until the child's end; the status of waitpid().
static int wait_for_end(struct keeper *k)
{
	int fd = (int)syscall(SYS_pidfd_open, k->child.pid, 0), status = 0;
	if (k->is_up && k->is_asked)
		ask_process(k);
	k->is_asked &= !k->is_up;
	while (fd >= 0 && wait_for(k, fd, 0) == IS_ASKED) {
		if (k->is_up)
			ask_process(k);
		k->is_asked |= !k->is_up;
	}
	while (waitpid(k->child.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	k->is_up = false;
	return status;
}

static bool is_detached(int status)
{
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

// ---- without a child ----

static void detached(struct keeper *k)
{
	// The name is free for another attachment before somebody hears that.
	if (k->has_control)
		close(k->control.listener);
	k->control.listener = -1;
	answer_waiting(k, NULL);
	close_control(k);
}

// What the dead process has left goes, unless it is used. False: it is kept, and so is the disk.
static bool give_up(struct keeper *k)
{
	const struct holder_config *c = k->config;
	struct err e;
	k->is_asked = false;
	if (holder_clear(c->run_dir, c->name, carrier_find, is_forced(k), &e) < 0) {
		tool_say("%s: cannot detach: %s", c->name, e.text);
		answer_waiting(k, &e);
		return false;
	}
	detached(k);
	return true;
}

// True: it is time for another child; false: it is given up.
static bool pause_for(struct keeper *k, unsigned ms)
{
	uint64_t until = now_ms() + ms;
	if (k->is_asked && give_up(k))
		return false;
	while (wait_for(k, -1, until) == IS_ASKED)
		if (give_up(k))
			return false;
	return true;
}

// The status of its waitpid(); if it cannot be started, that of a failure.
static int run_child(struct keeper *k, bool *ret_was_up)
{
	struct err e;
	*ret_was_up = false;
	if (child_start(&k->child, hold_as_child, k, &e) < 0) {
		fail(&e, k->command);
		k->command = -1;
		return W_EXITCODE(1, 0);
	}
	begin(k);
	*ret_was_up = k->is_up;
	return wait_for_end(k);
}

int attach_keep(const struct holder_config *c, int (*hold)(void *arg, int fd), int fd)
{
	static struct keeper k;
	unsigned pause = AGAIN_MS;
	k = (struct keeper){ .config = c, .hold = hold, .command = fd };
	child_ignore_hangup();
	for (;;) {
		bool is_first = k.command >= 0, was_up;
		int status = run_child(&k, &was_up);
		if (is_detached(status)) {
			detached(&k);
			return 0;
		}
		if (is_first && !was_up)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
		pause = was_up ? AGAIN_MS : pause * 2 < AGAIN_MAX_MS ? pause * 2 : AGAIN_MAX_MS;
		if (!pause_for(&k, pause))
			return 0;
	}
}
