// SPDX-License-Identifier: BSD-2-Clause
// The life of a channel of discovery and its limits; what its commands ask for. T10 SRP 6; SPC-5
// 6.6.
#include "target/srp/discovery_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal.h"
#include "target/scsi/lun_map.h"
#include "transport/wire/be.h"

#define SECOND	     1000000000ull
#define LIFE	     10 // seconds of a channel
#define SILENCE	     5	// ... without a command
#define COMMANDS_MAX 16 // of a channel
#define ENDS_LOGGED  16 // of one address in PEER_LOG_S seconds

enum { INQUIRY = 0x12, EVPD = 1 };

static struct discovery *discovery_of(const struct session *s)
{
	return container_of((struct session *)s, struct discovery, session);
}

// ---- the end ----

static void free_run(struct msg *m)
{
	struct discovery *d = container_of(m, struct discovery, free_msg);
	struct srp_worker *sw = srp_worker();
	struct srp_channel_info k;
	srp_channel_info(d->ch, &k);
	srp_worker_count(sw, &(struct fabric_traffic){ 0 }, &k); // short: at its end
	srp_channel_free(d->ch);
	buf_put(d->buf);
	view_put(d->view);
	login_slot_leave(&d->session);
	login_slot_done(&d->session);
	portal_conn_closed(d->portal, &d->peer);
	list_remove(&d->link);
	free(d);
	srp_worker_rest(sw);
}

static void check_end(struct discovery *d)
{
	if (!d->is_closed || !list_empty(&d->requests) || d->is_free_posted)
		return;
	d->is_free_posted = true;
	worker_post(d->session.worker, &d->free_msg);
}

static void discovery_close(struct discovery *d, const char *why)
{
	struct err e;
	if (d->is_closed || *d->why)
		return;
	snprintf(d->why, sizeof d->why, "%s", why);
	err_set(&e, -ESHUTDOWN, "%s", why);
	srp_channel_close(d->ch, false, SRP_LOGOUT_NO_REASON, &e);
}

// ---- from the channel ----

// What is wrong with a command; 0: it asks for the list.
static uint32_t judge(const struct srp_command *c)
{
	if (lun_decode(c->lun))
		return SENSE_LUN_NOT_SUPPORTED;
	if (c->cdb[0] != INQUIRY)
		return SENSE_INVALID_OPCODE;
	return c->cdb[1] == EVPD && c->cdb[2] == SRP_LIST_PAGE ? 0 : SENSE_INVALID_FIELD_CDB;
}

// Counts a command or a task management request. False: it is too much.
static bool count_command(struct discovery *d)
{
	if (++d->command_count > COMMANDS_MAX)
		discovery_close(d, "too many commands");
	return !*d->why;
}

static struct srp_task *on_command(struct srp_channel *ch, const struct srp_command *c)
{
	struct discovery *d = srp_channel_role(ch);
	struct request *r = count_command(d) ? calloc(1, sizeof *r) : NULL;
	if (!r) {
		discovery_close(d, "out of memory for a command");
		return NULL;
	}
	r->discovery = d;
	r->sense_code = judge(c);
	r->most = get_be16(c->cdb + 3);
	r->out_len = c->out.len;
	r->in_len = c->in.len;
	list_push_back(&d->requests, &r->link);
	return &r->srp;
}

static void on_begin(struct srp_channel *ch, struct srp_task *t)
{
	discovery_answer(container_of(t, struct request, srp));
}

static void on_data(struct srp_channel *ch, struct srp_task *t, int res)
{
	// No data-out is fetched.
}

static void on_part(struct srp_channel *ch, struct srp_task *t, int res)
{
	// Data-in is sent at once.
}

static void on_released(struct srp_channel *ch, struct srp_task *t)
{
	struct request *r = container_of(t, struct request, srp);
	struct discovery *d = r->discovery;
	list_remove(&r->link);
	free(r);
	check_end(d);
}

static void on_task_mgmt(struct srp_channel *ch, const struct srp_task_mgmt *m)
{
	if (count_command(srp_channel_role(ch)))
		srp_answer_tmf(ch, m->tag, SRP_RSP_TMF_UNSUPPORTED);
}

static void on_logout(struct srp_channel *ch)
{
	discovery_close(srp_channel_role(ch), "logged out");
}

