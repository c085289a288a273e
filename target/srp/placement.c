// SPDX-License-Identifier: BSD-2-Clause
#include "target/srp/placement.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

// An address has several workers only if its channels began on one that was chosen too long ago.
struct place {
	struct place *next;
	struct tcp_addr addr;
	struct worker *worker;
	unsigned channels;
	uint64_t chosen_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;
static unsigned idle_count; // of them without channels

static bool is_over(const struct place *p, uint64_t now_ns)
{
	return !p->channels && now_ns - p->chosen_ns > PLACEMENT_NS;
}

static struct place *place_new(const struct tcp_addr *addr, struct worker *w)
{
	struct place *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->addr = *addr;
	p->worker = w;
	p->next = places;
	places = p;
	idle_count++;
	return p;
}

// The place of an address, if there are several the one with channels; forgets what is over.
static struct place *find(const struct tcp_addr *addr, uint64_t now_ns)
{
	struct place *best = NULL;
	for (struct place **at = &places; *at;) {
		struct place *p = *at;
		if (is_over(p, now_ns)) {
			*at = p->next;
			idle_count--;
			free(p);
			continue;
		}
		if (tcp_addr_same_ip(&p->addr, addr) && (!best || p->channels > best->channels))
			best = p;
		at = &p->next;
	}
	return best;
}

void placement_init(void)
{
	pthread_mutex_lock(&lock);
	for (struct place *p; (p = places);) {
		places = p->next;
		free(p);
	}
	idle_count = 0;
	pthread_mutex_unlock(&lock);
}

struct worker *placement_choose(const struct tcp_addr *peer, struct worker *quietest,
				uint64_t now_ns)
{
	pthread_mutex_lock(&lock);
	struct place *p = find(peer, now_ns);
	if (!p && idle_count < PLACEMENT_MAX)
		p = place_new(peer, quietest);
	if (p)
		p->chosen_ns = now_ns;
	struct worker *w = p ? p->worker : quietest;
	pthread_mutex_unlock(&lock);
	return w;
}

static struct place *place_at(const struct tcp_addr *addr, const struct worker *w)
{
	struct place *p = places;
	while (p && (p->worker != w || !tcp_addr_same_ip(&p->addr, addr)))
		p = p->next;
	return p;
}

void placement_enter(const struct tcp_addr *peer, struct worker *w)
{
	pthread_mutex_lock(&lock);
	struct place *p = place_at(peer, w);
	if (!p)
		p = place_new(peer, w);
	if (p && !p->channels++)
		idle_count--;
	pthread_mutex_unlock(&lock);
}

void placement_leave(const struct tcp_addr *peer, struct worker *w)
{
	pthread_mutex_lock(&lock);
	struct place *p = place_at(peer, w);
	if (p && p->channels && !--p->channels)
		idle_count++;
	pthread_mutex_unlock(&lock);
}
