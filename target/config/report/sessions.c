// SPDX-License-Identifier: BSD-2-Clause
// Sessions, ended sessions and refused logins as JSON.

#include <stdlib.h>

#include "core/json/json.h"
#include "target/config/report/report.h"
#include "target/config/storage/counters.h"
#include "target/fabric/refusals.h"
#include "target/fabric/session_ends.h"
#include "target/fabric/sessions.h"

enum { MOST = 64 }; // limit of ended sessions and of refusals

// ---- sessions and refused logins ----

static void put_field(struct json_object *o, const struct session_field *f)
{
	if (f->is_number)
		json_put_number(o, f->name, f->number);
	else
		json_put_text(o, f->name, f->text);
}

static struct json_object *negotiated_json(const struct session_info *s)
{
	struct json_object *o = json_object_new_object();
	for (unsigned i = 0; i < s->negotiated_count; i++)
		if (!s->negotiated[i].is_fixed)
			put_field(o, &s->negotiated[i]);
	return o;
}

static struct json_object *session_luns_json(const struct session_info *s)
{
	struct json_object *list = json_object_new_array();
	size_t room = sizeof s->luns / sizeof s->luns[0];
	for (uint32_t i = 0; i < s->lun_count && i < room; i++) {
		struct json_object *o = json_add_object(list);
		json_put_number(o, "lun", s->luns[i].lun);
		json_put_text(o, "storage_object", s->luns[i].storage_object);
		json_put_bool(o, "write_protect", s->luns[i].is_write_protected);
		json_put_number(o, "commands_in_flight", s->luns[i].in_flight);
	}
	return list;
}

static struct json_object *session_json(const struct session_info *s)
{
	struct json_object *o = json_object_new_object();
	json_put_number(o, "sid", s->id);
	json_put_text(o, "initiator", s->initiator);
	json_put_text(o, "alias", s->alias);
	json_put_text(o, "target", s->target);
	json_put_number(o, "tpg", s->tpg);
	for (unsigned i = 0; i < s->identity_count; i++)
		put_field(o, &s->identity[i]);
	json_put_text(o, "type", s->is_discovery ? "Discovery" : "Normal");
	json_put_bool(o, "dynamic_acl", s->is_dynamic_acl);
	json_put_bool(o, "authenticated", s->is_authenticated);
	json_put_bool(o, "mutual", s->is_mutual);
	json_put_text(o, "auth", s->proof);
	json_put_text(o, "transport", s->transport);
	json_put_text(o, "carrier", s->carrier);
	json_object_object_add(o, "remote_rights", json_object_new_int64(s->remote_rights));
	json_put_text(o, "peer", s->peer);
	json_put_text(o, "local", s->local);
	json_put_number(o, "age_s", s->age_s);
	json_object_object_add(o, "parameters", negotiated_json(s));
	json_put_number(o, "window", s->window);
	json_put_number(o, "commands_in_flight", s->commands_in_flight);
	json_put_number(o, "output_waits_us", s->output_waits_us);
	json_put_number(o, "commands", s->commands);
	json_put_number(o, "read_bytes", s->read_bytes);
	json_put_number(o, "written_bytes", s->written_bytes);
	report_traffic(o, &s->traffic);
	json_put_number(o, "worker", s->worker);
	json_put_number(o, "lun_count", s->lun_count);
	json_object_object_add(o, "luns", session_luns_json(s));
	return o;
}

struct json_object *report_sessions(uint64_t id)
{
	struct session_info *list = NULL;
	unsigned count = 0;
	if (sessions_list(&list, &count) < 0)
		return NULL;
	struct json_object *out = json_object_new_array();
	for (unsigned i = 0; i < count; i++)
		if (!id || list[i].id == id)
			json_object_array_add(out, session_json(&list[i]));
	free(list);
	return out;
}

struct json_object *report_ended(uint64_t id)
{
	struct session_end *list = calloc(MOST, sizeof *list);
	struct json_object *out = json_object_new_array();
	unsigned n = list ? sessions_ended(list, MOST) : 0;
	for (unsigned i = 0; i < n; i++) {
		if (id && list[i].id != id)
			continue;
		struct json_object *o = json_add_object(out);
		json_put_number(o, "sid", list[i].id);
		json_put_number(o, "when", list[i].when_s);
		json_put_number(o, "lasted_s", list[i].lasted_s);
		json_put_text(o, "initiator", list[i].initiator);
		json_put_text(o, "target", list[i].target);
		json_put_text(o, "peer", list[i].peer);
		json_put_text(o, "reason", list[i].reason);
	}
	free(list);
	return out;
}

struct json_object *report_refusals(void)
{
	struct login_refusal *list = calloc(MOST, sizeof *list);
	struct json_object *out = json_object_new_array();
	unsigned n = list ? login_refusals(list, MOST) : 0;
	for (unsigned i = 0; i < n; i++) {
		struct json_object *o = json_add_object(out);
		json_put_number(o, "first", list[i].first_s);
		json_put_number(o, "last", list[i].last_s);
		json_put_number(o, "count", list[i].count);
		json_put_text(o, "initiator", list[i].initiator);
		json_put_text(o, "target", list[i].target);
		json_put_text(o, "peer", list[i].peer);
		json_put_number(o, "status", list[i].status);
		json_put_text(o, "reason", list[i].reason);
	}
	free(list);
	return out;
}
