// SPDX-License-Identifier: BSD-2-Clause
// Kept texts of the saved file, and the keys that show whether they are still valid.

#include <stdlib.h>
#include <string.h>

#include "target/config/tree/frozen.h"

void frozen_key_begin(struct frozen_key *k)
{
	k->bytes.len = 0;
	k->bytes.has_failed = false;
}

void frozen_key_add(struct frozen_key *k, const void *from, size_t len)
{
	json_text_bytes(&k->bytes, from, len);
}

void frozen_key_add_text(struct frozen_key *k, const char *text)
{
	char is_there = text != NULL;
	frozen_key_add(k, &is_there, 1);
	if (text)
		frozen_key_add(k, text, strlen(text) + 1);
}

void frozen_key_done(struct frozen_key *k)
{
	free(k->bytes.text);
	*k = (struct frozen_key){ 0 };
}

bool frozen_key_is(const struct frozen_key *k, const void *bytes, size_t len)
{
	return !k->bytes.has_failed && k->bytes.len == len && !memcmp(k->bytes.text, bytes, len);
}

struct frozen *frozen_new(const struct frozen_key *k, struct json_object *kept,
			  struct json_object *value, int value_depth, struct json_object *own,
			  int own_depth)
{
	struct frozen *f = k->bytes.has_failed ? NULL : calloc(1, sizeof *f + k->bytes.len);
	if (!f)
		return NULL;
	f->value = json_frozen(value, value_depth);
	f->own = own ? json_frozen(own, own_depth) : NULL;
	f->kept = json_object_get(kept);
	f->len = k->bytes.len;
	memcpy(f->key, k->bytes.text, f->len);
	if (f->value && (f->own || !own))
		return f;
	frozen_free(f);
	return NULL;
}

void frozen_free(struct frozen *f)
{
	if (!f)
		return;
	json_object_put(f->value);
	json_object_put(f->own);
	json_object_put(f->kept);
	free(f);
}

bool frozen_is(const struct frozen *f, const struct frozen_key *k, const struct json_object *kept)
{
	return f && f->kept == kept && frozen_key_is(k, f->key, f->len);
}
