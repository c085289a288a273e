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

// Numbers; 0 and 1 for false and true; index of the choice for rows with choices.
struct preferences {
	uint32_t auto_cd_after_create;
	uint32_t color_mode, color_path, color_command, color_parameter, color_keyword,
		color_default;
	uint32_t completions_in_columns;
	uint32_t loglevel_console; // enum loglevel
	uint32_t prompt_length;	   // characters of the path, 0: all
	uint32_t tree_max_depth;   // 0: all
	uint32_t tree_round_nodes, tree_show_root, tree_status_mode;
	uint32_t auto_use_daemon; // saved and shown, without effect
	uint32_t fixed;		  // of rows with one value
};

// targetcli's names of its levels, in its order.
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

// The defaults; static, never NULL.
const struct preferences *preferences_default(void);

// Sets one of p. -ENOENT: not a preference of the shell; -EINVAL with "name: cause (accepted
// values)", or with the reason for its only value; p is then unchanged. Pure.
int preference_set(struct preferences *p, const char *name, const char *text, struct err *e);
// The value in the form of `get`. Pure.
void preference_text(const struct attr_row *row, const struct preferences *p, char *out,
		     size_t size);
// The SGR parameter (ECMA-48, 8.3.117) of a color_ preference, "36"; NULL: none.
const char *preference_color(uint32_t color);

// Sets p from a file's text: lines NAME=VALUE; blanks around either are ignored, as are empty lines
// and those that begin with #. Invalid lines are ignored too: unknown names, invalid values,
// duplicate names, lines of more than PREFERENCE_LINE_MAX bytes or with characters other than
// printable ASCII. Returns their number, with the number of the first one, from 1 on, in *ret_line,
// and its error in e. Pure.
unsigned preferences_parse(struct preferences *p, const char *text, size_t len, unsigned *ret_line,
			   struct err *e);

// Reads the user's preferences. Values absent from the file are the defaults; so are all if there
// is no file or it does not belong to the user. Reports errors on stderr, in one line, if tells.
// Blocks.
void preferences_load(struct preferences *ret, bool tells);

// A preference to save. The caller owns the strings.
struct preference_change {
	const char *name, *text;
};
// Writes them to the file, whose other lines stay. 0 or a negative errno with text. Blocks.
int preferences_save(const struct preference_change *changes, unsigned count, struct err *e);
