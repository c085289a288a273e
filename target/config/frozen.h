// SPDX-License-Identifier: BSD-2-Clause
// Objects of the saved file whose text is kept from one save to the next. A change concerns one of
// ten thousand disks; making the JSON of all others again is what a save would cost.
//
// Nobody has to tell that an object has changed: all that its text was made from is compared,
// byte by byte, with what it would be made from now. Control thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

// What a text is made from. Zeroed at first; its memory is used again and again.
struct frozen_key {
	uint8_t *at;
	size_t len, size;
	bool has_failed; // no memory, or nothing that can be compared: the text is not kept
};

void frozen_key_begin(struct frozen_key *k); // empty it
void frozen_key_add(struct frozen_key *k, const void *from, size_t len);
void frozen_key_add_text(struct frozen_key *k, const char *text); // NULL is not ""
void frozen_key_done(struct frozen_key *k);

struct frozen {
	struct json_object *value; // json_frozen() of the object in its place
	struct json_object *own;   // ... and in our own section; NULL: nothing there
	struct json_object *kept;  // of the node; a part of the key that is compared as a pointer
	size_t len;
	uint8_t key[];
};

// The texts of value and own (NULL: none), for depths value_depth and own_depth of the document.
// kept is referenced, so that its address remains its own. NULL: no memory, or the key has failed.
struct frozen *frozen_new(const struct frozen_key *k, struct json_object *kept,
			  struct json_object *value, int value_depth, struct json_object *own,
			  int own_depth);
void frozen_free(struct frozen *f); // NULL is fine

// Whether f (NULL: no) was made from just this.
bool frozen_is(const struct frozen *f, const struct frozen_key *k, const struct json_object *kept);
