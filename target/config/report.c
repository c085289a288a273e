// SPDX-License-Identifier: BSD-2-Clause
// Tree, schema, sessions and statistics as JSON.
#include "target/config/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "core/fds.h"
#include "target/config/model.h"
#include "target/iscsi/sessions.h"

static void put_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void put_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

// ---- tree ----

static struct json_object *tree(struct config *c, const struct node *n, int depth, bool is_all)
{
	struct json_object *o = json_object_new_object();
	struct summary s = { 0 };
	if (n->class->summary)
		n->class->summary(c, n, &s);
	json_put_text(o, "name", n->parent ? n->name : "/");
	json_put_text(o, "class", n->class->name);
	json_put_text(o, "summary", s.text);
	if (s.is_healthy || s.is_broken)
		put_bool(o, "healthy", s.is_healthy);
	if (!is_all && !depth)
		return o;
	struct json_object *children = json_object_new_array();
	struct node **list = node_sorted(n);
	for (unsigned i = 0; list && i < n->child_count; i++)
		json_object_array_add(children, tree(c, list[i], depth - 1, is_all));
	free(list);
	json_object_object_add(o, "children", children);
	return o;
}

struct json_object *config_tree(struct config *c, const struct node *n, int depth)
{
	return tree(c, n, depth, depth == 0);
}

// ---- schema ----

