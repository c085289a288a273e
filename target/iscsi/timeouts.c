// SPDX-License-Identifier: BSD-2-Clause
// The worker's second hand: what a connection owes by now, and what it loses for it.
#include "target/iscsi/timeouts.h"

#include "target/iscsi/login.h"
#include "target/iscsi/nop.h"
#include "target/iscsi/settings.h"
#include "target/iscsi/text.h"
#include "target/iscsi/worker.h"
#include "target/scsi/nexus.h"

#define TICK_US	       1000000u
#define SECOND	       1000000000ull
#define LOGOUT_TIMEOUT 5	   // for sending the response, and over RDMA for the peer's close
#define LINGER_TIMEOUT 5	   // for sending queued PDUs before the close
#define SHORT_TIMEOUT  5	   // without progress of who holds memory while others have none
#define SHORT_RATE     (64u << 10) // bytes a second at which that memory has to come free
#define SHORT_MAX      15	   // ... but within this: initiators give a command 30 s
#define PDU_TIMEOUT    30	   // for all of a control PDU that has begun to come
#define HELD_TIMEOUT   60	   // for the CmdSN that held PDUs wait for

static void tick_ping(struct conn *c, uint64_t now)
{
	const struct tpg_attr *ta = &tpg_settings(c->session.tpg)->attr;
	const struct acl_attr *aa = c->session.acl ? acl_settings(c->session.acl) : NULL;
	uint64_t idle = aa ? aa->nopin_timeout : ta->nopin_timeout;
	uint64_t most = aa ? aa->nopin_response_timeout : ta->nopin_response_timeout;
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	if (!c->is_ping_out) {
		if (idle && !c->ignores_pings && now - n.last_rx_ns >= idle * SECOND)
			nop_ping(c);
		return;
	}
	if (now - c->ping_ns < most * SECOND)
		return;
	if (c->knows_pings) {
		conn_close(c, false, "no answer to NOP-In for %lu s", (unsigned long)most);
		return;
	}
	// iPXE never answers: TCP's keepalive monitors such sessions.
	c->is_ping_out = false;
	c->ignores_pings = true;
}

static uint64_t data_out_seconds(const struct conn *c)
{
	if (!c->session.acl)
		return tpg_settings(c->session.tpg)->attr.dataout_timeout;
	// An ACL has the kernel target's pair: a time, and how often it may pass.
	const struct acl_attr *aa = acl_settings(c->session.acl);
	return (uint64_t)aa->dataout_timeout * aa->dataout_timeout_retries;
}

static bool is_over(uint64_t now, uint64_t since, uint64_t seconds)
{
	return since && now > since && now - since > seconds * SECOND;
}

static void tick_data_out(struct conn *c, uint64_t now)
{
	uint64_t most = data_out_seconds(c);
	uint64_t oldest = c->dm->ops->oldest_owed(c->dm);
	if (most && is_over(now, oldest, most))
		conn_close(c, false, "no data-out for %lu s after it was requested",
			   (unsigned long)most);
}

// Seconds that the transfer of so many bytes of the buffers may take.
static uint64_t short_seconds(const struct conn *c, uint64_t bytes)
{
	uint64_t most = data_out_seconds(c), need = bytes / SHORT_RATE;
	most = most && most < SHORT_MAX ? most : SHORT_MAX;
	need = need < most ? need : most;
	return need > SHORT_TIMEOUT ? need : SHORT_TIMEOUT;
}

static void close_short(struct conn *c, const char *what, uint64_t ns)
{
	conn_close(c, false, "out of buffer memory, and %s for %lu s", what,
		   (unsigned long)(ns / SECOND));
}

