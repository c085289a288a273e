// SPDX-License-Identifier: BSD-2-Clause
// The registry of sessions, by worker, and what every session does: see session.h.
#include "target/fabric/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/session_ends.h"
#include "target/fabric/slow_initiators.h"
#include "target/scsi/nexus.h"

#define SECOND	    1000000000ull
#define STARVED_NS  (SECOND - SECOND / 10) // a second as timers keep it
#define ENDS_LOGGED 16			   // ends of sessions of one address in PEER_LOG_S seconds

static struct list sessions[WORKER_MAX]; // each is only used by its worker
static uint64_t last_id;		 // atomic

void sessions_init(void)
{
	for (unsigned i = 0; i < WORKER_MAX; i++)
		list_init(&sessions[i]);
}

struct list *sessions_here(void)
{
	return &sessions[worker_index(worker_self())];
}

void session_init(struct session *s, const struct fabric_ops *fabric, struct worker *w)
{
	s->fabric = fabric;
	s->worker = w;
	s->state = SESSION_LOGIN;
	s->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	s->start_ns = worker_now(w);
	s->initiator = s->target_name = "";
	s->transport = s->carrier = s->peer = s->local = "";
	list_init(&s->removals);
}

void session_enter(struct session *s)
{
	list_push_back(&sessions[worker_index(s->worker)], &s->link);
}

void session_leave(struct session *s)
{
	list_remove(&s->link);
}

// ---- reports ----

void session_log(const struct session *s, int level, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	log_line(level, "%s: sid %lu peer=%s initiator=%s target=%s: %s", s->fabric->name,
		 (unsigned long)s->id, s->peer, s->initiator, s->target_name, text);
}

void session_ended(const struct session *s, const char *why)
{
	if (peer_log_permits_some(LOG_LVL_INFO, s->fabric->name, "session ended", s->peer_addr,
				  ENDS_LOGGED))
		session_log(s, LOG_LVL_INFO, "session ended: %s", why);
	if (!s->tpg)
		return;
	struct session_end end = {
		.id = s->id,
		.when_s = (uint64_t)time(NULL),
		.lasted_s = (worker_now(s->worker) - s->start_ns) / SECOND,
	};
	snprintf(end.initiator, sizeof end.initiator, "%s", s->initiator);
	snprintf(end.target, sizeof end.target, "%s", s->target_name);
	snprintf(end.peer, sizeof end.peer, "%s", s->peer);
	snprintf(end.reason, sizeof end.reason, "%s", why);
	session_end_note(&end);
}

void session_add_traffic(const struct session *s, struct session_traffic *sum)
{
	if (!s->nexus)
		return;
	struct buf_copies moved = s->fabric->copies(s);
	struct session_traffic mine = { s->nexus->counters, s->nexus->copied };
	mine.copied.count += moved.count;
	mine.copied.bytes += moved.bytes;
	traffic_add(sum, &mine);
}

static void put_field(struct session_field *f, const char *name, const char *text, uint64_t number)
{
	f->name = name;
	f->is_number = !text;
	f->number = number;
	snprintf(f->text, sizeof f->text, "%s", text ? text : "");
}

void session_identity(struct session_info *to, const char *name, const char *text, uint64_t number)
{
	if (to->identity_count < SESSION_IDENTITY_MAX)
		put_field(&to->identity[to->identity_count++], name, text, number);
}

void session_negotiated(struct session_info *to, const char *name, const char *text,
			uint64_t number, bool is_fixed)
{
	if (to->negotiated_count == SESSION_NEGOTIATED_MAX)
		return;
	struct session_field *f = &to->negotiated[to->negotiated_count++];
	put_field(f, name, text, number);
	f->is_fixed = is_fixed;
}

// ---- the published configuration ----

static const struct view_tpg *tpg_in(const struct view_target *t, uint16_t tag)
{
	for (unsigned i = 0; t && i < t->tpg_count; i++)
		if (t->tpgs[i].tag == tag && t->tpgs[i].is_enabled)
			return &t->tpgs[i];
	return NULL;
}

static void map_followed(void *arg)
{
	struct session *s = arg;
	s->fabric->release(s);
}

static void switch_to(struct session *s, const struct view_target *t, const struct view_tpg *tpg,
		      const struct view_acl *acl)
{
	struct view_target *old = s->target;
	struct lun_map *map = acl ? acl->map : tpg->demo_map;
	s->fabric->follows(s);
	s->target = view_target_get((struct view_target *)t);
	s->tpg = tpg;
	s->acl = acl;
	if (map != s->nexus->map) {
		unsigned withheld = nexus_withheld(s->nexus);
		s->fabric->hold(s);
		nexus_set_map(s->nexus, map, map_followed, s);
		if (nexus_withheld(s->nexus) > withheld)
			session_log(s, LOG_LVL_WARN,
				    "%u LUNs are other disks now: not shown until it logs in again",
				    nexus_withheld(s->nexus));
	}
	view_target_put(old);
}

void session_follow(struct session *s, const struct view *v)
{
	if (s->is_discovery || s->state != SESSION_LIVE)
		return;
	const struct view_target *t = view_find_target(v, s->target->name);
	if (t == s->target)
		return;
	const struct view_tpg *tpg = tpg_in(t, s->tpg->tag);
	if (!tpg) {
		s->fabric->close(s, t ? "the target portal group was disabled or deleted"
				      : "the target was deleted");
		return;
	}
	const struct view_acl *acl = s->fabric->find_acl(tpg, s);
	if (!acl && (s->acl || !tpg->is_open)) {
		s->fabric->close(s, "the initiator's ACL was deleted");
		return;
	}
	switch_to(s, t, tpg, acl);
}

// ---- memory ----

bool sessions_starve(void)
{
	bool ret = false;
	list_for_each (it, sessions_here()) {
		struct session *s = session_of(it);
		uint64_t now = worker_now(s->worker);
		if (!s->nexus || !nexus_is_starved(s->nexus))
			s->starved_ns = 0;
		else if (!s->starved_ns)
			s->starved_ns = now;
		else
			ret = ret || now - s->starved_ns >= STARVED_NS;
	}
	return ret;
}

// ---- initiators that keep others waiting ----

static const char *slow_name(const struct session *s, char address[TCP_ADDR_TEXT])
{
	return s->acl ? s->initiator : tcp_addr_format_ip(s->peer_addr, address);
}

void session_note_slow(const struct session *s)
{
	char address[TCP_ADDR_TEXT];
	slow_initiator_note(slow_name(s, address), worker_now(s->worker) / SECOND);
}

bool session_is_slow(const struct session *s, uint64_t now_ns)
{
	char address[TCP_ADDR_TEXT];
	return slow_initiator_is_known(slow_name(s, address), now_ns / SECOND);
}
