// SPDX-License-Identifier: BSD-2-Clause
// The part of a session that all protocols share, on its worker: the queue in front of the
// protocol's window, what is in flight, time limits, the retry after a loss. SAM-5 5.
#include <errno.h>
#include <string.h>

#include "initiator/scsi_cdb.h"
#include "initiator/scsi_protocol.h"

#define NS_PER_SEC	   1000000000ull
#define KEY_UNIT_ATTENTION 0x06
#define ASC_RESET	   0x29		     // power on, reset, I_T nexus loss
#define TRIES_MAX	   8		     // of one command, across connections
#define STABLE_NS	   (10 * NS_PER_SEC) // a session that was up for as long was good
#define BACK_OFF_MAX	   15		     // limit of seconds between two attempts

static struct scsi_cmd *cmd_of(struct list *l)
{
	return list_entry(l, struct scsi_cmd, link);
}

// --- the end of a command ---

static void complete(struct scsi_cmd *c, int res)
{
	list_remove(&c->link);
	c->is_flying = false;
	c->res = res;
	c->done(c);
}

static bool is_reset(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return scsi_sense_parse(c->sense, c->sense_len, &s) && !s.is_deferred &&
	       s.key == KEY_UNIT_ATTENTION && s.asc == ASC_RESET;
}

// Back to the head of the queue, so that it keeps its place.
static void again(struct scsi_session *s, struct scsi_cmd *c)
{
	list_remove(&c->link);
	c->is_flying = false;
	list_push_front(&s->waiting, &c->link);
	scsi_session_pump_later(s);
}

static int result(const struct scsi_cmd *c, int res)
{
	return c->is_timed_out ? -ETIMEDOUT : c->why ? c->why : res;
}

static bool may_go_again(const struct scsi_cmd *c)
{
	return !c->is_once && !(c->is_unsafe && c->is_unanswered) && !c->session->is_cancelled &&
	       !c->is_timed_out && !c->why && c->tries < TRIES_MAX;
}

// With a lost connection: in flight until scsi_session_lost(); if that was called earlier, the
// command is queued again already, if it may be retried.
static void ended_with_connection(struct scsi_session *s, struct scsi_cmd *c)
{
	c->is_unanswered &= !s->is_settled;
	if (s->is_ended)
		complete(c, result(c, s->end_res));
	else if (!c->is_flying && !may_go_again(c))
		complete(c, result(c, -ENOTCONN));
}

// A new nexus reports a unit attention to its first command. Its meaning for the data is handled by
// the watch of the unit.
static bool is_for_another_try(struct scsi_session *s, const struct scsi_cmd *c)
{
	bool is_watched = s->watcher->attention(s, c);
	return !c->is_once && !c->is_timed_out && c->tries < TRIES_MAX &&
	       (is_watched || is_reset(c));
}

void scsi_cmd_ended(struct scsi_cmd *c, int res)
{
	struct scsi_session *s = c->session;
	s->sent_count--;
	if (res == -EPIPE) {
		ended_with_connection(s, c);
		return;
	}
	if (!res && c->status == SCSI_CHECK_CONDITION && !s->is_ended && is_for_another_try(s, c)) {
		c->is_unanswered = false;
		again(s, c);
		return;
	}
	c->is_unanswered = false;
	complete(c, result(c, res));
	scsi_session_pump_later(s);
}

// --- sending ---

// The first command that may be sent; NULL: none.
static struct scsi_cmd *next_command(struct scsi_session *s)
{
	list_for_each (it, &s->waiting)
		if (!s->holds || cmd_of(it)->is_ahead)
			return cmd_of(it);
	return NULL;
}

static bool has_room(struct scsi_session *s)
{
	return s->sent_count < s->queue_depth && !list_empty(&s->waiting) && s->protocol.room(s);
}

