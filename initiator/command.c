// SPDX-License-Identifier: BSD-2-Clause
// SCSI commands of a session, on its worker: the queue in front of the command window, what is
// in flight, time limits, the retry after a lost connection. RFC 7143 4.2.2.1, 11.3, 11.4.
#include <errno.h>
#include <string.h>

#include "initiator/session_priv.h"
#include "transport/wire/be.h"

#define STATUS_CHECK_CONDITION 0x02
#define KEY_UNIT_ATTENTION     0x06
#define ASC_RESET	       0x29 // power on, reset, I_T nexus loss
#define TRIES_MAX	       8    // of one command, across connections

void ini_cmd_init(struct ini_cmd *c, uint16_t lun)
{
	memset(c, 0, sizeof *c);
	// SAM-5 4.7.7.2, 4.7.7.3: method 00b below 256, flat space beyond.
	put_be16(c->task.lun, lun < 256 ? lun : (uint16_t)(0x4000 | (lun & 0x3fff)));
	c->task.attr = ISCSI_ATTR_SIMPLE;
}

void ini_cmd_data(struct ini_cmd *c, void *data, uint32_t len, bool is_write)
{
	c->one = (struct sg){ .addr = data, .len = len };
	c->task.sg = &c->one;
	c->task.nsg = 1;
	c->task.len = len;
	c->task.is_write = is_write && len;
	c->task.is_read = !is_write && len;
}

static struct ini_cmd *cmd_of(struct list *l)
{
	return list_entry(l, struct ini_cmd, link);
}

// --- the end of a command ---

static void complete(struct ini_cmd *c, int res)
{
	list_remove(&c->link);
	c->res = res;
	c->done(c);
}

static bool is_unit_attention(const struct dmi_task *t)
{
	const uint8_t *s = t->sense;
	uint8_t format = t->sense_len ? s[0] & 0x7f : 0;
	if (t->status != STATUS_CHECK_CONDITION)
		return false;
	if (format == 0x70 && t->sense_len > 12)
		return (s[2] & 0xf) == KEY_UNIT_ATTENTION && s[12] == ASC_RESET;
	return format == 0x72 && t->sense_len > 2 && (s[1] & 0xf) == KEY_UNIT_ATTENTION &&
	       s[2] == ASC_RESET;
}

// Back to the head of the queue, so that it keeps its place.
static void again(struct ini_session *s, struct ini_cmd *c)
{
	list_remove(&c->link);
	list_push_front(&s->waiting, &c->link);
	command_pump_later(s);
}

static int result(const struct ini_cmd *c, int res)
{
	if (c->is_timed_out)
		return -ETIMEDOUT;
	if (c->why)
		return c->why;
	if (!res && c->task.response != ISCSI_RSP_COMPLETED)
		return -EREMOTEIO;
	return res;
}

static bool may_go_again(const struct ini_cmd *c)
{
	return !c->is_once && !c->session->is_cancelled && !c->is_timed_out && !c->why &&
	       c->tries < TRIES_MAX;
}

void command_done(struct dmi *dm, struct dmi_task *t, int res)
{
	struct ini_session *s = dm->role;
	struct ini_cmd *c = container_of(t, struct ini_cmd, task);
	bool is_ended = s->state == SESSION_CLOSED;
	c->is_with_mover = false;
	s->flying_count--;
	if (res == -EPIPE && !is_ended && s->dm == dm) {
		s->is_draining = true; // the connection is closing: send nothing more
		return;
	}
	if (res == -EPIPE) {
		// Of an abandoned connection: the command is queued again already, if it may be
		// retried.
		if (is_ended || !may_go_again(c))
			complete(c, result(c, is_ended ? s->end_res : -ENOTCONN));
		return;
	}
	// A new nexus reports a unit attention to its first command. Its meaning for the data is
	// handled by the watch of the unit.
	bool is_watched = !res && !is_ended && watch_attention(s, c);
	if (!res && !c->is_once && !c->is_timed_out && c->tries < TRIES_MAX && !is_ended &&
	    (is_watched || is_unit_attention(t))) {
		again(s, c);
		return;
	}
	complete(c, result(c, res));
	command_pump_later(s);
}

// --- sending ---

// The first command that may be sent; NULL: none.
static struct ini_cmd *next_command(struct ini_session *s)
{
	list_for_each (it, &s->waiting)
		if (!s->holds || cmd_of(it)->is_ahead)
			return cmd_of(it);
	return NULL;
}

void command_pump(struct ini_session *s)
{
	struct ini_cmd *c;
	while (s->state == SESSION_UP && !s->is_draining &&
	       s->flying_count < s->config.queue_depth && s->flying_count < s->dm->tasks_max &&
	       serial32_le(s->dm->sns.cmd_sn, s->dm->sns.max_cmd_sn) && (c = next_command(s))) {
		list_remove(&c->link);
		list_push_back(&s->flying, &c->link);
		s->flying_count++;
		c->is_with_mover = true;
		c->is_abort_sent = false;
		c->tries++;
		s->dm->ops->command(s->dm, &c->task);
	}
	if (s->wants_relogin && s->state == SESSION_UP && !s->flying_count)
		session_send_logout(s);
}

