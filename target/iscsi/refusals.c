// SPDX-License-Identifier: BSD-2-Clause
// The latest refused logins, with the reason in words. Any thread; a short mutex, at login
// failures only. Repeats of one initiator, target and status fold into one entry.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "target/iscsi/conn.h"

#define KEPT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct login_refusal kept[KEPT]; // newest first
static unsigned kept_count;

static unsigned find(const char *initiator, const char *target, uint16_t status)
{
	unsigned i = 0;
	while (i < kept_count &&
	       (kept[i].status != status || strcmp(kept[i].initiator, initiator) ||
		strcmp(kept[i].target, target)))
		i++;
	return i;
}

void refusal_note(const char *initiator, const char *target, const char *peer, uint16_t status,
		  const char *reason)
{
	uint64_t now = (uint64_t)time(NULL);
	pthread_mutex_lock(&lock);
	unsigned at = find(initiator, target, status);
	struct login_refusal r = { .first_s = now, .count = 1, .status = status };
	if (at < kept_count) {
		r = kept[at];
		r.count++;
	} else if (kept_count < KEPT) {
		kept_count++;
	} else {
		at = KEPT - 1;
	}
	r.last_s = now;
	snprintf(r.initiator, sizeof r.initiator, "%s", initiator);
	snprintf(r.target, sizeof r.target, "%s", target);
	snprintf(r.peer, sizeof r.peer, "%s", peer);
	snprintf(r.reason, sizeof r.reason, "%s", reason);
	memmove(kept + 1, kept, at * sizeof kept[0]);
	kept[0] = r;
	pthread_mutex_unlock(&lock);
}

unsigned login_refusals(struct login_refusal *out, unsigned max)
{
	pthread_mutex_lock(&lock);
	unsigned n = kept_count < max ? kept_count : max;
	memcpy(out, kept, n * sizeof out[0]);
	pthread_mutex_unlock(&lock);
	return n;
}
