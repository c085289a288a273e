// SPDX-License-Identifier: BSD-2-Clause
// Who may log in, with which credentials and which offer: decided from one snapshot of the
// configuration. RFC 7143 6.3, 9.2, 12.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/fabric/portal.h"
#include "target/iscsi/login.h"
#include "target/iscsi/settings.h"

static bool prefix_matches(const struct tcp_addr *peer, const char *item, size_t len)
{
	char text[80];
	struct tcp_addr net;
	if (len >= sizeof text)
		return false;
	memcpy(text, item, len);
	text[len] = 0;
	char *slash = strchr(text, '/');
	if (slash)
		*slash = 0;
	if (tcp_addr_parse(&net, text, 0, NULL) < 0 || net.sa.sa_family != peer->sa.sa_family)
		return false;
	bool is_v4 = net.sa.sa_family == AF_INET;
	const uint8_t *a = is_v4 ? (void *)&net.in4.sin_addr : (void *)&net.in6.sin6_addr;
	const uint8_t *b = is_v4 ? (void *)&peer->in4.sin_addr : (void *)&peer->in6.sin6_addr;
	unsigned most = is_v4 ? 32 : 128, bits = slash ? (unsigned)atoi(slash + 1) : most;
	if (bits > most)
		return false;
	if (memcmp(a, b, bits / 8))
		return false;
	uint8_t mask = (uint8_t)(0xff00 >> bits % 8);
	return bits % 8 == 0 || (a[bits / 8] & mask) == (b[bits / 8] & mask);
}

static bool address_allowed(const struct view_tpg *tpg, const struct tcp_addr *peer)
{
	const char *at = tpg_settings(tpg)->attr.allowed_addresses, *item;
	size_t len;
	if (!*at)
		return true;
	while (text_list_next(&at, &item, &len))
		if (prefix_matches(peer, item, len))
			return true;
	return false;
}

static int creds_set(struct login_terms *t, const struct view_auth *a, struct err *e)
{
	if (!*a->userid || !*a->password)
		return 0;
	int r = chap_creds_set(&t->initiator, a->userid, a->password, e);
	if (!r && *a->mutual_userid && *a->mutual_password)
		r = chap_creds_set(&t->target, a->mutual_userid, a->mutual_password, e);
	return r;
}

static int require_auth(struct login_terms *t, const struct view_auth *a, const char *whose,
			struct err *e)
{
	if (creds_set(t, a, e) < 0)
		return ISCSI_LOGIN_AUTH_FAILED;
	t->is_auth_required = true;
	if (*t->initiator.user)
		return 0;
	err_set(e, -EACCES, "authentication is on but %s has no userid and password (set auth)",
		whose);
	return ISCSI_LOGIN_AUTH_FAILED;
}

static unsigned chap_mask(uint32_t configured)
{
	return configured ? configured & CHAP_ALGS_ALL : CHAP_ALGS_ALL;
}

static int admit_auth(const struct view_tpg *tpg, const struct view_acl *acl, struct login_terms *t,
		      struct err *e)
{
	const struct tpg_attr *attr = &tpg_settings(tpg)->attr;
	bool is_on = attr->authentication;
	if (acl && acl_settings(acl)->authentication >= 0)
		is_on = acl_settings(acl)->authentication != 0;
	t->chap_algs = chap_mask(attr->chap_algorithms);
	if (!is_on)
		return 0;
	bool own = acl && *acl->auth->userid;
	return require_auth(t, own ? acl->auth : tpg->auth, acl ? "the ACL" : "the TPG", e);
}

static void fill_offer(const struct conn *c, const struct tpg_settings *of_tpg,
		       struct login_terms *t)
{
	t->offer = of_tpg->offer;
	t->offer.is_rdma = c->dm->is_rdma;
	// A write whose data is fetched by RDMA needs no copy.
	if (c->dm->is_rdma && !of_tpg->attr.iser_unsolicited_data)
		t->offer.value[ISCSI_KEY_INITIAL_R2T] = true;
	if (c->dm->has_no_immediate)
		t->offer.value[ISCSI_KEY_IMMEDIATE_DATA] = false;
}

