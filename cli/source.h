// SPDX-License-Identifier: BSD-2-Clause
// What completion and hints ask of the daemon and of the machine, over a connection of its own that
// waits for an answer a moment only. Blocks for at most that.
#pragma once

#include "cli/complete.h"
#include "cli/shell.h"

struct source {
	struct complete_source base;
	struct shell *shell;
	struct client client;
	struct json_object *schema, *classes; // classes: path -> class, since the line began
	bool is_silent;			      // the daemon did not answer: not asked again
};

void source_init(struct source *s, struct shell *shell);
// A new line: what is in the tree may have changed.
void source_begin(struct source *s);
void source_done(struct source *s);
