// SPDX-License-Identifier: BSD-2-Clause
// The sessions that ended last, with the reason: for logouts requested by the administrator, and
// lost initiators. Any thread; a short mutex, only at ends of sessions.
//
// When the table is full, the address with the most entries loses its oldest, so that frequent
// logins of one initiator do not displace others. Discovery sessions are not recorded.
#include "target/fabric/session_ends.h"

#include <pthread.h>
#include <string.h>

#include "target/fabric/busiest_address.h"

#define KEPT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session_end kept[KEPT]; // newest first
static unsigned count;

static void make_room(void)
{
	uint32_t hosts[KEPT];
	for (unsigned i = 0; i < KEPT; i++)
		hosts[i] = address_hash(kept[i].peer);
	uint32_t most = address_busiest(hosts, KEPT);
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

unsigned sessions_ended(struct session_end *out, unsigned max)
{
	pthread_mutex_lock(&lock);
	unsigned n = count < max ? count : max;
	memcpy(out, kept, n * sizeof out[0]);
	pthread_mutex_unlock(&lock);
	return n;
}