static struct json_object *params_json(const struct param_row *rows)
{
	static const char *const types[] = {
		[PARAM_STRING] = "string", [PARAM_NUMBER] = "number", [PARAM_BOOL] = "bool",
		[PARAM_SIZE] = "size",	   [PARAM_FILE] = "file",     [PARAM_NODE] = "node",
	};
	struct json_object *list = json_object_new_array();
	for (const struct param_row *row = rows; row && row->name; row++) {
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", row->name);
		json_put_text(o, "type", types[row->type]);
		put_bool(o, "required", row->is_required);
		json_put_text(o, "default", row->default_text);
		json_put_text(o, "help", row->help);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *commands_json(const struct command_row *rows)
{
	struct json_object *list = json_object_new_array();
	for (const struct command_row *row = rows; row && row->name; row++) {
		struct json_object *o = json_object_new_object();
		json_put_text(o, "name", row->name);
		json_put_text(o, "help", row->help);
		put_bool(o, "readonly", row->is_readonly);
		json_object_object_add(o, "params", params_json(row->params));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *class_json(const struct node_class *class)
{
	struct json_object *o = json_object_new_object(), *groups = json_object_new_object();
	json_put_text(o, "help", class->help);
	json_object_object_add(o, "commands", commands_json(class->commands));
	for (const struct group_row *g = class->groups; g && g->name; g++)
		json_object_object_add(groups, g->name, group_schema(g));
	json_object_object_add(o, "groups", groups);
	return o;
}

struct json_object *config_schema(struct config *c)
{
	static const struct node_class *const classes[] = {
		&root_class,   &backstores_class, &storage_class,    &iscsi_class,
		&target_class, &tpg_class,	  &luns_class,	     &lun_class,
		&acls_class,   &acl_class,	  &mapped_lun_class, &portals_class,
		&portal_class, &fabric_class,	  &foreign_class,    &foreign_storage_class,
	};
	struct json_object *o = json_object_new_object(), *list = json_object_new_object();
	json_object_object_add(o, "every_node", commands_json(every_node_commands));
	json_object_object_add(o, root_groups[0].name, group_schema(&root_groups[0]));
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		json_object_object_add(list, classes[i]->name, class_json(classes[i]));
	for (unsigned i = 0; i < c->type_count; i++)
		json_object_object_add(list, c->types[i].class_name,
				       class_json(&c->types[i].class));
	json_object_object_add(o, "classes", list);
	return o;
}

// ---- what commands did ----

static void put_operations(struct json_object *to, const struct lu_counters *k)
{
	static const char *const names[LU_OP_MAX] = { "read", "write", "other" };
	for (int op = 0; op < LU_OP_MAX; op++) {
		struct json_object *one = json_object_new_object();
		struct json_object *latency = json_object_new_array();
		put_u64(one, "commands", k->op[op].commands);
		put_u64(one, "bytes", k->op[op].bytes);
		put_u64(one, "latency_sum_us", k->op[op].latency_sum_us);
		// Entry i counts the commands that took less than 2^i us; the last: more.
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
	put_operations(to, &t->scsi);
}

// ---- sessions and refused logins ----

static struct json_object *negotiated_json(const struct session_info *s)
{
	struct json_object *o = json_object_new_object();
	json_put_text(o, "HeaderDigest", s->header_digest ? "CRC32C" : "None");
	json_put_text(o, "DataDigest", s->data_digest ? "CRC32C" : "None");
	json_put_text(o, "InitialR2T", s->initial_r2t ? "Yes" : "No");
	json_put_text(o, "ImmediateData", s->immediate_data ? "Yes" : "No");
	put_u64(o, "MaxRecvDataSegmentLength", s->max_recv_dsl);
	put_u64(o, "MaxXmitDataSegmentLength", s->max_xmit_dsl);
	put_u64(o, "MaxBurstLength", s->max_burst);
	put_u64(o, "FirstBurstLength", s->first_burst);
	put_u64(o, "MaxOutstandingR2T", s->max_outstanding_r2t);
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
	put_u64(o, "tsih", s->tsih);
	put_u64(o, "cid", s->cid);
	json_put_text(o, "isid", s->isid);
	json_put_text(o, "type", s->is_discovery ? "Discovery" : "Normal");
	put_bool(o, "dynamic_acl", s->is_dynamic_acl);
	put_bool(o, "authenticated", s->is_authenticated);
	put_bool(o, "mutual", s->is_mutual);
	json_put_text(o, "transport", s->transport);
	json_put_text(o, "carrier", s->carrier);
	json_object_object_add(o, "remote_rights", json_object_new_int64(s->remote_rights));
	json_put_text(o, "peer", s->peer);
	json_put_text(o, "local", s->local);
	put_u64(o, "age_s", s->age_s);
	json_object_object_add(o, "parameters", negotiated_json(s));
	put_u64(o, "window", s->window);
	put_u64(o, "commands_in_flight", s->commands_in_flight);
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

struct json_object *report_refusals(void)
{
	enum { MOST = 64 };
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

// ---- statistics ----

static struct json_object *lu_json(const struct lu *lu)
{
	struct json_object *o = json_object_new_object();
	struct lu_counters *k = calloc(1, sizeof *k);
	if (!k)
		return o;
	lu_counters_sum(lu, k);
	put_operations(o, k);
	free(k);
	return o;
}

static struct json_object *storages_json(struct config *c)
{
	struct json_object *list = json_object_new_object();
	for (unsigned i = 0; i < c->type_count; i++)
		list_for_each (it, &c->types[i].node.children) {
			struct storage *s =
				NODE_OF(struct storage, list_entry(it, struct node, link));
			char path[NAME_MAX_LEN + 80];
			node_path(&s->node, path, sizeof path);
			if (s->lu)
				json_object_object_add(list, path, lu_json(s->lu));
		}
	return list;
}

static void add_portal(struct config *c, struct portal_node *p, void *arg)
{
	struct json_object *list = arg, *o = json_object_new_object();
	portal_class.info(c, &p->node, o);
	json_object_object_add(list, p->node.name, o);
}

static struct json_object *portals_json(struct config *c)
{
	struct json_object *list = json_object_new_object();
	portals_each(c, add_portal, list);
	return list;
}

static struct json_object *limits_json(void)
{
	struct json_object *o = json_object_new_object();
	struct iscsi_limits l;
	iscsi_limits_get(&l);
	put_u64(o, "connections", l.connections);
	put_u64(o, "connections_per_address", l.connections_per_address);
	put_u64(o, "logins_in_progress_per_worker", l.logins_in_progress);
	put_u64(o, "descriptors", fds_limit());
	return o;
}

static struct json_object *iscsi_json(void)
{
	struct json_object *o = json_object_new_object();
	struct iscsi_counters k = { 0 };
	iscsi_counters(&k);
	put_u64(o, "connections_accepted", k.connections_accepted);
	put_u64(o, "connections_refused", k.connections_refused);
	put_u64(o, "connections_closed_protocol_error", k.connections_closed_protocol_error);
	put_u64(o, "logins_ok", k.logins_ok);
	put_u64(o, "logins_failed", k.logins_failed);
	put_u64(o, "logins_timed_out", k.logins_timed_out);
	put_u64(o, "logins_displaced", k.logins_displaced);
	put_u64(o, "failed_auth", k.failed_auth);
	put_u64(o, "failed_acl", k.failed_acl);
	put_u64(o, "failed_target", k.failed_target);
	put_u64(o, "failed_other", k.failed_other);
	put_u64(o, "digest_errors", k.digest_errors);
	put_u64(o, "rejects_sent", k.rejects_sent);
	put_u64(o, "pdus_received", k.pdus_received);
	put_u64(o, "pdus_sent", k.pdus_sent);
	put_u64(o, "bytes_received", k.bytes_received);
	put_u64(o, "bytes_sent", k.bytes_sent);
	json_object_object_add(o, "limits", limits_json());
	return o;
}

static struct json_object *workers_json(void)
{
	struct json_object *list = json_object_new_array();
	for (unsigned i = 0; i < worker_count(); i++) {
		const struct worker_counters *k = worker_counters(worker_at(i));
		struct json_object *o = json_object_new_object();
		put_u64(o, "rounds", counter_get(&k->rounds));
		put_u64(o, "sleeps", counter_get(&k->sleeps));
		put_u64(o, "spins", counter_get(&k->spins));
		put_u64(o, "messages", counter_get(&k->messages));
		put_u64(o, "payload_copies", counter_get(&k->payload_copies));
		put_u64(o, "payload_copy_bytes", counter_get(&k->payload_copy_bytes));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *sessions_json(void)
{
	struct json_object *list = json_object_new_object();
	struct session_info *sessions = NULL;
	unsigned count = 0;
	sessions_list(&sessions, &count); // without memory there are none
	for (unsigned i = 0; i < count; i++) {
		struct json_object *o = json_object_new_object();
		char sid[24];
		snprintf(sid, sizeof sid, "%" PRIu64, sessions[i].id);
		json_put_text(o, "initiator", sessions[i].initiator);
		json_put_text(o, "target", sessions[i].target);
		put_u64(o, "commands", sessions[i].commands);
		report_traffic(o, &sessions[i].traffic);
		json_object_object_add(list, sid, o);
	}
	free(sessions);
	return list;
}

struct json_object *config_stats(struct config *c)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "storage_objects", storages_json(c));
	json_object_object_add(o, "sessions", sessions_json());
	json_object_object_add(o, "portals", portals_json(c));
	json_object_object_add(o, "iscsi", iscsi_json());
	json_object_object_add(o, "workers", workers_json());
	return o;
}