void scsi_session_pump(struct scsi_session *s)
{
	struct scsi_cmd *c;
	// A connection that breaks while a command is sent has no room for the next one.
	while (has_room(s) && (c = next_command(s))) {
		list_remove(&c->link);
		list_push_back(&s->flying, &c->link);
		c->is_flying = true;
		s->sent_count++;
		c->is_abort_sent = false;
		c->tries++;
		c->is_unanswered = true;
		s->protocol.send(s, c);
	}
	if (!s->sent_count)
		s->protocol.idle(s);
}

static void on_pump(struct defer *d)
{
	scsi_session_pump(container_of(d, struct scsi_session, pump_defer));
}

void scsi_session_pump_later(struct scsi_session *s)
{
	worker_defer(s->worker, &s->pump_defer, on_pump);
}

static uint64_t deadline(const struct scsi_session *s, const struct scsi_cmd *c)
{
	unsigned seconds = c->timeout ? c->timeout : s->command_timeout;
	return seconds ? worker_now(s->worker) + seconds * NS_PER_SEC : UINT64_MAX;
}

static bool is_valid(const struct scsi_cmd *c)
{
	uint64_t memory = 0;
	for (uint32_t i = 0; i < c->nsg; i++)
		memory += c->sg[i].len;
	return !(c->is_read && c->is_write) && (memory >= c->len || !(c->is_read || c->is_write));
}

int scsi_cmd_submit(struct scsi_session *s, struct scsi_cmd *c)
{
	if (s->is_ended || s->is_leaving)
		return -ENOTCONN;
	if (s->is_cancelled)
		return -ECANCELED;
	if (s->stale_count && s->watcher->refuses(s, c->lun))
		return -ESTALE;
	if (!is_valid(c))
		return -EINVAL;
	c->session = s;
	c->sent = NULL;
	c->res = c->why = 0;
	c->tries = 0;
	c->is_timed_out = c->is_abort_sent = c->is_flying = c->is_ungranted = false;
	c->is_unanswered = false;
	c->deadline_ns = deadline(s, c);
	list_push_back(&s->waiting, &c->link);
	scsi_session_pump_later(s);
	return 0;
}

// --- loss, return, end ---

static void complete_all(struct list *over, int res)
{
	while (!list_empty(over)) {
		struct scsi_cmd *c = cmd_of(over->next);
		complete(c, result(c, res));
	}
}

// A target that ends each session at once, also in order, is not logged in to at its pace.
static void note_loss(struct scsi_session *s)
{
	uint64_t now = worker_now(s->worker);
	bool is_short = s->lost_ns && now - s->up_ns < STABLE_NS;
	if (!s->up_ns)
		return;
	s->up_ns = 0;
	s->short_lives = is_short ? s->short_lives + 1 : 0;
	s->attempts = s->short_lives;
	if (!is_short)
		s->lost_ns = now;
}

unsigned scsi_session_back_off(struct scsi_session *s, unsigned min)
{
	unsigned n = s->attempts++;
	unsigned wait = n ? 1u << (n < 5 ? n - 1 : 4) : 0;
	wait = wait < min ? min : wait;
	s->login_wait = wait < BACK_OFF_MAX ? wait : BACK_OFF_MAX;
	return s->login_wait;
}

unsigned scsi_session_time_left(const struct scsi_session *s, unsigned timeout)
{
	uint64_t now = worker_now(s->worker), end = s->lost_ns + timeout * NS_PER_SEC;
	return now < end ? (unsigned)((end - now + NS_PER_SEC - 1) / NS_PER_SEC) : 0;
}

void scsi_session_lost(struct scsi_session *s)
{
	struct list over;
	list_init(&over);
	note_loss(s);
	s->is_up = false;
	scsi_tmfs_lost(s);
	// From the last to the first, to keep the order at the head of the queue.
	while (!list_empty(&s->flying)) {
		struct scsi_cmd *c = cmd_of(s->flying.prev);
		list_remove(&c->link);
		c->is_flying = false;
		list_push_front(may_go_again(c) || c->sent ? &s->waiting : &over, &c->link);
	}
	complete_all(&over, -ENOTCONN);
}

