// SPDX-License-Identifier: BSD-2-Clause
// SRP as the configuration and the administrator see it: the slots of struct fabric_ops.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/portal.h"
#include "target/srp/controllers.h"
#include "target/srp/describe.h"
#include "target/srp/discovery.h"
#include "target/srp/dm_agent.h"
#include "target/srp/identity.h"
#include "target/srp/login.h"
#include "target/srp/placement.h"
#include "target/srp/session.h"
#include "target/srp/settings.h"
#include "target/srp/srp.h"
#include "target/srp/timeouts.h"
#include "target/srp/worker.h"
#include "transport/rdma/iwarp/iwarp.h"
#include "transport/rdma/rnic.h"
#include "transport/srp/list.h"
#include "transport/srp/name.h"
#include "transport/wire/srp.h"

_Static_assert(SRP_NAME_MAX + 1 == FABRIC_NAME_SIZE, "names of SRP ports");

static struct view_place views;
static struct dm_agent *agent; // NULL: it could not be started

// --- names ---

static int name_target(const char *in, bool is_new, char out[FABRIC_NAME_SIZE], struct err *e)
{
	char discovery[PORT_NAME_SIZE];
	int r = name_srpt_target(in, out, e);
	port_name(srp_list_port, discovery);
	if (!r && !strcmp(out, discovery))
		return err_set(e, -EINVAL, "%s: reserved for discovery (choose another name)", out);
	return r;
}

// --- life ---

// On the agent's thread.
static unsigned controllers(void *arg, struct srp_controller *ret, unsigned max)
{
	struct view *v = view_current(&srp_fabric);
	unsigned count = srp_controllers(v, ret, max);
	view_put(v);
	return count;
}

// Targets are served without it, too.
static void start_agent(void)
{
	const struct dm_agent_options o = { .links = &dm_umad, .controllers = controllers };
	struct err e = { 0 };
	if (dm_agent_new(&agent, &o, &e) < 0)
		log_warn("%s", e.text);
}

static int start(struct worker *control, struct err *e)
{
	placement_init();
	for (unsigned i = 0; i < worker_count(); i++) {
		struct srp_worker *sw = srp_worker_at(i);
		sw->worker = worker_at(i);
		list_init(&sw->logins);
		list_init(&sw->greetings);
		list_init(&sw->sessions);
		list_init(&sw->discoveries);
		list_init(&sw->turns);
		list_init(&sw->free_cmds);
		list_init(&sw->orphans);
		timer_init(&sw->tick, srp_timeouts_tick);
	}
	start_agent();
	return 0;
}

static void stop_run(void *arg)
{
	bool *is_busy = arg;
	struct srp_worker *sw = srp_worker();
	struct err why;
	for (struct list *it; (it = list_first(&sw->logins)); *is_busy = true)
		login_stop(list_entry(it, struct login, link));
	list_for_each (it, &sw->sessions) {
		*is_busy = true;
		srp_session_close(list_entry(it, struct srp_session, link), false,
				  SRP_LOGOUT_NO_REASON, "the target is stopping");
	}
	*is_busy |= discoveries_stop(sw) || !list_empty(&sw->orphans);
	err_set(&why, -ESHUTDOWN, "the target is stopping");
	iwarp_refuse_half_open(&why);
}

static void stop(void)
{
	dm_agent_free(agent);
	agent = NULL;
	for (bool is_busy = true; is_busy;) {
		is_busy = false;
		for (unsigned i = 0; i < worker_count(); i++)
			worker_call(worker_at(i), stop_run, &is_busy);
	}
}

// --- sessions ---

static const struct view_acl *find_acl(const struct view_tpg *tpg, const struct session *s)
{
	return acl_of_port(tpg, s->initiator, s->peer_addr);
}

static struct worker *assign(const struct tcp_addr *peer, struct worker *quietest)
{
	return placement_choose(peer, quietest, clock_ns());
}

static void on_close(struct session *s, const char *why)
{
	srp_session_close(srp_session_of(s), true, SRP_LOGOUT_NO_REASON, "%s", why);
}

static void on_cut(struct session *s, const char *why)
{
	srp_session_close(srp_session_of(s), false, SRP_LOGOUT_NO_REASON, "%s", why);
}

static void on_hold(struct session *s)
{
	srp_session_hold(srp_session_of(s));
}

static void on_release(struct session *s)
{
	srp_session_release(srp_session_of(s));
}

// --- reports ---

static void sum_counters(struct fabric_counters *ret)
{
	memset(ret, 0, sizeof *ret);
	uint64_t *sum = (uint64_t *)ret;
	for (unsigned i = 0; i < worker_count(); i++) {
		const uint64_t *n = (const uint64_t *)&srp_worker_at(i)->counters;
		for (unsigned f = 0; f < sizeof *ret / sizeof *sum; f++)
			sum[f] += counter_get(&n[f]);
	}
}

static const char *const session_transports[] = { "SRP", NULL };

static const struct fabric_transport transports[] = {
	{"all",	 PORTAL_RDMA | PORTAL_IWARP },
	{ "rdma",		  PORTAL_RDMA },
	{ "iwarp",PORTAL_IWARP },
	{ 0    },
};

struct fabric_ops srp_fabric = {
	.name = "srpt",
	.title = "SRP",
	.protocol = SCSI_PROTOCOL_SRP,
	.session_transports = session_transports,
	.name_target = name_target,
	.name_initiator = name_srpt_initiator,
	.is_same_initiator = srp_is_same_initiator,
	.port_name = srp_port_name,
	.views = &views,
	.port = 3261,
	.transports = transports,
	.devices = &rnic_verbs,
	.has_service_ids = true,
	.status_full = SRP_REJ_INSUFFICIENT_RESOURCES,
	.start = start,
	.stop = stop,
	.find_acl = find_acl,
	.assign = assign,
	.accept = login_accept,
	.gone = login_gone,
	.close = on_close,
	.cut = on_cut,
	.displace = login_displace,
	.hold = on_hold,
	.release = on_release,
	.describe = srp_describe,
	.copies = srp_copies,
	.counters = sum_counters,
	.group = {srp_group_rows, sizeof(struct srp_settings)},
	.portal_rows = portal_attr_rows,
	.negotiated_rows = srp_negotiated_rows,
};
