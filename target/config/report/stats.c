// SPDX-License-Identifier: BSD-2-Clause
// Statistics as JSON: storage objects, sessions, portals, the sums of each fabric, workers, and
// long commands.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/counter.h"
#include "core/fds.h"
#include "target/config/report/report.h"
#include "target/config/storage/counters.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/portal.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_limits.h"
#include "target/fabric/sessions.h"
#include "target/scsi/lu.h"
#include "target/scsi/medium.h"
#include "target/scsi/progress.h"

enum { TREE_NODES_MAX = 2000 };

static struct json_object *lu_json(const struct lu *lu)
{
	struct json_object *o = json_object_new_object();
	struct lu_counters *k = calloc(1, sizeof *k);
	if (!k)
		return o;
	lu_counters_sum(lu, k);
	json_put_number(o, "size", lu_size(lu));
	json_put_text(o, "cache", lu_cache_name(lu));
	report_operations(o, k);
	json_put_number(o, "storage_us", k->storage_ns / 1000);
	json_put_number(o, "ended_writes", lu_ended_writes(lu));
	free(k);
	return o;
}

static struct json_object *storages_json(struct config *c)
{
	struct json_object *list = json_object_new_object();
	storage_each (s, c) {
		char path[NAME_MAX_LEN + 80];
		node_path(&s->node, path, sizeof path);
		if (s->lu)
			json_object_object_add(list, path, lu_json(s->lu));
	}
	return list;
}

static struct json_object *portals_json(struct config *c)
{
	struct json_object *list = json_object_new_object();
	portal_each (p, c) {
		struct json_object *o = json_object_new_object();
		portal_info(c, &p->node, o);
		json_object_object_add(list, p->node.name, o);
	}
	return list;
}

static struct json_object *limits_json(void)
{
	struct json_object *o = json_object_new_object();
	struct peer_limits l;
	peer_limits_get(&l);
	json_put_number(o, "connections", l.connections);
	json_put_number(o, "connections_per_address", l.connections_per_address);
	json_put_number(o, "logins_in_progress_per_worker", l.logins_in_progress);
	json_put_number(o, "descriptors", fds_limit());
	return o;
}

static struct json_object *fabric_json(const struct fabric_ops *fabric)
{
	struct json_object *o = json_object_new_object();
	struct fabric_counters k;
	fabric->counters(&k);
	json_put_number(o, "connections_accepted", k.connections_accepted);
	json_put_number(o, "connections_refused", k.connections_refused);
	json_put_number(o, "connections_closed_protocol_error",
			k.connections_closed_protocol_error);
	json_put_number(o, "logins_ok", k.logins_ok);
	json_put_number(o, "logins_failed", k.logins_failed);
	json_put_number(o, "logins_timed_out", k.logins_timed_out);
	json_put_number(o, "logins_displaced", k.logins_displaced);
	json_put_number(o, "failed_auth", k.failed_auth);
	json_put_number(o, "failed_acl", k.failed_acl);
	json_put_number(o, "failed_target", k.failed_target);
	json_put_number(o, "failed_other", k.failed_other);
	json_put_number(o, "digest_errors", k.digest_errors);
	json_put_number(o, "rejects_sent", k.rejects_sent);
	json_put_number(o, "pdus_received", k.pdus_received);
	json_put_number(o, "pdus_sent", k.pdus_sent);
	json_put_number(o, "bytes_received", k.bytes_received);
	json_put_number(o, "bytes_sent", k.bytes_sent);
	json_object_object_add(o, "limits", limits_json());
	return o;
}

static void put_fabrics(struct json_object *to)
{
	const struct fabric_ops *fabric;
	for (unsigned i = 0; (fabric = fabric_at(i)); i++)
		json_object_object_add(to, fabric->name, fabric_json(fabric));
}

