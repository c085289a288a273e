// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator detach and attached. The program's thread.
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <string.h>

#include "core/attr.h"
#include "core/json/json.h"
#include "core/lockfile.h"
#include "initiator/holder/holder.h"
#include "initiator/program/attach.h"
#include "initiator/program/udev.h"

struct all {
	struct tool *tool;
	const char *wanted; // a name or device; NULL: all
	bool is_login;	    // ... or what was given to login
	unsigned found;
	unsigned hidden; // of another user
	int status;
	struct json_object *json;
};

static bool is_of_login(const struct all *a, struct json_object *state)
{
	const char *login = state ? json_scalar_or_empty(state, "login") : "";
	return *login && (!a->wanted || !strcmp(a->wanted, login));
}

static bool is_wanted(const struct all *a, const char *name, struct json_object *state)
{
	if (a->is_login)
		return is_of_login(a, state);
	return !a->wanted || !strcmp(a->wanted, name) ||
	       (state && !strcmp(a->wanted, json_scalar_or_empty(state, "device")));
}

// One that fails does not keep the others; the first failure counts.
static void first_status(struct all *a, int status)
{
	if (!a->status)
		a->status = status;
}

// ---- detach ----

enum { AGAIN = 200, AGAIN_MS = 50 }; // attempts, while a process begins or ends

static bool is_gone(struct json_object *o, const struct err *e)
{
	return !o && holder_is_gone(e);
}

// Asks its process, or if that has died its keeper, which would bring the disk back. Without both
// it clears what is left.
static int detach_once(struct tool *t, const struct holder_files *f, const char *name,
		       struct err *e)
{
	const char *request = t->o.is_forced ? "detach force" : "detach";
	struct json_object *o = holder_ask(f, request, e);
	if (is_gone(o, e))
		o = attach_keep_ask(attach_run_dir(t), name, request, e);
	if (is_gone(o, e))
		return holder_clear(attach_run_dir(t), name, carrier_find, t->o.is_forced, e);
	if (!o)
		return e->code;
	int r = holder_answer_error(o, e);
	json_object_put(o);
	return r;
}

static int detach_one(struct tool *t, const char *name, struct err *e)
{
	struct holder_files f;
	int r = holder_files(&f, attach_run_dir(t), name, e);
	if (r)
		return r;
	r = detach_once(t, &f, name, e);
	for (unsigned i = 0; r == -EAGAIN && i < AGAIN; i++) {
		poll(NULL, 0, AGAIN_MS);
		r = detach_once(t, &f, name, e);
	}
	return r;
}

static bool detach_found(void *arg, const char *name)
{
	struct all *a = arg;
	struct holder_files f;
	struct err e;
	struct json_object *state = NULL;
	if (!holder_files(&f, attach_run_dir(a->tool), name, &e))
		state = holder_state_read(&f, &e);
	if (is_wanted(a, name, state)) {
		a->found++;
		if (detach_one(a->tool, name, &e) < 0)
			first_status(a, tool_fail_by(&e));
	}
	json_object_put(state);
	return true;
}

static void detach_lost(void *arg, const char *name, pid_t pid)
{
	struct all *a = arg;
	struct err e;
	if (a->is_login || (a->wanted && strcmp(a->wanted, name)))
		return;
	a->found++;
	if (holder_end_lost(name, pid, &e) < 0)
		first_status(a, tool_fail_by(&e));
}

// Before it has a state, or as it ends.
static bool is_attaching(const struct all *a, struct err *e)
{
	struct holder_files f;
	pid_t pid;
	if (!a->wanted || a->is_login || holder_files(&f, attach_run_dir(a->tool), a->wanted, e) ||
	    !lockfile_is_held(f.lock, &pid))
		return false;
	if (pid)
		err_set(e, -EBUSY, "%s: a process is attaching it (kill %d ends that)", a->wanted,
			(int)pid);
	else
		err_set(e, -EBUSY, "%s: a process is attaching it", a->wanted);
	return true;
}

// A process whose device has ended leaves no state.
static bool is_kept(const struct all *a)
{
	struct err ignored;
	return a->wanted && !a->is_login &&
	       attach_keep_check(attach_run_dir(a->tool), a->wanted, &ignored) < 0;
}

