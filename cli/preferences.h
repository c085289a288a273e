// SPDX-License-Identifier: BSD-2-Clause
// Preferences of the shell itself, with targetcli's names: those of the group `global` that
// farblockd does not have. A row each (preferences.c), and a file of lines NAME=VALUE for each
// user: $XDG_CONFIG_HOME/farblock/preferences, by default ~/.config/farblock/preferences.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/attr.h"

enum { PREFERENCES_BYTES_MAX = 65536, PREFERENCE_LINE_MAX = 256 };

// Numbers, 0 and 1 for false and true, or for a row with choices which of them.
struct preferences {
	uint32_t auto_cd_after_create;
	uint32_t color_mode, color_path, color_command, color_parameter, color_keyword,
		color_default;
	uint32_t completions_in_columns;
	uint32_t loglevel_console; // enum loglevel
	uint32_t prompt_length;	   // characters of the path, 0: all of it
	uint32_t tree_max_depth;   // 0: all of it
	uint32_t tree_round_nodes, tree_show_root, tree_status_mode;
	uint32_t auto_use_daemon; // kept and shown, without effect
	uint32_t fixed;		  // of rows with one value
};

// What targetcli calls its levels, in its order.
enum loglevel {
	LEVEL_CRITICAL,
	LEVEL_ERROR,
	LEVEL_WARNING,
	LEVEL_INFO,
	LEVEL_VERBOSE,
	LEVEL_DEBUG,
};

// Ends with a NULL name; by name.
extern const struct attr_row preference_rows[];

// As delivered; of the program, never NULL.
const struct preferences *preferences_default(void);

// Sets one of p. -ENOENT: the shell has no such preference; -EINVAL with "name: cause (accepted
// values)", or with why it cannot be anything else, and p untouched. Pure.
int preference_set(struct preferences *p, const char *name, const char *text, struct err *e);
// As `get` shows it. Pure.
void preference_text(const struct attr_row *row, const struct preferences *p, char *out,
		     size_t size);
// "true or false", "0..4096", "none|red|...": the accepted values. Pure.
void preference_range(const struct attr_row *row, char *out, size_t size);
// What SGR (ECMA-48, 8.3.117) makes text of a color_ preference so, "36"; NULL: nothing.
const char *preference_color(uint32_t color);

// Sets p to what a file's text says: NAME=VALUE a line, blanks around either do not count; empty
// lines and those that begin with # are passed over. So are wrong ones: unknown names, values that
// do not fit, names that stand twice, lines of more than PREFERENCE_LINE_MAX bytes or with others
// than printable ASCII. Returns how many were wrong, with *ret_line the first one's number, from 1
// on, and e what is wrong with it. Pure.
unsigned preferences_parse(struct preferences *p, const char *text, size_t len, unsigned *ret_line,
			   struct err *e);

// The user's: what the file does not say, and all if there is none or it is not the user's own, is
// as delivered. What is wrong with it is told on stderr, in one line, if tells. Blocks.
void preferences_load(struct preferences *ret, bool tells);

// One that is to be kept. The strings are the caller's.
struct preference_change {
	const char *name, *text;
};
// Writes them into the file, whose other lines stay. 0 or a negative errno with text. Blocks.
int preferences_save(const struct preference_change *changes, unsigned count, struct err *e);