// Another nexus, of another portal group: the target may still execute what the old one carried.
// Writes that it did not answer are not repeated.
static void take_names(struct scsi_session *s)
{
	struct scsi_nexus was = s->names;
	struct list over;
	list_init(&over);
	s->protocol.nexus(s, &s->names);
	if (!s->was_up || scsi_nexus_is_same(&was, &s->names))
		return;
	list_for_each_safe (it, &s->waiting) {
		if (!cmd_of(it)->is_unanswered || !cmd_of(it)->is_write)
			continue;
		list_remove(it);
		list_push_back(&over, it);
	}
	complete_all(&over, -ENOTCONN);
}

void scsi_session_enter_up(struct scsi_session *s)
{
	bool is_again = s->was_up;
	take_names(s);
	if (s->is_ended)
		return;
	s->reconnects += is_again;
	s->is_up = s->was_up = true;
	s->up_ns = worker_now(s->worker);
	s->is_settled = false;
	s->ops.up(s);
	if (s->is_up && is_again)
		s->watcher->up(s);
	if (!s->is_up)
		return;
	list_for_each (it, &s->waiting)
		cmd_of(it)->deadline_ns = deadline(s, cmd_of(it));
	scsi_session_pump(s);
}

void scsi_session_begin_end(struct scsi_session *s, const struct err *why)
{
	s->is_up = false;
	s->is_ended = true;
	s->end_why = *why;
	s->end_res = why->code && why->code != -ESHUTDOWN ? -ENOTCONN : -ESHUTDOWN;
	s->watcher->end(s);
}

void scsi_session_fail(struct scsi_session *s)
{
	struct list over;
	list_init(&over);
	list_splice_back(&over, &s->flying);
	list_splice_back(&over, &s->waiting);
	list_for_each_safe (it, &over)
		if (cmd_of(it)->sent) {
			list_remove(it);
			list_push_back(&s->flying, it);
		}
	complete_all(&over, s->end_res);
}

// Waiting commands; lun NULL: of all logical units.
static void fail_waiting(struct scsi_session *s, const uint8_t *lun, int res)
{
	struct list over;
	list_init(&over);
	list_for_each_safe (it, &s->waiting) {
		if (lun && memcmp(cmd_of(it)->lun, lun, sizeof cmd_of(it)->lun))
			continue;
		list_remove(it);
		list_push_back(&over, it);
	}
	while (!list_empty(&over))
		complete(cmd_of(over.next), res);
}

void scsi_session_fail_lun(struct scsi_session *s, const uint8_t lun[8], int res)
{
	fail_waiting(s, lun, res);
}

void scsi_session_withdraw(struct scsi_session *s)
{
	struct list over;
	list_init(&over);
	list_for_each_safe (it, &s->waiting)
		if (!cmd_of(it)->is_ahead && !cmd_of(it)->sent) {
			list_remove(it);
			list_push_back(&over, it);
		}
	complete_all(&over, -ENOTCONN);
}

void scsi_session_cancel(struct scsi_session *s)
{
	s->is_cancelled = true;
	s->watcher->end(s);
	fail_waiting(s, NULL, -ECANCELED);
}

// --- time limits ---

void scsi_session_tick(struct scsi_session *s, uint64_t now)
{
	struct list over;
	bool is_shut = !s->holds && s->sent_count < s->queue_depth && !s->protocol.room(s);
	list_init(&over);
	list_for_each_safe (it, &s->waiting) {
		if (now < cmd_of(it)->deadline_ns)
			continue;
		cmd_of(it)->is_ungranted = is_shut;
		list_remove(it);
		list_push_back(&over, it);
	}
	list_for_each (it, &s->flying) {
		struct scsi_cmd *c = cmd_of(it);
		if (now < c->deadline_ns || c->is_abort_sent)
			continue;
		c->is_timed_out = c->is_abort_sent = true;
		scsi_cmd_late(s, c);
	}
	while (!list_empty(&over))
		complete(cmd_of(over.next), -ETIMEDOUT);
}

// --- the rest ---

static void no_event(struct scsi_session *s)
{
}

static void no_reason(struct scsi_session *s, const struct err *why)
{
}

static void no_retry(struct scsi_session *s, const struct err *why, unsigned seconds)
{
}

