// SPDX-License-Identifier: BSD-2-Clause
// The sessions that ended last, with the reason in words: what became of one that was asked to
// log out, or why an initiator is gone. Any thread; a short mutex, at ends of sessions only.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "target/iscsi/conn.h"

#define KEPT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session_end kept[KEPT]; // a ring
static unsigned next, count;

void session_ended(const struct conn *c, const char *why)
{
	conn_log(c, LOG_LVL_INFO, "session ended: %s", why);
	pthread_mutex_lock(&lock);
	struct session_end *s = &kept[next];
	next = (next + 1) % KEPT;
	count += count < KEPT;
	s->id = c->id;
	s->when_s = (uint64_t)time(NULL);
	s->lasted_s = (worker_now(c->worker) - c->start_ns) / 1000000000;
	snprintf(s->initiator, sizeof s->initiator, "%s", c->names.initiator_name);
	snprintf(s->target, sizeof s->target, "%s", c->names.target_name);
	snprintf(s->peer, sizeof s->peer, "%s", c->dm->peer);
	snprintf(s->reason, sizeof s->reason, "%s", why);
	pthread_mutex_unlock(&lock);
}

unsigned sessions_ended(struct session_end *out, unsigned max)
{
	pthread_mutex_lock(&lock);
	unsigned n = count < max ? count : max;
	for (unsigned i = 0; i < n; i++)
		out[i] = kept[(next + KEPT - 1 - i) % KEPT];
	pthread_mutex_unlock(&lock);
	return n;
}
