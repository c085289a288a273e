// SPDX-License-Identifier: BSD-2-Clause
// sessions: lists the sessions, or one in detail. Rates are differences of the daemon's counters
// over a short interval.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/top/rates.h"
#include "cli/top/wait.h"

#define INTERVAL_DEFAULT 0.25
#define INTERVAL_MAX	 60.0

// ---- one session ----

static void show_rate(const struct look *l, const char *indent, const struct rate *r)
{
	struct rate_texts t = rate_texts(r);
	fprintf(l->out, "%s%s IOPS, %s read, %s written, latency p50 %s p99 %s", indent, t.iops,
		t.read, t.written, t.p50, t.p99);
}

static void show_negotiated(const struct look *l, struct json_object *s)
{
	struct json_object *p = json_field(s, "parameters");
	if (!json_object_is_type(p, json_type_object))
		return;
	fputs("    negotiated:", l->out);
	json_object_object_foreach(p, key, value)
		fprintf(l->out, " %s=%s", key, json_object_get_string(value));
	fputc('\n', l->out);
}

struct pair {
	struct json_object *before, *now; // of status.get
	double seconds;
};

static void show_lun(const struct look *l, const struct pair *p, struct json_object *lun)
{
	char path[300];
	snprintf(path, sizeof path, "/backstores/%s", text_field(lun, "storage_object"));
	struct json_object *disk = json_field(json_field(p->now, "storage_objects"), path);
	struct json_object *old = json_field(json_field(p->before, "storage_objects"), path);
	struct rate r = rate_of(disk, old, p->seconds);
	show_mapped_lun(l, lun);
	show_rate(l, "        the disk: ", &r);
	fprintf(l->out, "; %s of this session in flight\n", text_field(lun, "commands_in_flight"));
}

static void show_detail(const struct look *l, const struct pair *p, struct json_object *s)
{
	struct json_object *old = rate_session(p->before, text_field(s, "sid"));
	int64_t shown = (int64_t)json_count(json_field(s, "luns"));
	struct rate now = rate_of(s, old, old ? p->seconds : 0);
	struct rate all = rate_of(s, NULL, (double)number_field(s, "age_s") + 0.5);
	show_session_head(l, s);
	fprintf(l->out, "    target: %s tpg%s acl: %s proven: %s\n", text_field(s, "target"),
		text_field(s, "tpg"), flag_field(s, "dynamic_acl") ? "dynamic" : "static",
		text_field(s, "auth"));
	json_each (lun, json_field(s, "luns"))
		show_lun(l, p, lun);
	if (number_field(s, "lun_count") > shown)
		fprintf(l->out, "    ... and %lld more\n",
			(long long)(number_field(s, "lun_count") - shown));
	show_session_address(l, s);
	fprintf(l->out, "    portal: %s", text_field(s, "local"));
	show_isid(l, s);
	show_session_field(l, s, "tsih");
	fprintf(l->out, " worker: %s\n", text_field(s, "worker"));
	show_negotiated(l, s);
	show_rate(l, "    now: ", &now);
	fprintf(l->out, "; %s of %s commands in flight\n", text_field(s, "commands_in_flight"),
		text_field(s, "window"));
	show_rate(l, "    since login: ", &all);
	fprintf(l->out, "; %s s, %s commands\n", text_field(s, "age_s"), text_field(s, "commands"));
}

static void put_rates(struct json_object *s, const struct pair *p)
{
	struct json_object *old = rate_session(p->before, text_field(s, "sid"));
	struct json_object *o = json_object_new_object();
	struct rate r = rate_of(s, old, old ? p->seconds : 0);
	rate_put(o, &r);
	json_object_object_add(o, "interval_s", json_object_new_double(p->seconds));
	json_object_object_add(s, "rates", o);
}

// ---- the command ----

static int detail(struct shell *s, const char *sid, double interval, struct err *e)
{
	struct pair p = { 0 };
	int r = shell_call(s, "status.get", NULL, &p.before, e);
	if (!r)
		r = wait_seconds(interval, e);
	if (!r)
		r = shell_call(s, "status.get", NULL, &p.now, e);
	struct json_object *out = json_object_new_array();
	p.seconds = rate_seconds(p.now, p.before);
	json_each (one, json_field(p.now, "sessions")) {
		if (!json_object_is_type(one, json_type_object) ||
		    (sid && strcmp(text_field(one, "sid"), sid)))
			continue;
		json_object_array_add(out, json_object_get(one));
		if (s->is_json)
			put_rates(one, &p);
		else
			show_detail(&s->look, &p, one);
	}
	if (!r && sid && !json_count(out))
		r = err_set(e, -ENOENT, "no session %s", sid);
	else if (!r && s->is_json)
		show_json(&s->look, out);
	else if (!r && !json_count(out))
		fputs("(no open sessions)\n", s->look.out);
	json_object_put(out);
	json_object_put(p.before);
	json_object_put(p.now);
	return r;
}

static int list(struct shell *s, const char *sid, struct err *e)
{
	struct json_object *params = json_object_new_object(), *o;
	if (sid)
		json_object_object_add(params, "sid", json_object_new_int64(atoll(sid)));
	int r = shell_call(s, "session.list", params, &o, e);
	if (r < 0)
		return r;
	if (sid && !json_count(o))
		r = err_set(e, -ENOENT, "no session %s", sid);
	else if (s->is_json)
		show_json(&s->look, o);
	else
		show_sessions(&s->look, o);
	json_object_put(o);
	return r;
}

static bool is_sid(const char *text)
{
	return *text && *text != '0' && strlen(text) < 19 && !text[strspn(text, "0123456789")];
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	const char *action = line_value(l, "action", 0), *sid = line_value(l, "sid", 1);
	const char *interval = line_value(l, "interval", 2);
	char *end = NULL;
	double seconds = interval ? strtod(interval, &end) : INTERVAL_DEFAULT;
	if (action && strcmp(action, "list") && strcmp(action, "detail"))
		return err_set(e, -EINVAL, "invalid action: '%.20s' (use list or detail)", action);
	if (sid && !is_sid(sid))
		return err_set(e, -EINVAL, "invalid session id: '%.20s' (see sessions)", sid);
	if (interval && (end == interval || *end || !(seconds > 0 && seconds <= INTERVAL_MAX)))
		return err_set(e, -EINVAL, "invalid interval: '%.20s' (above 0, up to 60 seconds)",
			       interval);
	return action && !strcmp(action, "detail") ? detail(s, sid, seconds, e) : list(s, sid, e);
}

static const struct shell_param params[] = {
	{"action",	    "list|detail", false, "list", "amount of detail" },
	{ "sid",		 "number", false, NULL, "show only this session" },
	{ "interval", "number", false, "0.25", "seconds over which detail measures rates" },
	{ 0	     },
};

const struct shell_command command_sessions = {
	"sessions",
	params,
	"List sessions of every transport.",
	run,
};
