// SPDX-License-Identifier: BSD-2-Clause
// Counters of commands as JSON. Control thread.

#include "core/json/json.h"
#include "target/config/storage/counters.h"

static void put_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

void report_operations(struct json_object *to, const struct lu_counters *k)
{
	static const char *const names[LU_OP_MAX] = { "read", "write", "other" };
	for (int op = 0; op < LU_OP_MAX; op++) {
		struct json_object *one = json_object_new_object();
		struct json_object *latency = json_object_new_array();
		put_u64(one, "commands", k->op[op].commands);
		put_u64(one, "bytes", k->op[op].bytes);
		put_u64(one, "latency_sum_us", k->op[op].latency_sum_us);
		// Entry i counts the commands below 2^i us; the last: all others.
		for (int i = 0; i < LU_LATENCY_BUCKETS; i++)
			json_object_array_add(latency,
					      json_object_new_uint64(k->op[op].latency[i]));
		json_object_object_add(one, "latency_log2_us", latency);
		json_object_object_add(to, names[op], one);
	}
	put_u64(to, "errors", k->errors);
}

void report_traffic(struct json_object *to, const struct session_traffic *t)
{
	put_u64(to, "payload_copies", t->copied.count);
	put_u64(to, "payload_copy_bytes", t->copied.bytes);
	report_operations(to, &t->scsi);
}
