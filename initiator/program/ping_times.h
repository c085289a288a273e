// SPDX-License-Identifier: BSD-2-Clause
// The round trips of ping: a line each and a summary, or JSON. The program's thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct json_object;

struct ping_times {
	const char *what;	  // what was answered: "NOP-Out"
	struct json_object *json; // an array; NULL: text
	uint64_t wanted;	  // how many are to be sent
	uint64_t count, sum_ns, min_ns, max_ns;
};

void ping_times_begin(struct ping_times *p, const char *what, uint64_t wanted, bool is_json);
void ping_times_add(struct ping_times *p, uint64_t ns);
// With JSON: adds it to o under that name. Else a line, if more than one was wanted and one was
// answered, also after an interruption.
void ping_times_end(struct ping_times *p, struct json_object *o, const char *name);
