// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into programs of libiscsi: sessions of URLs "iscsi://HOST:PORT/ib.ID/LUN" (SRP) and
// "iser://..." are those of farblock's initiator; all others remain libiscsi's.
//
// What is replaced lies below libiscsi's builders of commands and its blocking functions, which
// call it through the dynamic linker. SRP has no reset of a target: a warm one is a reset of the
// logical unit, a cold one is that and a new login, which is what Linux's ib_srp does for a host.
#include "libiscsi.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct context *contexts;

static struct context *context_of(const struct iscsi_context *iscsi)
{
	struct context *c = contexts;
	while (c && c->of != iscsi)
		c = c->next;
	return c;
}

struct context *context_ours(const struct iscsi_context *iscsi)
{
	struct context *c = context_of(iscsi);
	return c && c->session ? c : NULL;
}

static void keep(char ret[CS_TEXT], const char *text)
{
	snprintf(ret, CS_TEXT, "%s", text);
}

// --- contexts and addresses ---

EXPORTED struct iscsi_context *iscsi_create_context(const char *name)
{
	struct iscsi_context *iscsi = REAL(iscsi_create_context)(name);
	struct context *c = iscsi ? calloc(1, sizeof *c) : NULL;
	if (!c)
		return iscsi;
	c->of = iscsi;
	keep(c->address.initiator, name);
	list_init(&c->queued);
	list_init(&c->sent);
	list_init(&c->ended);
	c->next = contexts;
	contexts = c;
	return iscsi;
}

EXPORTED struct iscsi_url *iscsi_parse_full_url(struct iscsi_context *iscsi, const char *url)
{
	struct context *c = context_of(iscsi);
	char plain[3 * CS_TEXT];
	if (!c || strncmp(url, "iser://", 7))
		return REAL(iscsi_parse_full_url)(iscsi, url);
	c->address.is_iser = true;
	snprintf(plain, sizeof plain, "iscsi://%s", url + 7);
	return REAL(iscsi_parse_full_url)(iscsi, plain);
}

EXPORTED int iscsi_set_targetname(struct iscsi_context *iscsi, const char *name)
{
	struct context *c = context_of(iscsi);
	if (c)
		keep(c->address.target, name);
	return REAL(iscsi_set_targetname)(iscsi, name);
}

EXPORTED int iscsi_set_timeout(struct iscsi_context *iscsi, int seconds)
{
	struct context *c = context_of(iscsi);
	if (c)
		c->timeout = (unsigned)seconds;
	return REAL(iscsi_set_timeout)(iscsi, seconds);
}

EXPORTED const char *iscsi_get_error(struct iscsi_context *iscsi)
{
	struct context *c = context_of(iscsi);
	return c && c->error[0] ? c->error : REAL(iscsi_get_error)(iscsi);
}

// --- the way of a PDU ---

// A context of libiscsi begins with a pointer to the functions of its transport. The second queues
// a PDU; tests replace it to change PDUs, and call the one that was there. This one is there.
static int queue_pdu(struct iscsi_context *iscsi, struct iscsi_pdu *pdu)
{
	return 0;
}

static struct {
	void *connect;
	int (*queue_pdu)(struct iscsi_context *iscsi, struct iscsi_pdu *pdu);
	void *others[14];
} transport = { .queue_pdu = queue_pdu };

static void take_transport(struct context *c)
{
	void **first = (void **)c->of;
	c->transport = *first;
	*first = &transport;
}

static void give_transport_back(struct context *c)
{
	*(void **)c->of = c->transport;
}

// --- the loop ---

EXPORTED int iscsi_get_fd(struct iscsi_context *iscsi)
{
	struct context *c = context_ours(iscsi);
	return c ? cs_fd(c->session) : REAL(iscsi_get_fd)(iscsi);
}

EXPORTED int iscsi_which_events(struct iscsi_context *iscsi)
{
	struct context *c = context_ours(iscsi);
	if (!c)
		return REAL(iscsi_which_events)(iscsi);
	return POLLIN | (c->done || !list_empty(&c->queued) ? POLLOUT : 0);
}

EXPORTED int iscsi_out_queue_length(struct iscsi_context *iscsi)
{
	struct context *c = context_ours(iscsi);
	int n = 0;
	if (!c)
		return REAL(iscsi_out_queue_length)(iscsi);
	list_for_each (it, &c->queued)
		n++;
	return n;
}

static void send_queued(struct context *c)
{
	for (struct list *l; (l = list_pop_front(&c->queued));) {
		struct call *call = list_entry(l, struct call, link);
		list_push_back(&c->sent, l);
		cs_submit(c->session, &call->way);
	}
}

static int login(struct context *c);

