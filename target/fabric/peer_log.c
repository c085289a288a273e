// SPDX-License-Identifier: BSD-2-Clause
// Recent events by address and cause. Any thread, under a mutex; a timer of the control thread,
// armed while there are entries, logs the counts.
#include "target/fabric/peer_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define KEPT 256

struct heard {
	const char *who;
	char cause[64];
	struct tcp_addr addr; // AF_UNSPEC: addresses beyond the table's size
	uint64_t since_ns;    // the line, or the last count
	uint64_t more;
	unsigned said, most; // lines
	enum log_level level;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct heard heard[KEPT + 1]; // the first heard_count; after KEPT: all others
static unsigned heard_count;
static struct worker *control; // NULL: not started
static struct timer sweep;
static struct msg arm;
static bool is_armed; // the timer is armed, or the message that arms it is pending

static void say(const struct heard *h, uint64_t now)
{
	char from[TCP_ADDR_TEXT] = "other addresses";
	uint64_t s = (now - h->since_ns + 500000000) / 1000000000;
	if (h->addr.sa.sa_family != AF_UNSPEC)
		tcp_addr_format_ip(&h->addr, from);
	log_line(h->level, "%s: %s: %lu more from %s in the last %lu s", h->who, h->cause,
		 (unsigned long)h->more, from, (unsigned long)(s ? s : 1));
}

// Quiet entries are dropped, so that their next line is logged at once.
static bool say_counts(void)
{
	unsigned kept = 0;
	uint64_t now = clock_ns();
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < heard_count; i++) {
		if (!heard[i].more)
			continue;
		say(&heard[i], now);
		heard[kept] = heard[i];
		heard[kept].since_ns = now;
		if (heard[i].most > 1)
			heard[kept].said = 0;
		heard[kept++].more = 0;
	}
	heard_count = kept;
	if (heard[KEPT].more)
		say(&heard[KEPT], now);
	heard[KEPT].more = 0;
	is_armed = is_armed && kept;
	pthread_mutex_unlock(&lock);
	return kept > 0;
}

static void sweep_run(struct timer *t)
{
	if (say_counts())
		timer_arm(control, t, PEER_LOG_S * UINT64_C(1000000));
}

static void arm_run(struct msg *m)
{
	if (control) // else it has ended first
		timer_arm(control, &sweep, PEER_LOG_S * UINT64_C(1000000));
}

void peer_log_init(struct worker *w)
{
	control = w;
	timer_init(&sweep, sweep_run);
	arm.fn = arm_run;
	heard_count = 0;
	is_armed = false;
}

void peer_log_done(void)
{
	pthread_mutex_lock(&lock);
	struct worker *w = control;
	control = NULL;
	pthread_mutex_unlock(&lock);
	if (w)
		timer_cancel(w, &sweep);
	say_counts();
}

static struct heard *heard_find(const char *who, const char *cause, const struct tcp_addr *peer)
{
	for (unsigned i = 0; i < heard_count; i++)
		if (tcp_addr_same_ip(&heard[i].addr, peer) && heard[i].who == who &&
		    !strcmp(heard[i].cause, cause))
			return &heard[i];
	return NULL;
}

static bool count(enum log_level level, const char *who, const char *cause,
		  const struct tcp_addr *peer, unsigned most)
{
	struct heard *h = heard_find(who, cause, peer);
	if (!h && heard_count == KEPT) {
		h = &heard[KEPT];
		if (!h->more)
			*h = (struct heard){ .who = who,
					     .cause = "refusals",
					     .since_ns = clock_ns(),
					     .level = level };
	}
	if (h && h->said < h->most) {
		h->said++;
		return true;
	}
	if (h) {
		h->more++;
		return false;
	}
	h = &heard[heard_count++];
	*h = (struct heard){ .addr = *peer, .since_ns = clock_ns(), .level = level, .said = 1 };
	h->who = who;
	h->most = most;
	snprintf(h->cause, sizeof h->cause, "%s", cause);
	return true;
}

bool peer_log_permits_some(enum log_level level, const char *who, const char *cause,
			   const struct tcp_addr *peer, unsigned most)
{
	if (level > log_threshold)
		return false;
	pthread_mutex_lock(&lock);
	bool permits = count(level, who, cause, peer, most);
	struct worker *w = is_armed ? NULL : control;
	is_armed = is_armed || w;
	pthread_mutex_unlock(&lock);
	if (w)
		worker_post(w, &arm);
	return permits;
}

bool peer_log_permits(enum log_level level, const char *who, const char *cause,
		      const struct tcp_addr *peer)
{
	return peer_log_permits_some(level, who, cause, peer, 1);
}