// Another session has no buffer at all: a session that has some must use them. Progress is not
// enough: a peer that sends or takes a few bytes at a time would keep its buffers.
static void tick_short_of_memory(struct conn *c, uint64_t now)
{
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	uint64_t used = n.buffers + (c->session.nexus ? c->session.nexus->pool_used : 0);
	if (!used)
		return;
	uint64_t most = short_seconds(c, used), oldest = c->dm->ops->oldest_owed(c->dm);
	if (is_over(now, oldest, SHORT_TIMEOUT))
		close_short(c, "requested data-out has not arrived", now - oldest);
	else if (is_over(now, n.owed_since_ns, most))
		close_short(c, "requested data-out has not arrived in full", now - n.owed_since_ns);
	else if (is_over(now, n.tx_stuck_ns, SHORT_TIMEOUT))
		close_short(c, "the peer has not read", now - n.tx_stuck_ns);
	else if (is_over(now, n.tx_since_ns, most))
		close_short(c, "the peer has not read all of its data", now - n.tx_since_ns);
}

// Limits how long a close waits for a peer to read queued responses.
static bool tick_closing(struct conn *c, uint64_t now)
{
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	if (n.closing_ns && now > n.closing_ns && now - n.closing_ns > LINGER_TIMEOUT * SECOND)
		conn_close(c, false, "closing; the peer did not read the last answers");
	return n.closing_ns != 0;
}

// A peer cannot keep memory by half a PDU, or by leaving out a CmdSN.
static void tick_half_done(struct conn *c, uint64_t now)
{
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	if (is_over(now, n.partial_ns, PDU_TIMEOUT))
		conn_close(c, false, "incomplete PDU after %u s", PDU_TIMEOUT);
	else if (c->held_count && is_over(now, c->held_ns, HELD_TIMEOUT))
		conn_close(c, false, "CmdSN %u did not come within %u s", c->sns.exp_cmd_sn,
			   HELD_TIMEOUT);
	else
		text_tick(c, now);
}

// Discovery has the total time of a login.
static void tick_discovery(struct conn *c, uint64_t now)
{
	if (now - c->session.start_ns > c->login_timeout * SECOND)
		conn_close(c, false, "discovery not finished after %u s", c->login_timeout);
	else
		text_tick(c, now);
}

static void tick_session(struct conn *c, uint64_t now)
{
	if (c->session.nexus)
		c->session.nexus->info.is_buffered = session_is_slow(&c->session, now);
	tick_ping(c, now);
	if (c->session.state == SESSION_LIVE)
		tick_data_out(c, now);
	if (c->session.state == SESSION_LIVE)
		tick_half_done(c, now);
	if (c->session.state == SESSION_LIVE && iscsi_worker()->is_short)
		tick_short_of_memory(c, now);
}

void timeouts_check(struct conn *c, uint64_t now)
{
	if (c->session.state != SESSION_ENDING && tick_closing(c, now))
		return;
	switch (c->session.state) {
	case SESSION_LOGIN:
		if (now - c->session.start_ns > c->login_timeout * SECOND)
			login_expired(c);
		break;
	case SESSION_LIVE:
		if (c->drain_ns && now > c->drain_ns)
			conn_close(c, true, "logout timeout after a drain");
		else if (c->params.is_discovery)
			tick_discovery(c, now);
		else
			tick_session(c, now);
		break;
	case SESSION_LEAVING:
		if (!c->drain_ns)
			c->drain_ns = now + LOGOUT_TIMEOUT * SECOND;
		else if (now > c->drain_ns)
			conn_close(c, false, "logged out");
		break;
	case SESSION_ENDING:
		break;
	}
}

static void on_tick(struct timer *t)
{
	struct iscsi_worker *iw = container_of(t, struct iscsi_worker, tick);
	uint64_t now = worker_now(iw->worker);
	timer_arm(iw->worker, t, TICK_US);
	iw->is_short = sessions_starve();
	login_slots_tick(iw->worker);
	unsigned count = 0;
	list_for_each_safe (it, &iw->conns) {
		struct conn *c = list_entry(it, struct conn, link);
		conn_count_traffic(c);
		timeouts_check(c, now); // frees none at once
		count++;
	}
	memory_trim_tick(&iw->trim, count);
}

void timeouts_stop(struct iscsi_worker *iw)
{
	timer_cancel(iw->worker, &iw->tick);
	memory_trim_tick(&iw->trim, 0);
}

void timeouts_start(struct iscsi_worker *iw)
{
	timer_init(&iw->tick, on_tick);
	timer_arm(iw->worker, &iw->tick, TICK_US);
}