// SRP has no reset of the target.
static void login_again(struct context *c)
{
	c->has_reset = false;
	if (!cs_is_srp(&c->address))
		return;
	cs_end(c->session, false);
	cs_free(c->session);
	c->session = NULL;
	if (login(c) < 0)
		fprintf(stderr, "no login after a cold reset: %s\n", c->error);
}

static void take_all(struct context *c)
{
	struct cs_call *way;
	while ((way = cs_take(c->session)))
		call_over(c, container_of(way, struct call, way));
	if (c->has_reset)
		login_again(c);
}

static void call_back(struct context *c, int status)
{
	iscsi_command_cb done = c->done;
	c->done = NULL;
	done(c->of, status, NULL, c->arg);
}

EXPORTED int iscsi_service(struct iscsi_context *iscsi, int revents)
{
	struct context *c = context_ours(iscsi);
	if (!c)
		return REAL(iscsi_service)(iscsi, revents);
	if (c->done)
		call_back(c, SCSI_STATUS_GOOD);
	else if (!c->has_ended)
		send_queued(c);
	if (!c->has_ended && revents & POLLIN)
		take_all(c);
	return c->session ? 0 : -1;
}

// --- login and logout ---

static bool is_attention(const struct scsi_cmd *c)
{
	struct scsi_sense s = { 0 };
	if (c->res || c->status != SCSI_STATUS_CHECK_CONDITION)
		return false;
	scsi_parse_sense_data(&s, c->sense);
	return s.key == SCSI_SENSE_UNIT_ATTENTION;
}

// TEST UNIT READY until the unit attentions of a new nexus were reported.
static void clear_attentions(struct context *c)
{
	struct cs_call way = { 0 };
	int tries = 16;
	do {
		scsi_cmd_init(&way.cmd, (uint16_t)c->lun);
		way.cmd.is_once = true;
		cs_submit(c->session, &way);
		while (!cs_take(c->session))
			cs_wait(c->session);
	} while (is_attention(&way.cmd) && --tries);
}

static bool is_taken(const struct context *c)
{
	for (const struct context *o = contexts; o; o = o->next)
		if (o != c && o->session && !o->has_ended &&
		    o->address.extension == c->address.extension &&
		    !strcmp(o->address.initiator, c->address.initiator))
			return true;
	return false;
}

static int login(struct context *c)
{
	struct err e;
	for (c->address.extension = 0; is_taken(c);)
		c->address.extension++;
	int r = cs_open(&c->session, &c->address, &e);
	if (r)
		snprintf(c->error, sizeof c->error, "%.200s", e.text);
	else
		clear_attentions(c);
	return r;
}

EXPORTED int iscsi_full_connect_async(struct iscsi_context *iscsi, const char *portal, int lun,
				      iscsi_command_cb done, void *arg)
{
	struct context *c = context_of(iscsi);
	if (!c || !(c->address.is_iser || cs_is_srp(&c->address)))
		return REAL(iscsi_full_connect_async)(iscsi, portal, lun, done, arg);
	keep(c->address.portal, portal);
	c->lun = lun;
	if (login(c) < 0)
		return -1;
	take_transport(c);
	c->done = done;
	c->arg = arg;
	return 0;
}

EXPORTED int iscsi_logout_async(struct iscsi_context *iscsi, iscsi_command_cb done, void *arg)
{
	struct context *c = context_ours(iscsi);
	if (!c)
		return REAL(iscsi_logout_async)(iscsi, done, arg);
	if (c->has_ended)
		return -1;
	cs_end(c->session, true);
	c->has_ended = true;
	c->done = done;
	c->arg = arg;
	return 0;
}

// The program is not called back, since it may have freed the tasks before.
static void end_calls(struct context *c, struct list *calls)
{
	while (!list_empty(calls))
		call_end(c, list_entry(calls->next, struct call, link));
}

static void end_session(struct context *c)
{
	if (!c->has_ended)
		cs_end(c->session, false);
	while (cs_take(c->session))
		; // all of them are in one of the lists
	c->has_ended = true;
	end_calls(c, &c->queued);
	end_calls(c, &c->sent);
	cs_free(c->session);
	give_transport_back(c);
}

EXPORTED int iscsi_destroy_context(struct iscsi_context *iscsi)
{
	struct context **at = &contexts, *c = context_of(iscsi);
	if (c && c->session)
		end_session(c);
	while (*at && *at != c)
		at = &(*at)->next;
	if (c) {
		*at = c->next;
		free(c);
	}
	return REAL(iscsi_destroy_context)(iscsi);
}

EXPORTED int iscsi_disconnect(struct iscsi_context *iscsi)
{
	return context_ours(iscsi) ? 0 : REAL(iscsi_disconnect)(iscsi);
}
