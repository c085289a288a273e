// SPDX-License-Identifier: BSD-2-Clause
// What the shell keeps for its user from one time to the next: files of lines in
// $XDG_STATE_HOME/farblock (~/.local/state/farblock), 0700 and 0600, replaced as a whole. Blocks.
#pragma once

#include <stdbool.h>

#include "core/err.h"

enum { STATE_LINES_MAX = 1000, STATE_LINE_BYTES = 4096 };

// Without their newlines.
struct state_lines {
	unsigned count;
	char *line[STATE_LINES_MAX];
};

// The last STATE_LINES_MAX lines of a file; none if there is no such file, or it is not our own.
// End with state_done().
void state_read(const char *name, struct state_lines *ret);
void state_done(struct state_lines *l);
// Adds a copy at the end, the first one drops out when there is no room.
void state_push(struct state_lines *l, const char *line);
void state_remove(struct state_lines *l, unsigned i);

// Reads the file, lets change() change its lines, and replaces it, while no other shell does.
// change returns false: leave it alone. 0 or a negative errno with text.
int state_change(const char *name, bool (*change)(struct state_lines *l, void *arg), void *arg,
		 struct err *e);
