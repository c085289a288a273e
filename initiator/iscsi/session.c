// SPDX-License-Identifier: BSD-2-Clause
// Life of a session, on its worker: new, logout, free, and its nexus. RFC
// 7143 4.3, 4.4.2, 6.3.5, 11.14. Connecting is in session_connect.c, login in session_login.c, full
// feature phase in session_ffp.c, what follows a lost connection in session_lost.c.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/iscsi/name.h"
#include "transport/wire/be.h"
#include "transport/wire/iser.h"

#define FENCE_LOGIN_S 3600 // the target answers when its storage has ended the lost commands

void ini_config_init(struct ini_config *c)
{
	*c = (struct ini_config){
		.queue_depth = 128,
		.connect_timeout = 15,
		.login_timeout = 15,
		.command_timeout = 30,
		.abort_timeout = 15,
		.logout_timeout = 15,
		.noop_out_interval = 5,
		.noop_out_timeout = 5,
		.replacement_timeout = 120,
	};
	iscsi_offer_init(&c->login.offer);
	c->login.chap_algs = CHAP_ALGS_OFFER;
}

// --- logout ---

static void send_logout(struct ini_session *s)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_I | ISCSI_OP_LOGOUT_REQ,
				       ISCSI_F | ISCSI_LOGOUT_CLOSE_SESSION };
	s->logout_tag = session_tag(s);
	s->scsi.is_up = false;
	put_be32(((struct iscsi_bhs *)bhs)->itt, s->logout_tag);
	s->state = SESSION_LOGOUT;
	timer_arm(s->worker, &s->timer, s->config.logout_timeout * US_PER_SEC);
	s->dm->ops->send(s->dm, bhs, NULL, 0, false);
}

static void logout(struct scsi_session *scsi)
{
	struct ini_session *s = ini_of(scsi);
	s->wants_relogin = false;
	if (s->state == SESSION_UP)
		send_logout(s);
	else if (s->state != SESSION_LOGOUT)
		session_end_asked(s);
}

static void on_timer(struct timer *t)
{
	struct ini_session *s = container_of(t, struct ini_session, timer);
	struct err e;
	switch (s->state) {
	case SESSION_LOGIN:
		err_set(&e, -ETIMEDOUT, "%s: login: timed out after %u s", s->dm->peer,
			s->config.login_timeout);
		session_lost(s, &e, false);
		break;
	case SESSION_LOGOUT:
		err_set(&e, -ETIMEDOUT, "logout: timed out");
		if (s->wants_relogin)
			session_lost(s, &e, false);
		else
			session_end_asked(s);
		break;
	case SESSION_WAITING:
		if (s->scsi.is_paused)
			timer_arm(s->worker, &s->timer, SCSI_PAUSE_US);
		else
			session_connect(s);
		break;
	default:
		break;
	}
}

// --- new and free ---

static int config_check(struct ini_config *c, struct err *e)
{
	static const uint8_t no_isid[ISCSI_ISID_LEN];
	struct login *probe;
	if (!c->portal_count || c->portal_count > INI_PORTALS_MAX)
		return err_set(e, -EINVAL, "session: %u portals (must be 1 to %d)", c->portal_count,
			       INI_PORTALS_MAX);
	if (c->provider_count > INI_PROVIDERS_MAX)
		return err_set(e, -EINVAL, "session: %u providers (at most %d)", c->provider_count,
			       INI_PROVIDERS_MAX);
	if (!c->queue_depth || c->queue_depth > INI_QUEUE_DEPTH_MAX)
		return err_set(e, -EINVAL, "session: queue depth %u (must be 1 to %d)",
			       c->queue_depth, INI_QUEUE_DEPTH_MAX);
	if (!memcmp(c->login.isid, no_isid, sizeof no_isid) && iscsi_isid_random(c->login.isid))
		return err_set(e, -EIO, "session: ISID: no random numbers");
	probe = calloc(1, sizeof *probe);
	if (!probe)
		return err_set(e, -ENOMEM, "session: out of memory");
	int r = login_initiator_init(probe, &c->login, e);
	login_done(probe);
	free(probe);
	return r;
}

// Limits of iSER's movers and their peers, whatever was configured: text, sense and immediate data
// of 8 KiB, no unsolicited Data-Out [RFC 7145 6.2].
static void offer_rdma(struct iscsi_offer *o)
{
	o->is_rdma = true;
	o->value[ISCSI_KEY_TARGET_RECV_DATA_SEGMENT_LENGTH] = ISER_DATA_MAX;
	o->value[ISCSI_KEY_INITIATOR_RECV_DATA_SEGMENT_LENGTH] = ISER_DATA_MAX;
	o->value[ISCSI_KEY_INITIAL_R2T] = 1;
}

static void free_run(struct msg *m)
{
	struct ini_session *s = container_of(m, struct ini_session, free_msg);
	s->is_free_due = s->is_resolving || s->old;
	if (s->is_free_due) // their end calls this again
		return;
	chap_wipe(&s->config, sizeof s->config);
	void (*freed)(void *) = s->scsi.ops.freed;
	void *arg = s->scsi.arg;
	scsi_session_done(&s->scsi);
	free(s);
	freed(arg);
}

static void session_free(struct scsi_session *scsi)
{
	struct ini_session *s = ini_of(scsi);
	struct err e;
	if (s->is_freed)
		return;
	s->is_freed = true;
	err_set(&e, -ESHUTDOWN, "session freed");
	session_end(s, &e);
	s->free_msg.fn = free_run;
	worker_post(s->worker, &s->free_msg);
}

