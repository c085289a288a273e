// SPDX-License-Identifier: BSD-2-Clause
// The screen of top: lines from two readings of the daemon's counters. Pure except for its output
// stream.
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

enum top_sort { TOP_BY_IOPS, TOP_BY_READ, TOP_BY_WRITTEN, TOP_BY_LATENCY, TOP_BY_NAME, TOP_SORTS };
extern const char *const top_sort_names[TOP_SORTS];

struct top_look {
	unsigned width, height; // of the terminal; height 0: no limit
	bool has_color, is_paused;
	enum top_sort sort;
	bool is_live; // with a line of keys
};

// now, before: of status.get.
void top_draw(FILE *out, const struct top_look *l, struct json_object *now,
	      struct json_object *before);
// The same numbers, for json_object_put().
struct json_object *top_json(struct json_object *now, struct json_object *before);
