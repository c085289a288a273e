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

struct ini_sync {
	struct worker *worker;
	struct ini_session *session;
	struct ini_config config;
	const struct ini_sync_ops *ops;
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
	struct ini_sync *sync;
	int res;
	uint16_t lun;
	struct err *e;
	struct ini_session_info *info;
	sem_t over;
	struct ini_ping ping;
	struct ini_tmf tmf;
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		; // EINTR
}

// --- opening and closing ---

static void tell_once(struct ini_sync *y)
{
	if (!y->was_told)
		sem_post(&y->changed);
	y->was_told = true;
}

static void on_up(struct ini_session *s)
{
	struct ini_sync *y = ini_session_arg(s);
	y->is_up = true;
	tell_once(y);
	if (y->waits_for.code && y->ops->back)
		y->ops->back();
	y->waits_for = (struct err){ 0 };
}

static void on_retry(struct ini_session *s, const struct err *why, unsigned seconds)
{
	struct ini_sync *y = ini_session_arg(s);
	if (!y->ops->waits || (y->waits_for.code && !strcmp(y->waits_for.text, why->text)))
		return;
	y->waits_for = *why;
	if (!y->waits_for.code)
		y->waits_for.code = -ENOTCONN;
	y->ops->waits(why, seconds);
}

static void on_closed(struct ini_session *s, const struct err *why)
{
	struct ini_sync *y = ini_session_arg(s);
	y->why = *why;
	y->has_ended = true;
	tell_once(y);
	sem_post(&y->closed);
}

static void on_down(struct ini_session *s, const struct err *why)
{
	((struct ini_sync *)ini_session_arg(s))->why = *why;
}

static void on_freed(void *arg)
{
	sem_post(&((struct ini_sync *)arg)->freed);
}

static const struct ini_ops sync_ops = {
	.up = on_up,
	.down = on_down,
	.retry = on_retry,
	.closed = on_closed,
	.freed = on_freed,
};

static void open_run(void *arg)
{
	struct call *c = arg;
	struct ini_sync *y = c->sync;
	c->res = ini_session_new(&y->session, y->worker, &y->config, &sync_ops, y, c->e);
}

static void logout_run(void *arg)
{
	struct ini_sync *y = arg;
	if (!y->has_ended)
		ini_session_logout(y->session);
}

static void free_run(void *arg)
{
	ini_session_free(((struct ini_sync *)arg)->session);
}

