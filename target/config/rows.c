// SPDX-License-Identifier: BSD-2-Clause
// The tree as lines of text. Control thread.
#include <json-c/json.h>
#include <stdlib.h>

#include "core/json/json.h"
#include "target/config/model.h"

struct rows {
	struct config *c;
	struct json_text text;
	int depth; // of the deepest nodes
	bool has_serials;
};

// The unit serial of the node or of the object it stands for; "": none.
static const char *serial_of(const struct node *n)
{
	const struct lun *l = n->class == &lun_class ? NODE_OF(const struct lun, n) : NULL;
	if (n->class == &mapped_lun_class)
		l = NODE_OF(const struct mapped_lun, n)->lun;
	if (n->class == &storage_class)
		return NODE_OF(const struct storage, n)->wwn;
	return l && l->storage ? l->storage->wwn : "";
}

// The prefix of the name.
static void put_head(struct json_text *t, const struct summary *s, bool has_later, int level)
{
	static const char blanks[] = "                ";
	char marks[] = { s->is_healthy ? '+' : s->is_broken ? '-' : '=', has_later ? '|' : '.', 0 };
	for (; level >= (int)sizeof blanks; level--)
		json_text_put(t, " ");
	json_text_put(t, blanks + sizeof blanks - 1 - level);
	json_text_put(t, marks);
}

static void row(struct rows *x, const struct node *n, bool has_later, int level)
{
	struct json_text *t = &x->text;
	struct summary s;
	s.text[0] = 0;
	s.is_healthy = s.is_broken = false;
	s.warning = NULL;
	if (n->class->summary)
		n->class->summary(x->c, n, &s);
	put_head(t, &s, has_later, level);
	json_text_line(t, n->parent ? n->name : "");
	json_text_put(t, "/");
	if (x->has_serials)
		json_text_line(t, serial_of(n));
	json_text_put(t, "/");
	json_text_line(t, s.text);
	json_text_put(t, "\\n");
	if (level == x->depth)
		return;
	struct node **list = node_sorted(n);
	for (unsigned i = 0; list && i < n->child_count; i++)
		row(x, list[i], i + 1 < n->child_count, level + 1);
	free(list);
}

struct json_object *config_rows(struct config *c, const struct node *n, int depth, bool has_serials)
{
	struct rows x = { .c = c, .depth = depth ? depth : -1, .has_serials = has_serials };
	json_text_put(&x.text, "\"");
	row(&x, n, false, 0);
	json_text_put(&x.text, "\"");
	struct json_object *text = json_of_text(&x.text),
			   *o = text ? json_object_new_object() : NULL;
	if (!o)
		json_object_put(text);
	else
		json_object_object_add(o, "rows", text);
	return o;
}
