// SPDX-License-Identifier: BSD-2-Clause
// The target's decisions about a login: admission, authentication, offer. login_target.c handles
// the stages and keys; the configuration is a single view. RFC 7143 6.3, 9.2, 12.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counter.h"
#include "core/log.h"
#include "target/fabric/peer_log.h"
#include "target/fabric/slow_initiators.h"
#include "target/fabric/worker_barrier.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/portal.h"
#include "target/scsi/nexus.h"
#include "transport/wire/be.h"

#define WINDOW_LOGIN 64 // preset; the session's value follows with attach

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
	const char *at = tpg->attr.allowed_addresses, *item;
	size_t len;
	if (!*at)
		return true;
	while (text_list_next(&at, &item, &len))
		if (prefix_matches(peer, item, len))
			return true;
	return false;
}

bool tpg_shows(const struct view_tpg *tpg, const char *initiator)
{
	if (!tpg->is_enabled && tpg->attr.tpg_enabled_sendtargets)
		return false;
	return tpg->attr.demo_mode_discovery || tpg->attr.generate_node_acls ||
	       view_find_acl(tpg, initiator);
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
	bool is_on = tpg->attr.authentication;
	if (acl && acl->attr.authentication >= 0)
		is_on = acl->attr.authentication != 0;
	t->chap_algs = chap_mask(tpg->attr.chap_algorithms);
	if (!is_on)
		return 0;
	bool own = acl && *acl->auth.userid;
	return require_auth(t, own ? &acl->auth : &tpg->auth, acl ? "the ACL" : "the TPG", e);
}

int admit_to_tpg(struct conn *c, const struct view_tpg *tpg, struct login_terms *t, struct err *e)
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
	c->acl = view_find_acl(tpg, initiator);
	if (!c->acl && !tpg->attr.generate_node_acls) {
		err_set(e, -EACCES,
			"no ACL for this initiator (acls create %s, or set attribute "
			"generate_node_acls=1)",
			initiator);
		return ISCSI_LOGIN_FORBIDDEN;
	}
	c->tpg = tpg;
	t->offer = tpg->offer;
	t->offer.is_rdma = c->dm->is_rdma;
	// A write whose data is fetched by RDMA needs no copy.
	if (c->dm->is_rdma && !tpg->attr.iser_unsolicited_data)
		t->offer.value[ISCSI_KEY_INITIAL_R2T] = true;
	if (c->dm->has_no_immediate)
		t->offer.value[ISCSI_KEY_IMMEDIATE_DATA] = false;
	t->tpgt = tpg->tag;
	snprintf(t->target_alias, sizeof t->target_alias, "%s", tpg->attr.alias);
	snprintf(t->redirect, sizeof t->redirect, "%s", tpg->attr.redirect);
	return admit_auth(tpg, c->acl, t, e);
}

// The target's TPG with this connection's portal.
static const struct view_tpg *tpg_of_portal(const struct conn *c, const struct view_target *t,
					    unsigned *ret_transports)
{
	for (unsigned i = 0; i < t->tpg_count; i++) {
		for (unsigned p = 0; p < t->tpgs[i].portal_count; p++) {
			if (tcp_addr_compare(&t->tpgs[i].portals[p].addr, &c->portal_addr))
				continue;
			*ret_transports = t->tpgs[i].portals[p].transports;
			return &t->tpgs[i];
		}
	}
	return NULL;
}

static int admit_discovery(struct conn *c, struct login_terms *t, struct err *e)
{
	const struct iscsi_view *v = c->view;
	t->offer.is_rdma = c->dm->is_rdma;
	// Open to all peers: no more memory than a login.
	t->offer.value[ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH] = ISCSI_LOGIN_DATA_MAX;
	return v->discovery_auth_enabled ? require_auth(t, &v->discovery_auth, "discovery", e) : 0;
}

// The connection's transport as text.
static const char *transport_text(const struct conn *c)
{
	return c->transport == PORTAL_TCP     ? "iSCSI over TCP"
	       : c->transport == PORTAL_IWARP ? "iSER over software iWARP"
					      : "iSER";
}

static int admit(void *arg, const struct login_names *names, struct login_terms *t, struct err *e)
{
	struct conn *c = arg;
	c->names = *names;
	c->view = iscsi_view_current();
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
	c->target = view_target_get((struct view_target *)target);
	c->login_timeout = tpg->attr.login_timeout;
	return admit_to_tpg(c, tpg, t, e);
}

