// SPDX-License-Identifier: BSD-2-Clause
// Entries of disks to attach: files NAME.conf of "key = value" lines. Keys are url, one for each
// path, startup (automatic or manual), and the options of attach; "yes" stands for an option
// without a value. The program's thread; blocks on the file system.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"

#define ENTRY_DIR "/etc/farblock-initiator/attach.d"

enum { ENTRY_WORDS_MAX = 64, ENTRY_BYTES_MAX = 16384, ENTRY_OPTIONS_MAX = 96 };

// A command line of attach, as the entry has it.
struct entry {
	char text[3 * ENTRY_BYTES_MAX]; // of the words
	size_t len;
	char *words[ENTRY_WORDS_MAX];
	unsigned lines[ENTRY_WORDS_MAX]; // where they are
	int count;
	bool has_startup, is_manual;
	char path[PATH_MAX];		     // of the file, after entry_read()
	const char *over[ENTRY_OPTIONS_MAX]; // options of the command line, after entry_options()
	unsigned over_count;
};

// Parses text of len bytes; what begins messages. -EINVAL with a text and the line.
int entry_parse(struct entry *ret, const char *text, size_t len, const char *what, struct err *e);
// Reads DIR/NAME.conf. -ENOENT, -EPERM (another user could change it) and others with a text.
int entry_read(struct entry *ret, const char *dir, const char *name, struct err *e);
// The options of an entry for verb, with those given on the command line (o, which is replaced)
// over them. They refer to n. TOOL_OK, or an exit status with a text.
struct tool_options;
int entry_options(struct entry *n, const char *dir, const char *name, unsigned verb,
		  struct tool_options *o, struct err *e);
// Puts the file in front of an error of an option or URL of the entry, and its line if e names one
// of them. False, and e unchanged: it is an option of the command line, or n is NULL.
bool entry_blame(const struct entry *n, struct err *e);
// Calls found for the name of each entry, sorted. Negative with a text; a missing directory has
// none.
int entry_each(const char *dir, void (*found)(void *arg, const char *name), void *arg,
	       struct err *e);
