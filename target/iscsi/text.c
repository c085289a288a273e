// SPDX-License-Identifier: BSD-2-Clause
// Text requests in full feature phase: SendTargets, and nothing else to negotiate.
// RFC 7143 11.10, 11.11, appendix C.
#include "transport/iscsi/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/iscsi/conn.h"
#include "target/iscsi/portal.h"
#include "transport/iscsi/sendtargets.h"
#include "transport/wire/be.h"

#define REQUEST_MAX 8192u

struct portal_filter {
	unsigned wanted, unwanted; // transports
};

static bool is_shown(const struct view_portal *p, const struct portal_filter *f)
{
	return (p->transports & f->wanted) && !(p->transports & f->unwanted);
}

static bool has_portal_at(const struct view_tpg *tpg, const struct tcp_addr *addr,
			  const struct portal_filter *f)
{
	for (unsigned i = 0; i < tpg->portal_count; i++)
		if (is_shown(&tpg->portals[i], f) && !tcp_addr_compare(&tpg->portals[i].addr, addr))
			return true;
	return false;
}

static int add_portal(struct text_out *o, const struct conn *c, const struct view_tpg *tpg,
		      const struct tcp_addr *addr, const struct portal_filter *f)
{
	char ip[TCP_ADDR_TEXT];
	struct tcp_addr real = *addr;
	if (tcp_addr_is_wildcard(addr)) {
		// The address the initiator came by is one it can come by again.
		if (addr->sa.sa_family != c->dm->local_addr.sa.sa_family)
			return 0;
		real = c->dm->local_addr;
		tcp_addr_set_port(&real, tcp_addr_port(addr));
		if (has_portal_at(tpg, &real, f))
			return 0;
	}
	tcp_addr_format_ip(&real, ip);
	return sendtargets_append_address(o, ip, tcp_addr_port(&real), tpg->tag);
}

// RFC 7145 7.1: initiators of iSER discover over TCP as well, so there every portal is shown, those
// that TCP can log in to first. What is discovered over iSER is logged in to over iSER.
static int add_portals(struct text_out *o, const struct conn *c, const struct view_tpg *tpg,
		       unsigned wanted, unsigned unwanted)
{
	const struct portal_filter f = { wanted, unwanted };
	int r = 0;
	for (unsigned p = 0; !r && p < tpg->portal_count; p++)
		if (is_shown(&tpg->portals[p], &f))
			r = add_portal(o, c, tpg, &tpg->portals[p].addr, &f);
	return r;
}

static int add_target(struct text_out *o, const struct conn *c, const struct view_target *t)
{
	bool has_name = false;
	for (unsigned i = 0; i < t->tpg_count; i++) {
		const struct view_tpg *tpg = &t->tpgs[i];
		if (!tpg_shows(tpg, c->names.initiator_name))
			continue;
		int r = has_name ? 0 : sendtargets_append_name(o, t->name);
		has_name = true;
		if (!r)
			r = add_portals(o, c, tpg, c->transport, 0);
		if (!r && !c->dm->is_rdma)
			r = add_portals(o, c, tpg, PORTAL_ISER, PORTAL_TCP);
		if (r)
			return r;
	}
	return 0;
}

// which: "All", "" (this target) or a name. Appendix C knows All in discovery sessions only;
// initiators ask for it in normal ones, and get the target they are in.
static int send_targets(struct text_out *o, const struct conn *c, const char *which)
{
	struct iscsi_view *v = iscsi_view_current();
	bool all = !strcmp(which, "All");
	int r = 0, found = 0;
	for (unsigned i = 0; !r && i < v->target_count; i++) {
		const struct view_target *t = v->targets[i];
		bool mine = c->target && !strcmp(t->name, c->target->name);
		bool named = !strcmp(t->name, which);
		if (c->params.is_discovery ? !(all || named) : !(mine && (all || !*which || named)))
			continue;
		found++;
		r = add_target(o, c, t);
	}
	iscsi_view_put(v);
	if (!found && !all && *which)
		r = text_append(o, "SendTargets", "Reject");
	return r;
}

static int answer_keys(struct text_out *o, const struct conn *c, const char *text, uint32_t len)
{
	struct text_iter it;
	struct text_pair p;
	int r, n = 0;
	text_iter_init(&it, text, len);
	while ((r = text_next(&it, &p)) > 0) {
		if (++n > ISCSI_TEXT_KEYS_MAX)
			return -EPROTO;
		if (text_key_is(&p, "SendTargets")) {
			if (c->params.is_discovery && !*p.value)
				r = text_append(o, "SendTargets", "Reject");
			else
				r = send_targets(o, c, p.value);
		} else if (iscsi_key_find(p.key, p.key_len) >= 0) {
			r = text_append_len(o, p.key, p.key_len, "Reject");
		} else {
			r = text_append_len(o, p.key, p.key_len, "NotUnderstood");
		}
		if (r < 0)
			return r;
	}
	return r;
}

