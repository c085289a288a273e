// SPDX-License-Identifier: BSD-2-Clause
// What the daemon answered, for people: on stdout.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

struct look {
	FILE *out;
	unsigned width; // of the terminal, at most 132
	bool has_color;
};

void look_init(struct look *l, FILE *out);

void show_json(const struct look *l, struct json_object *o);
void show_tree(const struct look *l, struct json_object *tree);	    // of tree.ls
void show_settings(const struct look *l, struct json_object *data); // of tree.get
void show_sessions(const struct look *l, struct json_object *list, bool has_detail);
void show_refusals(const struct look *l, struct json_object *list);
// Any other data: "name: value" lines, indented.
void show_data(const struct look *l, struct json_object *data);
// schema and class: the commands there; command not NULL: that one in full. False: none such.
bool show_help(const struct look *l, struct json_object *schema, const char *class,
	       const char *command);