// --- the session of a login ---

static void on_notice(struct nexus *n, uint16_t lun, uint32_t sense_code)
{
	async_scsi(n->owner, lun, sense_code);
}

#define SECOND 1000000000ull

// Who can choose its name is known by its address.
static const char *late_name(const struct conn *c, char address[TCP_ADDR_TEXT])
{
	return c->acl ? c->names.initiator_name : tcp_addr_format_ip(&c->dm->peer_addr, address);
}

static void on_overdue(struct nexus *n, uint32_t seconds)
{
	const struct conn *c = n->owner;
	char address[TCP_ADDR_TEXT];
	slow_initiator_note(late_name(c, address), worker_now(c->worker) / SECOND);
	conn_close(n->owner, false, "other sessions have waited %u s for blocks that it transfers",
		   seconds);
}

bool conn_is_late(const struct conn *c, uint64_t now)
{
	char address[TCP_ADDR_TEXT];
	return slow_initiator_is_known(late_name(c, address), now / SECOND);
}

static const struct nexus_ops nexus_ops = { .notice = on_notice, .overdue = on_overdue };

static int make_nexus(struct conn *c, const struct login_names *n, struct err *e)
{
	char isid[ISCSI_ISID_TEXT], port[ISCSI_NAME_MAX + 32], target_port[ISCSI_NAME_MAX + 32];
	if (!c->tpg)
		return 0;
	iscsi_isid_format(n->isid, isid);
	int len = snprintf(port, sizeof port, "%s,i,%s", n->initiator_name, isid);
	snprintf(target_port, sizeof target_port, "%s,t,0x%04x", n->target_name, c->tpg->tag);
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_ISCSI,
		.initiator_port = port,
		.initiator_name = n->initiator_name,
		.target_name = n->target_name,
		.target_port = target_port,
		.relative_port = c->tpg->relative_port,
		.is_buffered = conn_is_late(c, worker_now(c->worker)),
	};
	// SPC-5 7.6.4.6: format 1, the port name, NUL padded to 4, at least 20 bytes.
	uint32_t body = ((uint32_t)len + 1 + 3) & ~3u;
	body = body < 20 ? 20 : body;
	info.transport_id[0] = 0x40 | SCSI_PROTOCOL_ISCSI;
	put_be16(info.transport_id + 2, (uint16_t)body);
	memcpy(info.transport_id + 4, port, (size_t)len);
	info.transport_id_len = 4 + body;
	int r = nexus_new(&c->nexus, &info, &nexus_ops, c, c->acl ? c->acl->map : c->tpg->demo_map);
	if (r < 0)
		err_errno(e, r, "nexus");
	return r < 0 ? ISCSI_LOGIN_OUT_OF_RESOURCES : 0;
}

static uint32_t session_window(const struct conn *c)
{
	if (!c->tpg)
		return 1; // discovery: one request at a time, none is held
	if (c->acl && c->acl->attr.cmdsn_depth)
		return c->acl->attr.cmdsn_depth;
	return c->tpg->attr.default_cmdsn_depth ? c->tpg->attr.default_cmdsn_depth : 64;
}

static int attach_finish(struct conn *c, const struct login_names *n, struct login_session *ret,
			 struct err *e)
{
	int r = make_nexus(c, n, e);
	if (r)
		return r;
	c->window = session_window(c);
	ret->tsih = c->tsih;
	uint32_t first = c->dm->first_window;
	c->is_narrow = first && first < c->window;
	ret->max_cmd_sn = ret->exp_cmd_sn + (c->is_narrow ? first : c->window) - 1;
	return 0;
}

static int attach(void *arg, const struct login_names *names, const struct iscsi_params *params,
		  struct login_session *ret, struct err *e)
{
	struct conn *c = arg;
	// An initiator that names its session expects to find it.
	if (c->tpg && !names->tsih && worker_barrier(c->worker, &c->resume_msg) == 0) {
		conn_hold(c); // until the message
		return -EINPROGRESS;
	}
	c->is_settled = true;
	int r = session_enter(c, names, e);
	return r ? r : attach_finish(c, names, ret, e);
}

const struct login_target_ops login_policy = {
	.admit = admit,
	.attach = attach,
};

// --- PDUs of the login phase ---

