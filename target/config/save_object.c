// SPDX-License-Identifier: BSD-2-Clause
// Objects of the saved file whose texts are kept while they do not change.
#include "target/config/save.h"

static struct json_object *reuse(struct save *s, const struct node *n)
{
	char path[600];
	if (n->frozen->own) {
		node_path(n, path, sizeof path);
		json_object_object_add(s->objects, path, json_object_get(n->frozen->own));
	}
	return json_object_get(n->frozen->value);
}

struct json_object *save_object(struct save *s, const struct save_kind *kind, struct node *n)
{
	char path[600];
	if (!s->has_texts)
		return kind->make(s, n);
	frozen_key_begin(&s->key);
	kind->key(&s->key, n);
	if (frozen_is(n->frozen, &s->key, n->kept))
		return reuse(s, n);
	frozen_free(n->frozen);
	config_work.texts++;
	struct json_object *o = kind->make(s, n);
	node_path(n, path, sizeof path);
	struct json_object *own = json_field(s->objects, path);
	n->frozen = frozen_new(&s->key, n->kept, o, kind->depth, own, OWN_DEPTH);
	if (!n->frozen)
		return o;
	json_object_put(o);
	return reuse(s, n);
}
