// SPDX-License-Identifier: BSD-2-Clause
// See session.h. One worker runs the sessions of the program; it lives as long as that.
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "initiator/sync.h"

struct cs_session {
	struct scsi_session *scsi;
	int event;
	pthread_mutex_t lock;
	struct list over;  // under the lock
	sem_t told, freed; // the login has succeeded or failed; nothing is left of the session
	bool was_told, is_up;
	struct err why;
};

static struct worker *worker;

// --- what the session tells; on the worker ---

static void tell(struct cs_session *s)
{
	if (!s->was_told)
		sem_post(&s->told);
	s->was_told = true;
}

static void on_up(struct scsi_session *scsi)
{
	struct cs_session *s = scsi_session_arg(scsi);
	s->is_up = true;
	tell(s);
}

static void on_closed(struct scsi_session *scsi, const struct err *why)
{
	struct cs_session *s = scsi_session_arg(scsi);
	s->why = *why;
	scsi_session_free(scsi);
	s->scsi = NULL;
	tell(s);
}

static void on_freed(void *arg)
{
	sem_post(&((struct cs_session *)arg)->freed);
}

static const struct scsi_session_ops ops = { .up = on_up, .closed = on_closed, .freed = on_freed };

static void come_back(struct cs_call *c)
{
	struct cs_session *s = c->session;
	pthread_mutex_lock(&s->lock);
	list_push_back(&s->over, &c->link);
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->event, 1);
}

static void cmd_done(struct scsi_cmd *cmd)
{
	come_back(cmd->arg);
}

static void tmf_done(struct scsi_tmf *tmf)
{
	come_back(tmf->arg);
}

static void submit_run(struct msg *m)
{
	struct cs_call *c = container_of(m, struct cs_call, msg);
	struct scsi_session *scsi = c->session->scsi;
	int *res = c->is_tmf ? &c->tmf.res : &c->cmd.res;
	*res = -ENOTCONN;
	if (scsi)
		*res = c->is_tmf ? scsi_tmf_submit(scsi, &c->tmf) : scsi_cmd_submit(scsi, &c->cmd);
	if (*res < 0)
		come_back(c);
}

// --- the program's thread ---

struct opening {
	struct cs_session *s;
	struct cs_config *config;
	struct err *e;
	int res;
};

static void open_run(void *arg)
{
	struct opening *o = arg;
	o->res = cs_config_open(o->config, &o->s->scsi, worker, &ops, o->s, o->e);
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		; // EINTR
}

static struct cs_session *cs_new(void)
{
	struct cs_session *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	list_init(&s->over);
	sem_init(&s->told, 0, 0);
	sem_init(&s->freed, 0, 0);
	return s;
}

static int login(struct cs_session *s, const struct cs_address *a, struct err *e)
{
	struct opening o = { .s = s, .e = e };
	int r = worker ? 0 : scsi_sync_worker_new(&worker, e);
	if (!r)
		r = cs_config_new(&o.config, a, e);
	if (r)
		return r;
	worker_call(worker, open_run, &o);
	free(o.config);
	if (o.res)
		return o.res;
	wait_for(&s->told);
	if (s->is_up)
		return 0;
	wait_for(&s->freed);
	*e = s->why;
	return s->why.code ? s->why.code : -ECONNABORTED;
}

int cs_open(struct cs_session **ret, const struct cs_address *a, struct err *e)
{
	struct cs_session *s = cs_new();
	if (!s)
		return err_set(e, -ENOMEM, "session: out of memory");
	int r = login(s, a, e);
	if (r)
		cs_free(s);
	else
		*ret = s;
	return r;
}

static void logout_run(void *arg)
{
	struct cs_session *s = arg;
	if (s->scsi)
		scsi_session_logout(s->scsi);
}

static void free_run(void *arg)
{
	struct cs_session *s = arg;
	scsi_session_free(s->scsi);
	s->scsi = NULL;
}

void cs_end(struct cs_session *s, bool is_logout)
{
	worker_call(worker, is_logout ? logout_run : free_run, s);
	wait_for(&s->freed);
}

void cs_free(struct cs_session *s)
{
	if (s->event >= 0)
		close(s->event);
	pthread_mutex_destroy(&s->lock);
	sem_destroy(&s->told);
	sem_destroy(&s->freed);
	free(s);
}

// --- calls ---

int cs_fd(const struct cs_session *s)
{
	return s->event;
}

void cs_submit(struct cs_session *s, struct cs_call *c)
{
	c->session = s;
	c->cmd.done = cmd_done;
	c->cmd.arg = c;
	c->tmf.done = tmf_done;
	c->tmf.arg = c;
	c->msg.fn = submit_run;
	worker_post(worker, &c->msg);
}

struct cs_call *cs_take(struct cs_session *s)
{
	eventfd_t count;
	pthread_mutex_lock(&s->lock);
	struct list *l = list_pop_front(&s->over);
	if (!l)
		eventfd_read(s->event, &count);
	pthread_mutex_unlock(&s->lock);
	return l ? list_entry(l, struct cs_call, link) : NULL;
}

void cs_wait(const struct cs_session *s)
{
	struct pollfd fd = { .fd = s->event, .events = POLLIN };
	poll(&fd, 1, -1);
}
