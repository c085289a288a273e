// SPDX-License-Identifier: BSD-2-Clause
// help: the commands of the current node, and the meaning of commands and settings, from the rows.
#include <errno.h>
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/schema.h"

static const char generalities[] =
	"GENERALITIES\n"
	"============\n"
	"The configuration is a tree: `ls` shows it, `cd` moves in it, and each object has "
	"commands\n"
	"of its own. A change takes effect and is saved at once. TAB completes paths, "
	"commands,\n"
	"names and values.\n"
	"\n"
	"COMMAND SYNTAX\n"
	"==============\n"
	"[PATH] COMMAND [value ...] [name=value ...]\n"
	"\n"
	"Give values by position or by name. 'quotes', \"quotes\" and \\ protect blanks; ; "
	"separates\n"
	"commands; # starts a comment. PATH alone changes to it; * means every child of this\n"
	"object, @NAME a bookmark. name=- asks for a password without echo,\n"
	"name=+ generates one.\n";

static void underlined(FILE *out, const char *title, char line)
{
	fprintf(out, "%s\n", title);
	for (size_t i = 0; i < strlen(title); i++)
		fputc(line, out);
	fputc('\n', out);
}

static void show_syntax(FILE *out, struct json_object *command)
{
	fputs(text_field(command, "name"), out);
	json_each (p, json_field(command, "params"))
		fprintf(out, flag_field(p, "required") ? " %s" : " [%s]", text_field(p, "name"));
	fputc('\n', out);
}

static void show_defaults(FILE *out, struct json_object *params)
{
	bool has_title = false;
	json_each (p, params) {
		const char *absent = text_field(p, "default");
		if (!*absent)
			continue;
		if (!has_title) {
			fputc('\n', out);
			underlined(out, "DEFAULT VALUES", '=');
		}
		has_title = true;
		fprintf(out, "%s=%s ", text_field(p, "name"), absent);
	}
	if (has_title)
		fputc('\n', out);
}

static void show_command(FILE *out, struct json_object *command)
{
	struct json_object *params = json_field(command, "params");
	underlined(out, "SYNTAX", '=');
	show_syntax(out, command);
	show_defaults(out, params);
	fputc('\n', out);
	underlined(out, "DESCRIPTION", '=');
	fprintf(out, "%s\n", text_field(command, "help"));
	json_each (p, params) {
		const char *choices = text_field(p, "choices");
		fprintf(out, "  %-16s %s (%s)\n", text_field(p, "name"), text_field(p, "help"),
			*choices ? choices : text_field(p, "type"));
	}
}

// ---- settings ----

static void show_setting(FILE *out, struct json_object *row)
{
	static const struct {
		const char *flag, *text;
	} flags[] = {
		{"readonly",	      "Read-only."				   },
		{ "needs_restart", NEEDS_RESTART_TEXT			      },
		{ "secret",	    "Never shown; =- asks for it."		   },
		{ "ignored",	     "Kept for other targets; has no effect here."},
	};
	const char *unit = text_field(row, "unit"), *absent = text_field(row, "default");
	underlined(out, text_field(row, "name"), '=');
	fprintf(out, "%s\n", text_field(row, "help"));
	fprintf(out, "  values:  %s%s%s\n", text_field(row, "range"), *unit ? " " : "", unit);
	if (*absent)
		fprintf(out, "  default: %s\n", absent);
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (flag_field(row, flags[i].flag))
			fprintf(out, "  %s\n", flags[i].text);
}

static void show_group(FILE *out, const char *group, struct json_object *rows)
{
	fprintf(out, "%s CONFIG GROUP\n\n", group);
	json_each (row, rows)
		fprintf(out, "  %-28s %s\n", text_field(row, "name"), text_field(row, "help"));
}

static void list_group(const char *group, struct json_object *rows, void *out)
{
	fprintf(out, "  %s\n", group);
}

// ---- the command ----

struct topic {
	struct shell *shell;
	const char *class;
};

static void list_command(struct json_object *command, void *out)
{
	fputs("  - ", out);
	show_syntax(out, command);
}

static void collect(struct json_object *command, void *list)
{
	json_object_array_add(list, json_object_get(command));
}

static void show_all(struct topic *t)
{
	struct shell *s = t->shell;
	if (s->is_json) {
		struct json_object *list = json_object_new_array();
		schema_commands(s->schema, t->class, collect, list);
		show_json_once(&s->look, list);
		return;
	}
	fprintf(s->look.out, "%s\n", generalities);
	fprintf(s->look.out, "%s.\n\n",
		text_field(json_field(json_field(s->schema, "classes"), t->class), "help"));
	underlined(s->look.out, "AVAILABLE COMMANDS", '=');
	schema_commands(s->schema, t->class, list_command, s->look.out);
}