static void on_pump(struct defer *d)
{
	command_pump(container_of(d, struct ini_session, pump_defer));
}

void command_pump_later(struct ini_session *s)
{
	worker_defer(s->worker, &s->pump_defer, on_pump);
}

static uint64_t deadline(const struct ini_session *s, const struct ini_cmd *c)
{
	unsigned seconds = c->timeout ? c->timeout : s->config.command_timeout;
	return seconds ? worker_now(s->worker) + seconds * NS_PER_SEC : UINT64_MAX;
}

static bool is_valid(const struct ini_cmd *c)
{
	const struct dmi_task *t = &c->task;
	uint64_t room = 0;
	for (uint32_t i = 0; i < t->nsg; i++)
		room += t->sg[i].len;
	return !(t->is_read && t->is_write) && (room >= t->len || !(t->is_read || t->is_write));
}

int ini_cmd_submit(struct ini_session *s, struct ini_cmd *c)
{
	if (s->state == SESSION_CLOSED || (s->state == SESSION_LOGOUT && !s->wants_relogin))
		return -ENOTCONN;
	if (s->is_cancelled)
		return -ECANCELED;
	if (watch_refuses(s, c->task.lun))
		return -ESTALE;
	if (!is_valid(c))
		return -EINVAL;
	c->session = s;
	c->res = c->why = 0;
	c->tries = 0;
	c->is_timed_out = c->is_abort_sent = c->is_with_mover = false;
	c->deadline_ns = deadline(s, c);
	list_push_back(&s->waiting, &c->link);
	command_pump_later(s);
	return 0;
}

// --- lost connections ---

void command_lost(struct ini_session *s)
{
	struct list over;
	list_init(&over);
	// From the last to the first, to keep the order at the head of the queue.
	while (!list_empty(&s->flying)) {
		struct ini_cmd *c = cmd_of(s->flying.prev);
		list_remove(&c->link);
		if (may_go_again(c) || c->is_with_mover)
			list_push_front(&s->waiting, &c->link);
		else
			list_push_front(&over, &c->link);
	}
	while (!list_empty(&over)) {
		struct ini_cmd *c = cmd_of(over.next);
		complete(c, result(c, -ENOTCONN));
	}
}

void command_fail_all(struct ini_session *s, int res)
{
	// Commands still with the mover (which is closing) end in command_done.
	struct list over;
	list_init(&over);
	list_splice_back(&over, &s->flying);
	list_splice_back(&over, &s->waiting);
	list_for_each_safe (it, &over)
		if (cmd_of(it)->is_with_mover) {
			list_remove(it);
			list_push_back(&s->flying, it);
		}
	while (!list_empty(&over)) {
		struct ini_cmd *c = cmd_of(over.next);
		complete(c, result(c, res));
	}
}

// Waiting commands; lun NULL: of all logical units.
static void fail_waiting(struct ini_session *s, const uint8_t *lun, int res)
{
	struct list over;
	list_init(&over);
	list_for_each_safe (it, &s->waiting) {
		struct ini_cmd *c = cmd_of(it);
		if (lun && memcmp(c->task.lun, lun, sizeof c->task.lun))
			continue;
		list_remove(it);
		list_push_back(&over, it);
	}
	while (!list_empty(&over))
		complete(cmd_of(over.next), res);
}

void command_fail_lun(struct ini_session *s, const uint8_t lun[8], int res)
{
	fail_waiting(s, lun, res);
}

void ini_session_cancel(struct ini_session *s)
{
	s->is_cancelled = true;
	watch_end(s);
	fail_waiting(s, NULL, -ECANCELED);
}

void command_resume(struct ini_session *s)
{
	list_for_each (it, &s->waiting)
		cmd_of(it)->deadline_ns = deadline(s, cmd_of(it));
	command_pump(s);
}

// --- time limits ---

void command_tick(struct ini_session *s, uint64_t now)
{
	struct list over;
	list_init(&over);
	list_for_each_safe (it, &s->waiting) {
		if (now < cmd_of(it)->deadline_ns)
			continue;
		list_remove(it);
		list_push_back(&over, it);
	}
	list_for_each (it, &s->flying) {
		struct ini_cmd *c = cmd_of(it);
		if (now < c->deadline_ns || c->is_abort_sent)
			continue;
		c->is_timed_out = c->is_abort_sent = true;
		tmf_abort_late(s, c);
	}
	while (!list_empty(&over))
		complete(cmd_of(over.next), -ETIMEDOUT);
}

bool command_rejected(struct ini_session *s, uint32_t itt)
{
	list_for_each (it, &s->flying) {
		struct ini_cmd *c = cmd_of(it);
		if (!c->is_with_mover || c->task.itt != itt)
			continue;
		c->why = -EPROTO;
		return true;
	}
	return false;
}
