// SPDX-License-Identifier: BSD-2-Clause
// Open addressing with linear probing; removed slots are reused when the table is rebuilt.

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/tree/map.h"

static size_t hash(const void *scope, const char *name)
{
	uint64_t h = 1469598103934665603ull ^ (uintptr_t)scope;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ull;
	return (size_t)(h ^ h >> 32);
}

// The slot that holds the key, or the free one that ends its probe.
static struct map_slot *probe(const struct map *m, const void *scope, const char *name)
{
	for (size_t i = hash(scope, name);; i++) {
		struct map_slot *s = &m->slots[i & (m->size - 1)];
		if (!s->name || (s->value && s->scope == scope && !strcmp(s->name, name)))
			return s;
	}
}

static int rebuild(struct map *m)
{
	struct map bigger = { .size = m->count * 2 < 32 ? 64 : m->size };
	while (bigger.size < m->count * 4)
		bigger.size *= 2;
	bigger.slots = calloc(bigger.size, sizeof *bigger.slots);
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].value)
			*probe(&bigger, m->slots[i].scope, m->slots[i].name) = m->slots[i];
	bigger.used = bigger.count = m->count;
	free(m->slots);
	*m = bigger;
	return 0;
}

int map_put(struct map *m, const void *scope, const char *name, void *value)
{
	if ((m->used + 1) * 2 > m->size) {
		int r = rebuild(m);
		if (r < 0 && m->used + 1 >= m->size) // a fuller table still works
			return r;
	}
	struct map_slot *s = probe(m, scope, name);
	if (s->name)
		return -EEXIST;
	*s = (struct map_slot){ scope, name, value };
	m->used++;
	m->count++;
	return 0;
}

void *map_get(const struct map *m, const void *scope, const char *name)
{
	return m->size ? probe(m, scope, name)->value : NULL;
}

void map_remove(struct map *m, const void *scope, const char *name)
{
	struct map_slot *s = m->size ? probe(m, scope, name) : NULL;
	if (!s || !s->name)
		return;
	s->value = NULL;
	s->name = "";
	m->count--;
}

void map_done(struct map *m)
{
	free(m->slots);
	memset(m, 0, sizeof *m);
}