static int worker_begin(struct worker **ret, struct err *e)
{
	struct worker_options o = {
		.name = "initiator", .cpu = -1, .spin_usec = 50, .pool_bytes = 8 << 20
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

int ini_sync_open(struct ini_sync **ret, const struct ini_config *config,
		  const struct ini_sync_ops *ops, struct err *e)
{
	static const struct ini_sync_ops silent;
	struct ini_sync *y = calloc(1, sizeof *y);
	struct call c = { .sync = y, .e = e };
	if (!y)
		return err_set(e, -ENOMEM, "session: out of memory");
	y->config = *config;
	y->ops = ops ? ops : &silent;
	sem_init(&y->changed, 0, 0);
	sem_init(&y->closed, 0, 0);
	sem_init(&y->freed, 0, 0);
	sem_init(&y->watched, 0, 0);
	int r = worker_begin(&y->worker, e);
	if (!r) {
		worker_call(y->worker, open_run, &c);
		r = c.res;
	}
	chap_wipe(&y->config, sizeof y->config);
	if (!r) {
		wait_for(&y->changed);
		if (!y->is_up) {
			*e = y->why;
			r = e->code ? e->code : (e->code = -ECONNABORTED);
		}
	}
	if (r)
		ini_sync_close(y);
	else
		*ret = y;
	return r;
}

void ini_sync_close(struct ini_sync *y)
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
	struct ini_sync *y = container_of(m, struct ini_sync, cancel_msg);
	if (!y->has_ended)
		ini_session_cancel(y->session);
}

void ini_sync_cancel(struct ini_sync *y)
{
	if (__atomic_exchange_n(&y->is_cancelled, true, __ATOMIC_RELAXED))
		return;
	y->cancel_msg.fn = cancel_run;
	worker_post(y->worker, &y->cancel_msg);
}

struct worker *ini_sync_worker(struct ini_sync *y)
{
	return y->worker;
}

struct ini_session *ini_sync_session(struct ini_sync *y)
{
	return y->session;
}

static void info_run(void *arg)
{
	struct call *c = arg;
	ini_session_info(c->sync->session, c->info);
}

void ini_sync_info(struct ini_sync *y, struct ini_session_info *ret)
{
	struct call c = { .sync = y, .info = ret };
	worker_call(y->worker, info_run, &c);
}

static void why_run(void *arg)
{
	struct call *c = arg;
	struct ini_sync *y = c->sync;
	*c->e = y->stale.code ? y->stale : y->why;
}

void ini_sync_why(struct ini_sync *y, struct err *ret)
{
	struct call c = { .sync = y, .e = ret };
	worker_call(y->worker, why_run, &c);
}

// --- watching ---

static void on_ready(void *arg, const struct err *why)
{
	struct ini_sync *y = arg;
	y->watch_why = *why;
	sem_post(&y->watched);
}

static bool on_changed(void *arg, enum ini_lu_change change, const struct err *why)
{
	struct ini_sync *y = arg;
	if (y->ops->changed && y->ops->changed(change, why))
		return true;
	y->stale = *why;
	return false;
}

static void watch_run(void *arg)
{
	static const struct ini_watch_ops ops = { .ready = on_ready, .changed = on_changed };
	struct call *c = arg;
	c->res = ini_watch(c->sync->session, c->lun, &ops, c->sync);
}

int ini_sync_watch(struct ini_sync *y, uint16_t lun, struct err *e)
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

static void cmd_done(struct ini_cmd *cmd)
{
	sem_post(&((struct ini_sync_cmd *)cmd->arg)->over);
}

static void submit_run(struct msg *m)
{
	struct ini_sync_cmd *c = container_of(m, struct ini_sync_cmd, msg);
	int r = ini_cmd_submit(c->sync->session, &c->cmd);
	if (r < 0) {
		c->cmd.res = r;
		sem_post(&c->over);
	}
}

void ini_sync_submit(struct ini_sync *y, struct ini_sync_cmd *c)
{
	c->sync = y;
	c->cmd.done = cmd_done;
	c->cmd.arg = c;
	c->msg.fn = submit_run;
	sem_init(&c->over, 0, 0);
	worker_post(y->worker, &c->msg);
}

static bool is_attention(const struct ini_cmd *c)
{
	struct scsi_sense s;
	return !c->res && c->task.status == SCSI_CHECK_CONDITION &&
	       scsi_sense_parse(c->task.sense, c->task.sense_len, &s) && s.key == 6;
}

static bool is_busy(const struct ini_cmd *c)
{
	return !c->res && (c->task.status == SCSI_BUSY || c->task.status == SCSI_TASK_SET_FULL);
}

void ini_sync_wait(struct ini_sync_cmd *c)
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

int ini_sync_run(struct ini_sync *y, struct ini_sync_cmd *c)
{
	ini_sync_submit(y, c);
	ini_sync_wait(c);
	return c->cmd.res;
}

// --- ping, reset ---

static void ping_done(struct ini_ping *p)
{
	sem_post(&((struct call *)p->arg)->over);
}

static void ping_run(void *arg)
{
	struct call *c = arg;
	c->ping = (struct ini_ping){ .done = ping_done, .arg = c };
	c->res = ini_ping(c->sync->session, &c->ping);
}

int ini_sync_ping(struct ini_sync *y, uint64_t *ret_rtt_ns)
{
	struct call c = { .sync = y };
	sem_init(&c.over, 0, 0);
	worker_call(y->worker, ping_run, &c);
	if (!c.res) {
		wait_for(&c.over);
		c.res = c.ping.res;
		*ret_rtt_ns = c.ping.rtt_ns;
	}
	sem_destroy(&c.over);
	return c.res;
}

static void tmf_done(struct ini_tmf *t)
{
	sem_post(&((struct call *)t->arg)->over);
}

static void tmf_run(void *arg)
{
	struct call *c = arg;
	c->res = ini_tmf_submit(c->sync->session, &c->tmf);
}

int ini_sync_lun_reset(struct ini_sync *y, uint16_t lun, uint8_t *ret_response)
{
	struct ini_cmd address;
	struct call c = { .sync = y };
	ini_cmd_init(&address, lun);
	c.tmf = (struct ini_tmf){ .function = ISCSI_TMF_LUN_RESET, .done = tmf_done, .arg = &c };
	memcpy(c.tmf.lun, address.task.lun, sizeof c.tmf.lun);
	sem_init(&c.over, 0, 0);
	worker_call(y->worker, tmf_run, &c);
	if (!c.res) {
		wait_for(&c.over);
		c.res = c.tmf.res;
		*ret_response = c.tmf.response;
	}
	sem_destroy(&c.over);
	return c.res;
}

// --- discovery ---

struct hunt {
	struct worker *worker;
	const struct ini_config *config;
	void (*found)(void *arg, const struct sendtargets_record *r);
	void *arg;
	struct err *e;
	int res;
	sem_t over;
};

static void on_found(struct ini_discovery *d, const struct sendtargets_record *r)
{
	struct hunt *h = ini_discovery_arg(d);
	h->found(h->arg, r);
}

static void on_discovered(struct ini_discovery *d, const struct err *why)
{
	struct hunt *h = ini_discovery_arg(d);
	h->res = why->code;
	if (why->code)
		*h->e = *why;
	sem_post(&h->over);
}

static void hunt_run(void *arg)
{
	struct hunt *h = arg;
	static const struct ini_discovery_ops ops = { .found = on_found, .done = on_discovered };
	struct ini_discovery *d;
	h->res = ini_discovery_new(&d, h->worker, h->config, &ops, h, h->e);
	if (h->res)
		sem_post(&h->over);
}

int ini_sync_discover(const struct ini_config *config,
		      void (*found)(void *arg, const struct sendtargets_record *r), void *arg,
		      struct err *e)
{
	struct hunt h = { .config = config, .found = found, .arg = arg, .e = e };
	int r = worker_begin(&h.worker, e);
	if (r < 0)
		return r;
	sem_init(&h.over, 0, 0);
	worker_call(h.worker, hunt_run, &h);
	wait_for(&h.over);
	worker_free(h.worker);
	sem_destroy(&h.over);
	return h.res;
}
