// SPDX-License-Identifier: BSD-2-Clause
// Settings, sessions and help as text.
#include "cli/shell/show.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/shell/client.h"
#include "cli/shell/control_characters.h"

enum { RULE_MAX = 511 };

struct winsize terminal_size(FILE *out)
{
	struct winsize w;
	bool is_known = !ioctl(fileno(out), TIOCGWINSZ, &w) && w.ws_col;
	return is_known ? w : (struct winsize){ .ws_row = 24, .ws_col = 80 };
}

void look_resize(struct look *l)
{
	struct winsize w;
	l->width = WIDTH_MAX;
	if (!ioctl(fileno(l->out), TIOCGWINSZ, &w) && w.ws_col >= 40 && w.ws_col < WIDTH_MAX)
		l->width = w.ws_col;
}

void look_init(struct look *l, FILE *out)
{
	*l = (struct look){ .out = out };
	look_choose(l);
	look_resize(l);
}

const struct preferences *look_prefs(const struct look *l)
{
	return l->prefs ? l->prefs : preferences_default();
}

void look_choose(struct look *l)
{
	const char *none = getenv("NO_COLOR");
	l->has_color = l->when == COLOR_ALWAYS;
	if (l->when == COLOR_AUTO)
		l->has_color =
			look_prefs(l)->color_mode && isatty(fileno(l->out)) && !(none && *none);
}

