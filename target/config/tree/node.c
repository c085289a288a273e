// SPDX-License-Identifier: BSD-2-Clause
// Common code of the tree: children by name, paths, display order.

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/tree/class.h"
#include "target/config/tree/frozen.h"
#include "target/config/tree/node.h"

int node_init(struct node *n, const struct node_class *class, const char *name)
{
	n->class = class;
	n->name = strdup(name);
	list_init(&n->children);
	list_init(&n->link);
	return n->name ? 0 : -ENOMEM;
}

void node_done(struct node *n)
{
	free(n->name);
	json_object_put(n->kept);
	frozen_free(n->frozen);
	n->name = NULL;
	n->kept = NULL;
	n->frozen = NULL;
}

static size_t digits_at(const char *name)
{
	size_t at = strlen(name);
	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	return at;
}

int node_attach(struct map *names, struct node *parent, struct node *n)
{
	int r = map_put(names, parent, n->name, n);
	if (r < 0)
		return r;
	n->parent = parent;
	list_push_back(&parent->children, &n->link);
	parent->child_count++;
	return 0;
}

void node_detach(struct map *names, struct node *n)
{
	if (!n->parent)
		return;
	unsigned long number = strtoul(n->name + digits_at(n->name), NULL, 10);
	if (number < n->parent->numbers_taken)
		n->parent->numbers_taken = (unsigned)number;
	map_remove(names, n->parent, n->name);
	list_remove(&n->link);
	n->parent->child_count--;
	n->parent = NULL;
}

struct node *node_child(const struct map *names, const struct node *parent, const char *name)
{
	return map_get(names, parent, name);
}

struct node *node_at(const struct map *names, struct node *root, const char *path)
{
	char part[256];
	struct node *n = root;
	while (n) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (!len)
			return n;
		if (len >= sizeof part)
			return NULL;
		memcpy(part, path, len);
		part[len] = 0;
		n = node_child(names, n, part);
		path += len;
	}
	return NULL;
}

size_t node_path(const struct node *n, char *out, size_t size)
{
	if (!n->parent)
		return (size_t)snprintf(out, size, "/");
	size_t used = n->parent->parent ? node_path(n->parent, out, size) : 0;
	if (used < size)
		used += (size_t)snprintf(out + used, size - used, "/%s", n->name);
	return used < size ? used : size - 1;
}

void node_hint(const struct node *n, char *out, size_t size)
{
	char path[600];
	node_path(n, path, sizeof path);
	snprintf(out, size, " (%.150s has it)", path);
}

static int by_name(const void *a, const void *b)
{
	const char *x = (*(const struct node *const *)a)->name;
	const char *y = (*(const struct node *const *)b)->name;
	size_t i = digits_at(x), j = digits_at(y);
	int prefix = strncmp(x, y, i < j ? i : j);
	if (prefix || i != j)
		return prefix ? prefix : i < j ? -1 : 1;
	unsigned long long m = strtoull(x + i, NULL, 10), n = strtoull(y + j, NULL, 10);
	if (m != n)
		return m < n ? -1 : 1;
	return strcmp(x, y);
}

struct node **node_sorted(const struct node *n)
{
	struct node **out = n->child_count ? calloc(n->child_count, sizeof *out) : NULL;
	unsigned i = 0;
	if (!out)
		return NULL;
	list_each (struct node, child, &n->children, link)
		out[i++] = child;
	// Most were created in order: checking is cheaper than sorting.
	bool is_sorted = true;
	for (unsigned j = 1; is_sorted && j < i; j++)
		is_sorted = by_name(&out[j - 1], &out[j]) < 0;
	if (!is_sorted)
		qsort(out, i, sizeof *out, by_name);
	return out;
}

int number_of(const char *text, const char *prefix, int max)
{
	size_t len = strlen(prefix);
	if (!strncmp(text, prefix, len))
		text += len;
	if (!isdigit((unsigned char)*text) || strlen(text) > 9)
		return -1;
	char *end;
	long v = strtol(text, &end, 10);
	return *end || v > max ? -1 : (int)v;
}
