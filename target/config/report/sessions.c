// SPDX-License-Identifier: BSD-2-Clause
// Sessions, ended sessions and refused logins as JSON.

#include <stdio.h>
#include <stdlib.h>

#include "core/json/json.h"
#include "target/config/report/report.h"
#include "target/config/storage/counters.h"
#include "target/fabric/refusals.h"
#include "target/fabric/session_ends.h"
#include "target/fabric/sessions.h"

enum { MOST = 64 }; // limit of ended sessions and of refusals

static void put_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void put_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

// ---- sessions and refused logins ----

static void put_field(struct json_object *o, const struct session_field *f)
{
	if (f->is_number)
		put_u64(o, f->name, f->number);
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
		struct json_object *o = json_object_new_object();
		put_u64(o, "lun", s->luns[i].lun);
		json_put_text(o, "storage_object", s->luns[i].storage_object);
		put_bool(o, "write_protect", s->luns[i].is_write_protected);
		put_u64(o, "commands_in_flight", s->luns[i].in_flight);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *session_json(const struct session_info *s)
{
	struct json_object *o = json_object_new_object();
	put_u64(o, "sid", s->id);
	json_put_text(o, "initiator", s->initiator);
	json_put_text(o, "alias", s->alias);
	json_put_text(o, "target", s->target);
	put_u64(o, "tpg", s->tpg);
	for (unsigned i = 0; i < s->identity_count; i++)
		put_field(o, &s->identity[i]);
	json_put_text(o, "type", s->is_discovery ? "Discovery" : "Normal");
	put_bool(o, "dynamic_acl", s->is_dynamic_acl);
	put_bool(o, "authenticated", s->is_authenticated);
	put_bool(o, "mutual", s->is_mutual);
	json_put_text(o, "auth", s->proof);
	json_put_text(o, "transport", s->transport);
	json_put_text(o, "carrier", s->carrier);
	json_object_object_add(o, "remote_rights", json_object_new_int64(s->remote_rights));
	json_put_text(o, "peer", s->peer);
	json_put_text(o, "local", s->local);
	put_u64(o, "age_s", s->age_s);
	json_object_object_add(o, "parameters", negotiated_json(s));
	put_u64(o, "window", s->window);
	put_u64(o, "commands_in_flight", s->commands_in_flight);
	put_u64(o, "output_waits_us", s->output_waits_us);
	put_u64(o, "commands", s->commands);
	put_u64(o, "read_bytes", s->read_bytes);
	put_u64(o, "written_bytes", s->written_bytes);
	report_traffic(o, &s->traffic);
	put_u64(o, "worker", s->worker);
	put_u64(o, "lun_count", s->lun_count);
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
		struct json_object *o = json_object_new_object();
		put_u64(o, "sid", list[i].id);
		put_u64(o, "when", list[i].when_s);
		put_u64(o, "lasted_s", list[i].lasted_s);
		json_put_text(o, "initiator", list[i].initiator);
		json_put_text(o, "target", list[i].target);
		json_put_text(o, "peer", list[i].peer);
		json_put_text(o, "reason", list[i].reason);
		json_object_array_add(out, o);
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
		struct json_object *o = json_object_new_object();
		put_u64(o, "first", list[i].first_s);
		put_u64(o, "last", list[i].last_s);
		put_u64(o, "count", list[i].count);
		json_put_text(o, "initiator", list[i].initiator);
		json_put_text(o, "target", list[i].target);
		json_put_text(o, "peer", list[i].peer);
		put_u64(o, "status", list[i].status);
		json_put_text(o, "reason", list[i].reason);
		json_object_array_add(out, o);
	}
	free(list);
	return out;
}
