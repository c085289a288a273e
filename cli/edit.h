// SPDX-License-Identifier: BSD-2-Clause
// A line from a person at a terminal, with libedit: history, completion, and a hint right of the
// cursor. libedit has no place for a hint: it is drawn while a key is waited for, when the screen
// is as libedit believes it to be, and wiped away before the key is handed over.
#pragma once

#include <stdbool.h>

#include "cli/complete.h"
#include "cli/show.h"

struct edit;

enum edit_result {
	EDIT_LINE,
	EDIT_INTERRUPTED, // Ctrl-C: the line is gone
	EDIT_END,	  // end of input, Ctrl-D in an empty line
};

// source is borrowed, its cwd and schema may change between lines; look's width follows the window.
// interrupt_catch() has been called. NULL: no memory.
struct edit *edit_new(const struct complete_source *source, struct look *look);
void edit_free(struct edit *e); // the terminal as it was; NULL is fine

// Blocks. *ret: the line without its newline, good until the next call.
enum edit_result edit_line(struct edit *e, const char *prompt, const char **ret);
// Puts a line where the arrow up finds it.
void edit_remember(struct edit *e, const char *line);
// The next line that has been pasted behind the last one, for free(); NULL: none.
char *edit_pasted(void *edit);
