// SPDX-License-Identifier: BSD-2-Clause
// Counters of commands as JSON. Control thread.

#include "core/json/json.h"
#include "target/config/storage/counters.h"

void report_operations(struct json_object *to, const struct lu_counters *k)
{
	static const char *const names[LU_OP_MAX] = { "read", "write", "other" };
	for (int op = 0; op < LU_OP_MAX; op++) {
		struct json_object *one = json_part(to, names[op]);
		json_put_number(one, "commands", k->op[op].commands);
		json_put_number(one, "bytes", k->op[op].bytes);
		json_put_number(one, "latency_sum_us", k->op[op].latency_sum_us);
		struct json_object *latency = json_list(one, "latency_log2_us");
		// Entry i counts the commands below 2^i us; the last: all others.
		for (int i = 0; i < LU_LATENCY_BUCKETS; i++)
			json_object_array_add(latency,
					      json_object_new_uint64(k->op[op].latency[i]));
	}
	json_put_number(to, "errors", k->errors);
}

void report_traffic(struct json_object *to, const struct session_traffic *t)
{
	json_put_number(to, "payload_copies", t->copied.count);
	json_put_number(to, "payload_copy_bytes", t->copied.bytes);
	report_operations(to, &t->scsi);
}
