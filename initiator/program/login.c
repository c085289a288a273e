// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator login: attaches all disks of a target, by its URLs or a record, each by a
// process of its own. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "initiator/program/attach.h"
#include "initiator/program/entry.h"
#include "initiator/program/login.h"

struct login {
	struct tool *tool;	  // its URLs have no LUN
	const struct entry *from; // the record that has its options; NULL: none
	struct json_object *made; // the statuses of what was attached
	unsigned there;		  // disks that were attached already
	int status;		  // of the first failure
};

static const char *record_dir(const struct tool *t)
{
	return t->o.entry_dir ? t->o.entry_dir : RECORD_DIR;
}

// ---- one disk ----

static void on_ready(void *arg, struct json_object *status)
{
	struct login *l = arg;
	json_object_array_add(l->made, json_object_get(status));
	if (!l->tool->o.is_json)
		printf("%s %s\n", json_scalar_or_empty(status, "name"),
		       json_scalar_or_empty(status, "device"));
	fflush(stdout);
}

static bool is_attached(const struct tool *t, const char *name)
{
	struct holder_files f;
	struct err e;
	if (holder_files(&f, attach_run_dir(t), name, &e) < 0)
		return false;
	struct json_object *o = holder_ask(&f, "status", &e);
	json_object_put(o);
	return o || !holder_is_gone(&e);
}

// url/LUN; NULL: no memory.
static char *url_of(const char *url, unsigned lun)
{
	char *ret;
	size_t n = strlen(url);
	while (n && url[n - 1] == '/')
		n--;
	return asprintf(&ret, "%.*s/%u", (int)n, url, lun) < 0 ? NULL : ret;
}

static int attach_lun(struct login *l, const char *base, unsigned lun)
{
	struct tool own = *l->tool;
	char name[HOLDER_NAME_MAX + 1], *urls[TOOL_ARGS_MAX];
	struct err e;
	int status = TOOL_OK;
	attach_name(base, lun, name);
	own.o.name = name;
	own.o.stays = false;
	if (is_attached(&own, name)) {
		l->there++;
		return TOOL_OK;
	}
	for (unsigned i = 0; i < own.o.arg_count; i++) {
		own.o.args[i] = urls[i] = url_of(l->tool->o.args[i], lun);
		if (!urls[i])
			status = TOOL_NO_MEMORY;
	}
	if (status) {
		err_set(&e, -ENOMEM, "%s: out of memory", name);
		tool_fail(status, &e);
	} else {
		status = attach_disk(&own, l->from, on_ready, l);
	}
	for (unsigned i = 0; i < own.o.arg_count; i++)
		free(urls[i]);
	return status;
}

// ---- a target ----

// An interrupted login leaves nothing behind.
static void undo(struct login *l)
{
	for (size_t i = 0; i < json_object_array_length(l->made); i++) {
		struct holder_files f;
		struct err e;
		const char *name =
			json_scalar_or_empty(json_object_array_get_idx(l->made, i), "name");
		struct json_object *o = NULL;
		if (!holder_files(&f, attach_run_dir(l->tool), name, &e))
			o = holder_ask(&f, "detach", &e);
		if (!o || holder_answer_error(o, &e))
			tool_say("%s: cannot be detached again: %s", name, e.text);
		json_object_put(o);
	}
}

static void attach_all(struct login *l, const char *base, const uint16_t *luns, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int status = attach_lun(l, base, luns[i]);
		if (status > 128) {
			undo(l);
			l->status = status;
			return;
		}
		if (!l->status)
			l->status = status;
	}
}

static int conclude(struct login *l, const char *target, unsigned count)
{
	struct err e;
	if (l->status)
		return l->status;
	if (!count)
		err_set(&e, -ENOENT, "%s: no disks", target);
	else if (l->there == count)
		err_set(&e, -EEXIST, "%s: logged in already", target);
	else
		return TOOL_OK;
	return tool_fail(count ? TOOL_LOGGED_IN : TOOL_NOT_FOUND, &e);
}

