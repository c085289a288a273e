// SPDX-License-Identifier: BSD-2-Clause
// The latest refused logins, with the reason. Any thread; a short mutex, only at login failures.
//
// Repeats with the same initiator, target, address, status and reason are one entry with a count.
// When the table is full, the address with the most entries has two of one reason, or else of one
// status, merged, the oldest first: an initiator with a new name each time displaces its own
// entries, and the counts stay complete.
#include "target/fabric/refusals.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "target/fabric/busiest_address.h"

#define KEPT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct login_refusal kept[KEPT]; // newest first
static unsigned kept_count;

#define SEVERAL "(several)"

static bool same_host(const char *a, const char *b)
{
	const char *end = strrchr(a, ':');
	size_t len = end ? (size_t)(end - a) + 1 : strlen(a);
	return !strncmp(a, b, len) && !strchr(b + len, ':');
}

static bool is_repeat(const struct login_refusal *a, const struct login_refusal *b)
{
	return a->status == b->status && !strcmp(a->reason, b->reason) &&
	       !strcmp(a->initiator, b->initiator) && !strcmp(a->target, b->target) &&
	       same_host(a->peer, b->peer);
}

static unsigned entry_of(const struct login_refusal *r)
{
	unsigned i = 0;
	while (i < kept_count && !is_repeat(&kept[i], r))
		i++;
	return i;
}

static bool is_alike(unsigned a, unsigned b, bool in_reason)
{
	return kept[a].status == kept[b].status &&
	       (!in_reason || !strcmp(kept[a].reason, kept[b].reason));
}

// The oldest entry that has a newer one like it, both of the given address if there is one.
static bool find_pair(const uint32_t hosts[KEPT], const uint32_t *host, bool in_reason,
		      unsigned *ret_old, unsigned *ret_into)
{
	for (unsigned old = KEPT; old--;)
		for (unsigned into = old; into-- && (!host || hosts[old] == *host);)
			if (is_alike(into, old, in_reason) && (!host || hosts[into] == *host)) {
				*ret_old = old;
				*ret_into = into;
				return true;
			}
	return false;
}

static void fold_text(char *into, size_t size, const char *from)
{
	if (strcmp(into, from))
		snprintf(into, size, SEVERAL);
}

static void fold(struct login_refusal *into, const struct login_refusal *from)
{
	into->count += from->count;
	if (from->first_s < into->first_s)
		into->first_s = from->first_s;
	if (!same_host(into->peer, from->peer))
		snprintf(into->peer, sizeof into->peer, SEVERAL);
	fold_text(into->initiator, sizeof into->initiator, from->initiator);
	fold_text(into->target, sizeof into->target, from->target);
	fold_text(into->reason, sizeof into->reason, from->reason);
}

// Makes room for one more in a full table.
static void make_room(void)
{
	uint32_t hosts[KEPT];
	for (unsigned i = 0; i < KEPT; i++)
		hosts[i] = address_hash(kept[i].peer);
	uint32_t host = address_busiest(hosts, KEPT);
	unsigned old = KEPT - 1, into;
	if (find_pair(hosts, &host, true, &old, &into) ||
	    find_pair(hosts, &host, false, &old, &into) ||
	    find_pair(hosts, NULL, false, &old, &into))
		fold(&kept[into], &kept[old]);
	kept_count--;
	memmove(kept + old, kept + old + 1, (kept_count - old) * sizeof kept[0]);
}

void refusal_note(const char *initiator, const char *target, const char *peer,
		  enum refusal_cause cause, uint32_t status, const char *reason)
{
	struct login_refusal r = { .first_s = (uint64_t)time(NULL),
				   .cause = cause,
				   .status = status };
	uint64_t now = r.first_s;
	snprintf(r.initiator, sizeof r.initiator, "%s", initiator);
	snprintf(r.target, sizeof r.target, "%s", target);
	snprintf(r.peer, sizeof r.peer, "%s", peer);
	snprintf(r.reason, sizeof r.reason, "%s", reason);
	pthread_mutex_lock(&lock);
	unsigned at = entry_of(&r);
	if (at < kept_count) {
		r.first_s = kept[at].first_s;
		r.count = kept[at].count;
	} else {
		if (kept_count == KEPT)
			make_room();
		at = kept_count++;
	}
	r.count++;
	r.last_s = now;
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
