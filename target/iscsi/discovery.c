// SPDX-License-Identifier: BSD-2-Clause
// The targets and portals reported to a peer: see discovery.h.
//
// A target is listed with the portals that the peer can use, and omitted without one: a name alone
// would mean the queried address, which belongs to other targets.
#include "target/iscsi/discovery.h"

#include <errno.h>
#include <string.h>

#include "target/fabric/portal.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/settings.h"
#include "transport/iscsi/sendtargets.h"

// RFC 7145 7.1: iSER initiators also discover over TCP, so there every portal is listed, those for
// TCP first. Targets discovered over iSER are logged in to over iSER.
struct filter {
	unsigned wanted, unwanted; // transports
};

static bool tpg_shows(const struct view_tpg *tpg, const char *initiator)
{
	const struct tpg_attr *a = &tpg_settings(tpg)->attr;
	if (!tpg->is_enabled && a->tpg_enabled_sendtargets)
		return false;
	return a->demo_mode_discovery || tpg->is_open || view_find_acl(tpg, initiator);
}

static bool filter_of(const struct conn *c, unsigned pass, struct filter *ret)
{
	*ret = pass ? (struct filter){ PORTAL_RDMA | PORTAL_IWARP, PORTAL_TCP }
		    : (struct filter){ c->transport, 0 };
	return !pass || (pass == 1 && !c->dm->is_rdma);
}

static bool is_listed(const struct view_portal *p, const struct filter *f)
{
	unsigned now = p->transports;
	if (p->portal)
		now &= portal_listening(p->portal);
	return (now & f->wanted) && !(now & f->unwanted);
}

static bool has_portal_at(const struct view_tpg *tpg, const struct tcp_addr *addr,
			  const struct filter *f)
{
	for (unsigned i = 0; i < tpg->portal_count; i++)
		if (!tcp_addr_compare(&tpg->portals[i].addr, addr) &&
		    is_listed(&tpg->portals[i], f))
			return true;
	return false;
}

// The address of a portal in the list.
static bool address_of(const struct conn *c, const struct view_tpg *tpg,
		       const struct view_portal *p, const struct filter *f, struct tcp_addr *ret)
{
	if (!is_listed(p, f))
		return false;
	*ret = p->addr;
	if (!tcp_addr_is_wildcard(ret))
		return true;
	// The initiator can use the address that it has used for this connection.
	if (ret->sa.sa_family != c->dm->local_addr.sa.sa_family)
		return false;
	*ret = c->dm->local_addr;
	tcp_addr_set_port(ret, tcp_addr_port(&p->addr));
	return !has_portal_at(tpg, ret, f);
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
		struct filter f;
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
		if (!address_of(c, tpg, &tpg->portals[l->portal], &f, &addr)) {
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
