// SPDX-License-Identifier: BSD-2-Clause
// The fabrics of this program: defaults of absent slots, start and stop. Control thread.
#include "target/fabric/fabric.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/counter.h"
#include "core/worker.h"
#include "target/fabric/login_slots.h"
#include "target/fabric/peer_limits.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/portal.h"
#include "target/fabric/session.h"
#include "target/fabric/traffic.h"
#include "target/fabric/view.h"
#include "transport/rdma/rnic.h"

static struct fabric_ops *const *fabrics;
static bool has_started;

// ---- defaults ----

static int no_target_name(const char *in, bool is_new, char out[FABRIC_NAME_SIZE], struct err *e)
{
	return err_set(e, -EINVAL, "WWN not valid: '%.100s'", in);
}

static int no_initiator_name(const char *in, char out[FABRIC_NAME_SIZE], struct err *e)
{
	return err_set(e, -EINVAL, "WWN not valid: '%.100s'", in);
}

static bool is_same_name(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static int nothing_to_start(struct worker *control, struct err *e)
{
	return 0;
}

static void nothing_to_stop(void)
{
}

static const struct view_acl *find_by_name(const struct view_tpg *tpg, const struct session *s)
{
	return view_find_acl(tpg, s->initiator);
}

static void nothing_with(struct session *s)
{
}

static struct worker *assign_quietest(const struct tcp_addr *peer, struct worker *quietest)
{
	return quietest;
}

static void accept_none(struct worker *w, int fd, struct rnic_request *q, struct portal *p)
{
	struct tcp_addr peer;
	if (q) {
		peer = q->peer_addr;
		rnic_reject(q, NULL, 0);
	} else {
		tcp_addr_of_peer(&peer, fd);
		close(fd);
	}
	portal_conn_closed(p, &peer);
}

static void none_is_gone(struct rnic_request *q)
{
}

static bool ask_nobody(struct session *s, unsigned seconds)
{
	return false;
}

static void displace_by_close(struct session *s)
{
	login_slot_leave(s);
	s->fabric->close(s, "too many logins in progress");
}

static void describe_nothing(const struct session *s, struct session_info *ret)
{
}

static struct buf_copies no_copies(const struct session *s)
{
	return (struct buf_copies){ 0 };
}

static void no_counters(struct fabric_counters *ret)
{
	*ret = (struct fabric_counters){ 0 };
}

static const struct attr_row no_rows[] = { { 0 } };

static const struct attr_row *no_params(void)
{
	return no_rows;
}

static void init_nothing(void *own)
{
}

static int check_nothing(const void *own, struct err *e)
{
	return 0;
}

static void access_by_acl(const void *group, struct fabric_access *ret)
{
	*ret = (struct fabric_access){ 0 };
}

static int group_decides(const void *acl)
{
	return -1;
}

static void fill_settings(struct fabric_settings *s)
{
	s->rows = s->rows ? s->rows : no_rows;
	s->init = s->init ? s->init : init_nothing;
	s->check = s->check ? s->check : check_nothing;
}

void fabric_fill(struct fabric_ops *f)
{
	static const struct fabric_transport none[] = { { 0 } };
#define DEFAULT(slot, value) f->slot = f->slot ? f->slot : (value)
	DEFAULT(name_target, no_target_name);
	DEFAULT(name_initiator, no_initiator_name);
	DEFAULT(is_same_initiator, is_same_name);
	DEFAULT(start, nothing_to_start);
	DEFAULT(cut, f->close);
	DEFAULT(stop, nothing_to_stop);
	DEFAULT(find_acl, find_by_name);
	DEFAULT(follows, nothing_with);
	DEFAULT(transports, none);
	DEFAULT(assign, assign_quietest);
	DEFAULT(accept, accept_none);
	DEFAULT(gone, none_is_gone);
	DEFAULT(ask_logout, ask_nobody);
	DEFAULT(displace, displace_by_close);
	DEFAULT(hold, nothing_with);
	DEFAULT(release, nothing_with);
	DEFAULT(describe, describe_nothing);
	DEFAULT(copies, no_copies);
	DEFAULT(counters, no_counters);
	DEFAULT(params.rows, no_params);
	DEFAULT(portal_rows, no_rows);
	DEFAULT(negotiated_rows, no_rows);
	DEFAULT(access, access_by_acl);
	DEFAULT(acl_needs_credentials, group_decides);
	fill_settings(&f->group);
	fill_settings(&f->acl);
#undef DEFAULT
}

// ---- the table ----

void fabrics_use(struct fabric_ops *const *table)
{
	fabrics = table;
	for (unsigned i = 0; table[i]; i++)
		fabric_fill(table[i]);
}

const struct fabric_ops *fabric_at(unsigned index)
{
	for (unsigned i = 0; fabrics && fabrics[i]; i++)
		if (i == index)
			return fabrics[i];
	return NULL;
}

const struct fabric_ops *fabric_find(const char *name)
{
	for (unsigned i = 0; fabrics && fabrics[i]; i++)
		if (!strcmp(fabrics[i]->name, name))
			return fabrics[i];
	return NULL;
}

int fabrics_start(struct worker *control, struct err *e)
{
	int r = 0;
	sessions_init();
	login_slots_init();
	peer_log_init(control);
	peer_limits_fit(fabrics[0] ? fabrics[0]->name : "farblockd");
	has_started = true;
	for (unsigned i = 0; !r && fabrics[i]; i++) {
		struct view *v = view_new(fabrics[i], 0);
		if (!v)
			return err_set(e, -ENOMEM, "%s: out of memory", fabrics[i]->name);
		view_publish(v);
		r = fabrics[i]->start(control, e);
	}
	return r;
}

static void nothing_more(void *arg)
{
}

void fabrics_stop(void)
{
	if (!has_started)
		return;
	has_started = false;
	for (unsigned i = 0; fabrics[i]; i++)
		fabrics[i]->stop();
	// They may still have a view to follow (publish.c).
	for (unsigned i = 0; i < worker_count(); i++)
		worker_call(worker_at(i), nothing_more, NULL);
	peer_log_done();
	for (unsigned i = 0; fabrics[i]; i++)
		view_retire(fabrics[i]);
}

void fabric_counters_sum(struct fabric_counters *ret)
{
	uint64_t *sum = (uint64_t *)ret;
	*ret = (struct fabric_counters){ 0 };
	for (unsigned i = 0; fabrics && fabrics[i]; i++) {
		struct fabric_counters k;
		fabrics[i]->counters(&k);
		const uint64_t *n = (const uint64_t *)&k;
		for (size_t field = 0; field < sizeof k / sizeof *n; field++)
			sum[field] += n[field];
	}
}

void fabric_count_traffic(struct fabric_counters *k, struct fabric_traffic *counted,
			  const struct fabric_traffic *now)
{
	counter_add(&k->pdus_received, now->pdus_received - counted->pdus_received);
	counter_add(&k->pdus_sent, now->pdus_sent - counted->pdus_sent);
	counter_add(&k->bytes_received, now->bytes_received - counted->bytes_received);
	counter_add(&k->bytes_sent, now->bytes_sent - counted->bytes_sent);
	counter_add(&k->digest_errors, now->digest_errors - counted->digest_errors);
	*counted = *now;
}
