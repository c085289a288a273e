// SPDX-License-Identifier: BSD-2-Clause
// session: ends a session, at once or by asking its initiator, and reports the result.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/top/wait.h"

#define LOOK_EVERY 0.05 // seconds
enum { GRACE_S = 8 };	// for the end of a session: the daemon checks once a second, and lingers

// The session's entry in the list of ended ones, or NULL: not ended yet.
static int ended(struct shell *s, int64_t sid, struct json_object **ret, struct err *e)
{
	struct json_object *params = json_object_new_object(), *list;
	json_object_object_add(params, "sid", json_object_new_int64(sid));
	int r = shell_call(s, "session.ended", params, &list, e);
	if (r < 0)
		return r;
	*ret = json_object_is_type(list, json_type_array)
		       ? json_object_get(json_object_array_get_idx(list, 0))
		       : NULL;
	json_object_put(list);
	return 0;
}

static void tell(struct shell *s, struct json_object *end, const char *sid)
{
	if (s->is_json)
		show_json(&s->look, end);
	else
		fprintf(s->look.out, "Session %s of %s ended: %s.\n", sid,
			text_field(end, "initiator"), text_field(end, "reason"));
}

static int wait_for_end(struct shell *s, const char *sid, double seconds, struct err *e)
{
	struct json_object *end = NULL;
	int r = ended(s, atoll(sid), &end, e);
	for (double waited = 0; !r && !end && waited < seconds; waited += LOOK_EVERY) {
		r = wait_seconds(LOOK_EVERY, e);
		if (!r)
			r = ended(s, atoll(sid), &end, e);
	}
	if (!r && !end)
		r = err_set(e, -ETIMEDOUT,
			    "session %s: still ending: commands are pending at the storage "
			    "(sessions detail %s shows them)",
			    sid, sid);
	if (end)
		tell(s, end, sid);
	json_object_put(end);
	return r;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *action = line_value(l, "action", 0), *sid = line_value(l, "sid", 1);
	const char *limit = line_value(l, "seconds", 2);
	int seconds = limit ? atoi(limit) : 10;
	if (!action || (strcmp(action, "drop") && strcmp(action, "drain")))
		return err_set(e, -EBADRQC, "session: expected drop SID or drain SID [seconds]");
	if (!sid || !*sid)
		return err_set(e, -EBADRQC, "missing session id (see sessions)");
	if (strlen(sid) > 18 || sid[strspn(sid, "0123456789")])
		return err_set(e, -EBADRQC, "invalid session id: '%.20s' (see sessions)", sid);
	if (limit && (!*limit || limit[strspn(limit, "0123456789")] || seconds < 1))
		return err_set(e, -EINVAL, "invalid seconds: '%.20s' (a number from 1)", limit);
	bool drains = !strcmp(action, "drain");
	struct json_object *params = json_object_new_object(), *o;
	json_object_object_add(params, "sid", json_object_new_int64(atoll(sid)));
	json_object_object_add(params, "drain", json_object_new_boolean(drains));
	if (drains)
		json_object_object_add(params, "seconds", json_object_new_int(seconds));
	int r = shell_call(s, "session.drop", params, &o, e);
	if (r < 0)
		return line_place(l, "seconds", 2, e), r;
	bool was_asked = flag_field(o, "asked");
	json_object_put(o);
	if (was_asked && !s->is_json)
		fprintf(s->look.out, "Asked session %s to log out within %d s.\n", sid, seconds);
	fflush(s->look.out);
	return wait_for_end(s, sid, (was_asked ? seconds : 0) + GRACE_S, e);
}

static const struct shell_param params[] = {
	{"action",							  "drop|drain", true, NULL,
	  "drop: end it at once; drain: ask its initiator to log out first" },
	{ "sid",							     "number", true, NULL, "session id (see sessions)" },
	{ "seconds", "number", false, "10", "drain: time to log out" },
	{ 0							   },
};

const struct shell_command command_session = {
	"session",
	params,
	"End a session.",
	run,
};
