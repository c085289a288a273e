// SPDX-License-Identifier: BSD-2-Clause
// See ping_times.h.
#include "initiator/program/ping_times.h"

#include <json-c/json.h>
#include <stdio.h>

void ping_times_begin(struct ping_times *p, const char *what, uint64_t wanted, bool is_json)
{
	*p = (struct ping_times){ .what = what, .wanted = wanted };
	if (is_json)
		p->json = json_object_new_array();
}

void ping_times_add(struct ping_times *p, uint64_t ns)
{
	char text[32];
	double us = (double)ns / 1e3;
	p->min_ns = !p->count || ns < p->min_ns ? ns : p->min_ns;
	p->max_ns = ns > p->max_ns ? ns : p->max_ns;
	p->sum_ns += ns;
	p->count++;
	snprintf(text, sizeof text, "%.1f", us);
	if (p->json)
		json_object_array_add(p->json, json_object_new_double_s(us, text));
	else
		printf("%s answered in %s us\n", p->what, text);
}

void ping_times_end(struct ping_times *p, struct json_object *o, const char *name)
{
	if (p->json)
		json_object_object_add(o, name, p->json);
	else if (p->wanted > 1 && p->count)
		printf("%lu answered; us: min %.1f, mean %.1f, max %.1f\n", (unsigned long)p->count,
		       (double)p->min_ns / 1e3, (double)p->sum_ns / 1e3 / (double)p->count,
		       (double)p->max_ns / 1e3);
	p->json = NULL;
}
