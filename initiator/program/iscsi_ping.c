// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator ping: tests the login, shows its result and the round-trip time.
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "initiator/iscsi/sync.h"
#include "initiator/program/iscsi.h"
#include "initiator/program/ping_times.h"

static const char *yes_no(bool b)
{
	return b ? "Yes" : "No";
}

static void print_session(const struct ini_session_info *i)
{
	const struct iscsi_params *p = &i->params;
	printf("Logged in to %s over %s from %s", i->peer, i->transport, i->local);
	if (i->tpgt >= 0)
		printf(", portal group %d", i->tpgt);
	if (i->redirects)
		printf(", %u redirect%s", i->redirects, i->redirects == 1 ? "" : "s");
	printf("\n  digests: header %s, data %s\n", p->header_digest ? "CRC32C" : "None",
	       p->data_digest ? "CRC32C" : "None");
	printf("  MaxRecvDataSegmentLength %u (initiator), %u (target)\n", p->max_recv_data,
	       p->max_send_data);
	printf("  MaxBurstLength %u, FirstBurstLength %u, MaxOutstandingR2T %u\n", p->max_burst,
	       p->first_burst, p->max_outstanding_r2t);
	printf("  InitialR2T %s, ImmediateData %s\n", yes_no(p->initial_r2t),
	       yes_no(p->immediate_data));
}

static json_object *session_json(const struct ini_session_info *i)
{
	const struct iscsi_params *p = &i->params;
	json_object *o = json_object_new_object();
	json_object_object_add(o, "portal", json_object_new_string(i->peer));
	json_object_object_add(o, "transport", json_object_new_string(i->transport));
	json_object_object_add(o, "tpgt", json_object_new_int(i->tpgt));
	json_object_object_add(o, "redirects", json_object_new_int((int)i->redirects));
	json_object_object_add(o, "HeaderDigest",
			       json_object_new_string(p->header_digest ? "CRC32C" : "None"));
	json_object_object_add(o, "DataDigest",
			       json_object_new_string(p->data_digest ? "CRC32C" : "None"));
	json_object_object_add(o, "MaxRecvDataSegmentLength",
			       json_object_new_int64(p->max_recv_data));
	json_object_object_add(o, "TargetMaxRecvDataSegmentLength",
			       json_object_new_int64(p->max_send_data));
	json_object_object_add(o, "MaxBurstLength", json_object_new_int64(p->max_burst));
	json_object_object_add(o, "FirstBurstLength", json_object_new_int64(p->first_burst));
	json_object_object_add(o, "MaxOutstandingR2T",
			       json_object_new_int64(p->max_outstanding_r2t));
	json_object_object_add(o, "InitialR2T", json_object_new_boolean(p->initial_r2t));
	json_object_object_add(o, "ImmediateData", json_object_new_boolean(p->immediate_data));
	return o;
}

int iscsi_ping(struct tool *t)
{
	struct ini_session_info info;
	struct ping_times times;
	struct err e;
	int status = tool_open(t, false);
	if (status)
		return status;
	ini_sync_info(t->sync, &info);
	json_object *json = t->o.is_json ? session_json(&info) : NULL;
	if (!json)
		print_session(&info);
	uint64_t count = t->o.count == TOOL_UNSET ? 3 : t->o.count, rtt;
	ping_times_begin(&times, "NOP-Out", count, json);
	for (uint64_t i = 0; i < count && !status && !tool_interrupted(); i++) {
		int r = ini_sync_ping(t->sync, &rtt);
		if (r) {
			err_errno(&e, r, "%s: ping", info.peer);
			status = tool_fail(TOOL_FAILED, &e);
		} else {
			ping_times_add(&times, rtt);
		}
	}
	ping_times_end(&times, json, "nop_us");
	if (json)
		printf("%s\n", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
	json_object_put(json);
	return status ? status : tool_interrupted();
}
