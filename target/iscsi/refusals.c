// SPDX-License-Identifier: BSD-2-Clause
// The latest refused logins, with the reason in words. Any thread; a short mutex, at login
// failures only.
//
// Repeats of one initiator, target and status fold into one entry, and so do those of one address
// that did not get as far as to name an initiator. When the table is full, the address with the
// most entries has its two oldest of one status folded into one: an initiator that calls itself
// by a new name each time displaces its own entries, and the counts stay complete.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "target/iscsi/conn.h"

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

static bool is_repeat(const struct login_refusal *r, const char *initiator, const char *target,
		      const char *peer, uint16_t status)
{
	return r->status == status && !strcmp(r->initiator, initiator) &&
	       !strcmp(r->target, target) && (*initiator || same_host(r->peer, peer));
}

static unsigned find(const char *initiator, const char *target, const char *peer, uint16_t status)
{
	unsigned i = 0;
	while (i < kept_count && !is_repeat(&kept[i], initiator, target, peer, status))
		i++;
	return i;
}

static uint32_t host_hash(const char *peer)
{
	const char *end = strrchr(peer, ':');
	uint32_t h = 5381;
	while (*peer && peer != end)
		h = h * 33 + (uint8_t)*peer++;
	return h;
}

// The address that has the most entries. Any peer can have us do this at each of its logins:
// hashes are compared, not texts.
static uint32_t crowd(const uint32_t hosts[KEPT])
{
	uint32_t ret = 0;
	unsigned most = 0;
	for (unsigned i = 0; i < KEPT; i++) {
		unsigned n = 0;
		for (unsigned j = 0; j < KEPT; j++)
			n += hosts[i] == hosts[j];
		if (n > most) {
			most = n;
			ret = hosts[i];
		}
	}
	return ret;
}

// The oldest entry that has a newer one of its status, both of the given address if there is one.
static bool find_pair(const uint32_t hosts[KEPT], const uint32_t *host, unsigned *ret_old,
		      unsigned *ret_into)
{
	for (unsigned old = KEPT; old--;)
		for (unsigned into = old; into-- && (!host || hosts[old] == *host);)
			if (kept[into].status == kept[old].status &&
			    (!host || hosts[into] == *host)) {
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
		hosts[i] = host_hash(kept[i].peer);
	uint32_t host = crowd(hosts);
	unsigned old = KEPT - 1, into;
	if (find_pair(hosts, &host, &old, &into) || find_pair(hosts, NULL, &old, &into))
		fold(&kept[into], &kept[old]);
	kept_count--;
	memmove(kept + old, kept + old + 1, (kept_count - old) * sizeof kept[0]);
}

void refusal_note(const char *initiator, const char *target, const char *peer, uint16_t status,
		  const char *reason)
{
	uint64_t now = (uint64_t)time(NULL);
	pthread_mutex_lock(&lock);
	unsigned at = find(initiator, target, peer, status);
	struct login_refusal r = { .first_s = now, .count = 1, .status = status };
	if (at < kept_count) {
		r = kept[at];
		r.count++;
	} else {
		if (kept_count == KEPT)
			make_room();
		at = kept_count++;
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
