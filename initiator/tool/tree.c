// SPDX-License-Identifier: BSD-2-Clause
// See tree.h. Text is printed as it becomes known, JSON at the end.
#include "initiator/tool/tree.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/holder/holder.h"
#include "initiator/tool/tree_unit.h"

enum { PORTAL_TEXT = 320, INDENT_TARGET = 2, INDENT_GROUP = 4, INDENT_UNIT = 6 };

struct leaf {
	char target[TOOL_TARGET_MAX];
	char portal[PORTAL_TEXT], url[PORTAL_TEXT + TOOL_TARGET_MAX];
	int tag;
	bool is_shown;
};

struct tree {
	struct tree_attachments *attachments;
	struct leaf *leaves;
	size_t count;
	bool is_answered, is_noted;
	json_object *json, *portal; // NULL: text
};

int tree_new(struct tree **ret, const struct tool *t, struct err *e)
{
	struct tree *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(e, -ENOMEM, "discover: out of memory");
	const char *dir = t->o.run_dir ? t->o.run_dir : HOLDER_RUN_DIR;
	int res = tree_attachments_new(&r->attachments, dir, e);
	if (res) {
		free(r);
		return res;
	}
	if (t->o.is_json)
		r->json = json_object_new_array();
	*ret = r;
	return 0;
}

static void forget(struct tree *r)
{
	free(r->leaves);
	r->leaves = NULL;
	r->count = 0;
}