void show_json(const struct look *l, struct json_object *o)
{
	control_print_json(l->out,
			   json_object_to_json_string_ext(
				   o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	fputc('\n', l->out);
}

void show_json_once(const struct look *l, struct json_object *o)
{
	show_json(l, o);
	json_object_put(o);
}

// A list of plain values on one line.
static void data_row(const struct look *l, struct json_object *v)
{
	json_each (one, v)
		fprintf(l->out, "%s%s", one_at > json_entries(v) ? " " : "",
			one ? json_object_get_string(one) : "");
	fputc('\n', l->out);
}

// ---- get ----

static void show_setting(const struct look *l, struct json_object *row)
{
	fprintf(l->out, "%s=%s%s\n", text_field(row, "name"), text_field(row, "value"),
		json_field(row, "readonly") ? " [ro]" : "");
}

static void show_row(const struct look *l, struct json_object *row)
{
	show_setting(l, row);
	size_t n = strlen(text_field(row, "name")) + 1 + strlen(text_field(row, "value")) +
		   (json_field(row, "readonly") ? strlen(" [ro]") : 0);
	for (size_t i = 0; i < n && i < RULE_MAX; i++)
		fputc('-', l->out);
	const char *unit = text_field(row, "unit");
	fprintf(l->out, "\n%s (%s%s%s)\n\n", text_field(row, "help"), text_field(row, "range"),
		*unit ? " " : "", unit);
}

void show_settings(const struct look *l, struct json_object *data)
{
	struct json_object *groups = json_field(data, "groups"), *rows = json_field(data, "rows");
	if (groups) {
		fputs("AVAILABLE CONFIGURATION GROUPS\n==============================\n", l->out);
		data_row(l, groups);
		return;
	}
	size_t n = json_count(rows);
	if (n == 1) {
		show_setting(l, json_object_array_get_idx(rows, 0));
		return;
	}
	fprintf(l->out, "%s CONFIG GROUP\n\n", text_field(data, "group"));
	json_each (row, rows)
		show_row(l, row);
}

// ---- sessions ----

// A field that not every protocol has.
void show_session_field(const struct look *l, struct json_object *s, const char *name)
{
	if (json_field(s, name))
		fprintf(l->out, " %s: %s", name, text_field(s, name));
}

void show_isid(const struct look *l, struct json_object *s)
{
	const char *of = text_field(s, "isid_of");
	show_session_field(l, s, "isid");
	if (*of)
		fprintf(l->out, " (%s)", of);
}

static void show_session_line(const struct look *l, struct json_object *s)
{
	const char *alias = text_field(s, "alias");
	fprintf(l->out, "alias: %s\tsid: %s type: %s session-state: LOGGED_IN",
		*alias ? alias : text_field(s, "initiator"), text_field(s, "sid"),
		text_field(s, "type"));
}

void show_session_head(const struct look *l, struct json_object *s)
{
	bool is_proven = flag_field(s, "authenticated");
	show_session_line(l, s);
	fprintf(l->out, "\n    name: %s (%s)\n", text_field(s, "initiator"),
		is_proven ? "authenticated" : "NOT AUTHENTICATED");
}

void show_mapped_lun(const struct look *l, struct json_object *lun)
{
	bool is_ro = flag_field(lun, "write_protect");
	fprintf(l->out, "    mapped-lun: %s backstore: %s mode: %s\n", text_field(lun, "lun"),
		text_field(lun, "storage_object"), is_ro ? "r" : "rw");
}

void show_session_address(const struct look *l, struct json_object *s)
{
	const char *transport = text_field(s, "transport"), *carrier = text_field(s, "carrier");
	bool is_carried = *carrier && strcmp(carrier, transport); // TCP is its own
	fprintf(l->out, "    address: %s (%s%s%s) ", text_field(s, "peer"), transport,
		is_carried ? " over " : "", is_carried ? carrier : "");
	show_session_field(l, s, "cid");
	show_session_field(l, s, "channels");
	fputs(" connection-state: LOGGED_IN\n", l->out);
}

void show_sessions(const struct look *l, struct json_object *list)
{
	if (!json_count(list))
		fputs("(no open sessions)\n", l->out);
	json_each (session, list) {
		show_session_line(l, session);
		show_isid(l, session);
		fputc('\n', l->out);
	}
}

// ---- refusals ----

// Seconds since 1970 as local time.
static void when_text(int64_t seconds, char out[32])
{
	struct tm tm;
	time_t t = (time_t)seconds;
	if (!localtime_r(&t, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm))
		*out = 0;
}

static void show_refusal(const struct look *l, struct json_object *o)
{
	char first[32], last[32];
	const char *initiator = text_field(o, "initiator"), *target = text_field(o, "target");
	// Without both the peer was refused before it named any.
	const char *other = *initiator ? "(discovery)" : "(unknown)";
	int64_t count = number_field(o, "count");
	unsigned status = (unsigned)json_object_get_int(json_field(o, "status"));
	when_text(number_field(o, "first"), first);
	when_text(number_field(o, "last"), last);
	fprintf(l->out, "%s  %s from %s to %s: status %0*x\n", last,
		*initiator ? initiator : "(unknown)", text_field(o, "peer"),
		*target ? target : other, status > 0xffff ? 8 : 4, status);
	fprintf(l->out, "    %s\n", text_field(o, "reason"));
	if (count > 1)
		fprintf(l->out, "    %lld times since %s\n", (long long)count, first);
}

void show_refusals(const struct look *l, struct json_object *list)
{
	if (!json_count(list))
		fputs("(no refused logins)\n", l->out);
	json_each (refusal, list)
		show_refusal(l, refusal);
}

// ---- other data ----

static bool is_deep_type(struct json_object *v)
{
	return json_object_is_type(v, json_type_object) || json_object_is_type(v, json_type_array);
}

// A list of plain values, such as a histogram: one line.
static bool is_row(struct json_object *v)
{
	if (!json_object_is_type(v, json_type_array))
		return false;
	json_each (one, v)
		if (is_deep_type(one))
			return false;
	return true;
}

static void data_at(const struct look *l, struct json_object *v, int indent)
{
	if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, value)
		{
			if (is_row(value)) {
				fprintf(l->out, "%*s%s: ", indent, "", key);
				data_row(l, value);
				continue;
			}
			bool is_deep = is_deep_type(value);
			fprintf(l->out, "%*s%s:%s", indent, "", key, is_deep ? "\n" : " ");
			data_at(l, value, is_deep ? indent + 2 : 0);
		}
	} else if (json_object_is_type(v, json_type_array)) {
		json_each (one, v) {
			data_at(l, one, indent);
			if (json_object_is_type(one, json_type_object))
				fputc('\n', l->out);
		}
	} else {
		fprintf(l->out, "%*s%s\n", indent, "", v ? json_object_get_string(v) : "");
	}
}

void show_data(const struct look *l, struct json_object *data)
{
	data_at(l, data, 0);
}