static void login_failed(struct conn *c, const struct login_reply *r)
{
	struct iscsi_counters *n = &iscsi_worker()->counters;
	enum refusal_cause why = REFUSED_OTHER;
	counter_add(&n->logins_failed, 1);
	switch (r->status) {
	case ISCSI_LOGIN_AUTH_FAILED:
		counter_add(&n->failed_auth, 1);
		why = REFUSED_AUTH;
		break;
	case ISCSI_LOGIN_FORBIDDEN:
		counter_add(&n->failed_acl, 1);
		why = REFUSED_ACL;
		break;
	case ISCSI_LOGIN_NOT_FOUND:
		counter_add(&n->failed_target, 1);
		why = REFUSED_TARGET;
		break;
	default:
		counter_add(&n->failed_other, 1);
	}
	portal_note_failure(c->portal, why);
	refusal_note(c->names.initiator_name, c->names.target_name, c->dm->peer, why, r->status,
		     r->err.text);
	char cause[40] = "login dropped";
	if (r->has_pdu)
		snprintf(cause, sizeof cause, "login refused, status %04x", r->status);
	if (peer_log_permits(LOG_LVL_WARN, ISCSI_FABRIC, cause, &c->dm->peer_addr))
		conn_log(c, LOG_LVL_WARN, "%s: %s", cause, r->err.text);
}

static void login_act(struct conn *c, const struct login_reply *r)
{
	if (r->has_pdu)
		c->dm->ops->send(c->dm, r->bhs, r->text, r->text_len, DM_IS_LOGIN);
	switch (r->outcome) {
	case LOGIN_FULL_FEATURE:
		conn_enter_full_feature(c);
		break;
	case LOGIN_REFUSED:
	case LOGIN_DROP:
		login_failed(c, r);
		conn_close(c, true, "login refused: %s", r->err.text);
		break;
	default:
		break; // CONTINUE and WAIT
	}
}

// Memory for a login is allocated only after a complete request.
static int login_begin(struct conn *c, struct err *e)
{
	c->login = malloc(sizeof *c->login);
	if (!c->login)
		return err_set(e, -ENOMEM, "no memory for a login");
	login_target_init(c->login, &login_policy, c, 1, WINDOW_LOGIN);
	return 0;
}

int conn_login_pdu(struct conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len,
		   struct err *e)
{
	struct login_reply r;
	if (!c->login && login_begin(c, e) < 0)
		return e->code;
	login_slot_progress(c);
	login_target_step(c->login, bhs, data, len, &r);
	login_act(c, &r);
	return 0;
}

void login_policy_resume(struct conn *c, int status, const struct err *why)
{
	struct login_reply r;
	struct login_session s = *login_session(c->login);
	struct err e = { 0 };
	if (why)
		e = *why;
	if (!status)
		status = c->is_settled ? session_enter_again(c, &e)
				       : session_enter(c, login_names(c->login), &e);
	c->is_settled = true;
	if (status == -EINPROGRESS)
		return;
	if (!status)
		status = attach_finish(c, login_names(c->login), &s, &e);
	login_target_resume(c->login, status, &s, &e, &r);
	login_act(c, &r);
	c->dm->ops->flush(c->dm);
}

static void login_end(struct conn *c, int status, const struct err *why)
{
	struct login_reply r = { .outcome = LOGIN_DROP };
	if (c->login)
		login_target_refuse(c->login, status, why, &r);
	r.err = *why;
	r.status = (uint16_t)status; // recorded in the table of refusals, with or without a
				     // response
	login_act(c, &r);
	c->dm->ops->flush(c->dm);
}

void conn_login_expired(struct conn *c)
{
	struct err why;
	counter_add(&iscsi_worker()->counters.logins_timed_out, 1);
	portal_note_failure(c->portal, REFUSED_TIMEOUT);
	err_set(&why, -ETIMEDOUT, "login not finished after %u s", c->login_timeout);
	login_end(c, ISCSI_LOGIN_TARGET_ERROR, &why);
}

void conn_login_displaced(struct conn *c)
{
	struct err why;
	login_slot_leave(c);
	err_set(&why, -EBUSY, "too many logins in progress: ended %s",
		c->state != CONN_LOGIN ? "a discovery session"
		: c->has_spoken	       ? "the oldest"
				       : "a silent one");
	if (c->state == CONN_LOGIN)
		login_end(c, ISCSI_LOGIN_OUT_OF_RESOURCES, &why);
	conn_close(c, false, "%s", why.text); // read or not
}