int tree_end(struct tree *r)
{
	if (!r)
		return TOOL_OK;
	int status = r->is_answered ? TOOL_OK : TOOL_FAILED;
	if (tool_interrupted()) {
		status = tool_interrupted();
		tool_say("discover: interrupted; the rest of the tree is missing");
	}
	if (r->json)
		printf("%s\n",
		       json_object_to_json_string_ext(
			       r->json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(r->json);
	tree_attachments_free(r->attachments);
	forget(r);
	free(r);
	return status;
}

// --- JSON and text ---

static void add(json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static json_object *add_array(json_object *o, const char *key)
{
	json_object *a = json_object_new_array();
	json_object_object_add(o, key, a);
	return a;
}

static json_object *append(json_object *array)
{
	json_object *o = json_object_new_object();
	json_object_array_add(array, o);
	return o;
}

void tree_begin(struct tree *r, const char *url)
{
	forget(r);
	r->is_noted = false;
	if (r->json) {
		r->portal = append(r->json);
		add(r->portal, "portal", url);
	} else {
		printf("%s\n", url);
	}
}

void tree_note(struct tree *r, const char *text)
{
	r->is_noted = true;
	if (r->portal)
		add(r->portal, "note", text);
	else
		printf("%*s%s\n", INDENT_TARGET, "", text);
}

void tree_failed(struct tree *r, const struct err *why)
{
	if (r->portal)
		add(r->portal, "error", why->text);
	else
		printf("%*s%s\n", INDENT_TARGET, "", why->text);
}

int tree_found(struct tree *r, const char *target, int tag, const char *portal, const char *url)
{
	bool is_full = !(r->count & (r->count - 1)); // a power of two, or 0
	struct leaf *more =
		is_full ? reallocarray(r->leaves, r->count ? 2 * r->count : 1, sizeof *more)
			: r->leaves;
	if (!more)
		return -ENOMEM;
	r->leaves = more;
	struct leaf *l = &more[r->count++];
	*l = (struct leaf){ .tag = tag };
	snprintf(l->target, sizeof l->target, "%s", target);
	snprintf(l->portal, sizeof l->portal, "%s", portal);
	snprintf(l->url, sizeof l->url, "%s", url);
	return 0;
}

// --- a portal group ---

struct group {
	struct leaf *first, *end; // of the target
	int tag;
	json_object *json;
};

// The group's next portal.
static struct leaf *of_group(const struct group *g, struct leaf *from)
{
	while (from < g->end && from->tag != g->tag)
		from++;
	return from < g->end ? from : NULL;
}

static void show_group(const struct group *g)
{
	json_object *list;
	const char *before = "";
	if (g->json && g->tag >= 0)
		json_object_object_add(g->json, "tag", json_object_new_int(g->tag));
	else if (!g->json && g->tag >= 0)
		printf("%*sportal group %d: ", INDENT_GROUP, "", g->tag);
	else if (!g->json)
		printf("%*sportals: ", INDENT_GROUP, "");
	list = g->json ? add_array(g->json, "portals") : NULL;
	for (struct leaf *l = of_group(g, g->first); l; l = of_group(g, l + 1)) {
		l->is_shown = true;
		if (list)
			json_object_array_add(list, json_object_new_string(l->portal));
		else
			printf("%s%s", before, l->portal);
		before = ", ";
	}
	if (!list)
		putchar('\n');
}

static void show_error(const struct group *g, const struct leaf *l, const struct err *why)
{
	json_object *o, *list;
	if (!g->json) {
		bool is_told = !strncmp(why->text, l->portal, strlen(l->portal));
		printf("%*s%s%s%s\n", INDENT_UNIT, "", is_told ? "" : l->portal,
		       is_told ? "" : ": ", why->text);
		return;
	}
	if (!json_object_object_get_ex(g->json, "errors", &list))
		list = add_array(g->json, "errors");
	o = append(list);
	add(o, "portal", l->portal);
	add(o, "error", why->text);
}

static int login(const struct leaf *l, tree_path *path, void *arg, struct scsi_sync **ret,
		 struct err *e)
{
	struct tool_path p = { 0 };
	int r = path(arg, l->url, &p, e);
	if (!r) {
		tool_interrupt_init();
		r = scsi_sync_open(ret, p.open, p.config, NULL, e);
	}
	if (!r)
		tool_interrupt_set(*ret);
	tool_path_done(&p);
	return r;
}

static int show_units(struct tree *r, const struct group *g, struct scsi_sync *y, struct err *e)
{
	uint16_t *luns;
	unsigned count;
	json_object *list = g->json ? add_array(g->json, "luns") : NULL;
	int res = tool_report_luns(y, &luns, &count, e);
	if (res)
		return res;
	for (unsigned i = 0; i < count && !tool_interrupted(); i++)
		tree_unit_show(y, luns[i], r->attachments, INDENT_UNIT, list);
	if (!count && !list)
		printf("%*sno LUN\n", INDENT_UNIT, "");
	free(luns);
	return 0;
}

// By the first portal that admits the initiator.
static void visit_group(struct tree *r, const struct group *g, tree_path *path, void *arg)
{
	struct scsi_sync *y = NULL;
	struct err e;
	struct leaf *l;
	show_group(g);
	for (l = of_group(g, g->first); l && !y && !tool_interrupted(); l = of_group(g, l + 1))
		if (login(l, path, arg, &y, &e) < 0 || show_units(r, g, y, &e) < 0)
			show_error(g, l, &e);
	tool_interrupt_set(NULL);
	scsi_sync_close(y);
	fflush(stdout);
}

// --- targets ---

static struct leaf *visit_target(struct tree *r, json_object *targets, struct leaf *first,
				 tree_path *path, void *arg)
{
	struct leaf *end = first, *all_end = r->leaves + r->count;
	json_object *o = targets ? append(targets) : NULL;
	json_object *groups;
	while (end < all_end && !strcmp(end->target, first->target))
		end++;
	if (o)
		add(o, "target", first->target);
	else
		printf("%*s%s\n", INDENT_TARGET, "", first->target);
	groups = o ? add_array(o, "groups") : NULL;
	for (struct leaf *l = first; l < end && !tool_interrupted(); l++) {
		struct group g = { first, end, l->tag, NULL };
		if (l->is_shown)
			continue;
		g.json = groups ? append(groups) : NULL;
		visit_group(r, &g, path, arg);
	}
	return end;
}

void tree_visit(struct tree *r, tree_path *path, void *arg)
{
	json_object *targets = r->portal ? add_array(r->portal, "targets") : NULL;
	r->is_answered = true;
	if (!r->count && !targets && !r->is_noted)
		printf("%*sno target\n", INDENT_TARGET, "");
	for (struct leaf *l = r->leaves; l && l < r->leaves + r->count && !tool_interrupted();)
		l = visit_target(r, targets, l, path, arg);
	forget(r);
}
