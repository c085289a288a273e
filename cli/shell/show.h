// SPDX-License-Identifier: BSD-2-Clause
// Prints results of the daemon for users, on stdout.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "cli/shell/preferences.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum { WIDTH_MAX = 132 };

struct look {
	FILE *out;
	unsigned width; // of the terminal, at most WIDTH_MAX
	bool has_color;
	enum color when;		 // chosen by the user
	const struct preferences *prefs; // of the owner; NULL: defaults
};

// Uses colors if out is a terminal and NO_COLOR is not set.
void look_init(struct look *l, FILE *out);
// Updates whether to use colors: by l->when; COLOR_AUTO: if out is a terminal, unless NO_COLOR or
// the preference color_mode disables them.
void look_choose(struct look *l);
const struct preferences *look_prefs(const struct look *l); // never NULL
void look_resize(struct look *l);			    // the current width of the terminal
// The rows and columns of a terminal; 24 and 80 if they are unknown.
struct winsize terminal_size(FILE *out);

void show_json(const struct look *l, struct json_object *o);
void show_json_once(const struct look *l, struct json_object *o);   // and releases it
void show_settings(const struct look *l, struct json_object *data); // of tree.get
void show_sessions(const struct look *l, struct json_object *list); // one per line
// Parts of a session in detail, in targetcli's terms.
void show_session_head(const struct look *l, struct json_object *session);
void show_mapped_lun(const struct look *l, struct json_object *lun);
void show_session_address(const struct look *l, struct json_object *session);
// " NAME: VALUE", if the session has it.
void show_session_field(const struct look *l, struct json_object *session, const char *name);
// " isid: HEX (MAKER)", if it is one of iSCSI.
void show_isid(const struct look *l, struct json_object *session);
void show_refusals(const struct look *l, struct json_object *list);
// Any other data: "name: value" lines, indented.
void show_data(const struct look *l, struct json_object *data);
