// SPDX-License-Identifier: BSD-2-Clause
// Commands of the shell and of the tree, from the schema that the shell uses.
#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/global.h"
#include "cli/shell/schema.h"
#include "manual/directive.h"
#include "target/config/config.h"
#include "target/fabric/fabric.h"
#include "target/fabrics.h"

// The schema of an empty configuration; nothing runs or is opened.
static struct json_object *schema(void)
{
	static struct json_object *cached;
	struct worker_options wo = { .name = "control", .cpu = -1, .is_control = true };
	struct config_options options = { .file = "/dev/null/saveconfig.json" };
	struct config *c;
	struct err e = { 0 };
	if (cached)
		return cached;
	fabrics_use(farblockd_fabrics);
	if (worker_new(&options.control, &wo, &e) < 0 || config_new(&c, &options, &e) < 0) {
		fprintf(stderr, "manual: %s\n", e.text);
		return NULL;
	}
	cached = config_schema(c);
	config_free(c);
	worker_free(options.control);
	global_schema(cached, shell_commands); // with the shell's preferences
	return cached;
}

static void param(FILE *out, struct json_object *p)
{
	bool is_required = json_object_get_boolean(json_field(p, "required"));
	const char *absent = text_field(p, "default");
	fputs(is_required ? " Ar" : " Oo Ar", out);
	roff_word(out, text_field(p, "name"));
	if (*absent) {
		fputs(" Ns = Ns", out);
		roff_word(out, absent);
	}
	if (!is_required)
		fputs(" Oc", out);
}

static void param_help(FILE *out, struct json_object *p)
{
	if (!*text_field(p, "help"))
		return;
	fputs(".It Ar", out);
	roff_word(out, text_field(p, "name"));
	fputc('\n', out);
	roff_text(out, text_field(p, "help"));
}

static void command(FILE *out, struct json_object *c)
{
	struct json_object *params = json_field(c, "params");
	size_t n = params ? json_object_array_length(params) : 0;
	fprintf(out, ".It Cm %s", text_field(c, "name"));
	for (size_t i = 0; i < n; i++)
		param(out, json_object_array_get_idx(params, i));
	fputc('\n', out);
	roff_text(out, text_field(c, "help"));
	if (!n)
		return;
	fputs(".Bl -tag -width Ds -compact\n", out);
	for (size_t i = 0; i < n; i++)
		param_help(out, json_object_array_get_idx(params, i));
	fputs(".El\n", out);
}

static void commands(FILE *out, struct json_object *list)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		command(out, json_object_array_get_idx(list, i));
	fputs(".El\n", out);
}

int shell_commands_list(FILE *out, const char *argument)
{
	struct json_object *list = shell_commands_json(shell_commands);
	commands(out, list);
	json_object_put(list);
	return 0;
}

// A command of the shell hides that of the daemon with the same name, which is for programs.
int every_node_list(FILE *out, const char *argument)
{
	struct json_object *s = schema();
	if (!s)
		return -1;
	struct json_object *all = json_field(s, "every_node"), *list = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *c = json_object_array_get_idx(all, i);
		if (!shell_command_find(shell_commands, text_field(c, "name")))
			json_object_array_add(list, json_object_get(c));
	}
	commands(out, list);
	json_object_put(list);
	return 0;
}

int tree_commands(FILE *out, const char *argument)
{
	struct json_object *s = schema();
	if (!s)
		return -1;
	json_object_object_foreach(json_field(s, "classes"), name, class)
	{
		struct json_object *list = json_field(class, "commands");
		if (!list || !json_object_array_length(list))
			continue;
		fprintf(out, ".Ss %s\n", name);
		roff_text(out, text_field(class, "help"));
		commands(out, list);
	}
	return 0;
}

static void setting(FILE *out, struct json_object *row)
{
	const char *unit = text_field(row, "unit"), *absent = text_field(row, "default");
	fprintf(out, ".It Va %s\n", text_field(row, "name"));
	if (*text_field(row, "help"))
		roff_text(out, text_field(row, "help"));
	fputs(".br\n", out);
	if (json_object_get_boolean(json_field(row, "readonly")))
		fputs("Read-only.\n", out);
	else
		fprintf(out, "Range: %s%s%s.\n", text_field(row, "range"), *unit ? ", " : "", unit);
	if (*absent)
		fprintf(out, "Default: %s.\n", absent);
	if (json_object_get_boolean(json_field(row, "needs_restart")))
		fputs(NEEDS_RESTART_TEXT "\n", out);
}

static void group(FILE *out, const char *class, const char *name, struct json_object *rows)
{
	if (!json_object_array_length(rows))
		return;
	fprintf(out, ".Ss %s%s%s\n", class, *class ? ": " : "", name);
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		setting(out, json_object_array_get_idx(rows, i));
	fputs(".El\n", out);
}

int tree_settings(FILE *out, const char *argument)
{
	struct json_object *s = schema();
	if (!s)
		return -1;
	json_object_object_foreach(json_field(s, "classes"), class, row)
	{
		json_object_object_foreach(json_field(row, "groups"), name, rows)
			group(out, class, name, rows);
	}
	return 0;
}
