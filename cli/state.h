// SPDX-License-Identifier: BSD-2-Clause
// What the shell keeps for its user from one time to the next: files of lines in
// $XDG_STATE_HOME/farblock (~/.local/state/farblock) and, as far as a user may want to write them,
// $XDG_CONFIG_HOME/farblock (~/.config/farblock), 0700 and 0600, replaced as a whole. Blocks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

enum state_home { HOME_STATE, HOME_CONFIG };

enum { STATE_LINES_MAX = 1000, STATE_LINE_BYTES = 4096 };

// Without their newlines.
struct state_lines {
	unsigned count;
	char *line[STATE_LINES_MAX];
};

// The last STATE_LINES_MAX lines of a file; none if there is no such file, or it is not our own.
// End with state_done().
void state_read(enum state_home home, const char *name, struct state_lines *ret);
void state_done(struct state_lines *l);
// Adds a copy at the end, the first one drops out when there is no room.
void state_push(struct state_lines *l, const char *line);
void state_remove(struct state_lines *l, unsigned i);

// Reads the file, lets change() change its lines, and replaces it, while no other shell does.
// change returns false: leave it alone. 0 or a negative errno with text; -EPERM: it is not our own.
int state_change(enum state_home home, const char *name,
		 bool (*change)(struct state_lines *l, void *arg), void *arg, struct err *e);

// Where a file lies. False: there is no home, or it does not fit.
bool state_path(enum state_home home, const char *name, char *out, size_t size);
// All of a file, for free(). NULL with e->code 0: there is none, or it is not our own; with a
// negative errno and text: it cannot be read, or has more than max bytes.
char *state_text(const char *path, size_t max, size_t *ret_len, struct err *e);
