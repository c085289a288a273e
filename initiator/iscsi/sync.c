// SPDX-License-Identifier: BSD-2-Clause
// See sync.h. The program's thread posts and waits; the worker owns the posted memory until the
// semaphore.
#include "initiator/iscsi/sync.h"

#include <semaphore.h>

struct call {
	struct scsi_session *session;
	struct ini_session_info *info;
	struct ini_ping ping;
	int res;
	sem_t over;
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		; // EINTR
}

static void info_run(void *arg)
{
	struct call *c = arg;
	ini_session_info(c->session, c->info);
}

void ini_sync_info(struct scsi_sync *y, struct ini_session_info *ret)
{
	struct call c = { .session = scsi_sync_session(y), .info = ret };
	worker_call(scsi_sync_worker(y), info_run, &c);
}

// --- ping ---

static void ping_done(struct ini_ping *p)
{
	sem_post(&((struct call *)p->arg)->over);
}

static void ping_run(void *arg)
{
	struct call *c = arg;
	c->ping = (struct ini_ping){ .done = ping_done, .arg = c };
	c->res = ini_ping(c->session, &c->ping);
}

int ini_sync_ping(struct scsi_sync *y, uint64_t *ret_rtt_ns)
{
	struct call c = { .session = scsi_sync_session(y) };
	sem_init(&c.over, 0, 0);
	worker_call(scsi_sync_worker(y), ping_run, &c);
	if (!c.res) {
		wait_for(&c.over);
		c.res = c.ping.res;
		*ret_rtt_ns = c.ping.rtt_ns;
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
	int r = scsi_sync_worker_new(&h.worker, e);
	if (r < 0)
		return r;
	sem_init(&h.over, 0, 0);
	worker_call(h.worker, hunt_run, &h);
	wait_for(&h.over);
	worker_free(h.worker);
	sem_destroy(&h.over);
	return h.res;
}
