// SPDX-License-Identifier: BSD-2-Clause
#include "cli/edit/history.h"

#include <string.h>

#include "cli/shell/command.h"
#include "cli/shell/grammar.h"
#include "cli/shell/schema.h"
#include "cli/shell/state.h"

// Also if the name is a separate word: "password = x" is a typing error that contains the secret
// too.
static bool tells_secret(struct json_object *schema, const struct shell_command *const *commands,
			 const struct line *l)
{
	const struct shell_command *c =
		l->command ? shell_command_find(commands, l->command) : NULL;
	const struct shell_param *next = c ? c->params : NULL; // the parameter of the next
							       // positional value
	for (unsigned i = 0; i < l->count; i++) {
		const struct line_value *v = &l->values[i];
		if (v->name && schema_is_secret(schema, v->name) && strcmp(v->text, "-") &&
		    strcmp(v->text, "+"))
			return true;
		if (!v->name && next && next->name && schema_is_secret(schema, (next++)->name))
			return true;
		if (!v->name && i + 1 < l->count && schema_is_secret(schema, v->text))
			return true;
		if (!v->name && strchr(v->text, '=') && schema_is_secret(schema, v->text))
			return true;
	}
	return false;
}

bool history_may_keep(struct json_object *schema, const struct shell_command *const *commands,
		      const char *text)
{
	struct script s;
	struct err e;
	size_t at;
	bool may = strlen(text) < STATE_LINE_BYTES && !strchr(text, '\n');
	if (script_parse(&s, text, &at, &e) < 0)
		may = may && !schema_is_secret(schema, text);
	for (unsigned i = 0; may && i < s.count; i++)
		may = !tells_secret(schema, commands, &s.lines[i]);
	script_done(&s);
	return may;
}

int history_save(const char *text, struct err *e)
{
	return state_append(HOME_STATE, "history", text, e);
}
