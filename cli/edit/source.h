// SPDX-License-Identifier: BSD-2-Clause
// Queries of completion and hints to the daemon and the machine, over a separate connection with a
// short time limit. Blocks at most that long.
#pragma once

#include "cli/edit/complete.h"
#include "cli/shell/shell.h"

struct source {
	struct complete_source base;
	struct shell *shell;
	struct client client;
	struct json_object *schema, *classes; // classes: path -> class, since the start of the line
	bool is_silent;			      // the daemon did not respond: do not ask again
};

void source_init(struct source *s, struct shell *shell);
// A new line: the tree may have changed.
void source_begin(struct source *s);
void source_done(struct source *s);