// Builds the whole answer; it may be longer than one PDU.
static int answer_build(struct conn *c, const char *text, uint32_t len)
{
	for (size_t size = 64 << 10; size <= TEXT_ANSWER_MAX; size *= 4) {
		char *buf = malloc(size);
		if (!buf)
			return -ENOMEM;
		struct text_out o;
		text_out_init(&o, buf, size);
		int r = answer_keys(&o, c, text, len);
		if (!r && !o.is_full) {
			c->text_out = buf;
			c->text_out_len = (uint32_t)o.len;
			c->text_out_at = 0;
			return 0;
		}
		free(buf);
		if (!o.is_full)
			return r;
	}
	return -ENOSPC;
}

static void answer_drop(struct conn *c)
{
	free(c->text_out);
	free(c->text_in);
	c->text_out = c->text_in = NULL;
	c->text_in_len = 0;
}

static void answer_send(struct conn *c, const struct iscsi_text_req *req)
{
	struct iscsi_text_rsp h = { .opcode = ISCSI_OP_TEXT_RSP };
	uint32_t len = c->text_out_len - c->text_out_at;
	bool more = len > c->params.max_send_data;
	len = more ? c->params.max_send_data : len;
	// F answers F: to a request that is not final the answer is not final either (11.11.1).
	bool is_last = !more && req->flags & ISCSI_F;
	h.flags = more ? ISCSI_TEXT_C : is_last ? ISCSI_F : 0;
	memcpy(h.lun, req->lun, sizeof h.lun);
	memcpy(h.itt, req->itt, sizeof h.itt);
	if (!is_last && !c->text_ttt)
		c->text_ttt = conn_next_ttt(c);
	put_be32(h.ttt, is_last ? ISCSI_TAG_NONE : c->text_ttt);
	conn_send(c, (const uint8_t *)&h, c->text_out + c->text_out_at, len, DM_ADVANCES);
	c->text_out_at += len;
	if (!more)
		answer_drop(c);
	if (is_last)
		c->text_ttt = 0;
}

// A request of several PDUs: an empty answer asks for the next.
static int request_gather(struct conn *c, const struct iscsi_text_req *req, const uint8_t *data,
			  uint32_t len, struct err *e)
{
	if (c->text_in_len + len > REQUEST_MAX)
		return err_set(e, -EPROTO, "Text Request longer than %u bytes", REQUEST_MAX);
	char *grown = realloc(c->text_in, c->text_in_len + len + 1);
	if (!grown)
		return err_set(e, -ENOMEM, "no memory for a Text Request");
	memcpy(grown + c->text_in_len, data ? data : (const uint8_t *)"", len);
	c->text_in = grown;
	c->text_in_len += len;
	if (!(req->flags & ISCSI_TEXT_C))
		return 0;
	struct iscsi_text_rsp h = { .opcode = ISCSI_OP_TEXT_RSP };
	memcpy(h.itt, req->itt, sizeof h.itt);
	memcpy(h.lun, req->lun, sizeof h.lun);
	if (!c->text_ttt)
		c->text_ttt = conn_next_ttt(c);
	put_be32(h.ttt, c->text_ttt);
	conn_send(c, (const uint8_t *)&h, NULL, 0, DM_ADVANCES);
	return 1;
}

int text_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		 const uint8_t *data, struct err *e)
{
	const struct iscsi_text_req *req = (const void *)bhs;
	uint32_t ttt = get_be32(req->ttt);
	if (ttt != ISCSI_TAG_NONE && ttt != c->text_ttt) {
		conn_reject(c, ISCSI_REJECT_INVALID_FIELD, bhs);
		return 0;
	}
	if (ttt == ISCSI_TAG_NONE) {
		answer_drop(c); // a new request ends an old one
		c->text_ttt = 0;
	}
	if (c->text_out) {
		answer_send(c, req);
		return 0;
	}
	int r = request_gather(c, req, data, pdu->data_len, e);
	if (r)
		return r < 0 ? r : 0;
	r = answer_build(c, c->text_in, c->text_in_len);
	if (r == -EPROTO || r == -EINVAL) {
		answer_drop(c);
		conn_reject(c, ISCSI_REJECT_PROTOCOL, bhs);
		return 0;
	}
	if (r < 0)
		return err_errno(e, r, "SendTargets answer");
	free(c->text_in);
	c->text_in = NULL;
	c->text_in_len = 0;
	answer_send(c, req);
	return 0;
}