static void on_closed(struct srp_channel *ch, const struct err *why)
{
	struct discovery *d = srp_channel_role(ch);
	if (why->code == -EPROTO)
		counter_add(&srp_worker()->counters.connections_closed_protocol_error, 1);
	if (peer_log_permits_some(LOG_LVL_INFO, d->session.fabric->name, "discovery ended",
				  &d->peer, ENDS_LOGGED))
		session_log(&d->session, LOG_LVL_INFO, "discovery ended: %s",
			    *d->why ? d->why : why->text);
	d->is_closed = true;
	discovery_drop(d);
	check_end(d);
}

static const struct srp_channel_up channel_up = {
	.command = on_command,
	.begin = on_begin,
	.data = on_data,
	.part = on_part,
	.released = on_released,
	.task_mgmt = on_task_mgmt,
	.logout = on_logout,
	.closed = on_closed,
};

// ---- the begin ----

static struct discovery *discovery_new(const struct login *l)
{
	struct discovery *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	session_init(&d->session, l->session.fabric, l->session.worker);
	d->session.id = l->session.id;
	d->portal = l->portal;
	d->peer = l->peer;
	// A service id has no address by which portals on all addresses could be reported.
	if (!l->request->is_by_service)
		d->local = l->request->local_addr;
	d->transport = l->transport;
	memcpy(d->peer_text, l->peer_text, sizeof d->peer_text);
	memcpy(d->initiator, l->initiator, sizeof d->initiator);
	d->session.is_discovery = true;
	d->session.state = SESSION_LIVE;
	d->session.peer = d->peer_text;
	d->session.peer_addr = &d->peer;
	d->session.initiator = d->initiator;
	d->session.target_name = "discovery";
	d->free_msg.fn = free_run;
	list_init(&d->requests);
	rnic_drain_init(&d->drain);
	return d;
}

// Accepts q, or refuses and frees it.
static int accept_request(struct discovery *d, const struct login *l, struct rnic_request *q,
			  struct err *e)
{
	const struct portal_attr attr = view_portal_attr(l->view, portal_addr(l->portal));
	const struct srp_channel_options o = {
		.accept = l->terms.terms,
		.tos = (uint8_t)attr.tos,
		.pkey = (uint16_t)attr.pkey,
		.drain = &d->drain,
	};
	return srp_channel_new(&d->ch, q, &o, &channel_up, d, e);
}

int discovery_begin(struct login *l, struct err *e)
{
	struct rnic_request *q = l->request;
	struct discovery *d = discovery_new(l);
	if (!d)
		return err_set(e, -ENOMEM, "out of memory for discovery");
	login_slot_leave(&l->session);
	int r = login_slot_take(&d->session, &d->peer, e);
	if (!r) {
		l->request = NULL; // answered below
		r = accept_request(d, l, q, e);
	}
	if (r < 0) {
		login_slot_leave(&d->session);
		free(d);
		return r;
	}
	login_slot_progress(&d->session);
	d->view = l->view;
	l->view = NULL;
	l->portal = NULL;
	list_push_back(&srp_worker()->discoveries, &d->link);
	srp_worker_wake(srp_worker());
	return 0;
}

// ---- limits ----

void discovery_displace(struct session *s)
{
	counter_add(&srp_worker()->counters.logins_displaced, 1);
	login_slot_leave(s);
	discovery_close(discovery_of(s), "too many logins in progress");
}

static void check(struct discovery *d, uint64_t now)
{
	char why[60];
	uint64_t most = d->command_count ? LIFE : SILENCE;
	if (now - d->session.start_ns <= most * SECOND)
		return;
	snprintf(why, sizeof why, "%s within %u s",
		 d->command_count ? "not finished" : "no command", (unsigned)most);
	discovery_close(d, why);
}

unsigned discoveries_check(struct srp_worker *sw, uint64_t now)
{
	unsigned count = 0;
	list_for_each (it, &sw->discoveries) {
		check(list_entry(it, struct discovery, link), now); // frees none at once
		count++;
	}
	return count;
}

bool discoveries_stop(struct srp_worker *sw)
{
	list_for_each (it, &sw->discoveries)
		discovery_close(list_entry(it, struct discovery, link), "the target is stopping");
	return !list_empty(&sw->discoveries);
}
