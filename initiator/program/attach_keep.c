// SPDX-License-Identifier: BSD-2-Clause
// The keeper of a disk that holds the root file system (--root-disk). The disk's process starts in
// the initramfs and ends with the machine; the keeper, which does nothing else, starts it again
// when it dies, since systemd and the program's own file are on that disk.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/json/json.h"
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

struct keeping {
	const struct holder_config *config;
	int (*hold)(void *arg, int fd);
	int command; // its end of the pipe to the command, -1 after the first answer
};

// The command reads to the end, which no child may keep open.
static int hold_without_command(void *arg, int fd)
{
	const struct keeping *k = arg;
	if (k->command >= 0)
		close(k->command);
	return k->hold((void *)k->config, fd);
}

// True if the disk is attached.
static bool begin(struct keeping *k, struct child *child, struct err *last)
{
	if (child_hear(child) < 0)
		kill(child->pid, SIGTERM);
	if (k->command >= 0)
		pass_on(child->text, k->command);
	else
		say(k->config, child->text, last);
	k->command = -1;
	return is_attached(child->text);
}

static bool is_detached(int status)
{
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int attach_keep(const struct holder_config *c, int (*hold)(void *arg, int fd), int fd)
{
	static struct child child;
	struct keeping k = { .config = c, .hold = hold, .command = fd };
	struct err e, last = { 0 };
	unsigned pause = AGAIN_MS;
	for (;;) {
		bool is_first = k.command >= 0;
		if (child_start(&child, hold_without_command, &k, &e) < 0)
			return fail(&e, k.command);
		bool is_up = begin(&k, &child, &last);
		int status = child_wait_passing_signals(&child);
		if (child_interrupted() || is_detached(status))
			return 0;
		if (is_first && !is_up)
			return 1;
		pause = is_up ? AGAIN_MS : pause * 2 < AGAIN_MAX_MS ? pause * 2 : AGAIN_MAX_MS;
		if (child_pause(pause) < 0)
			return 0;
	}
}