static struct json_object *workers_json(void)
{
	struct json_object *list = json_object_new_array();
	for (unsigned i = 0; i < worker_count(); i++) {
		const struct worker_counters *k = worker_counters(worker_at(i));
		struct json_object *o = json_add_object(list);
		json_put_number(o, "cpu_us", worker_cpu_ns(worker_at(i)) / 1000);
		json_put_number(o, "rounds", counter_get(&k->rounds));
		json_put_number(o, "sleeps", counter_get(&k->sleeps));
		json_put_number(o, "spins", counter_get(&k->spins));
		json_put_number(o, "polls", counter_get(&k->polls));
		json_put_number(o, "polls_missed", counter_get(&k->polls_missed));
		json_put_number(o, "polled_us", counter_get(&k->polled_ns) / 1000);
		json_put_number(o, "messages", counter_get(&k->messages));
		json_put_number(o, "payload_copies", counter_get(&k->payload_copies));
		json_put_number(o, "payload_copy_bytes", counter_get(&k->payload_copy_bytes));
		json_put_number(o, "rdma_errors", counter_get(&k->rdma_errors));
	}
	return list;
}

// ---- long commands ----

static void add_progress(struct json_object *list, const char *operation, const char *path,
			 double percent, uint64_t elapsed_ms)
{
	struct json_object *o = json_add_object(list);
	char text[16];
	snprintf(text, sizeof text, "%.1f", percent);
	json_put_text(o, "operation", operation);
	json_put_text(o, "storage_object", path);
	json_object_object_add(o, "percent", json_object_new_double_s(percent, text));
	if (elapsed_ms)
		json_put_number(o, "elapsed_ms", elapsed_ms);
}

static void add_sanitize(struct json_object *list, const struct storage *s)
{
	uint32_t state = s->lu ? sanitize_state(s->lu) : SANITIZE_IDLE;
	char path[NAME_MAX_LEN + 80];
	if (state == SANITIZE_IDLE || state == SANITIZE_FAILED)
		return;
	node_path(&s->node, path, sizeof path);
	add_progress(list, "SANITIZE", path, (state - 1) * 100.0 / 65536, 0);
}

struct json_object *report_progress(struct config *c)
{
	enum { MOST = 64 };
	struct json_object *list = json_object_new_array();
	struct progress_info *found = calloc(MOST, sizeof *found);
	unsigned n = found ? progress_list(found, MOST) : 0;
	storage_each (s, c)
		add_sanitize(list, s);
	for (unsigned i = 0; i < n; i++) {
		const struct progress_info *p = &found[i];
		char path[200];
		snprintf(path, sizeof path, "/backstores/%s", p->storage_object);
		add_progress(list, p->operation, path,
			     p->total ? (double)p->done * 100 / (double)p->total : 0,
			     p->elapsed_ms);
	}
	free(found);
	return list;
}

static struct json_object *sessions_json(void)
{
	struct json_object *list = json_object_new_object();
	struct session_info *sessions = NULL;
	unsigned count = 0;
	sessions_list(&sessions, &count); // none without memory
	for (unsigned i = 0; i < count; i++) {
		char sid[24];
		snprintf(sid, sizeof sid, "%" PRIu64, sessions[i].id);
		struct json_object *o = json_part(list, sid);
		json_put_text(o, "initiator", sessions[i].initiator);
		json_put_text(o, "target", sessions[i].target);
		json_put_number(o, "commands", sessions[i].commands);
		report_traffic(o, &sessions[i].traffic);
	}
	free(sessions);
	return list;
}

struct json_object *report_status(struct config *c, bool wants_tree)
{
	struct json_object *o = json_object_new_object(), *list = report_sessions(0);
	json_put_text(o, "version", FARBLOCK_VERSION);
	json_put_number(o, "time", (uint64_t)time(NULL));
	json_put_number(o, "clock_us", clock_ns() / 1000);
	json_object_object_add(o, "sessions", list ? list : json_object_new_array());
	json_object_object_add(o, "storage_objects", storages_json(c));
	json_object_object_add(o, "progress", report_progress(c));
	json_object_object_add(o, "workers", workers_json());
	put_fabrics(o);
	if (wants_tree) {
		// With thousands of disks only the upper levels are sent; the shell's ls shows the
		// rest.
		int depth = c->names.count > TREE_NODES_MAX ? 3 : 0;
		json_object_object_add(o, "tree", config_tree(c, &c->root, depth, false));
	}
	return o;
}

struct json_object *config_stats(struct config *c)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "storage_objects", storages_json(c));
	json_object_object_add(o, "sessions", sessions_json());
	json_object_object_add(o, "portals", portals_json(c));
	put_fabrics(o);
	json_object_object_add(o, "workers", workers_json());
	json_object_object_add(o, "progress", report_progress(c));
	return o;
}
