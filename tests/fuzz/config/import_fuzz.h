// SPDX-License-Identifier: BSD-2-Clause
// A converted file of another target is a document for the reader of the saved file: it can be
// written and read again, applied to an empty tree, and removed again.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../empty_tree.h"
#include "cli/import/import.h"

static void restore_and_undo(struct config *c, struct json_object *doc)
{
	struct restore_options o = { .is_dry = true, .is_running = true };
	struct json_object *errors = json_object_new_array();
	struct err e;
	if (restore_document(c, doc, &o, errors, &e) < 0)
		abort(); // an invalid document
	txn_undo(c);
	if (!model_is_empty(c))
		abort();
	json_object_put(c->root.kept);
	json_object_put(c->targets->iscsi.node.kept);
	c->root.kept = c->targets->iscsi.node.kept = NULL;
	json_object_put(errors);
}

static inline int import_one(const struct import_kind *kind, const uint8_t *data, size_t size)
{
	static struct config *config;
	struct json_object *notes = json_object_new_array();
	struct err e = { 0 };
	size_t len;
	char *text = malloc(size + 1);
	if (!config)
		config = empty_tree();
	memcpy(text, data, size);
	text[size] = 0;
	struct json_object *doc = import_text(kind, "input", text, size, false, notes, &e);
	if (!doc && (e.code >= 0 || strncmp(e.text, "input:", 6)))
		abort(); // an error has a position
	for (size_t i = 0; i < json_object_array_length(notes); i++)
		if (strncmp(json_object_get_string(json_object_array_get_idx(notes, i)),
			    "input:", 6))
			abort();
	if (doc) {
		char *written = json_write(doc, &len);
		struct json_object *again = json_read(written, len, "output", &e);
		if (!again)
			abort();
		restore_and_undo(config, again);
		json_object_put(again);
		free(written);
	}
	json_object_put(doc);
	json_object_put(notes);
	free(text);
	return 0;
}
