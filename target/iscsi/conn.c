// SPDX-License-Identifier: BSD-2-Clause
// A connection's sends, holds and close.
#include "target/iscsi/conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/peer_log.h"
#include "target/iscsi/worker.h"
#include "transport/wire/be.h"

static struct iscsi_worker iscsi_workers[WORKER_MAX];

struct iscsi_worker *iscsi_worker_at(unsigned index)
{
	return &iscsi_workers[index];
}

struct iscsi_worker *iscsi_worker(void)
{
	return &iscsi_workers[worker_index(worker_self())];
}

void conn_send(struct conn *c, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags)
{
	c->dm->ops->send(c->dm, bhs, data, len, flags);
}

uint32_t conn_next_ttt(struct conn *c)
{
	uint32_t ttt = c->next_ttt++;
	if (c->next_ttt == ISCSI_TAG_NONE)
		c->next_ttt = 1;
	return ttt;
}

void conn_reject(struct conn *c, uint8_t reason, const uint8_t *bad_bhs)
{
	struct iscsi_reject h = { .opcode = ISCSI_OP_REJECT, .flags = ISCSI_F, .reason = reason };
	put_be32(h.itt, ISCSI_TAG_NONE);
	counter_add(&iscsi_worker()->counters.rejects_sent, 1);
	char cause[48];
	snprintf(cause, sizeof cause, "rejected %s, reason %02x",
		 iscsi_opcode_name(bad_bhs[0] & ISCSI_OP_MASK), reason);
	if (peer_log_permits(LOG_LVL_INFO, c->session.fabric->name, cause, &c->dm->peer_addr))
		session_log(&c->session, LOG_LVL_INFO, "%s", cause);
	conn_send(c, (const uint8_t *)&h, bad_bhs, ISCSI_BHS_LEN, DM_ADVANCES);
}

void conn_close(struct conn *c, bool linger, const char *fmt, ...)
{
	struct err why = { .code = -ESHUTDOWN };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	if (c->session.state != SESSION_ENDING)
		c->dm->ops->close(c->dm, linger, &why);
}

void conn_check_end(struct conn *c)
{
	if (c->session.state != SESSION_ENDING || c->is_free_posted || !list_empty(&c->cmds) ||
	    __atomic_load_n(&c->holds, __ATOMIC_ACQUIRE))
		return;
	c->is_free_posted = true;
	worker_post(c->session.worker, &c->free_msg);
}

void conn_hold(struct conn *c)
{
	__atomic_add_fetch(&c->holds, 1, __ATOMIC_RELAXED);
}

void conn_release(struct conn *c)
{
	if (!__atomic_sub_fetch(&c->holds, 1, __ATOMIC_ACQ_REL))
		conn_check_end(c);
}

void conn_count_traffic(struct conn *c)
{
	struct dm_counters n;
	c->dm->ops->counters(c->dm, &n);
	const struct fabric_traffic now = { n.pdus_in, n.pdus_out, n.bytes_in, n.bytes_out,
					    n.digest_errors };
	fabric_count_traffic(&iscsi_worker()->counters, &c->counted, &now);
}

void conn_set_mover(struct conn *c, struct dm *dm)
{
	struct session *s = &c->session;
	struct dm *old = c->dm;
	c->dm = dm;
	dm->sns = &c->sns;
	s->transport = dm->transport;
	s->carrier = dm->carrier;
	s->peer = dm->peer;
	s->local = dm->local;
	s->peer_addr = &dm->peer_addr;
	if (dm->task_size)
		c->cmd_pool = cmd_pool_of(iscsi_worker(), dm->task_size);
	if (old)
		old->ops->free(old);
}