static int show_topic(struct topic *t, const char *name, struct err *e)
{
	struct shell *s = t->shell;
	struct json_object *command = schema_command(s->schema, t->class, name);
	if (!command)
		return err_set(e, -ENOENT, "Cannot find help topic %.60s.", name);
	if (s->is_json) {
		show_json(&s->look, command);
		return 0;
	}
	show_command(s->look.out, command);
	struct json_object *params = json_field(command, "params");
	if (!json_count(params) || strcmp(text_field(*json_entries(params), "type"), "group"))
		return 0;
	fputc('\n', s->look.out);
	underlined(s->look.out, "AVAILABLE CONFIGURATION GROUPS", '=');
	schema_groups(s->schema, t->class, list_group, s->look.out);
	return 0;
}

// ---- settings of other kinds of node ----

static struct json_object *setting_of(struct topic *t, const char *class, const char *group,
				      const char *setting)
{
	struct json_object *rows = schema_group(t->shell->schema, class, group);
	return rows ? row_find(rows, setting) : NULL;
}

// The kinds of node that have the group, or that very row of it, with a comma between.
static void put_kinds(struct topic *t, const char *group, struct json_object *row, char *out,
		      size_t size)
{
	size_t used = 0;
	*out = 0;
	json_object_object_foreach(json_field(t->shell->schema, "classes"), class, unused)
	{
		(void)unused;
		bool has = row ? json_object_equal(
					 setting_of(t, class, group, text_field(row, "name")), row)
			       : schema_group(t->shell->schema, class, group) != NULL;
		if (has && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
						 class);
	}
}

// The rows of that name that differ, for json_object_put().
static struct json_object *rows_elsewhere(struct topic *t, const char *group, const char *setting)
{
	struct json_object *list = json_object_new_array();
	json_object_object_foreach(json_field(t->shell->schema, "classes"), class, unused)
	{
		(void)unused;
		struct json_object *row = setting_of(t, class, group, setting);
		bool is_new = row != NULL;
		json_each (known, list)
			is_new &= !json_object_equal(known, row);
		if (is_new)
			json_object_array_add(list, json_object_get(row));
	}
	return list;
}

static int show_elsewhere(struct topic *t, const char *group, const char *setting, struct err *e)
{
	struct look *l = &t->shell->look;
	char kinds[200];
	if (!json_object_is_type(json_field(t->shell->schema, "classes"), json_type_object))
		return err_set(e, -EPROTO, "farblockd's schema has no classes");
	put_kinds(t, group, NULL, kinds, sizeof kinds);
	if (!*kinds)
		return err_set(e, -ENOENT, "Unknown configuration group: %.60s", group);
	if (!setting)
		return err_set(e, -ENOENT,
			       "Unknown configuration group: %.60s (nodes that have it: %s)", group,
			       kinds);
	struct json_object *list = rows_elsewhere(t, group, setting);
	size_t n = json_count(list);
	if (t->shell->is_json && n)
		show_json(l, list);
	json_each (row, t->shell->is_json ? NULL : list) {
		put_kinds(t, group, row, kinds, sizeof kinds);
		show_setting(l->out, row);
		fprintf(l->out, "  nodes:   %s\n", kinds);
	}
	json_object_put(list);
	return n ? 0
		 : err_set(e, -ENOENT, "Unknown parameter %.60s in group '%.60s'.", setting, group);
}

static int show_settings_of(struct topic *t, const char *group, const char *setting, struct err *e)
{
	struct shell *s = t->shell;
	struct json_object *rows = schema_group(s->schema, t->class, group);
	struct json_object *row = rows && setting ? row_find(rows, setting) : NULL;
	if (!rows)
		return show_elsewhere(t, group, setting, e);
	if (setting && !row)
		return err_set(e, -ENOENT, "Unknown parameter %.60s in group '%.60s'.", setting,
			       group);
	if (s->is_json)
		show_json(&s->look, setting ? row : rows);
	else if (setting)
		show_setting(s->look.out, row);
	else
		show_group(s->look.out, group, rows);
	return 0;
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	struct json_object *o;
	int r = shell_schema(s, e);
	if (!r)
		r = shell_call(s, "tree.info", params_at(path), &o, e);
	if (r < 0)
		return r;
	struct topic t = { s, text_field(o, "class") };
	const char *topic = line_value(l, "topic", 0), *group = line_value(l, "group", 1);
	const char *setting = line_value(l, "setting", 2);
	if (topic && group)
		r = show_settings_of(&t, group, setting, e);
	else if (topic)
		r = show_topic(&t, topic, e);
	else
		show_all(&t);
	json_object_put(o);
	return r;
}

static const struct shell_param params[] = {
	{"topic",		      "command", false, NULL, "a command; none: list all" },
	{ "group",		       "group", false, NULL, "group of settings, after set or get" },
	{ "setting", "setting", false, NULL, "setting of the group" },
	{ 0		    },
};

const struct shell_command command_help = {
	"help", params,
	"Show the commands of this node; help set GROUP SETTING explains a setting.", run
};
