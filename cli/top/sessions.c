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
	char count[16], read[16], written[16], p50[16], p99[16];
	rate_count_text(r->iops, count);
	rate_bytes_text(r->read, read);
	rate_bytes_text(r->written, written);
	rate_time_text(r->p50, p50);
	rate_time_text(r->p99, p99);
	fprintf(l->out, "%s%s IOPS, %s read, %s written, latency p50 %s p99 %s", indent, count,
		read, written, p50, p99);
}

static void show_negotiated(const struct look *l, struct json_object *s)
{
	struct json_object *p = field(s, "parameters");
	if (!json_object_is_type(p, json_type_object))
		return;
	fputs("    negotiated:", l->out);
	json_object_object_foreach(p, key, value)
		fprintf(l->out, " %s=%s", key, json_object_get_string(value));
	fputc('\n', l->out);
}

static struct json_object *find_sid(struct json_object *list, const char *sid)
{
	for (size_t i = 0; i < list_length(list); i++)
		if (!strcmp(text_field(json_object_array_get_idx(list, i), "sid"), sid))
			return json_object_array_get_idx(list, i);
	return NULL;
}

static double seconds_between(struct json_object *now, struct json_object *before)
{
	return (double)(json_object_get_int64(field(now, "clock_us")) -
			json_object_get_int64(field(before, "clock_us"))) /
	       1e6;
}

struct pair {
	struct json_object *before, *now; // of status.get
	double seconds;
};

static void show_lun(const struct look *l, const struct pair *p, struct json_object *lun)
{
	char path[300];
	snprintf(path, sizeof path, "/backstores/%s", text_field(lun, "storage_object"));
	struct json_object *disk = field(field(p->now, "storage_objects"), path);
	struct rate r = { 0 };
	show_mapped_lun(l, lun);
	rate_add(&r, disk, field(field(p->before, "storage_objects"), path), p->seconds);
	rate_finish(&r);
	show_rate(l, "        the disk: ", &r);
	fprintf(l->out, "; %s of this session in flight\n", text_field(lun, "commands_in_flight"));
}

static void show_detail(const struct look *l, const struct pair *p, struct json_object *s)
{
	struct json_object *old = find_sid(field(p->before, "sessions"), text_field(s, "sid"));
	struct json_object *luns = field(s, "luns");
	struct rate now = { 0 }, all = { 0 };
	show_session_head(l, s);
	fprintf(l->out, "    target: %s tpg%s acl: %s proven: %s\n", text_field(s, "target"),
		text_field(s, "tpg"),
		json_object_get_boolean(field(s, "dynamic_acl")) ? "dynamic" : "static",
		text_field(s, "auth"));
	size_t shown = list_length(luns);
	for (size_t i = 0; i < shown; i++)
		show_lun(l, p, json_object_array_get_idx(luns, i));
	int64_t count = json_object_get_int64(field(s, "lun_count"));
	if (count > (int64_t)shown)
		fprintf(l->out, "    ... and %lld more\n", (long long)(count - (int64_t)shown));
	show_session_address(l, s);
	fprintf(l->out, "    portal: %s isid: %s tsih: %s worker: %s\n", text_field(s, "local"),
		text_field(s, "isid"), text_field(s, "tsih"), text_field(s, "worker"));
	show_negotiated(l, s);
	rate_add(&now, s, old, old ? p->seconds : 0);
	rate_finish(&now);
	show_rate(l, "    now: ", &now);
	fprintf(l->out, "; %s of %s commands in flight\n", text_field(s, "commands_in_flight"),
		text_field(s, "window"));
	rate_add(&all, s, NULL, (double)json_object_get_int64(field(s, "age_s")) + 0.5);
	rate_finish(&all);
	show_rate(l, "    since login: ", &all);
	fprintf(l->out, "; %s s, %s commands\n", text_field(s, "age_s"), text_field(s, "commands"));
}

static void put_rates(struct json_object *s, const struct pair *p)
{
	struct json_object *old = find_sid(field(p->before, "sessions"), text_field(s, "sid"));
	struct json_object *o = json_object_new_object();
	struct rate r = { 0 };
	rate_add(&r, s, old, old ? p->seconds : 0);
	rate_finish(&r);
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
	struct json_object *list = field(p.now, "sessions"), *out = json_object_new_array();
	p.seconds = seconds_between(p.now, p.before);
	for (size_t i = 0; !r && i < list_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		if (!json_object_is_type(one, json_type_object) ||
		    (sid && strcmp(text_field(one, "sid"), sid)))
			continue;
		json_object_array_add(out, json_object_get(one));
		if (s->is_json)
			put_rates(one, &p);
		else
			show_detail(&s->look, &p, one);
	}
	if (!r && sid && !list_length(out))
		r = err_set(e, -ENOENT, "no session %s", sid);
	else if (!r && s->is_json)
		show_json(&s->look, out);
	else if (!r && !list_length(out))
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
	if (sid && !list_length(o))
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
