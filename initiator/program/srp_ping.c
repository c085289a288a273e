// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator ping over SRP: tests the login, shows its result and the time of a TEST UNIT
// READY, the exchange that SRP has without data. Any response counts.
#include <json-c/json.h>

#include "initiator/program/ping_times.h"
#include "initiator/program/srp.h"
#include "initiator/srp/sync.h"

static void print_session(const struct srps_info *i)
{
	char from[SRPS_PORT_ID_TEXT], to[SRPS_PORT_ID_TEXT];
	printf("Logged in to %s over %s from %s\n", i->peer, i->transport, i->local);
	printf("  target port %s, initiator port %s\n", srps_port_id_format(i->target, to),
	       srps_port_id_format(i->initiator, from));
	printf("  channels %u", i->channels);
	if (i->fewer.code)
		printf(" of %u: %s", i->channels_wanted, i->fewer.text);
	printf("\n  request limit %u, IUs up to %u bytes (initiator), %u (target)\n",
	       i->accept.credits, i->accept.it_iu_len, i->accept.ti_iu_len);
	printf("  immediate data up to %u bytes\n", i->immediate_max);
}

static json_object *session_json(const struct srps_info *i)
{
	char text[SRPS_PORT_ID_TEXT];
	json_object *o = json_object_new_object();
	json_object_object_add(o, "portal", json_object_new_string(i->peer));
	json_object_object_add(o, "transport", json_object_new_string(i->transport));
	json_object_object_add(o, "target_port",
			       json_object_new_string(srps_port_id_format(i->target, text)));
	json_object_object_add(o, "initiator_port",
			       json_object_new_string(srps_port_id_format(i->initiator, text)));
	json_object_object_add(o, "channels", json_object_new_int64(i->channels));
	json_object_object_add(o, "channels_wanted", json_object_new_int64(i->channels_wanted));
	json_object_object_add(o, "request_limit", json_object_new_int64(i->accept.credits));
	json_object_object_add(o, "it_iu_len", json_object_new_int64(i->accept.it_iu_len));
	json_object_object_add(o, "ti_iu_len", json_object_new_int64(i->accept.ti_iu_len));
	json_object_object_add(o, "immediate_max", json_object_new_int64(i->immediate_max));
	return o;
}

static int time_one(struct tool *t, uint64_t *ret_ns, struct err *e)
{
	struct scsi_sync_cmd c;
	char text[200];
	scsi_cmd_set(&c.cmd, t->lun, SCSI_TEST_UNIT_READY, NULL, NULL, 0);
	uint64_t start = clock_ns();
	int r = scsi_sync_run(t->sync, &c);
	*ret_ns = clock_ns() - start;
	if (!r)
		return 0;
	tool_cmd_text(t->sync, &c.cmd, text, sizeof text);
	return err_set(e, r, "ping: %s", text);
}

int srp_ping(struct tool *t)
{
	struct srps_info info;
	struct ping_times times;
	struct err e;
	int status = tool_open(t, false);
	if (status)
		return status;
	srps_sync_info(t->sync, &info);
	json_object *json = t->o.is_json ? session_json(&info) : NULL;
	if (!json)
		print_session(&info);
	uint64_t count = t->o.count == TOOL_UNSET ? 3 : t->o.count, ns;
	ping_times_begin(&times, "TEST UNIT READY", count, json);
	for (uint64_t i = 0; i < count && !status && !tool_interrupted(); i++) {
		if (time_one(t, &ns, &e) < 0)
			status = tool_fail(TOOL_FAILED, &e);
		else
			ping_times_add(&times, ns);
	}
	ping_times_end(&times, json, "tur_us");
	if (json)
		printf("%s\n", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
	json_object_put(json);
	return status ? status : tool_interrupted();
}
