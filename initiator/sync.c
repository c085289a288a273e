// SPDX-License-Identifier: BSD-2-Clause
// Blocking calls over a session that runs on a separate worker. The program's thread posts and
// waits; the worker owns the posted memory until the semaphore.
#include "initiator/sync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "initiator/scsi_cdb.h"

#define ATTENTIONS_MAX 16  // limit of consecutive unit attentions of a command
#define BUSY_MAX       100 // tries, BUSY_WAIT_MS apart
#define BUSY_WAIT_MS   50
// The messages of 16 channels of SRP: received ones 1.2 MiB each, sent ones as much, at most. It is
// allocated as they are used.
#define POOL_MAX (64 << 20)

struct scsi_sync {
	struct worker *worker;
	struct scsi_session *session;
	const struct scsi_sync_ops *ops;
	struct err why, stale; // stale: of the watched unit, code 0: not stale
	struct err waits_for;  // last reported cause; code 0: none
	sem_t changed;	       // up for the first time, or ended
	sem_t closed, freed;
	bool is_up, has_ended, was_told;
	struct err watch_why;
	sem_t watched;
	struct msg cancel_msg;
	bool is_cancelled;
};

// Arguments of one call to the worker.
struct call {
	struct scsi_sync *sync;
	int res;
	uint16_t lun;
	struct err *e;
	struct scsi_session_info *info;
	scsi_open_fn *open;
	const void *config;
	uint32_t bytes;
	bool is_write;
	unsigned trips;
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		; // EINTR
}

// --- opening and closing ---

static void tell_once(struct scsi_sync *y)
{
	if (!y->was_told)
		sem_post(&y->changed);
	y->was_told = true;
}

static void on_up(struct scsi_session *s)
{
	struct scsi_sync *y = scsi_session_arg(s);
	y->is_up = true;
	tell_once(y);
	if (y->waits_for.code && y->ops->back)
		y->ops->back();
	y->waits_for = (struct err){ 0 };
}

static void on_retry(struct scsi_session *s, const struct err *why, unsigned seconds)
{
	struct scsi_sync *y = scsi_session_arg(s);
	if (!y->ops->waits || (y->waits_for.code && !strcmp(y->waits_for.text, why->text)))
		return;
	y->waits_for = *why;
	if (!y->waits_for.code)
		y->waits_for.code = -ENOTCONN;
	y->ops->waits(why, seconds);
}

static void on_closed(struct scsi_session *s, const struct err *why)
{
	struct scsi_sync *y = scsi_session_arg(s);
	y->why = *why;
	y->has_ended = true;
	tell_once(y);
	sem_post(&y->closed);
}

static void on_down(struct scsi_session *s, const struct err *why)
{
	((struct scsi_sync *)scsi_session_arg(s))->why = *why;
}

static void on_freed(void *arg)
{
	sem_post(&((struct scsi_sync *)arg)->freed);
}

static const struct scsi_session_ops sync_ops = {
	.up = on_up,
	.down = on_down,
	.retry = on_retry,
	.closed = on_closed,
	.freed = on_freed,
};

static void open_run(void *arg)
{
	struct call *c = arg;
	struct scsi_sync *y = c->sync;
	c->res = c->open(&y->session, y->worker, c->config, &sync_ops, y, c->e);
}

static void logout_run(void *arg)
{
	struct scsi_sync *y = arg;
	if (!y->has_ended)
		scsi_session_logout(y->session);
}

static void free_run(void *arg)
{
	scsi_session_free(((struct scsi_sync *)arg)->session);
}

int scsi_sync_worker_new(struct worker **ret, struct err *e)
{
	struct worker_options o = {
		.name = "initiator", .cpu = -1, .spin_usec = 50, .pool_bytes = POOL_MAX
	};
	int r = worker_new(ret, &o, e);
	if (r < 0)
		return r;
	r = worker_start(*ret, e);
	if (r < 0) {
		worker_free(*ret);
		*ret = NULL;
	}
	return r;
}

int scsi_sync_open(struct scsi_sync **ret, scsi_open_fn *open, const void *config,
		   const struct scsi_sync_ops *ops, struct err *e)
{
	static const struct scsi_sync_ops silent;
	struct scsi_sync *y = calloc(1, sizeof *y);
	struct call c = { .sync = y, .e = e, .open = open, .config = config };
	if (!y)
		return err_set(e, -ENOMEM, "session: out of memory");
	y->ops = ops ? ops : &silent;
	sem_init(&y->changed, 0, 0);
	sem_init(&y->closed, 0, 0);
	sem_init(&y->freed, 0, 0);
	sem_init(&y->watched, 0, 0);
	int r = scsi_sync_worker_new(&y->worker, e);
	if (!r) {
		worker_call(y->worker, open_run, &c);
		r = c.res;
	}
	if (!r) {
		wait_for(&y->changed);
		if (!y->is_up) {
			*e = y->why;
			r = e->code ? e->code : (e->code = -ECONNABORTED);
		}
	}
	if (r)
		scsi_sync_close(y);
	else
		*ret = y;
	return r;
}

