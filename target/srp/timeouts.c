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
#define PING_IDLE      60	   // of silence before CRED_REQ
#define PING_TIMEOUT   30	   // for the answer to CRED_REQ or AER_REQ
#define FIRST_TIMEOUT  600	   // for the first IU of a session: before it there is no ping
#define READ_TIMEOUT   30	   // for RDMA Reads without progress
#define TX_TIMEOUT     30	   // for responses and RDMA Writes
#define LINGER_TIMEOUT 5	   // for what is sent before a close
#define SHORT_TIMEOUT  5	   // without progress of who holds memory while others have none
#define SHORT_RATE     (64u << 10) // bytes a second at which that memory has to come free
#define SHORT_MAX      15	   // ... but within this: initiators give a command 30 s

static bool is_over(uint64_t now, uint64_t since, uint64_t seconds)
{
	return since && now > since && now - since > seconds * SECOND;
}

// An initiator that does not answer on one channel is gone from all.
static void check_silence(struct session_channel *c, const struct srp_channel_info *k, uint64_t now)
{
	if (is_over(now, k->ping_since_ns, PING_TIMEOUT))
		srp_session_close(c->session, false, SRP_LOGOUT_INACTIVE,
				  "no answer to CRED_REQ or AER_REQ for %u s", PING_TIMEOUT);
	else if (!k->ping_since_ns && is_over(now, k->last_rx_ns, PING_IDLE))
		srp_ping(c->ch);
}

static void check_owed(struct session_channel *c, const struct srp_channel_info *k, uint64_t now)
{
	if (is_over(now, k->owed_since_ns, READ_TIMEOUT))
		channel_close(c, false, SRP_LOGOUT_INACTIVE, "RDMA Reads not answered for %u s",
			      READ_TIMEOUT);
	else if (is_over(now, k->tx_since_ns, TX_TIMEOUT))
		channel_close(c, false, SRP_LOGOUT_INACTIVE, "responses not received for %u s",
			      TX_TIMEOUT);
}

// Seconds that the transfer of so many bytes of the buffers may take.
static uint64_t short_seconds(uint64_t bytes)
{
	uint64_t need = bytes / SHORT_RATE;
	need = need < SHORT_MAX ? need : SHORT_MAX;
	return need > SHORT_TIMEOUT ? need : SHORT_TIMEOUT;
}

// Another session has no buffer at all: a session that has some must use them.
static void check_short(struct session_channel *c, const struct srp_channel_info *k, uint64_t now)
{
	uint64_t used = k->buffers + c->session->session.nexus->pool_used;
	uint64_t most = short_seconds(used);
	if (!used)
		return;
	if (is_over(now, k->owed_since_ns, most))
		channel_close(c, false, SRP_LOGOUT_INACTIVE,
			      "out of buffer memory, and RDMA Reads not answered for %u s",
			      (unsigned)most);
	else if (is_over(now, k->tx_since_ns, most))
		channel_close(c, false, SRP_LOGOUT_INACTIVE,
			      "out of buffer memory, and responses not received for %u s",
			      (unsigned)most);
}

static void check_channel(struct session_channel *c, uint64_t now)
{
	struct srp_channel_info k;
	srp_channel_info(c->ch, &k);
	if (k.closing_ns) {
		if (is_over(now, k.closing_ns, LINGER_TIMEOUT))
			channel_close(c, false, SRP_LOGOUT_NO_REASON,
				      "closing; the initiator did not take the last responses");
		return;
	}
	check_silence(c, &k, now);
	check_owed(c, &k, now);
	if (srp_worker()->is_short)
		check_short(c, &k, now);
}

void srp_timeouts_check(struct srp_session *s, uint64_t now)
{
	if (s->session.state != SESSION_LIVE)
		return;
	s->session.nexus->info.is_buffered = session_is_slow(&s->session, now);
	// Linux reconnects without a command: an idle initiator comes back.
	if (!s->has_heard && is_over(now, s->session.start_ns, FIRST_TIMEOUT))
		srp_session_close(s, false, SRP_LOGOUT_INACTIVE, "no IU within %u s of the login",
				  FIRST_TIMEOUT);
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
	list_for_each_safe (it, &sw->logins)
		login_check(list_entry(it, struct login, link), now);
	list_for_each (it, &sw->sessions)
		srp_timeouts_check(list_entry(it, struct srp_session, link), now);
	discoveries_check(sw, now);
}
