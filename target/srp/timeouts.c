// SPDX-License-Identifier: BSD-2-Clause
// The worker's second hand: what an initiator owes by now, and what it loses for it.
#include "target/srp/timeouts.h"

#include "target/scsi/nexus.h"
#include "target/srp/discovery.h"
#include "target/srp/events.h"
#include "target/srp/login.h"
#include "target/srp/worker.h"

#define TICK_US	       1000000u
#define SECOND	       1000000000ull
#define LINGER_TIMEOUT 5	   // for what is sent before a close
#define SHORT_TIMEOUT  5	   // without progress of who holds memory while others have none
#define SHORT_RATE     (64u << 10) // bytes a second at which that memory has to come free
#define SHORT_MAX      15	   // ... but within this: initiators give a command 30 s

static bool is_over(uint64_t now, uint64_t since, uint64_t seconds)
{
	return since && now > since && now - since > seconds * SECOND;
}

// Limits of what waits for the peer.
struct patience {
	unsigned stuck_s, all_s;
	const char *why; // before the words below
};

static bool is_late(const struct patience *p, const struct srp_wait *w, uint64_t now)
{
	return is_over(now, w->stuck_ns, p->stuck_s) || is_over(now, w->since_ns, p->all_s);
}

static const struct patience usual = { SRP_STUCK_S, SRP_WAIT_S, "" };

// An initiator that does not answer on one channel is gone from all.
static void check_silence(struct session_channel *c, const struct srp_channel_info *k, uint64_t now)
{
	if (is_late(&usual, &k->asked, now))
		srp_session_close(c->session, false, SRP_LOGOUT_INACTIVE,
				  "no answer to CRED_REQ or AER_REQ for %lu s",
				  (unsigned long)((now - k->asked.since_ns) / SECOND));
	else if (!k->asked.since_ns && is_over(now, k->last_rx_ns, SRP_IDLE_S))
		srp_ping(c->ch);
}

// False: it is closed.
static bool check_waits(struct session_channel *c, const struct srp_channel_info *k, uint64_t now,
			const struct patience *p)
{
	const struct {
		const struct srp_wait *wait;
		const char *what;
	} rows[] = {
		{&k->reads,   "RDMA Reads not answered"},
		{ &k->output, "responses not received" },
	};
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct srp_wait *w = rows[i].wait;
		bool is_stuck = is_over(now, w->stuck_ns, p->stuck_s);
		if (!is_late(p, w, now))
			continue;
		channel_close(c, false, SRP_LOGOUT_INACTIVE, "%s%s %sfor %u s", p->why,
			      rows[i].what, is_stuck ? "" : "in full ",
			      is_stuck ? p->stuck_s : p->all_s);
		return false;
	}
	return true;
}

// Seconds that the transfer of so many bytes of the buffers may take.
static unsigned short_seconds(uint64_t bytes)
{
	uint64_t need = bytes / SHORT_RATE;
	need = need < SHORT_MAX ? need : SHORT_MAX;
	return need > SHORT_TIMEOUT ? (unsigned)need : SHORT_TIMEOUT;
}

// Another session has no buffer at all: a session that has some must use them.
static void check_short(struct session_channel *c, const struct srp_channel_info *k, uint64_t now)
{
	uint64_t used = k->buffers + c->session->session.nexus->pool_used;
	const struct patience p = { SHORT_TIMEOUT, short_seconds(used),
				    "out of buffer memory, and " };
	if (used)
		check_waits(c, k, now, &p);
}

static void check_channel(struct session_channel *c, uint64_t now)
{
	struct srp_channel_info k;
	srp_channel_info(c->ch, &k);
	srp_worker_count(srp_worker(), &c->counted, &k);
	if (k.closing_ns) {
		if (is_over(now, k.closing_ns, LINGER_TIMEOUT))
			channel_close(c, false, SRP_LOGOUT_NO_REASON,
				      "closing; the initiator did not take the last responses");
		return;
	}
	check_silence(c, &k, now);
	if (check_waits(c, &k, now, &usual) && srp_worker()->is_short)
		check_short(c, &k, now);
}

// Whether a channel cannot be asked; notes when the initiator was last heard from on it.
static bool is_mute(struct session_channel *c)
{
	struct srp_channel_info k;
	srp_channel_info(c->ch, &k);
	uint64_t heard = k.output.stuck_ns > k.last_rx_ns ? k.output.stuck_ns : k.last_rx_ns;
	if (heard > c->session->heard_ns)
		c->session->heard_ns = heard;
	return !k.ius_in;
}

static void check_mute(struct srp_session *s, uint64_t now)
{
	bool has_mute = false;
	list_for_each (it, &s->channels)
		if (!channel_of(it)->is_closed)
			has_mute |= is_mute(channel_of(it));
	// Linux reconnects without a command: an idle initiator comes back.
	if (!s->has_heard && is_over(now, s->session.start_ns, SRP_FIRST_S))
		srp_session_close(s, false, SRP_LOGOUT_INACTIVE, "no IU within %u s of the login",
				  SRP_FIRST_S);
	else if (s->has_heard && has_mute && is_over(now, s->heard_ns, SRP_MUTE_S))
		srp_session_close(s, false, SRP_LOGOUT_INACTIVE,
				  "nothing was received on any channel for %u s", SRP_MUTE_S);
}

void srp_timeouts_check(struct srp_session *s, uint64_t now)
{
	if (s->session.state != SESSION_LIVE)
		return;
	s->session.nexus->info.is_buffered = session_is_slow(&s->session, now);
	check_mute(s, now);
	list_for_each (it, &s->channels)
		if (!channel_of(it)->is_closed)
			check_channel(channel_of(it), now); // frees none at once
	events_tick(s);
}

void srp_timeouts_tick(struct timer *t)
{
	struct srp_worker *sw = container_of(t, struct srp_worker, tick);
	uint64_t now = worker_now(sw->worker);
	timer_arm(sw->worker, t, TICK_US);
	sw->is_short = sessions_starve();
	login_slots_tick(sw->worker);
	unsigned count = 0;
	list_for_each_safe (it, &sw->logins) {
		login_check(list_entry(it, struct login, link), now);
		count++;
	}
	list_each (struct srp_session, s, &sw->sessions, link) {
		srp_timeouts_check(s, now);
		count += s->channel_count;
	}
	count += discoveries_check(sw, now);
	memory_trim_tick(&sw->trim, count);
}
