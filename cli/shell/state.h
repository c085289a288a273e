// SPDX-License-Identifier: BSD-2-Clause
// State of the shell between runs: files of lines in $XDG_STATE_HOME/farblock
// (~/.local/state/farblock) and, if users may edit them, $XDG_CONFIG_HOME/farblock
// (~/.config/farblock), modes 0700 and 0600, replaced as a whole. Blocks.
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

// The last STATE_LINES_MAX lines of a file; none if it does not exist or belongs to another user.
// End with state_done().
void state_read(enum state_home home, const char *name, struct state_lines *ret);
void state_done(struct state_lines *l);
// Adds a copy at the end; drops the first line if there is no room.
void state_push(struct state_lines *l, const char *line);
// The same, unless it is the last line already. False: it is.
bool state_push_new(struct state_lines *l, const char *line);
void state_remove(struct state_lines *l, unsigned i);

// Reads the file, calls change() for its lines, and replaces it, under a lock. change returns
// false: do not replace it. 0 or a negative errno with text; -EPERM: it belongs to another user.
int state_change(enum state_home home, const char *name,
		 bool (*change)(struct state_lines *l, void *arg), void *arg, struct err *e);
// Adds a line with state_push_new(). Errors as above.
int state_append(enum state_home home, const char *name, const char *line, struct err *e);

// The path of a file. False: no home directory, or too long.
bool state_path(enum state_home home, const char *name, char *out, size_t size);
// The content of a file, for free(). NULL with e->code 0: it does not exist or belongs to another
// user; with a negative errno and text: it cannot be read, or has more than max bytes.
char *state_text(const char *path, size_t max, size_t *ret_len, struct err *e);
