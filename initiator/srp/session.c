// SPDX-License-Identifier: BSD-2-Clause
// Life of a session, on its worker: new, logout, free, and its nexus. T10 SRP 5.4, 5.7. Connecting
// is in session_connect.c, what follows a lost channel in session_lost.c.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/srp/session_priv.h"

#define FENCE_LOGIN_S 3600 // the target answers when its storage has ended the lost commands

void srps_config_init(struct srps_config *c)
{
	*c = (struct srps_config){
		.channels = 1,
		.channel_depth = SRPI_TASKS_MAX,
		.queue_depth = SRPI_TASKS_MAX,
		.connect_timeout = 15,
		.command_timeout = 30,
		.abort_timeout = 15,
		.ping_interval = 5,
		.ping_timeout = 5,
		.logout_timeout = 5,
		.replacement_timeout = 120,
	};
}

// --- logout ---

static void logout(struct scsi_session *scsi)
{
	struct srps_session *s = srps_of(scsi);
	struct err none = { 0 };
	srps_end(s, &none, s->state == SRPS_UP);
}

static void on_timer(struct timer *t)
{
	struct srps_session *s = container_of(t, struct srps_session, timer);
	struct err e;
	if (s->state == SRPS_WAITING) {
		if (s->scsi.is_paused)
			timer_arm(s->worker, t, SCSI_PAUSE_US);
		else
			srps_connect(s);
		return;
	}
	err_set(&e, -ETIMEDOUT, "logout: timed out");
	for (unsigned i = 0; i < s->config.channels; i++)
		if (s->channels[i].ch)
			srpi_close(s->channels[i].ch, false, &e);
}

// --- new and free ---

static int config_check(const struct srps_config *c, struct err *e)
{
	if (!c->portal_count || c->portal_count > SRPS_PORTALS_MAX)
		return err_set(e, -EINVAL, "session: %u portals (must be 1 to %d)", c->portal_count,
			       SRPS_PORTALS_MAX);
	if (!c->provider_count || c->provider_count > SRPS_PROVIDERS_MAX)
		return err_set(e, -EINVAL, "session: %u providers (must be 1 to %d)",
			       c->provider_count, SRPS_PROVIDERS_MAX);
	if (!c->channels || c->channels > SRPS_CHANNELS_MAX)
		return err_set(e, -EINVAL, "session: %u channels (must be 1 to %d)", c->channels,
			       SRPS_CHANNELS_MAX);
	if (!c->queue_depth || c->queue_depth > SRPS_QUEUE_DEPTH_MAX)
		return err_set(e, -EINVAL, "session: queue depth %u (must be 1 to %d)",
			       c->queue_depth, SRPS_QUEUE_DEPTH_MAX);
	if (c->it_iu_len && c->it_iu_len < SRP_IU_MIN)
		return err_set(e, -EINVAL, "session: IUs of %u bytes (must be %d or more)",
			       c->it_iu_len, SRP_IU_MIN);
	return 0;
}

static void free_run(struct msg *m)
{
	struct srps_session *s = container_of(m, struct srps_session, free_msg);
	s->is_free_due = s->live;
	if (s->is_free_due) // their end calls this again
		return;
	timer_cancel(s->worker, &s->timer);
	void (*freed)(void *) = s->scsi.ops.freed;
	void *arg = s->scsi.arg;
	scsi_session_done(&s->scsi);
	srps_commands_free(s);
	free(s);
	freed(arg);
}

static void session_free(struct scsi_session *scsi)
{
	struct srps_session *s = srps_of(scsi);
	struct err e;
	if (s->is_freed)
		return;
	s->is_freed = true;
	err_set(&e, -ESHUTDOWN, "session freed");
	srps_end(s, &e, false);
	s->free_msg.fn = free_run;
	worker_post(s->worker, &s->free_msg);
}

// --- what is known of it ---

void srps_session_info(const struct scsi_session *s, struct srps_info *ret)
{
	*ret = srps_of(s)->info;
}

static void info(const struct scsi_session *s, struct scsi_session_info *ret)
{
	snprintf(ret->peer, sizeof ret->peer, "%s", srps_of(s)->info.peer);
	snprintf(ret->local, sizeof ret->local, "%s", srps_of(s)->info.local);
}

// --- its nexus, and a session that ends it ---

static void format(const uint8_t id[SRP_PORT_ID_LEN], char ret[SCSI_PORT_TEXT])
{
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

static void nexus(const struct scsi_session *scsi, struct scsi_nexus *ret)
{
	const struct srps_session *s = srps_of(scsi);
	ret->protocol = SCSI_NEXUS_SRP;
	format(s->config.initiator, ret->initiator);
	format(s->config.target, ret->target);
}

static bool parse(const char *text, uint8_t ret[SRP_PORT_ID_LEN])
{
	unsigned byte;
	if (strlen(text) != 2 * SRP_PORT_ID_LEN ||
	    strspn(text, "0123456789abcdef") != 2 * SRP_PORT_ID_LEN)
		return false;
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		ret[i] = (uint8_t)byte;
	}
	return true;
}

static int reenter(struct scsi_session *scsi, const struct scsi_nexus *lost,
		   const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
		   struct err *e)
{
	struct srps_session *s = srps_of(scsi);
	struct srps_config c = s->config;
	struct scsi_nexus own;
	nexus(scsi, &own);
	if (lost->protocol != SCSI_NEXUS_SRP || strcmp(own.target, lost->target) != 0 ||
	    !parse(lost->initiator, c.initiator))
		return err_set(e, -EOPNOTSUPP, "%s: another target port", own.target);
	c.portal_count = 1;
	c.channels = 1;
	c.connect_timeout = FENCE_LOGIN_S;
	c.replacement_timeout = 0;
	int r = tcp_addr_parse(&c.portals[0], s->info.peer, SRPS_PORT, e);
	return r ? r : srps_session_new(ret, s->worker, &c, ops, arg, e);
}

static void give_up(struct scsi_session *s, const struct err *why)
{
	srps_lost(srps_of(s), why, false);
}

static const struct scsi_protocol protocol = {
	.room = srps_room,
	.send = srps_send,
	.give_up = give_up,
	.task_mgmt = srps_tmf_send,
	.logout = logout,
	.free = session_free,
	.info = info,
	.describe = srps_describe,
	.nexus = nexus,
	.reenter = reenter,
};

int srps_session_new(struct scsi_session **ret, struct worker *w, const void *config,
		     const struct scsi_session_ops *ops, void *arg, struct err *e)
{
	int r = config_check(config, e);
	if (r)
		return r;
	struct srps_session *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(e, -ENOMEM, "session: out of memory");
	s->config = *(const struct srps_config *)config;
	r = srps_commands_open(s, e);
	if (r) {
		free(s);
		return r;
	}
	scsi_session_init(&s->scsi, w, &protocol, ops, arg);
	s->worker = w;
	s->scsi.queue_depth = s->config.queue_depth;
	s->scsi.command_timeout = s->config.command_timeout;
	memcpy(s->info.initiator, s->config.initiator, SRP_PORT_ID_LEN);
	memcpy(s->info.target, s->config.target, SRP_PORT_ID_LEN);
	timer_init(&s->timer, on_timer);
	// The first attempt starts in a later round, so that every failure is reported by callback.
	s->state = SRPS_WAITING;
	timer_arm(w, &s->timer, 0);
	*ret = &s->scsi;
	return 0;
}
