// SPDX-License-Identifier: BSD-2-Clause
// explain: the cause and the cure of a code.
#include "cli/explain/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/shell/command.h"

static const char *name_of(const struct explain_hit *h)
{
	return *h->name ? h->name : h->row.name;
}

static void show(const struct look *l, const struct explain_hit *h)
{
	char code[24];
	explain_code_text(h, code);
	fprintf(l->out, "%s %s: %s\n  cause: %s\n  cure:  %s\n", h->table->title, code, name_of(h),
		h->row.cause, h->row.cure);
}

static struct json_object *as_json(const struct explain_hit *h)
{
	char code[24];
	explain_code_text(h, code);
	return text_object("kind", h->table->kind, "code", code, "name", name_of(h), "cause",
			   h->row.cause, "cure", h->row.cure, NULL);
}

static void show_kinds(const struct look *l, bool is_json)
{
	struct json_object *list = json_object_new_array();
	if (!is_json)
		fputs("explain [KIND] CODE, for example explain 0201, explain 5/24/00 or explain "
		      "conn 1020; KIND is one of:\n",
		      l->out);
	for (const struct explain_table *const *t = explain_tables; *t; t++)
		if (is_json)
			json_object_array_add(
				list, text_object("kind", (*t)->kind, "title", (*t)->title, NULL));
		else
			fprintf(l->out, "  %-8s %s\n", (*t)->kind, (*t)->title);
	if (is_json)
		show_json(l, list);
	json_object_put(list);
}

static int run(struct shell *s, const char *path, const struct line *l, struct err *e)
{
	char text[200] = "";
	const char *word;
	size_t len = 0;
	for (unsigned i = 0; (word = line_value(l, "code", i)) && len < sizeof text; i++) {
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? " " : "", word);
		if (!line_positional(l, i))
			break; // code=...
	}
	struct explain_hit hits[EXPLAIN_MAX];
	unsigned n = explain_find(text, hits, EXPLAIN_MAX);
	if (!*text) {
		show_kinds(&s->look, s->is_json);
		return 0;
	}
	if (!n)
		return err_set(e, -ENOENT,
			       "explain: unknown code: %.60s (explain alone lists the kinds)",
			       text);
	struct json_object *list = json_object_new_array();
	for (unsigned i = 0; i < n; i++) {
		if (s->is_json)
			json_object_array_add(list, as_json(&hits[i]));
		else
			show(&s->look, &hits[i]);
	}
	if (s->is_json)
		show_json(&s->look, list);
	json_object_put(list);
	return 0;
}

static const struct shell_param params[] = {
	{"code", "string", false, NULL,
	  "code as shown by refusals, logs and initiators; its kind may precede it" },
	{ 0},
};

const struct shell_command command_explain = {
	"explain", params, "Explain a code: meaning, cause and cure.", run, .is_open = true,
};