static void no_async(struct scsi_session *s, const uint8_t *sense, size_t sense_len)
{
}

static bool no_attention(struct scsi_session *s, const struct scsi_cmd *c)
{
	return false;
}

static bool no_refusal(struct scsi_session *s, const uint8_t lun[8])
{
	return false;
}

static const struct scsi_watcher no_watcher = { .up = no_event,
						.attention = no_attention,
						.refuses = no_refusal,
						.end = no_event,
						.free = no_event };

static int no_task_mgmt(struct scsi_session *s, struct scsi_tmf *t)
{
	return -EOPNOTSUPP;
}

static void no_freed(void *arg)
{
}

static unsigned one_trip(const struct scsi_session *s, uint32_t bytes, bool is_write)
{
	return 1;
}

static void no_description(const struct scsi_session *s, scsi_say *say, void *arg)
{
}

static void no_nexus(const struct scsi_session *s, struct scsi_nexus *ret)
{
	*ret = (struct scsi_nexus){ 0 };
}

static int no_reenter(struct scsi_session *s, const struct scsi_nexus *lost,
		      const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
		      struct err *e)
{
	return err_set(e, -EOPNOTSUPP, "the protocol does not end lost nexuses");
}

void scsi_session_init(struct scsi_session *s, struct worker *w,
		       const struct scsi_protocol *protocol, const struct scsi_session_ops *ops,
		       void *arg)
{
	*s = (struct scsi_session){
		.worker = w, .protocol = *protocol, .arg = arg, .watcher = &no_watcher
	};
	if (!s->protocol.idle)
		s->protocol.idle = no_event;
	if (!s->protocol.task_mgmt)
		s->protocol.task_mgmt = no_task_mgmt;
	if (!s->protocol.nexus)
		s->protocol.nexus = no_nexus;
	if (!s->protocol.reenter)
		s->protocol.reenter = no_reenter;
	if (!s->protocol.describe)
		s->protocol.describe = no_description;
	if (!s->protocol.round_trips)
		s->protocol.round_trips = one_trip;
	s->ops = (struct scsi_session_ops){
		.up = ops->up ? ops->up : no_event,
		.down = ops->down ? ops->down : no_reason,
		.retry = ops->retry ? ops->retry : no_retry,
		.async = ops->async ? ops->async : no_async,
		.closed = ops->closed ? ops->closed : no_reason,
		.freed = ops->freed ? ops->freed : no_freed,
	};
	list_init(&s->waiting);
	list_init(&s->flying);
	list_init(&s->tmfs);
	list_init(&s->tmfs_over);
}

void scsi_session_done(struct scsi_session *s)
{
	worker_defer_cancel(&s->pump_defer);
	scsi_tmfs_done(s);
	s->watcher->free(s);
}

void scsi_session_logout(struct scsi_session *s)
{
	s->is_leaving = true;
	s->protocol.logout(s);
}

void scsi_session_free(struct scsi_session *s)
{
	if (s)
		s->protocol.free(s);
}

void *scsi_session_arg(const struct scsi_session *s)
{
	return s->arg;
}

bool scsi_session_is_up(const struct scsi_session *s)
{
	return s->is_up;
}

void scsi_session_pause(struct scsi_session *s, bool is_paused)
{
	s->is_paused = is_paused;
}

bool scsi_session_is_settled(const struct scsi_session *s)
{
	return s->is_settled;
}

void scsi_session_info(const struct scsi_session *s, struct scsi_session_info *ret)
{
	*ret = (struct scsi_session_info){ .reconnects = s->reconnects };
	s->protocol.info(s, ret);
}

void scsi_session_describe(const struct scsi_session *s, scsi_say *say, void *arg)
{
	s->protocol.describe(s, say, arg);
	if (s->was_up && !s->is_up)
		say(arg, "login_wait", NULL, s->login_wait);
}

unsigned scsi_session_round_trips(const struct scsi_session *s, uint32_t bytes, bool is_write)
{
	return s->protocol.round_trips(s, bytes, is_write);
}
