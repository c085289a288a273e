// SPDX-License-Identifier: BSD-2-Clause
// Rates of the last minutes, see history.h.
#include "target/metrics/history.h"

#include <json-c/json.h>
#include <stddef.h>

#include "target/config/report/survey.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_counters.h"

static void add_disk(void *arg, const char *path, const struct lu *lu, uint64_t size)
{
	struct history_sample *total = arg;
	struct lu_counters k;
	if (!lu)
		return;
	lu_counters_sum(lu, &k);
	total->read_bytes += k.op[LU_OP_READ].bytes;
	total->written_bytes += k.op[LU_OP_WRITE].bytes;
	for (int op = 0; op < LU_OP_MAX; op++)
		total->commands += k.op[op].commands;
}

static uint64_t per_second(uint64_t now, uint64_t before, uint64_t ns)
{
	return now > before ? (uint64_t)((double)(now - before) * 1e9 / (double)ns) : 0;
}

void history_add(struct history *h, const struct history_sample *total, uint64_t now_ns)
{
	uint64_t ns = now_ns - h->at_ns;
	if (h->at_ns && ns) {
		h->rate[h->next] = (struct history_sample){
			.read_bytes = per_second(total->read_bytes, h->total.read_bytes, ns),
			.written_bytes =
				per_second(total->written_bytes, h->total.written_bytes, ns),
			.commands = per_second(total->commands, h->total.commands, ns),
		};
		h->next = (h->next + 1) % HISTORY_SAMPLES;
		h->count += h->count < HISTORY_SAMPLES;
	}
	h->total = *total;
	h->at_ns = now_ns;
}

static void on_time(struct timer *t)
{
	static const struct survey look = { .disk = add_disk };
	struct history *h = container_of(t, struct history, timer);
	struct history_sample total = { 0 };
	config_survey(h->config, &look, &total);
	history_add(h, &total, clock_ns());
	timer_arm(h->control, t, HISTORY_STEP_S * UINT64_C(1000000));
}

void history_init(struct history *h, struct worker *control, struct config *config)
{
	h->control = control;
	h->config = config;
	timer_init(&h->timer, on_time);
	on_time(&h->timer);
}

void history_done(struct history *h)
{
	timer_cancel(h->control, &h->timer);
}

struct json_object *history_json(const struct history *h)
{
	static const struct {
		const char *name;
		size_t offset;
	} rows[] = {
		{"read",	  offsetof(struct history_sample, read_bytes)   },
		{ "written",  offsetof(struct history_sample, written_bytes)},
		{ "commands", offsetof(struct history_sample, commands)	},
	};
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "step_s", json_object_new_int(HISTORY_STEP_S));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct json_object *list = json_object_new_array();
		for (unsigned n = h->count; n; n--) {
			const char *s =
				(const char *)&h
					->rate[(h->next + HISTORY_SAMPLES - n) % HISTORY_SAMPLES];
			json_object_array_add(list, json_object_new_uint64(*(
							    const uint64_t *)(s + rows[i].offset)));
		}
		json_object_object_add(o, rows[i].name, list);
	}
	return o;
}
