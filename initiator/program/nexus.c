// SPDX-License-Identifier: BSD-2-Clause
// See nexus.h.
#include "initiator/program/nexus.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "core/lockfile.h"

static int refuse(const struct tool_path *path, const char *url, const char *other, struct err *e)
{
	err_set(e, -EINVAL, "%.100s: has the initiator port %s, as %.60s (%s)", url, path->port,
		other, path->port_cure);
	return TOOL_USAGE;
}

// ---- other attachments ----

struct search {
	const char *run_dir;
	const struct tool_path *path;
	const char *own; // which is refused as attached already
	char found[HOLDER_NAME_MAX + 1];
};

static bool is_of(const struct tool_path *path, struct json_object *session)
{
	const char *port = json_text_or_empty(session, "isid");
	if (!*port)
		port = json_text_or_empty(session, "initiator");
	return !strcmp(port, path->port) &&
	       !strcmp(json_text_or_empty(session, "target"), path->target);
}

static bool has_nexus(const struct tool_path *path, struct json_object *state)
{
	struct json_object *paths = json_field(state, "paths");
	size_t n =
		json_object_is_type(paths, json_type_array) ? json_object_array_length(paths) : 0;
	for (size_t i = 0; i < n; i++) {
		struct json_object *session =
			json_field(json_object_array_get_idx(paths, i), "session");
		if (session && is_of(path, session))
			return true;
	}
	return false;
}

// A dead process has no session.
static bool look(void *arg, const char *name)
{
	struct search *s = arg;
	struct holder_files f;
	struct err ignored;
	pid_t pid;
	if (!strcmp(name, s->own) || holder_files(&f, s->run_dir, name, &ignored) ||
	    !lockfile_is_held(f.lock, &pid))
		return true;
	struct json_object *o = holder_state_read(&f, &ignored);
	if (o && has_nexus(s->path, o))
		snprintf(s->found, sizeof s->found, "%s", name);
	json_object_put(o);
	return !s->found[0];
}

// ---- the border ----

int nexus_check(const struct attach_plan *p, unsigned i, struct err *e)
{
	const struct tool_options *o = &p->tool->o;
	const struct tool_path *new = &p->paths[i];
	struct search s = { .run_dir = attach_run_dir(p->tool), .own = p->name, .path = new };
	struct err ignored;
	if (!*new->port)
		return TOOL_OK;
	for (unsigned n = 0; n < i; n++) {
		const struct tool_path *old = &p->paths[n];
		if (!strcmp(new->port, old->port) && !strcmp(new->target, old->target))
			return refuse(new, o->args[i], o->args[n], e);
	}
	if (o->isid || o->initiator_port)
		holder_each(s.run_dir, look, &s, &ignored);
	return s.found[0] ? refuse(new, o->args[i], s.found, e) : TOOL_OK;
}