void scsi_sync_close(struct scsi_sync *y)
{
	if (!y)
		return;
	if (y->session) {
		worker_call(y->worker, logout_run, y);
		wait_for(&y->closed);
		worker_call(y->worker, free_run, y);
		wait_for(&y->freed);
	}
	worker_free(y->worker);
	sem_destroy(&y->changed);
	sem_destroy(&y->closed);
	sem_destroy(&y->freed);
	sem_destroy(&y->watched);
	free(y);
}

static void cancel_run(struct msg *m)
{
	struct scsi_sync *y = container_of(m, struct scsi_sync, cancel_msg);
	if (!y->has_ended)
		scsi_session_cancel(y->session);
}

void scsi_sync_cancel(struct scsi_sync *y)
{
	if (__atomic_exchange_n(&y->is_cancelled, true, __ATOMIC_RELAXED))
		return;
	y->cancel_msg.fn = cancel_run;
	worker_post(y->worker, &y->cancel_msg);
}

struct worker *scsi_sync_worker(struct scsi_sync *y)
{
	return y->worker;
}

struct scsi_session *scsi_sync_session(struct scsi_sync *y)
{
	return y->session;
}

static void info_run(void *arg)
{
	struct call *c = arg;
	scsi_session_info(c->sync->session, c->info);
}

void scsi_sync_info(struct scsi_sync *y, struct scsi_session_info *ret)
{
	struct call c = { .sync = y, .info = ret };
	worker_call(y->worker, info_run, &c);
}

static void trips_run(void *arg)
{
	struct call *c = arg;
	c->trips = scsi_session_round_trips(c->sync->session, c->bytes, c->is_write);
}

unsigned scsi_sync_round_trips(struct scsi_sync *y, uint32_t bytes, bool is_write)
{
	struct call c = { .sync = y, .bytes = bytes, .is_write = is_write };
	worker_call(y->worker, trips_run, &c);
	return c.trips;
}

static void why_run(void *arg)
{
	struct call *c = arg;
	struct scsi_sync *y = c->sync;
	*c->e = y->stale.code ? y->stale : y->why;
}

void scsi_sync_why(struct scsi_sync *y, struct err *ret)
{
	struct call c = { .sync = y, .e = ret };
	worker_call(y->worker, why_run, &c);
}

// --- watching ---

static void on_ready(void *arg, const struct err *why)
{
	struct scsi_sync *y = arg;
	y->watch_why = *why;
	sem_post(&y->watched);
}

static bool on_changed(void *arg, enum scsi_lu_change change, const struct err *why)
{
	struct scsi_sync *y = arg;
	if (y->ops->changed && y->ops->changed(change, why))
		return true;
	y->stale = *why;
	return false;
}

static void watch_run(void *arg)
{
	static const struct scsi_watch_ops ops = { .ready = on_ready, .changed = on_changed };
	struct call *c = arg;
	c->res = scsi_watch(c->sync->session, c->lun, &ops, c->sync);
}

int scsi_sync_watch(struct scsi_sync *y, uint16_t lun, struct err *e)
{
	struct call c = { .sync = y, .lun = lun };
	worker_call(y->worker, watch_run, &c);
	if (c.res)
		return err_errno(e, c.res, "LUN %u: watch", lun);
	wait_for(&y->watched);
	if (y->watch_why.code)
		*e = y->watch_why;
	return y->watch_why.code;
}

// --- commands ---

static void cmd_done(struct scsi_cmd *cmd)
{
	sem_post(&((struct scsi_sync_cmd *)cmd->arg)->over);
}

static void submit_run(struct msg *m)
{
	struct scsi_sync_cmd *c = container_of(m, struct scsi_sync_cmd, msg);
	int r = scsi_cmd_submit(c->sync->session, &c->cmd);
	if (r < 0) {
		c->cmd.res = r;
		sem_post(&c->over);
	}
}

void scsi_sync_submit(struct scsi_sync *y, struct scsi_sync_cmd *c)
{
	c->sync = y;
	c->cmd.done = cmd_done;
	c->cmd.arg = c;
	c->msg.fn = submit_run;
	sem_init(&c->over, 0, 0);
	worker_post(y->worker, &c->msg);
}

static bool is_attention(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return !c->res && c->status == SCSI_CHECK_CONDITION &&
	       scsi_sense_parse(c->sense, c->sense_len, &s) && s.key == 6;
}

static bool is_busy(const struct scsi_cmd *c)
{
	return !c->res && (c->status == SCSI_BUSY || c->status == SCSI_TASK_SET_FULL);
}

void scsi_sync_wait(struct scsi_sync_cmd *c)
{
	static const struct timespec busy_wait = { .tv_nsec = BUSY_WAIT_MS * 1000000l };
	int attentions = 0, busy = 0;
	wait_for(&c->over);
	while (!c->cmd.is_once && ((is_attention(&c->cmd) && attentions++ < ATTENTIONS_MAX) ||
				   (is_busy(&c->cmd) && busy++ < BUSY_MAX))) {
		if (is_busy(&c->cmd))
			nanosleep(&busy_wait, NULL);
		worker_post(c->sync->worker, &c->msg);
		wait_for(&c->over);
	}
	sem_destroy(&c->over);
}

int scsi_sync_run(struct scsi_sync *y, struct scsi_sync_cmd *c)
{
	scsi_sync_submit(y, c);
	scsi_sync_wait(c);
	return c->cmd.res;
}
