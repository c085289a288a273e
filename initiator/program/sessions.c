// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator sessions: every path of every attached disk, as its process tells it. The
// program's thread.
#include "initiator/program/sessions.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "core/json/json.h"
#include "initiator/holder/holder.h"
#include "initiator/iscsi/url.h"
#include "initiator/program/attach.h"
#include "initiator/srp/address.h"
#include "initiator/srp/initiator.h"

struct gathering {
	struct tool *tool;
	struct json_object *sessions;
	unsigned hidden; // attachments of another user
	int status;	 // of a process that did not answer
};

static void copy(struct json_object *to, const char *to_key, struct json_object *from,
		 const char *key)
{
	struct json_object *v;
	if (json_object_object_get_ex(from, key, &v))
		json_object_object_add(to, to_key, json_object_get(v));
}

static void add_names(struct json_object *o, const char *transport, const char *target,
		      const char *portal)
{
	json_object_object_add(o, "transport", json_object_new_string(transport));
	json_object_object_add(o, "target", json_object_new_string(target));
	json_object_object_add(o, "portal", json_object_new_string(portal));
}

static void srp_portal(const char *text, char *ret, size_t size)
{
	struct iscsi_address a;
	struct err ignored;
	if (iscsi_address_parse(text, &a, &ignored))
		return;
	if (!a.has_port)
		a.port = SRPS_PORT;
	iscsi_address_format(&a, ret, size);
}

// Between two sessions a path has no more than its URL.
static void add_from_url(struct json_object *o, const char *url)
{
	struct ini_url i;
	struct srps_address s;
	struct err ignored;
	char port[SRPS_PORT_ID_TEXT], portal[ISCSI_HOST_MAX + 16] = "";
	if (!ini_url_parse(url, &i, &ignored)) {
		iscsi_address_format(&i.portal, portal, sizeof portal);
		add_names(o, i.is_iser ? "iser" : "tcp", i.target, portal);
	} else if (!srps_address_parse(url, &s, &ignored)) {
		srp_portal(s.portal, portal, sizeof portal);
		add_names(o, "srp", srps_port_id_format(s.target, port), portal);
	}
}

// Unique on this machine, the same for as long as the process lives.
static int64_t sid_of(struct json_object *disk, unsigned path)
{
	struct json_object *v;
	int64_t pid = json_object_object_get_ex(disk, "pid", &v) ? json_object_get_int64(v) : 0;
	return pid * DISK_PATHS_MAX + path;
}

static struct json_object *session_of(struct json_object *disk, struct json_object *path,
				      unsigned index)
{
	static const char *const of_disk[] = { "name", "login", "device", "pid", "no_path_retry" };
	static const char *const of_path[] = { "url",	    "lun",    "state",	    "alua",
					       "peer",	    "local",  "reconnects", "failovers",
					       "commands",  "errors", "bytes_read", "bytes_written",
					       "last_error" };
	struct json_object *o = json_object_new_object(), *session;
	json_object_object_add(o, "sid", json_object_new_int64(sid_of(disk, index)));
	for (size_t i = 0; i < sizeof of_disk / sizeof *of_disk; i++)
		copy(o, of_disk[i], disk, of_disk[i]);
	copy(o, "disk_state", disk, "state");
	for (size_t i = 0; i < sizeof of_path / sizeof *of_path; i++)
		copy(o, of_path[i], path, of_path[i]);
	if (json_object_object_get_ex(path, "session", &session)) {
		json_object_object_foreach(session, key, value)
			json_object_object_add(o, key, json_object_get(value));
	}
	if (!json_object_object_get_ex(o, "target", NULL))
		add_from_url(o, json_scalar_or_empty(o, "url"));
	return o;
}

static bool is_wanted(const struct tool *t, struct json_object *session)
{
	static const char *const keys[] = { "sid", "name", "login", "target" };
	if (!t->o.arg_count)
		return true;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(t->o.args[0], json_scalar_or_empty(session, keys[i])))
			return true;
	return false;
}

static bool found(void *arg, const char *name)
{
	struct gathering *l = arg;
	struct holder_files f;
	struct err e;
	struct json_object *disk = NULL, *paths;
	if (!holder_files(&f, attach_run_dir(l->tool), name, &e)) {
		disk = holder_ask(&f, "status", &e);
		l->hidden += !disk && e.code == -EACCES;
		if (!disk && e.code != -EACCES && !holder_is_gone(&e))
			l->status = tool_fail_by(&e);
	}
	if (!disk || !json_object_object_get_ex(disk, "paths", &paths) ||
	    !json_object_is_type(paths, json_type_array)) {
		json_object_put(disk);
		return true; // a process that has died has no session
	}
	for (unsigned i = 0; i < json_object_array_length(paths); i++) {
		struct json_object *o = session_of(disk, json_object_array_get_idx(paths, i), i);
		if (is_wanted(l->tool, o))
			json_object_array_add(l->sessions, o);
		else
			json_object_put(o);
	}
	json_object_put(disk);
	return true;
}

static int by_target(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a,
			   *y = *(struct json_object *const *)b;
	int r = strcmp(json_scalar_or_empty(x, "target"), json_scalar_or_empty(y, "target"));
	if (!r)
		r = strcmp(json_scalar_or_empty(x, "portal"), json_scalar_or_empty(y, "portal"));
	return r ? r : strcmp(json_scalar_or_empty(x, "name"), json_scalar_or_empty(y, "name"));
}

int sessions_run(struct tool *t)
{
	struct gathering l = { .tool = t, .sessions = json_object_new_array() };
	unsigned level = t->o.level == TOOL_UNSET ? 0 : (unsigned)t->o.level;
	struct err e;
	int status = TOOL_OK;
	if (holder_each(attach_run_dir(t), found, &l, &e) < 0)
		status = tool_fail_by(&e);
	json_object_array_sort(l.sessions, by_target);
	if (!status && t->o.is_json)
		printf("%s\n", json_object_to_json_string_ext(l.sessions, JSON_C_TO_STRING_PRETTY));
	else if (!status)
		sessions_print(l.sessions, level);
	size_t shown = json_object_array_length(l.sessions);
	if (!status && !(shown && t->o.arg_count))
		status = attach_say_hidden(l.hidden, (unsigned)shown);
	if (!status)
		status = l.status;
	if (!status && !shown) {
		err_set(&e, -ENOENT, "No active sessions.");
		status = tool_fail(TOOL_NOT_FOUND, &e);
	}
	json_object_put(l.sessions);
	return status;
}
