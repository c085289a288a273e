// SPDX-License-Identifier: BSD-2-Clause
// Line editing at a terminal with libedit: history, completion, and a hint right of the cursor.
// libedit does not support hints: the hint is drawn while waiting for a key, when the screen is in
// libedit's state, and erased before the key is passed on.
#pragma once

#include <stdbool.h>

#include "cli/edit/complete.h"
#include "cli/shell/show.h"

struct edit;

enum edit_result {
	EDIT_LINE,
	EDIT_INTERRUPTED, // Ctrl-C: the line is discarded
	EDIT_END,	  // end of input, Ctrl-D in an empty line
};

// source is borrowed; its cwd and schema may change between lines. look's width follows the window.
// Call interrupt_catch() first. NULL: no memory.
struct edit *edit_new(const struct complete_source *source, struct look *look);
void edit_free(struct edit *e); // restores the terminal; NULL is fine

// Blocks. *ret: the line without its newline, valid until the next call.
enum edit_result edit_line(struct edit *e, const char *prompt, const char **ret);
// Adds a line to the history of the arrow keys.
void edit_remember(struct edit *e, const char *line);
// The next line of a paste, for free(); NULL: none.
char *edit_pasted(void *edit);