static int save(struct tool *t, const char *target)
{
	struct err e;
	const char *name = t->o.name ? t->o.name : target;
	return record_save(t, record_dir(t), name, &e) < 0 ? tool_fail(TOOL_RECORD, &e) : TOOL_OK;
}

// name, from: the record; NULL: none.
static int login(struct tool *t, const char *name, const struct entry *from)
{
	static uint16_t luns[LOGIN_DISKS_MAX];
	char target[TOOL_TARGET_MAX];
	struct login l = { .tool = t, .from = from, .made = json_object_new_array() };
	unsigned count = 0;
	int status = login_disks(t, from, luns, &count, target);
	memcpy(t->target, target, sizeof target);
	if (!status) {
		t->login = name ? name : t->o.name ? t->o.name : target;
		attach_all(&l, t->login, luns, count);
		status = conclude(&l, target, count);
		if (t->o.is_json)
			printf("%s\n",
			       json_object_to_json_string_ext(l.made, JSON_C_TO_STRING_PRETTY));
		if (t->o.saves && (!status || status == TOOL_LOGGED_IN)) {
			int saved = save(t, target);
			status = saved ? saved : status;
		}
		t->login = NULL;
	}
	json_object_put(l.made);
	return status;
}

// ---- records ----

static int login_record(struct tool *t, const char *name, bool is_automatic, unsigned *ret_count)
{
	static struct entry n;
	struct tool own = *t;
	struct err e;
	int status = entry_options(&n, record_dir(t), name, TOOL_LOG_IN, &own.o, &e);
	if (status)
		return tool_fail(status, &e);
	if (is_automatic && n.is_manual)
		return TOOL_OK;
	(*ret_count)++;
	return login(&own, name, &n);
}

struct all {
	struct tool *tool;
	unsigned count;
	int status;
};

static void login_one(void *arg, const char *name)
{
	struct all *a = arg;
	if (a->status > 128)
		return;
	int status = login_record(a->tool, name, true, &a->count);
	if (!a->status || status > 128)
		a->status = status;
}

static int login_all(struct tool *t)
{
	struct all a = { .tool = t };
	struct err e;
	if (entry_each(record_dir(t), login_one, &a, &e) < 0)
		return tool_fail(TOOL_RECORD, &e);
	if (a.status || a.count)
		return a.status;
	err_set(&e, -ENOENT, "%s: no automatic records", record_dir(t));
	return tool_fail(TOOL_NOT_FOUND, &e);
}

static int check(const struct tool_options *o, bool is_record, struct err *e)
{
	const char *when = o->startup;
	if (!o->arg_count == !o->is_all)
		return err_set(e, -EINVAL, "login: one of URL, RECORD and --all is needed");
	if (when && strcmp(when, "automatic") && strcmp(when, "manual"))
		return err_set(e, -EINVAL, "--startup '%.40s': must be automatic or manual", when);
	if ((o->saves || o->name) && (o->is_all || is_record))
		return err_set(e, -EINVAL, "login: --%s is for URLs", o->saves ? "save" : "name");
	if (when && !o->saves)
		return err_set(e, -EINVAL, "--startup: only with --save");
	return 0;
}

static bool is_record(const struct tool_options *o)
{
	return o->arg_count == 1 && !attach_is_url(o->args[0]);
}

static int once(struct tool *t, const char **ret_login)
{
	unsigned ignored = 0;
	*ret_login = NULL;
	if (t->o.is_all)
		return login_all(t);
	if (is_record(&t->o)) {
		*ret_login = t->o.args[0];
		return login_record(t, t->o.args[0], false, &ignored);
	}
	*ret_login = t->o.name ? t->o.name : t->target;
	return login(t, NULL, NULL);
}

int login_run(struct tool *t)
{
	struct err e;
	const char *ignored;
	if (check(&t->o, is_record(&t->o), &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	return t->o.stays ? login_stay(t, once) : once(t, &ignored);
}