static int not_found(const struct all *a)
{
	struct err e;
	if (is_kept(a))
		return detach_one(a->tool, a->wanted, &e) < 0 ? tool_fail_by(&e) : TOOL_OK;
	if (is_attaching(a, &e))
		return tool_fail_by(&e);
	err_set(&e, -ENOENT, "%.100s: not %s", a->wanted ? a->wanted : "any target",
		a->is_login ? "logged in" : "attached");
	return tool_fail(TOOL_NOT_FOUND, &e);
}

static int detach_each(struct tool *t, bool is_login)
{
	struct all a = { .tool = t, .is_login = is_login };
	struct err e;
	if (!t->o.arg_count == !t->o.is_all) {
		err_set(&e, -EINVAL, "%s and --all is needed",
			is_login ? "logout: one of RECORD, TARGET" : "detach: one of NAME, DEVICE");
		return tool_fail(TOOL_USAGE, &e);
	}
	for (unsigned i = 0; i < t->o.arg_count || (t->o.is_all && !i); i++) {
		a.wanted = t->o.is_all ? NULL : t->o.args[i];
		a.found = 0;
		if (holder_each(attach_run_dir(t), detach_found, &a, &e) < 0)
			return tool_fail_by(&e);
		if (!a.wanted || !a.found)
			holder_each_lost(attach_run_dir(t), detach_lost, &a);
		if ((a.wanted || is_login) && !a.found)
			first_status(&a, not_found(&a));
	}
	return a.status;
}

int detach_run(struct tool *t)
{
	return detach_each(t, false);
}

int logout_run(struct tool *t)
{
	return detach_each(t, true);
}

int logout_of(const struct tool *t, const char *login)
{
	struct tool own = *t;
	own.o.is_all = !login;
	own.o.arg_count = login ? 1 : 0;
	own.o.args[0] = login;
	return detach_each(&own, true);
}

// ---- attached ----

