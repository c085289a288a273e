// SPDX-License-Identifier: BSD-2-Clause
// Objects of the saved file whose text is kept from one save to the next. A change affects one of
// ten thousand disks; most of the cost of a save would be recreating the JSON of all others.
//
// Changes need not be announced: the sources of an object's text are compared, byte by byte, with
// their current values. Control thread.
#pragma once

#include <stdint.h>

#include "core/json/json.h"

// The sources of a text. Initially zeroed; its memory is reused.
struct frozen_key {
	struct json_text bytes; // has_failed: no memory, or not comparable: the text is not kept
};

void frozen_key_begin(struct frozen_key *k); // empty it
void frozen_key_add(struct frozen_key *k, const void *from, size_t len);
void frozen_key_add_text(struct frozen_key *k, const char *text); // NULL differs from ""
void frozen_key_done(struct frozen_key *k);
bool frozen_key_is(const struct frozen_key *k, const void *bytes, size_t len);

struct frozen {
	struct json_object *value; // json_frozen() of the object at its place
	struct json_object *own;   // ... and in our own section; NULL: nothing there
	struct json_object *kept;  // of the node; part of the key, compared as a pointer
	size_t len;
	uint8_t key[];
};

// The texts of value and own (NULL: none), for depths value_depth and own_depth of the document.
// Takes a reference of kept, so that its address stays unique. NULL: no memory, or the key has
// failed.
struct frozen *frozen_new(const struct frozen_key *k, struct json_object *kept,
			  struct json_object *value, int value_depth, struct json_object *own,
			  int own_depth);
void frozen_free(struct frozen *f); // NULL is fine

// Whether f (NULL: no) was made from exactly this key.
bool frozen_is(const struct frozen *f, const struct frozen_key *k, const struct json_object *kept);
