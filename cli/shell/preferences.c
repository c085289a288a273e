// SPDX-License-Identifier: BSD-2-Clause
#include "cli/shell/preferences.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell/state.h"

#define FILE_NAME "preferences"

// ---- rows ----

static const char *const colors[] = {
	"none", "default", "black", "red",   "green", "yellow",
	"blue", "magenta", "cyan",  "white", NULL,
};
static const char *const color_codes[] = {
	NULL, "39", "30", "31", "32", "33", "34", "35", "36", "37",
};
static const char *const levels[] = { "critical", "error", "warning", "info",
				      "verbose",  "debug", NULL };
static const char *const only_true[] = { "true", NULL }, *const only_false[] = { "false", NULL };
static const char *const only_none[] = { "none", NULL }, *const only_debug[] = { "debug", NULL };

// clang-format off
#define FIELD(field) offsetof(struct preferences, field)
#define YES_NO(field, value, help) \
	{ #field, ATTR_BOOL, FIELD(field), 0, 1, value, NULL, help, NULL, 0, "true or false" }
#define NUMBER(field, value, most, unit, help) \
	{ #field, ATTR_UINT, FIELD(field), 0, most, value, unit, help, NULL, 0 }
#define COLOR(field, value, help) \
	{ #field, ATTR_ENUM, FIELD(field), 0, 0, value, NULL, help, colors, 0 }
#define FIXED(name, choices, value, help) \
	{ name, ATTR_ENUM, FIELD(fixed), 0, 0, value, NULL, help, choices, 0 }

const struct attr_row preference_rows[] = {
	YES_NO(auto_cd_after_create, "0", "change to the object after create"),
	FIXED("auto_save_on_exit", only_true, "true",
	      "every change is saved at once (use begin, then commit or abort, to try "
	      "changes)"),
	{ "auto_use_daemon", ATTR_BOOL, FIELD(auto_use_daemon), 0, 1, "0", NULL,
	  "kept for scripts of targetcli; farblock always uses farblockd", NULL, ATTR_IGNORED,
	  "true or false" },
	COLOR(color_command, "cyan", "color of commands in completions"),
	COLOR(color_default, "none", "color of groups, settings and notes in completions"),
	COLOR(color_keyword, "cyan", "color of parameter names, NAME=, in completions"),
	YES_NO(color_mode, "1", "use colors on a terminal; NO_COLOR and --color override it"),
	COLOR(color_parameter, "magenta", "color of values in completions"),
	COLOR(color_path, "magenta", "color of paths and bookmarks in completions"),
	YES_NO(completions_in_columns, "1",
	       "show many completions in columns; false: one a line, with its note"),
	FIXED("daemon_use_batch_mode", only_false, "false",
	      "a line runs when it is entered (-c FILE and standard input send many lines together)"),
	FIXED("logfile", only_none, "none",
	      "the shell has no log (farblockd logs to the journal: journalctl -u farblockd)"),
	{ "loglevel_console", ATTR_ENUM, FIELD(loglevel_console), 0, 0, "info", NULL,
	  "warning: commands print warnings and not what they did; error, critical: errors only",
	  levels, 0 },
	FIXED("loglevel_file", only_debug, "debug",
	      "the shell has no log (farblockd's option --log-level controls its log)"),
	NUMBER(prompt_length, "30", 4096, "characters",
	       "length of the path in the prompt; a longer path is abbreviated in the middle; 0: no limit"),
	NUMBER(tree_max_depth, "0", 1000, "levels", "default depth of ls; 0: no limit"),
	YES_NO(tree_round_nodes, "1", "mark nodes in ls with o; false: with +"),
	YES_NO(tree_show_root, "1", "show the start node in ls"),
	YES_NO(tree_status_mode, "1", "show summaries in ls"),
	{ 0 },
};
// clang-format on
enum { ROWS = sizeof preference_rows / sizeof preference_rows[0] - 1 };

// A row with a single value: its help has the reason and an alternative.
static bool is_fixed(const struct attr_row *row)
{
	return row->choices && !row->choices[1];
}

const struct preferences *preferences_default(void)
{
	static struct preferences p;
	static bool is_filled;
	if (!is_filled)
		attr_defaults(preference_rows, &p);
	is_filled = true;
	return &p;
}

int preference_set(struct preferences *p, const char *name, const char *text, struct err *e)
{
	const struct attr_row *row = attr_find(preference_rows, name);
	if (!row)
		return err_set(e, -ENOENT, "Unknown parameter %.60s in group 'global'.", name);
	int r = attr_set(row, p, text, e);
	if (r < 0 && is_fixed(row))
		err_set(e, r, "%s: invalid value '%.20s': %s", row->name, text, row->help);
	return r;
}

void preference_text(const struct attr_row *row, const struct preferences *p, char *out,
		     size_t size)
{
	attr_get(row, p, out, size);
	if (row->type == ATTR_BOOL)
		snprintf(out, size, "%s", *out == '1' ? "true" : "false");
}

const char *preference_color(uint32_t color)
{
	return color < sizeof color_codes / sizeof color_codes[0] ? color_codes[color] : NULL;
}

// ---- the file ----

// Removes blanks at both ends.
static char *trim(char *text)
{
	text += strspn(text, " \t");
	size_t n = strlen(text);
	while (n && strchr(" \t\r", text[n - 1]))
		n--;
	text[n] = 0;
	return text;
}

static bool is_text(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((line[i] < ' ' && !strchr("\t\r", line[i])) || line[i] > '~' || !line[i])
			return false;
	return true;
}

static int take_line(struct preferences *p, const char *line, size_t len, bool seen[ROWS],
		     struct err *e)
{
	char copy[PREFERENCE_LINE_MAX + 1];
	if (len > PREFERENCE_LINE_MAX)
		return err_set(e, -EINVAL, "line longer than %d bytes", PREFERENCE_LINE_MAX);
	if (!is_text(line, len))
		return err_set(e, -EINVAL, "invalid character (only printable ASCII is allowed)");
	memcpy(copy, line, len);
	copy[len] = 0;
	char *name = trim(copy), *value = strchr(name, '=');
	if (!*name || *name == '#')
		return 0;
	if (!value)
		return err_set(e, -EINVAL, "'%.60s' is not NAME=VALUE", name);
	*value++ = 0;
	name = trim(name);
	int r = preference_set(p, name, trim(value), e);
	if (r < 0)
		return r;
	bool *is_seen = &seen[attr_find(preference_rows, name) - preference_rows];
	if (*is_seen)
		return err_set(e, -EEXIST, "duplicate %s; the last one applies", name);
	*is_seen = true;
	return 0;
}

unsigned preferences_parse(struct preferences *p, const char *text, size_t len, unsigned *ret_line,
			   struct err *e)
{
	bool seen[ROWS] = { false };
	unsigned wrong = 0, number = 0;
	for (const char *end = text + len; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		struct err why = { 0 };
		number++;
		if (take_line(p, text, n, seen, &why) < 0 && !wrong++) {
			*ret_line = number;
			*e = why;
		}
		text += n + (newline != NULL);
	}
	return wrong;
}

void preferences_load(struct preferences *ret, bool tells)
{
	char path[3000];
	size_t len;
	unsigned line;
	struct err e = { 0 };
	*ret = *preferences_default();
	if (!state_path(HOME_CONFIG, FILE_NAME, path, sizeof path))
		return;
	char *text = state_text(path, PREFERENCES_BYTES_MAX, &len, &e);
	unsigned wrong = text ? preferences_parse(ret, text, len, &line, &e) : 0;
	if (wrong > 1 && tells)
		fprintf(stderr, "farblock: %s:%u: %s (and %u more invalid lines)\n", path, line,
			e.text, wrong - 1);
	else if (wrong && tells)
		fprintf(stderr, "farblock: %s:%u: %s\n", path, line, e.text);
	else if (!text && e.code && tells)
		fprintf(stderr, "farblock: %s\n", e.text);
	free(text);
}

// ---- changes ----

struct changes {
	const struct preference_change *list;
	unsigned count;
};

static bool is_of(const char *line, const char *name)
{
	size_t n = strlen(name);
	line += strspn(line, " \t");
	return !strncmp(line, name, n) && line[n + strspn(line + n, " \t")] == '=';
}

static bool change(struct state_lines *l, void *arg)
{
	const struct changes *c = arg;
	if (!l->count)
		state_push(l, "# Preferences of farblock, changed by: set global NAME=VALUE");
	for (unsigned k = 0; k < c->count; k++) {
		char *line = NULL;
		for (unsigned i = l->count; i > 0; i--)
			if (is_of(l->line[i - 1], c->list[k].name))
				state_remove(l, i - 1);
		if (asprintf(&line, "%s=%s", c->list[k].name, c->list[k].text) > 0)
			state_push(l, line);
		free(line);
	}
	return true;
}

int preferences_save(const struct preference_change *changes, unsigned count, struct err *e)
{
	struct changes c = { changes, count };
	return state_change(HOME_CONFIG, FILE_NAME, change, &c, e);
}
