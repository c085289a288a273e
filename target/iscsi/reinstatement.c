// SPDX-License-Identifier: BSD-2-Clause
// The table of I_T nexuses: owners of I_T nexuses, TSIHs, reinstatement.
// RFC 7143 6.3.1, 6.3.4, 6.3.5.
//
// The workers share the table under a mutex that only logins and ends of sessions take. An entry
// belongs to its connection, which removes it when its nexus is freed; a message notifies those who
// wait for that.
#include "target/iscsi/reinstatement.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct session_entry {
	struct session_entry *next; // of the bucket
	struct conn *conn;
	struct worker *worker;
	char initiator[ISCSI_NAME_MAX + 1], target[ISCSI_NAME_MAX + 1];
	uint8_t isid[ISCSI_ISID_LEN];
	uint16_t tpgt, tsih, cid;
	struct conn *waiter; // the login that replaces it
	bool is_kill_sent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session_entry *buckets[BUCKETS];
static uint8_t tsih_used[65536 / 8];
static uint16_t tsih_last;

static unsigned bucket_of(const char *initiator, const uint8_t *isid)
{
	unsigned h = 5381;
	for (; *initiator; initiator++)
		h = h * 33 + (uint8_t)*initiator;
	for (unsigned i = 0; i < ISCSI_ISID_LEN; i++)
		h = h * 33 + isid[i];
	return h % BUCKETS;
}

static struct session_entry *entry_of(const struct conn *c, const struct login_names *n)
{
	struct session_entry *e = buckets[bucket_of(n->initiator_name, n->isid)];
	for (; e; e = e->next)
		if (e->tpgt == c->session.tpg->tag && !memcmp(e->isid, n->isid, sizeof e->isid) &&
		    !strcmp(e->initiator, n->initiator_name) && !strcmp(e->target, n->target_name))
			return e;
	return NULL;
}

static uint16_t tsih_take(void)
{
	for (unsigned i = 0; i < 65535; i++) {
		tsih_last = tsih_last == 65535 ? 1 : tsih_last + 1;
		if (tsih_used[tsih_last / 8] & 1u << tsih_last % 8)
			continue;
		tsih_used[tsih_last / 8] |= (uint8_t)(1u << tsih_last % 8);
		return tsih_last;
	}
	return 0;
}

static void tsih_give(uint16_t tsih)
{
	tsih_used[tsih / 8] &= (uint8_t) ~(1u << tsih % 8);
}

// On the old session's worker. The message belongs to the connection, not to the entry: an ending
// session may leave the table while the message is pending.
static void kill_run(struct msg *m)
{
	struct conn *c = container_of(m, struct conn, kill_msg);
	conn_close(c, false, "session reinstated by a new login");
	conn_release(c);
}

static void waiter_set(struct session_entry *e, struct conn *c)
{
	e->waiter = c;
	conn_hold(c); // until the message
	if (e->is_kill_sent)
		return;
	e->is_kill_sent = true;
	conn_hold(e->conn); // until kill_run
	e->conn->kill_msg.fn = kill_run;
	worker_post(e->worker, &e->conn->kill_msg);
}

static int entry_add(struct conn *c, const struct login_names *n, uint16_t tsih, struct err *err)
{
	struct session_entry *e = calloc(1, sizeof *e);
	if (e && !tsih)
		tsih = tsih_take();
	if (!e || !tsih) {
		free(e);
		err_set(err, -ENOMEM, "out of memory for a session");
		return ISCSI_LOGIN_OUT_OF_RESOURCES;
	}
	e->conn = c;
	e->worker = c->session.worker;
	memcpy(e->initiator, n->initiator_name, sizeof e->initiator);
	memcpy(e->target, n->target_name, sizeof e->target);
	memcpy(e->isid, n->isid, sizeof e->isid);
	e->tpgt = c->session.tpg ? c->session.tpg->tag : 0;
	e->cid = n->cid;
	e->tsih = tsih;
	struct session_entry **b = &buckets[bucket_of(e->initiator, e->isid)];
	e->next = *b;
	*b = e;
	c->entry = e;
	c->tsih = tsih;
	return 0;
}

// RFC 7143 6.3.1, the table. One connection per session: no second CID can join.
static int enter_locked(struct conn *c, const struct login_names *n, struct err *err)
{
	if (!c->session.tpg) // discovery: no nexus, nothing to reinstate
		return entry_add(c, n, 0, err);
	struct session_entry *old = entry_of(c, n);
	if (n->tsih && (!old || old->tsih != n->tsih)) {
		err_set(err, -ENOENT, "no session with TSIH %u", n->tsih);
		return ISCSI_LOGIN_NO_SESSION;
	}
	if (n->tsih && old->cid != n->cid) {
		err_set(err, -EMFILE, "a session has only one connection");
		return ISCSI_LOGIN_TOO_MANY_CONNECTIONS;
	}
	if (!old)
		return entry_add(c, n, 0, err);
	if (old->waiter) {
		err_set(err, -EBUSY, "another login is reinstating this session");
		return ISCSI_LOGIN_UNAVAILABLE;
	}
	waiter_set(old, c);
	return -EINPROGRESS;
}

int reinstatement_enter(struct conn *c, const struct login_names *n, struct err *e)
{
	pthread_mutex_lock(&lock);
	int r = enter_locked(c, n, e);
	pthread_mutex_unlock(&lock);
	return r;
}

int reinstatement_enter_again(struct conn *c, struct err *e)
{
	const struct login_names *n = login_names(c->login);
	pthread_mutex_lock(&lock);
	struct session_entry *old = entry_of(c, n);
	int r;
	if (old) {
		err_set(e, -EBUSY, "another login reinstated this session");
		r = ISCSI_LOGIN_UNAVAILABLE;
	} else {
		// A reinstated connection keeps its session's handle.
		uint16_t tsih = n->tsih;
		if (tsih && tsih_used[tsih / 8] & 1u << tsih % 8)
			tsih = 0;
		else if (tsih)
			tsih_used[tsih / 8] |= (uint8_t)(1u << tsih % 8);
		r = entry_add(c, n, tsih, e);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

void reinstatement_leave(struct conn *c)
{
	struct session_entry *e = c->entry;
	if (!e)
		return;
	pthread_mutex_lock(&lock);
	struct session_entry **b = &buckets[bucket_of(e->initiator, e->isid)];
	while (*b != e)
		b = &(*b)->next;
	*b = e->next;
	tsih_give(e->tsih);
	c->entry = NULL;
	struct conn *waiter = e->waiter;
	pthread_mutex_unlock(&lock);
	free(e);
	if (waiter)
		worker_post(waiter->session.worker, &waiter->resume_msg);
}
