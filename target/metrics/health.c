// SPDX-License-Identifier: BSD-2-Clause
// Broken nodes of the tree, see health.h.
#include "target/metrics/health.h"

#include <string.h>

#include "target/config/config.h"
#include "core/json/json.h"

enum { PATH_SIZE = 700 };

// The classes that the page counts, with those of SRP, srpt_target and so on.
static const char *const counted[] = { "storage", "target", "portal", "acl" };
enum { COUNTED = sizeof counted / sizeof counted[0] };

static bool is_of(const char *class, const char *kind)
{
	size_t srpt = strncmp(class, "srpt_", 5) ? 0 : 5;
	return !strcmp(class + srpt, kind);
}

struct health {
	struct config *config;
	struct json_object *problems;
	unsigned problem_count, luns_unavailable;
	unsigned nodes[COUNTED];
};

static void add_problem(struct health *h, const struct node *n, const struct summary *s)
{
	if (h->problem_count++ >= HEALTH_LISTED)
		return;
	char path[PATH_SIZE];
	struct json_object *o = json_object_new_object();
	node_path(n, path, sizeof path);
	json_put_text(o, "path", path);
	json_put_text(o, "class", n->class->name);
	json_put_text(o, "text", s->text);
	json_object_array_add(h->problems, o);
}

// A node that is broken explains those below it.
static void look(struct health *h, const struct node *n)
{
	struct summary s = { 0 };
	bool is_lun = !strcmp(n->class->name, "lun");
	if (!strcmp(n->class->name, "mapped_lun"))
		return;
	if (n->class->summary)
		n->class->summary(h->config, n, &s);
	for (int i = 0; i < COUNTED; i++)
		h->nodes[i] += is_of(n->class->name, counted[i]);
	if (is_lun)
		h->luns_unavailable += s.is_broken;
	else if (s.is_broken)
		add_problem(h, n, &s);
	if (!s.is_broken)
		list_for_each (it, &n->children)
			look(h, list_entry(it, struct node, link));
}

static void put(struct json_object *o, const char *key, unsigned value)
{
	json_object_object_add(o, key, json_object_new_int64(value));
}

struct json_object *health_json(struct config *c)
{
	struct health h = { .config = c, .problems = json_object_new_array() };
	struct json_object *o = json_object_new_object(), *nodes = json_object_new_object();
	look(&h, config_root(c));
	for (int i = 0; i < COUNTED; i++)
		put(nodes, counted[i], h.nodes[i]);
	json_object_object_add(o, "nodes", nodes);
	json_object_object_add(o, "problems", h.problems);
	put(o, "problem_count", h.problem_count);
	put(o, "luns_unavailable", h.luns_unavailable);
	return o;
}
