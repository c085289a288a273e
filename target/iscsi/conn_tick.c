// SPDX-License-Identifier: BSD-2-Clause
// The worker's second hand: what a connection owes by now, and what it loses for it.
#include "target/iscsi/conn.h"
#include "target/scsi/nexus.h"

#define TICK_US	       1000000u
#define SECOND	       1000000000ull
#define LOGOUT_TIMEOUT 5  // for sending the response, and over RDMA for the peer's close
#define LINGER_TIMEOUT 5  // for sending queued PDUs before the close
#define SHORT_TIMEOUT  5  // without progress of who holds memory while others have none
#define PDU_TIMEOUT    30 // for all of a control PDU that has begun to come
#define HELD_TIMEOUT   60 // for the CmdSN that held PDUs wait for

static void tick_ping(struct conn *c, uint64_t now)
{
	const struct tpg_attr *ta = &c->tpg->attr;
	uint64_t idle = c->acl ? c->acl->attr.nopin_timeout : ta->nopin_timeout;
	uint64_t most = c->acl ? c->acl->attr.nopin_response_timeout : ta->nopin_response_timeout;
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
	// An ACL has the kernel target's pair: a time, and how often it may pass.
	return c->acl ? (uint64_t)c->acl->attr.dataout_timeout *
				c->acl->attr.dataout_timeout_retries
		      : c->tpg->attr.dataout_timeout;
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

// A session has no memory at all: those that hold memory must make progress. Data-out that trickles
// in no longer extends dataout_timeout.
static void tick_short_of_memory(struct conn *c, uint64_t now)
{
	uint64_t most = data_out_seconds(c);
	if (!c->nexus || !c->nexus->pool_used)
		return;
	uint64_t oldest = c->dm->ops->oldest_owed(c->dm);
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	if (is_over(now, oldest, SHORT_TIMEOUT) || (most && is_over(now, n.owed_since_ns, most)))
		conn_close(c, false,
			   "out of buffer memory, and requested data-out has not arrived for %lu s",
			   (unsigned long)((now - oldest) / SECOND));
	else if (is_over(now, n.tx_stuck_ns, SHORT_TIMEOUT))
		conn_close(c, false, "out of buffer memory, and the peer has not read for %lu s",
			   (unsigned long)((now - n.tx_stuck_ns) / SECOND));
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
	if (now - c->start_ns > c->login_timeout * SECOND)
		conn_close(c, false, "discovery not finished after %u s", c->login_timeout);
	else
		text_tick(c, now);
}

static void tick_session(struct conn *c, uint64_t now)
{
	tick_ping(c, now);
	if (c->state == CONN_FULL_FEATURE)
		tick_data_out(c, now);
	if (c->state == CONN_FULL_FEATURE)
		tick_half_done(c, now);
	if (c->state == CONN_FULL_FEATURE && iscsi_worker()->is_short)
		tick_short_of_memory(c, now);
}

static void tick_conn(struct conn *c, uint64_t now)
{
	if (c->state != CONN_ENDING && tick_closing(c, now))
		return;
	switch (c->state) {
	case CONN_LOGIN:
		if (now - c->start_ns > c->login_timeout * SECOND)
			conn_login_expired(c);
		break;
	case CONN_FULL_FEATURE:
		if (c->drain_ns && now > c->drain_ns)
			conn_close(c, true, "logout timeout after a drain");
		else if (c->params.is_discovery)
			tick_discovery(c, now);
		else
			tick_session(c, now);
		break;
	case CONN_LOGOUT:
		if (!c->drain_ns)
			c->drain_ns = now + LOGOUT_TIMEOUT * SECOND;
		else if (now > c->drain_ns)
			conn_close(c, false, "logged out");
		break;
	case CONN_ENDING:
		break;
	}
}

// Whether a session that holds nothing has been waiting since the last tick.
static bool is_short_of_memory(struct iscsi_worker *iw)
{
	bool ret = false;
	list_for_each (it, &iw->conns) {
		struct conn *c = list_entry(it, struct conn, link);
		bool is_starved = c->nexus && nexus_is_starved(c->nexus);
		ret = ret || (is_starved && c->was_starved);
		c->was_starved = is_starved;
	}
	return ret;
}

static void on_tick(struct timer *t)
{
	struct iscsi_worker *iw = container_of(t, struct iscsi_worker, tick);
	uint64_t now = worker_now(iw->worker);
	timer_arm(iw->worker, t, TICK_US);
	iw->is_short = is_short_of_memory(iw);
	login_slots_tick(iw);
	list_for_each_safe (it, &iw->conns)
		tick_conn(list_entry(it, struct conn, link), now); // frees none at once
}

void conn_tick_start(struct iscsi_worker *iw)
{
	timer_init(&iw->tick, on_tick);
	timer_arm(iw->worker, &iw->tick, TICK_US);
}
