// SPDX-License-Identifier: BSD-2-Clause
// Map from (scope, name) to a pointer: children by name, storage objects by device path.
// Keeps look-ups fast with ten thousand objects. Keys are borrowed: the object owns its name and
// must be removed before the name is freed. Control thread.
#pragma once

#include <stddef.h>

struct map_slot {
	const void *scope;
	const char *name; // NULL: never used
	void *value;	  // NULL with a name: removed
};

struct map {
	struct map_slot *slots;
	size_t size; // slots, a power of two or 0
	size_t used; // slots with a name, removed ones included
	size_t count;
};

// -EEXIST, -ENOMEM.
int map_put(struct map *m, const void *scope, const char *name, void *value);
void *map_get(const struct map *m, const void *scope, const char *name); // NULL: absent
void map_remove(struct map *m, const void *scope, const char *name);	 // no-op if absent
void map_done(struct map *m);
