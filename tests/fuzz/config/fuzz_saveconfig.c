// SPDX-License-Identifier: BSD-2-Clause
// A saved file: read into a tree without opening anything, written, compared, applied, undone.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../empty_tree.h"
#include "target/config/file/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct config *config;

// Texts that are made, and the same kept.
static void compare_kept(const char *text)
{
	for (int i = 0; i < 2; i++) {
		size_t len;
		char *kept = save_text(config, &len);
		if (strcmp(text, kept))
			abort();
		free(kept);
	}
}

static void apply(struct json_object *doc, struct json_object *written)
{
	struct restore_options o = { .is_dry = true, .is_running = true, .is_apply = true };
	struct json_object *errors = json_object_new_array(), *lines = json_object_new_array();
	struct err e;
	diff_documents(config, doc, written, lines);
	if (restore_document(config, doc, &o, errors, &e) >= 0) {
		size_t len;
		char *text = save_text(config, &len);
		compare_kept(text);
		free(text);
	}
	json_object_put(errors);
	json_object_put(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct restore_options o = { .is_dry = true };
	struct err e;
	size_t len;
	if (!config)
		config = empty_tree();
	struct json_object *doc = json_read((const char *)data, size, "input", &e);
	struct json_object *errors = json_object_new_array();
	if (doc && restore_document(config, doc, &o, errors, &e) >= 0) {
		struct json_object *again = save_document(config);
		char *text = json_write(again, &len);
		compare_kept(text);
		struct json_object *read = json_read(text, len, "output", &e);
		if (!read)
			abort(); // what we write we can read
		apply(doc, read);
		json_object_put(read);
		json_object_put(again);
		json_object_put(config_tree(config, config_root(config), 0, true));
		free(text);
	}
	txn_undo(config);
	json_object_put(config->root.kept);
	json_object_put(config->targets->iscsi.node.kept);
	config->root.kept = config->targets->iscsi.node.kept = NULL;
	if (!model_is_empty(config))
		abort();
	json_object_put(doc);
	json_object_put(errors);
	return 0;
}
