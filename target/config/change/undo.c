// SPDX-License-Identifier: BSD-2-Clause
// Generations of the saved file, and undo. The newest is the file before the last change. Undo is a
// change like others: the file that it replaces becomes a generation, too.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/config/change/commit.h"
#include "target/config/change/plan.h"
#include "target/config/file/document.h"
#include "target/config/file/file.h"
#include "target/config/file/saved_file.h"

enum { HEAD_SIZE = 65536 }; // of a file: our section is near its beginning

// Data from the beginning of a file.
struct head {
	uint64_t number;	    // 0: saved by another program
	struct json_object *change; // for json_object_put(), NULL: none
};

// The text after "key": in text; NULL: no such key.
static const char *value_at(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;
	return at ? at + strlen(key) : NULL;
}

static void read_head(const char *path, struct head *ret)
{
	char *head = malloc(HEAD_SIZE + 1);
	int fd = head ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, head, HEAD_SIZE);
	*ret = (struct head){ 0 };
	if (n > 0) {
		head[n] = 0;
		const char *own = value_at(head, "\"" SAVED_SECTION "\": ");
		const char *number = value_at(own, "\"generation\": ");
		const char *change = value_at(own, "\"change\": ");
		ret->number = number ? strtoull(number, NULL, 10) : 0;
		ret->change = change ? json_tokener_parse(change) : NULL;
		explicit_bzero(head, HEAD_SIZE);
	}
	if (fd >= 0)
		close(fd);
	free(head);
}

// change: the commands between this file and the next one.
static struct json_object *generation_json(unsigned steps, const char *path, uint64_t number,
					   struct json_object *change)
{
	struct json_object *o = json_object_new_object();
	const char *name = strrchr(path, '/') + 1;
	char when[32] = "";
	if (strlen(name) >= 28) // saveconfig-YYYYMMDD-HH:MM:SS
		snprintf(when, sizeof when, "%.4s-%.2s-%.2s %.8s", name + 11, name + 15, name + 17,
			 name + 20);
	json_put_number(o, "undo", steps);
	json_put_number(o, "generation", number);
	json_put_text(o, "file", path);
	json_put_text(o, "replaced", when);
	change_tell(change, o);
	return o;
}

int plan_generations(struct config *c, struct node *n, const struct args *a, struct reply *r,
		     struct err *e)
{
	char path[PATH_MAX];
	struct head next = { .change = json_object_get(c->saved->origin) }, head;
	unsigned steps = 1;
	r->data = json_object_new_array();
	for (; file_backup_at(c->file, steps, path, sizeof path); steps++) {
		read_head(path, &head);
		json_object_array_add(r->data,
				      generation_json(steps, path, head.number, next.change));
		json_object_put(next.change);
		next = head;
	}
	json_object_put(next.change);
	return 0;
}

// The change between that generation and the next one. For json_object_put().
static struct json_object *change_after(const struct config *c, unsigned steps)
{
	char path[PATH_MAX];
	struct head next = { .change = NULL };
	if (steps == 1)
		return json_object_get(c->saved->origin);
	if (file_backup_at(c->file, steps - 1, path, sizeof path))
		read_head(path, &next);
	return next.change;
}

// The paths of the disks that a change has reset, whose data no undo brings back.
static void say_resets(struct json_object *change, struct reply *r)
{
	json_each (command, json_field(change, "commands")) {
		const char *text = json_scalar(command), *at = text ? strstr(text, " reset") : NULL;
		if (at && !strncmp(text, "/backstores/", strlen("/backstores/")) &&
		    strchr(" ", at[strlen(" reset")]))
			reply_say(r,
				  "Note: undo does not bring back what reset has discarded: %.*s",
				  (int)(at - text), text);
	}
}

static void say_all_resets(const struct config *c, unsigned steps, struct reply *r)
{
	for (; steps; steps--) {
		struct json_object *change = change_after(c, steps);
		say_resets(change, r);
		json_object_put(change);
	}
}

// Whether that generation was the running configuration, not a file of another program.
static bool was_running(const struct config *c, unsigned steps)
{
	struct json_object *change = change_after(c, steps);
	bool was = change && !change_replaced_edit(change);
	json_object_put(change);
	return was;
}

int plan_undo(struct config *c, struct node *n, const struct args *a, struct reply *r,
	      struct err *e)
{
	char path[PATH_MAX];
	struct json_object *doc = NULL;
	int steps = number_of(arg(a, "steps"), "", 1000);
	if (steps < 1)
		return err_set(e, -EINVAL, "steps: invalid number '%.20s' (from 1)",
			       arg(a, "steps"));
	if (c->change->transaction.is_open)
		return err_set(e, -EBUSY, "undo: a transaction is open (undo it with abort)");
	if (!file_backup_at(c->file, (unsigned)steps, path, sizeof path))
		return err_set(e, -ENOENT, "undo: no generation %d steps back (see generations)",
			       steps);
	const struct restore_options o = {
		.is_running = true,
		.is_apply = true,
		.is_undo = true,
		.may_be_empty = was_running(c, (unsigned)steps),
		.is_forced = arg_bool(a, "force", false),
	};
	int code = document_read(path, &doc, e);
	if (!code)
		code = plan_run(c, doc, path, &o, r, e);
	if (!code)
		say_all_resets(c, (unsigned)steps, r);
	json_object_put(doc);
	return code;
}