static int admit_to_tpg(struct conn *c, const struct view_tpg *tpg, struct login_terms *t,
			struct err *e)
{
	const char *initiator = c->names.initiator_name;
	if (!tpg->is_enabled) {
		err_set(e, -EHOSTDOWN, "tpg%u is disabled (enable it)", tpg->tag);
		return ISCSI_LOGIN_UNAVAILABLE;
	}
	if (!address_allowed(tpg, &c->dm->peer_addr)) {
		err_set(e, -EACCES, "the initiator's address is not in allowed_addresses");
		return ISCSI_LOGIN_FORBIDDEN;
	}
	c->session.acl = view_find_acl(tpg, initiator);
	if (!c->session.acl && !tpg->is_open) {
		err_set(e, -EACCES,
			"no ACL for this initiator (acls create %s, or set attribute "
			"generate_node_acls=1)",
			initiator);
		return ISCSI_LOGIN_FORBIDDEN;
	}
	c->session.tpg = tpg;
	fill_offer(c, tpg_settings(tpg), t);
	t->tpgt = tpg->tag;
	snprintf(t->target_alias, sizeof t->target_alias, "%s", tpg_settings(tpg)->attr.alias);
	snprintf(t->redirect, sizeof t->redirect, "%s", tpg_settings(tpg)->attr.redirect);
	return admit_auth(tpg, c->session.acl, t, e);
}

// The target's TPG with this connection's portal.
static const struct view_tpg *tpg_of_portal(const struct conn *c, const struct view_target *t,
					    unsigned *ret_transports)
{
	for (unsigned i = 0; i < t->tpg_count; i++) {
		for (unsigned p = 0; p < t->tpgs[i].portal_count; p++) {
			if (tcp_addr_compare(&t->tpgs[i].portals[p].addr,
					     portal_addr(c->session.portal)))
				continue;
			*ret_transports = t->tpgs[i].portals[p].transports;
			return &t->tpgs[i];
		}
	}
	return NULL;
}

static int admit_discovery(struct conn *c, struct login_terms *t, struct err *e)
{
	const struct view_auth *auth = c->view->discovery_auth;
	t->offer.is_rdma = c->dm->is_rdma;
	// Open to all peers: no more memory than a login.
	t->offer.value[ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH] = ISCSI_LOGIN_DATA_MAX;
	return auth ? require_auth(t, auth, "discovery", e) : 0;
}

// The connection's transport as text.
static const char *transport_text(const struct conn *c)
{
	return c->transport == PORTAL_TCP     ? "iSCSI over TCP"
	       : c->transport == PORTAL_IWARP ? "iSER over software iWARP"
					      : "iSER";
}

int login_admit(void *arg, const struct login_names *names, struct login_terms *t, struct err *e)
{
	struct conn *c = arg;
	c->names = *names;
	c->view = view_current(c->session.fabric);
	if (names->is_discovery)
		return admit_discovery(c, t, e);
	const struct view_target *target = view_find_target(c->view, names->target_name);
	unsigned transports = 0;
	const struct view_tpg *tpg = target ? tpg_of_portal(c, target, &transports) : NULL;
	if (!tpg) {
		err_set(e, -ENOENT,
			target ? "the target has no portal at this address" : "no such target");
		return ISCSI_LOGIN_NOT_FOUND;
	}
	// The portal may be shared with targets that offer more transports.
	if (!(transports & c->transport)) {
		err_set(e, -EPROTONOSUPPORT,
			"the target does not offer %s at this portal (set transport=all)",
			transport_text(c));
		return ISCSI_LOGIN_NOT_FOUND;
	}
	c->session.target = view_target_get((struct view_target *)target);
	c->login_timeout = tpg_settings(tpg)->attr.login_timeout;
	return admit_to_tpg(c, tpg, t, e);
}
