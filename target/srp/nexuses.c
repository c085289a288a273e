// SPDX-License-Identifier: BSD-2-Clause
// The workers share the table under a mutex that only logins and ends of sessions take. An entry
// belongs to its session, which removes it when its nexus is freed; a message notifies the login
// that waits for that.
#include "target/srp/nexuses.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct nexus_entry {
	struct nexus_entry *next; // of the bucket
	struct srp_session *session;
	struct worker *worker;
	char initiator[PORT_NAME_SIZE], target[PORT_NAME_SIZE];
	struct login *waiter; // that takes its place
	bool is_kill_sent;
	bool is_ending; // no channel joins it
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nexus_entry *buckets[BUCKETS];

static struct nexus_entry **bucket_of(const char *initiator, const char *target)
{
	unsigned h = 5381;
	for (; *initiator; initiator++)
		h = h * 33 + (uint8_t)*initiator;
	for (; *target; target++)
		h = h * 33 + (uint8_t)*target;
	return &buckets[h % BUCKETS];
}

static struct nexus_entry *find(const struct srp_session *s)
{
	struct nexus_entry *e = *bucket_of(s->initiator, s->target);
	while (e && (strcmp(e->initiator, s->initiator) || strcmp(e->target, s->target)))
		e = e->next;
	return e;
}

// On the old session's worker. The message belongs to the session, not to the entry: an ending
// session may leave the table while the message is pending.
static void kill_run(struct msg *m)
{
	struct srp_session *s = container_of(m, struct srp_session, kill_msg);
	srp_session_close(s, false, SRP_LOGOUT_NEW_LOGIN, "replaced by a new login");
	srp_session_release(s);
}

static void wait_for(struct nexus_entry *e, struct login *l)
{
	e->waiter = l;
	__atomic_add_fetch(&l->holds, 1, __ATOMIC_RELAXED); // until resume_msg
	if (e->is_kill_sent)
		return;
	e->is_kill_sent = true;
	srp_session_hold(e->session); // until kill_run
	e->session->kill_msg.fn = kill_run;
	worker_post(e->worker, &e->session->kill_msg);
}

static enum nexus_place add(struct srp_session *s)
{
	struct nexus_entry **b = bucket_of(s->initiator, s->target), *e = calloc(1, sizeof *e);
	if (!e)
		return NEXUS_NO_MEMORY;
	e->session = s;
	e->worker = s->session.worker;
	memcpy(e->initiator, s->initiator, sizeof e->initiator);
	memcpy(e->target, s->target, sizeof e->target);
	e->next = *b;
	*b = e;
	s->entry = e;
	return NEXUS_NEW;
}

static enum nexus_place enter(struct srp_session *s, struct login *l, bool had_waited,
			      struct srp_session **ret_old)
{
	bool is_multi = (l->req.flags & SRP_MULTICHAN_MASK) == SRP_MULTICHAN_MULTI;
	struct nexus_entry *old = find(s);
	if (!old)
		return add(s);
	if (is_multi && !old->is_ending && !old->is_kill_sent) {
		*ret_old = old->session;
		return old->worker == s->session.worker ? NEXUS_JOINS : NEXUS_ELSEWHERE;
	}
	if (old->waiter || had_waited)
		return NEXUS_BUSY;
	wait_for(old, l);
	return NEXUS_WAITS;
}

enum nexus_place nexuses_enter(struct srp_session *s, struct login *l, bool had_waited,
			       struct srp_session **ret_old)
{
	*ret_old = NULL;
	pthread_mutex_lock(&lock);
	enum nexus_place r = enter(s, l, had_waited, ret_old);
	pthread_mutex_unlock(&lock);
	return r;
}

void nexuses_ends(struct srp_session *s)
{
	pthread_mutex_lock(&lock);
	if (s->entry)
		s->entry->is_ending = true;
	pthread_mutex_unlock(&lock);
}

void nexuses_leave(struct srp_session *s)
{
	struct nexus_entry *e = s->entry;
	if (!e)
		return;
	pthread_mutex_lock(&lock);
	struct nexus_entry **b = bucket_of(e->initiator, e->target);
	while (*b != e)
		b = &(*b)->next;
	*b = e->next;
	s->entry = NULL;
	struct login *waiter = e->waiter;
	pthread_mutex_unlock(&lock);
	free(e);
	if (waiter)
		worker_post(waiter->session.worker, &waiter->resume_msg);
}
