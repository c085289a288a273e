// SPDX-License-Identifier: BSD-2-Clause
// A path: its session, which is opened again for ever, and its state. On the disk's worker.
#include <errno.h>
#include <string.h>

#include "initiator/disk/disk_priv.h"

#define BACK_OFF_MAX  15 // seconds between two sessions
#define SHORT_SECONDS 10 // of a session that did not last
#define SHORT_MANY    3	 // in a row

// --- sessions that do not last ---

static void on_steady(struct timer *t)
{
	struct disk_path *p = container_of(t, struct disk_path, steady);
	static const struct err none;
	bool was_unsteady = path_is_unsteady(p);
	p->short_lives = 0;
	if (was_unsteady && p->disk->ops.path)
		p->disk->ops.path(p->disk->arg, p->index, p->state, &none);
}

void path_init_steady(struct disk_path *p)
{
	timer_init(&p->steady, on_steady);
}

bool path_is_unsteady(const struct disk_path *p)
{
	return p->short_lives >= SHORT_MANY;
}

bool path_is_new(const struct disk_path *p)
{
	return timer_is_armed(&p->steady);
}

static void note_end(struct disk_path *p)
{
	p->short_lives += timer_is_armed(&p->steady) && !p->is_leaving;
	timer_cancel(p->disk->worker, &p->steady);
}

// --- what the session tells ---

static void on_ready(void *arg, const struct err *why)
{
	struct disk_path *p = arg;
	p->is_watched = true;
	if (!why->code) {
		check_begin(p);
		return;
	}
	path_set_state(p, DISK_PATH_FAULTY, why); // gets another session later
	p->disk->events->looked(p->disk, why);
}

static bool on_changed(void *arg, enum scsi_lu_change change, const struct err *why)
{
	struct disk_path *p = arg;
	// The check that follows takes the new size over.
	if (p->disk->config.allows_replaced || change == SCSI_LU_GREW)
		return true;
	path_stale(p, change, why);
	return false;
}

static void on_attention(void *arg, uint8_t asc, uint8_t ascq)
{
	struct disk_path *p = arg;
	bool was_up = p->state == DISK_PATH_UP;
	notice_attention(p, asc, ascq);
	if (was_up && p->state != DISK_PATH_UP)
		check_begin(p);
}

static void on_up(struct scsi_session *s)
{
	static const struct scsi_watch_ops watch_ops = { on_ready, on_changed, on_attention };
	struct disk_path *p = scsi_session_arg(s);
	struct err why;
	p->failures = 0;
	timer_arm(p->disk->worker, &p->steady, SHORT_SECONDS * US_PER_SEC);
	fence_path_up(p);
	path_set_state(p, DISK_PATH_CHECKING, NULL);
	if (p->was_up) {
		p->info.reconnects++;
		check_begin(p);
		return;
	}
	p->was_up = true;
	int r = scsi_watch(s, p->config.lun, &watch_ops, p);
	if (!r)
		return;
	err_errno(&why, r, "LUN %u: watch", p->config.lun);
	path_set_state(p, DISK_PATH_FAULTY, &why);
	path_restart(p);
}

// Two initiators of the same names end each other's sessions for ever. The target tells neither of
// them why.
static void explain_short(const struct disk_path *p, struct err *why)
{
	bool is_by_peer = why->code == -EPIPE || why->code == -ECONNRESET;
	if (!path_is_unsteady(p))
		return;
	struct err e = *why;
	err_set(why, e.code, "%.110s, again soon after the login%s", e.text,
		is_by_peer ? " (has another initiator the same name and ISID? --isid and "
			     "--initiator-name change them)"
			   : "");
}

static void on_down(struct scsi_session *s, const struct err *reason)
{
	struct disk_path *p = scsi_session_arg(s);
	struct err why = *reason;
	check_end(p);
	reservation_path_down(p);
	fence_path_down(p);
	note_end(p);
	explain_short(p, &why);
	path_set_state(p, DISK_PATH_CONNECTING, &why);
	// What it has not sent goes another way, or waits in the disk's queue.
	scsi_session_withdraw(s);
	if (!path_is_unsteady(p))
		return;
	p->failures++; // it may never be up for long enough to be checked
	p->disk->events->looked(p->disk, &why);
}

static void on_retry(struct scsi_session *s, const struct err *why, unsigned seconds)
{
	struct disk_path *p = scsi_session_arg(s);
	if (p->state == DISK_PATH_CONNECTING)
		path_set_state(p, DISK_PATH_CONNECTING, why);
	else
		p->info.why = *why; // down follows
}

static void on_async(struct scsi_session *s, const uint8_t *sense, size_t sense_len)
{
	struct disk_path *p = scsi_session_arg(s);
	struct scsi_sense parsed;
	if (scsi_sense_parse(sense, sense_len, &parsed))
		notice_attention(p, parsed.asc, parsed.ascq);
	if (p->is_watched)
		check_begin(p);
}

static void on_closed(struct scsi_session *s, const struct err *why)
{
	struct disk_path *p = scsi_session_arg(s);
	check_end(p);
	reservation_path_down(p);
	fence_path_down(p);
	if (scsi_session_is_settled(s))
		fence_path_settled(p);
	note_end(p);
	if (!p->is_leaving) {
		p->failures++;
		path_set_state(p, DISK_PATH_CONNECTING, why);
	} else if (p->state != DISK_PATH_FAULTY) {
		path_set_state(p, DISK_PATH_CONNECTING, NULL);
	}
	scsi_session_free(s);
}

static void on_freed(void *arg)
{
	struct disk_path *p = arg;
	bool is_again = p->is_leaving && !p->disk->is_closing && p->state != DISK_PATH_FAULTY;
	p->session = NULL;
	p->was_up = p->is_watched = p->is_leaving = false;
	unsigned bad = p->failures > p->short_lives ? p->failures : p->short_lives;
	unsigned seconds = bad ? 1u << (bad < 5 ? bad - 1 : 4) : 1;
	if (!p->disk->is_closing)
		timer_arm(p->disk->worker, &p->reopen,
			  is_again
				  ? 0
				  : (seconds < BACK_OFF_MAX ? seconds : BACK_OFF_MAX) * US_PER_SEC);
	p->disk->events->session_gone(p);
}

// --- sessions ---

void path_open(struct disk_path *p)
{
	static const struct scsi_session_ops ops = {
		.up = on_up,
		.down = on_down,
		.retry = on_retry,
		.async = on_async,
		.closed = on_closed,
		.freed = on_freed,
	};
	struct disk *d = p->disk;
	struct err why;
	int r = p->config.open(&p->session, d->worker, p->config.config, &ops, p, &why);
	if (!r)
		return;
	p->session = NULL;
	p->failures++;
	path_set_state(p, DISK_PATH_CONNECTING, &why);
	on_freed(p);
}

void path_leave(struct disk_path *p)
{
	check_end(p);
	timer_cancel(p->disk->worker, &p->reopen);
	if (!p->session || p->is_leaving)
		return;
	p->is_leaving = true;
	scsi_session_logout(p->session);
}

void path_restart(struct disk_path *p)
{
	path_leave(p);
}

void path_stale(struct disk_path *p, enum scsi_lu_change change, const struct err *why)
{
	struct disk *d = p->disk;
	check_end(p);
	// Another unit behind one path says nothing of the others; lost data is lost on all.
	path_set_wrong(p, why);
	if (change == SCSI_LU_RESTARTED && !d->is_stale)
		d->events->stale(d, why);
}