// --- what is known of it ---

void ini_session_info(const struct scsi_session *s, struct ini_session_info *ret)
{
	*ret = ini_of(s)->info;
}

static void info(const struct scsi_session *s, struct scsi_session_info *ret)
{
	snprintf(ret->peer, sizeof ret->peer, "%s", ini_of(s)->info.peer);
	snprintf(ret->local, sizeof ret->local, "%s", ini_of(s)->info.local);
	ret->is_redirected = ini_of(s)->info.redirects;
}

// R2Ts of one connection follow each other, so that each costs a round trip (RFC 7143, 11.8).
static unsigned round_trips(const struct scsi_session *s, uint32_t bytes, bool is_write)
{
	const struct iscsi_params *p = &ini_of(s)->info.params;
	uint32_t unsolicited = !p->initial_r2t	   ? p->first_burst
			       : p->immediate_data ? p->max_send_data
						   : 0;
	if (unsolicited > p->first_burst)
		unsolicited = p->first_burst;
	if (!is_write || bytes <= unsolicited || !p->max_burst)
		return 1;
	return 1 + (bytes - unsolicited + p->max_burst - 1) / p->max_burst;
}

// --- its nexus, and a session that ends it ---

static void nexus(const struct scsi_session *scsi, struct scsi_nexus *ret)
{
	const struct ini_session *s = ini_of(scsi);
	const struct login_config *l = &s->config.login;
	char isid[ISCSI_ISID_TEXT];
	iscsi_isid_format(l->isid, isid);
	ret->protocol = SCSI_NEXUS_ISCSI;
	snprintf(ret->initiator, sizeof ret->initiator, "%s,i,%s", l->initiator_name, isid);
	if (s->info.tpgt >= 0)
		snprintf(ret->target, sizeof ret->target, "%s,t,0x%04x", l->target_name,
			 (unsigned)s->info.tpgt);
	else // only the same portal is certain to be of the same group
		snprintf(ret->target, sizeof ret->target, "%s,t,%s", l->target_name, s->info.peer);
}

// The ISID of an initiator port that has our name.
static bool find_isid(const struct ini_session *s, const char *port, uint8_t ret[ISCSI_ISID_LEN])
{
	size_t n = strlen(s->config.login.initiator_name);
	unsigned long long isid;
	int end = 0;
	if (strncmp(port, s->config.login.initiator_name, n) != 0 ||
	    sscanf(port + n, ",i,0x%12llx%n", &isid, &end) != 1 || port[n + (size_t)end])
		return false;
	for (unsigned i = ISCSI_ISID_LEN; i-- > 0; isid >>= 8)
		ret[i] = (uint8_t)isid;
	return true;
}

static int reenter(struct scsi_session *scsi, const struct scsi_nexus *lost,
		   const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
		   struct err *e)
{
	struct ini_session *s = ini_of(scsi);
	struct ini_config c;
	struct scsi_nexus own;
	uint8_t isid[ISCSI_ISID_LEN];
	nexus(scsi, &own);
	if (lost->protocol != SCSI_NEXUS_ISCSI || strcmp(own.target, lost->target) != 0 ||
	    !find_isid(s, lost->initiator, isid))
		return err_set(e, -EOPNOTSUPP, "%.120s: another portal group", own.target);
	c = s->config;
	memcpy(c.login.isid, isid, sizeof isid);
	c.portal_count = 1;
	c.queue_depth = 1;
	c.login_timeout = FENCE_LOGIN_S;
	c.replacement_timeout = 0;
	int r = tcp_addr_parse(&c.portals[0], s->info.peer, ISCSI_PORT, e);
	if (!r)
		r = ini_session_new(ret, s->worker, &c, ops, arg, e);
	chap_wipe(&c, sizeof c);
	return r;
}

static void idle(struct scsi_session *scsi)
{
	struct ini_session *s = ini_of(scsi);
	if (s->wants_relogin && s->state == SESSION_UP)
		send_logout(s);
}

static void give_up(struct scsi_session *s, const struct err *why)
{
	session_lost(ini_of(s), why, false);
}

static const struct scsi_protocol protocol = {
	.room = command_room,
	.send = command_send,
	.give_up = give_up,
	.task_mgmt = tmf_send,
	.idle = idle,
	.logout = logout,
	.free = session_free,
	.info = info,
	.describe = ini_describe,
	.nexus = nexus,
	.reenter = reenter,
	.round_trips = round_trips,
};

static void session_init(struct ini_session *s, struct worker *w)
{
	s->worker = w;
	s->scsi.queue_depth = s->config.queue_depth;
	s->scsi.command_timeout = s->config.command_timeout;
	s->info.tpgt = -1;
	iscsi_params_init(&s->info.params);
	timer_init(&s->timer, on_timer);
}

int ini_session_new(struct scsi_session **ret, struct worker *w, const void *config,
		    const struct scsi_session_ops *ops, void *arg, struct err *e)
{
	struct ini_session *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(e, -ENOMEM, "session: out of memory");
	s->config = *(const struct ini_config *)config;
	if (s->config.provider_count)
		offer_rdma(&s->config.login.offer);
	int r = config_check(&s->config, e);
	if (r) {
		chap_wipe(&s->config, sizeof s->config);
		free(s);
		return r;
	}
	scsi_session_init(&s->scsi, w, &protocol, ops, arg);
	session_init(s, w);
	// The first attempt starts in a later round, so that every failure is reported by callback.
	s->state = SESSION_WAITING;
	timer_arm(w, &s->timer, 0);
	*ret = &s->scsi;
	return 0;
}
