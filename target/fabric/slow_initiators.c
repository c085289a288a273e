// SPDX-License-Identifier: BSD-2-Clause
// A table of a fixed size. An entry that is not over is never displaced: that would be the way to
// be forgotten.
#include "target/fabric/slow_initiators.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "target/fabric/name.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char who[FABRIC_NAME_SIZE];
	uint64_t until_s;
} kept[SLOW_KEPT];
static uint64_t all_until_s;  // there was no room for one
static uint64_t last_until_s; // of all; atomic

static int entry_of(const char *who, uint64_t now_s)
{
	for (int i = 0; i < SLOW_KEPT; i++)
		if (kept[i].until_s > now_s && !strcmp(kept[i].who, who))
			return i;
	return -1;
}

static int find_free(uint64_t now_s)
{
	for (int i = 0; i < SLOW_KEPT; i++)
		if (kept[i].until_s <= now_s)
			return i;
	return -1;
}

void slow_initiator_note(const char *who, uint64_t now_s)
{
	pthread_mutex_lock(&lock);
	int i = entry_of(who, now_s);
	if (i < 0)
		i = find_free(now_s);
	if (i < 0) {
		all_until_s = now_s + SLOW_SECONDS;
	} else {
		snprintf(kept[i].who, sizeof kept[i].who, "%s", who);
		kept[i].until_s = now_s + SLOW_SECONDS;
	}
	__atomic_store_n(&last_until_s, now_s + SLOW_SECONDS, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

bool slow_initiator_is_known(const char *who, uint64_t now_s)
{
	if (__atomic_load_n(&last_until_s, __ATOMIC_RELAXED) <= now_s)
		return false;
	pthread_mutex_lock(&lock);
	bool is_known = all_until_s > now_s || entry_of(who, now_s) >= 0;
	pthread_mutex_unlock(&lock);
	return is_known;
}
