// SPDX-License-Identifier: BSD-2-Clause
// The targets and portals reported to a peer: see discovery.h.
//
// A target is listed with the portals that the peer can use, and omitted without one: a name alone
// would mean the queried address, which belongs to other targets.
#include "target/iscsi/discovery.h"

#include <errno.h>
#include <string.h>

#include "target/fabric/reported.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/settings.h"
#include "transport/iscsi/sendtargets.h"

static bool tpg_shows(const struct view_tpg *tpg, const char *initiator)
{
	const struct tpg_attr *a = &tpg_settings(tpg)->attr;
	if (!tpg->is_enabled && a->tpg_enabled_sendtargets)
		return false;
	return a->demo_mode_discovery || tpg->is_open || view_find_acl(tpg, initiator);
}

// RFC 7145 7.1: iSER initiators also discover over TCP, so there every portal is listed, those for
// TCP first. Targets discovered over iSER are logged in to over iSER.
static bool filter_of(const struct conn *c, unsigned pass, struct portal_filter *ret)
{
	*ret = pass ? (struct portal_filter){ PORTAL_RDMA | PORTAL_IWARP, PORTAL_TCP }
		    : (struct portal_filter){ c->transport, 0 };
	return !pass || (pass == 1 && !c->dm->is_rdma);
}

static int append_address(struct text_out *o, const struct tcp_addr *addr, uint16_t tag)
{
	char ip[TCP_ADDR_TEXT];
	tcp_addr_format_ip(addr, ip);
	return sendtargets_append_address(o, ip, tcp_addr_port(addr), tag);
}

static void next_tpg(struct target_list *l)
{
	l->tpg++;
	l->portal = l->pass = 0;
}

static void next_target(struct target_list *l)
{
	l->target++;
	l->tpg = l->portal = l->pass = 0;
	l->has_name = false;
}

int target_list_next(struct target_list *l, const struct conn *c, struct text_out *o,
		     unsigned *steps)
{
	while (l->view && l->target < l->end) {
		const struct view_target *t = l->view->targets[l->target];
		struct portal_filter f;
		if (l->tpg == t->tpg_count) {
			next_target(l);
			continue;
		}
		if (!*steps)
			return -EAGAIN;
		--*steps;
		const struct view_tpg *tpg = &t->tpgs[l->tpg];
		bool is_first = !l->portal && !l->pass;
		if (!filter_of(c, l->pass, &f) ||
		    (is_first && !tpg_shows(tpg, c->names.initiator_name))) {
			next_tpg(l);
			continue;
		}
		if (l->portal == tpg->portal_count) {
			l->portal = 0;
			l->pass++;
			continue;
		}
		struct tcp_addr addr;
		if (!portal_is_reported(tpg, l->portal, &f, &c->dm->local_addr, &addr)) {
			l->portal++;
			continue;
		}
		int r = l->has_name ? append_address(o, &addr, tpg->tag)
				    : sendtargets_append_name(o, t->name);
		if (r < 0)
			return r;
		l->portal += l->has_name;
		l->has_name = true;
		return 1;
	}
	return 0;
}

// Appendix C permits All in discovery sessions only; in normal ones initiators get the session's
// target.
int target_list_begin(struct target_list *l, const struct conn *c, const char *which)
{
	bool is_all = !strcmp(which, "All");
	const char *own = c->session.target ? c->session.target->name : NULL;
	if (own && (is_all || !*which))
		which = own;
	*l = (struct target_list){ .view = view_current(c->session.fabric) };
	l->end = l->view->target_count;
	if (is_all && !own)
		return 0;
	int at = own && strcmp(which, own) ? -1 : view_target_index(l->view, which);
	if (at < 0) {
		target_list_end(l);
		return -ENOENT;
	}
	l->target = (unsigned)at;
	l->end = l->target + 1;
	return 0;
}

void target_list_end(struct target_list *l)
{
	view_put(l->view);
	*l = (struct target_list){ 0 };
}
