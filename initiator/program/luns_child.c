// SPDX-License-Identifier: BSD-2-Clause
// The disks of a target, by REPORT LUNS in a process of its own: sessions have threads, and the
// processes of attachments are forked from one without. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/json/json.h"
#include "initiator/program/attach.h"
#include "initiator/program/child.h"
#include "initiator/program/login.h"

struct looking {
	struct tool_path *paths; // of count URLs
	unsigned count;
};

// ---- the child ----

static void tell(int fd, struct json_object *o)
{
	const char *text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	if (write(fd, text, strlen(text)) < 0)
		errno = 0; // the command has gone
}

// By the first path that works; the first error is told.
static int look(const struct looking *l, uint16_t *luns, unsigned *count, struct err *e)
{
	struct err why;
	int first = 0;
	for (unsigned i = 0; i < l->count; i++) {
		struct scsi_sync *y;
		const struct tool_path *p = &l->paths[i];
		int r = scsi_sync_open(&y, p->open, p->config, NULL, &why);
		if (!r) {
			r = tool_disks(y, luns, LOGIN_DISKS_MAX, count, &why);
			scsi_sync_close(y);
		}
		if (!r)
			return 0;
		if (!first) {
			first = r;
			*e = why;
		}
	}
	return first;
}

static int run(void *arg, int fd)
{
	static uint16_t luns[LOGIN_DISKS_MAX];
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	unsigned count = 0;
	struct err e;
	child_unblock_signals();
	if (look(arg, luns, &count, &e))
		holder_answer_add_error(o, &e);
	for (unsigned i = 0; i < count; i++)
		json_object_array_add(list, json_object_new_int(luns[i]));
	json_object_object_add(o, "luns", list);
	tell(fd, o);
	json_object_put(o);
	return 0;
}

// ---- the command ----

static int conclude(const char *text, uint16_t *ret, unsigned *ret_count, struct err *e)
{
	struct json_object *list, *o;
	int status = TOOL_OK;
	err_set(e, -ECHILD, "login: the process ended");
	o = text[0] ? json_read(text, strlen(text), "answer", e) : NULL;
	*ret_count = 0;
	if (!o || holder_answer_error(o, e))
		status = tool_status_of(e);
	else if (json_object_object_get_ex(o, "luns", &list))
		while (*ret_count < json_object_array_length(list)) {
			struct json_object *v = json_object_array_get_idx(list, *ret_count);
			ret[(*ret_count)++] = (uint16_t)json_object_get_int(v);
		}
	json_object_put(o);
	return status;
}

static int ask(const struct looking *l, uint16_t *ret, unsigned *ret_count, struct err *e)
{
	static struct child child;
	if (child_start(&child, run, (void *)l, e) < 0)
		return tool_status_of(e);
	int r = child_hear(&child);
	if (r)
		kill(child.pid, SIGTERM);
	child_wait(&child);
	return r ? child_interrupted() : conclude(child.text, ret, ret_count, e);
}

static int path(struct tool *t, unsigned i, struct tool_path *ret, struct err *e)
{
	int status = t->path(t, t->o.args[i], false, ret, e);
	if (status)
		return status;
	if (!ret->has_lun)
		return TOOL_OK;
	err_set(e, -EINVAL, "login: '%.120s' names a LUN (attach takes one)", t->o.args[i]);
	return TOOL_USAGE;
}

int login_try_disks(struct tool *t, uint16_t ret[LOGIN_DISKS_MAX], unsigned *ret_count,
		    char ret_target[TOOL_TARGET_MAX], bool *ret_is_asked, struct err *e)
{
	struct tool_path paths[TOOL_ARGS_MAX] = { 0 };
	struct looking l = { .paths = paths, .count = t->o.arg_count };
	int status = TOOL_OK;
	for (unsigned i = 0; i < l.count && !status; i++)
		status = path(t, i, &paths[i], e);
	*ret_is_asked = !status;
	if (!status)
		status = ask(&l, ret, ret_count, e);
	memcpy(ret_target, paths[0].target, TOOL_TARGET_MAX);
	for (unsigned i = 0; i < l.count; i++)
		tool_path_done(&paths[i]);
	return status;
}

int login_disks(struct tool *t, const struct entry *from, uint16_t ret[LOGIN_DISKS_MAX],
		unsigned *ret_count, char ret_target[TOOL_TARGET_MAX])
{
	struct err e;
	bool is_asked;
	int status = login_try_disks(t, ret, ret_count, ret_target, &is_asked, &e);
	if (!status || status > 128)
		return status;
	return is_asked ? tool_fail(status, &e) : attach_fail(status, from, &e);
}
