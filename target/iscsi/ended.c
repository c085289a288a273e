// SPDX-License-Identifier: BSD-2-Clause
// The sessions that ended last, with the reason: for logouts requested by the administrator, and
// lost initiators. Any thread; a short mutex, only at ends of sessions.
//
// When the table is full, the address with the most entries loses its oldest, so that frequent
// logins of one initiator do not displace others. Discovery sessions are not recorded.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/crowd.h"
#include "target/iscsi/peer_log.h"

#define KEPT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session_end kept[KEPT]; // newest first
static unsigned count;

static void make_room(void)
{
	uint32_t hosts[KEPT];
	for (unsigned i = 0; i < KEPT; i++)
		hosts[i] = crowd_hash(kept[i].peer);
	uint32_t most = crowd_most(hosts, KEPT);
	unsigned old = KEPT - 1;
	while (hosts[old] != most)
		old--;
	count--;
	memmove(kept + old, kept + old + 1, (count - old) * sizeof kept[0]);
}

void session_end_note(const struct session_end *s)
{
	pthread_mutex_lock(&lock);
	if (count == KEPT)
		make_room();
	memmove(kept + 1, kept, count * sizeof kept[0]);
	kept[0] = *s;
	count++;
	pthread_mutex_unlock(&lock);
}

void session_ended(const struct conn *c, const char *why)
{
	if (peer_log_permits_some(LOG_LVL_INFO, "session ended", &c->dm->peer_addr, LOGINS_LOGGED))
		conn_log(c, LOG_LVL_INFO, "session ended: %s", why);
	if (!c->tpg)
		return;
	struct session_end s = {
		.id = c->id,
		.when_s = (uint64_t)time(NULL),
		.lasted_s = (worker_now(c->worker) - c->start_ns) / 1000000000,
	};
	snprintf(s.initiator, sizeof s.initiator, "%s", c->names.initiator_name);
	snprintf(s.target, sizeof s.target, "%s", c->names.target_name);
	snprintf(s.peer, sizeof s.peer, "%s", c->dm->peer);
	snprintf(s.reason, sizeof s.reason, "%s", why);
	session_end_note(&s);
}

unsigned sessions_ended(struct session_end *out, unsigned max)
{
	pthread_mutex_lock(&lock);
	unsigned n = count < max ? count : max;
	memcpy(out, kept, n * sizeof out[0]);
	pthread_mutex_unlock(&lock);
	return n;
}
