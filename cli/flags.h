// SPDX-License-Identifier: BSD-2-Clause
// The program's flags: one row per flag. Pure functions except for the environment.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/shell/show.h"
#include "core/options.h"

struct flags {
	const char *socket;
	const char *file;     // lines to run, NULL: none
	const char *complete; // a line whose last word to complete, NULL: none
	enum color color;
	bool is_json, keeps_going, is_targetcli, wants_help, wants_version;
	bool has_revision;
	uint64_t revision; // required revision of the configuration
};

// Fills ret and returns the index of the first word after the flags; or -EINVAL with text.
int flags_parse(struct flags *ret, int argc, char **argv, struct err *e);
void flags_help(void); // on stdout

extern const struct option_row flag_rows[];