static void print_paths(struct json_object *o)
{
	struct json_object *paths;
	if (!json_object_object_get_ex(o, "paths", &paths) ||
	    !json_object_is_type(paths, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(paths); i++) {
		struct json_object *p = json_object_array_get_idx(paths, i);
		const char *alua = json_scalar_or_empty(p, "alua"),
			   *why = json_scalar_or_empty(p, "last_error");
		printf("  %-10s %s%s%s", json_scalar_or_empty(p, "state"),
		       json_scalar_or_empty(p, "url"), *alua ? ", " : "", alua);
		printf("%s%s\n", *why ? "; last error: " : "", why);
	}
}

static void print_notices(struct json_object *o)
{
	struct json_object *list;
	if (!json_object_object_get_ex(o, "notices", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		printf("  %s\n", json_scalar_or_empty(json_object_array_get_idx(list, i), "text"));
}

static void print_one(struct json_object *o)
{
	struct json_object *v;
	char size[32];
	format_size(json_object_object_get_ex(o, "bytes", &v) ? json_object_get_uint64(v) : 0,
		    size);
	printf("%s  %s  %s  %s  %s  %s\n", json_scalar_or_empty(o, "name"),
	       json_scalar_or_empty(o, "device"), json_scalar_or_empty(o, "via"), size,
	       json_scalar_or_empty(o, "state"), json_scalar_or_empty(o, "identity"));
	print_paths(o);
	if (!strcmp(json_scalar_or_empty(o, "fence"), "reservation"))
		printf("  fence      reservation\n");
	print_notices(o);
}

// What its process says; of a dead one, or one that does not answer, what is in its file.
static struct json_object *status_of(const struct holder_files *f, struct err *e)
{
	struct json_object *o = holder_ask(f, "status", e);
	if (o || e->code == -EACCES)
		return o;
	const char *state = holder_is_gone(e) ? "dead" : "silent";
	if (!holder_is_gone(e))
		tool_say("%s", e->text);
	o = holder_state_read(f, e);
	if (o) {
		json_object_object_add(o, "state", json_object_new_string(state));
		json_object_object_del(o, "paths");
		json_object_object_del(o, "notices");
	}
	return o;
}

static bool is_named(const struct all *a, const char *name)
{
	return !a->wanted || !strcmp(a->wanted, name);
}

static bool attached_found(void *arg, const char *name)
{
	struct all *a = arg;
	struct holder_files f;
	struct err e;
	if (holder_files(&f, attach_run_dir(a->tool), name, &e) < 0)
		return true;
	struct json_object *o = status_of(&f, &e);
	a->hidden += !o && e.code == -EACCES;
	if (!o && e.code != -EACCES && e.code != -ENOENT && is_named(a, name))
		tool_say("%s", e.text); // its process has died, and left no more
	if (!o || !is_wanted(a, name, o)) {
		json_object_put(o);
		return true;
	}
	a->found++;
	if (!a->tool->o.is_json)
		print_one(o);
	if (a->tool->o.is_json)
		json_object_array_add(a->json, o);
	else
		json_object_put(o);
	return true;
}

// Its files were removed, and with them what it could be asked.
static void attached_lost(void *arg, const char *name, pid_t pid)
{
	struct all *a = arg;
	if (!is_named(a, name))
		return;
	a->found++;
	if (!a->tool->o.is_json) {
		printf("%s  lost: process %d holds it; its files in %s were removed (detach %s "
		       "ends it)\n",
		       name, (int)pid, attach_run_dir(a->tool), name);
		return;
	}
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "state", json_object_new_string("lost"));
	json_object_object_add(o, "pid", json_object_new_int(pid));
	json_object_array_add(a->json, o);
}

// From the state file alone: udev does not wait for a process.
static bool export_found(void *arg, const char *name)
{
	struct all *a = arg;
	struct holder_files f;
	struct err e;
	if (holder_files(&f, attach_run_dir(a->tool), name, &e) < 0)
		return true;
	struct json_object *state = holder_state_read(&f, &e);
	int partition =
		state ? udev_partition(json_scalar_or_empty(state, "device"), a->wanted) : -1;
	if (partition >= 0) {
		a->found++;
		udev_print(stdout, state, partition);
	}
	json_object_put(state);
	return partition < 0;
}

static int export_run(struct all *a)
{
	struct err e;
	if (!a->wanted) {
		err_set(&e, -EINVAL, "attached: --export needs DEVICE");
		return tool_fail(TOOL_USAGE, &e);
	}
	if (holder_each(attach_run_dir(a->tool), export_found, a, &e) < 0)
		return tool_fail_by(&e);
	if (a->found)
		return TOOL_OK;
	err_set(&e, -ENOENT, "%.100s: not attached", a->wanted);
	return tool_fail(TOOL_NOT_FOUND, &e);
}

int attach_say_hidden(unsigned hidden, unsigned shown)
{
	if (!hidden)
		return TOOL_OK;
	tool_say("%u attachment%s not shown: permission denied (run as root)", hidden,
		 hidden == 1 ? " is" : "s are");
	return shown ? TOOL_OK : TOOL_PERMISSION;
}

// What was asked for may be what is hidden.
static int attached_status(const struct all *a)
{
	struct err e;
	int status = a->wanted && a->found ? TOOL_OK : attach_say_hidden(a->hidden, a->found);
	if (status || !a->wanted || a->found)
		return status;
	err_set(&e, -ENOENT, "%.100s: not attached", a->wanted);
	return tool_fail(TOOL_NOT_FOUND, &e);
}

int attached_run(struct tool *t)
{
	struct all a = { .tool = t, .wanted = t->o.arg_count ? t->o.args[0] : NULL };
	struct err e;
	if (t->o.is_export)
		return export_run(&a);
	a.json = json_object_new_array();
	if (holder_each(attach_run_dir(t), attached_found, &a, &e) < 0) {
		a.status = tool_fail_by(&e);
	} else {
		if (!a.wanted || !a.found)
			holder_each_lost(attach_run_dir(t), attached_lost, &a);
		a.status = attached_status(&a);
		if (t->o.is_json && a.status != TOOL_NOT_FOUND)
			printf("%s\n",
			       json_object_to_json_string_ext(a.json, JSON_C_TO_STRING_PRETTY));
	}
	json_object_put(a.json);
	return a.status;
}
