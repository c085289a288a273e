// SPDX-License-Identifier: BSD-2-Clause
// The checks of a login, in this order: length of its IUs, formats, multi-channel action, target,
// enabled, portal and carrier, ACL.
#include "target/srp/admit.h"

#include <errno.h>
#include <string.h>

#include "target/srp/identity.h"
#include "target/srp/settings.h"
#include "transport/srp/list.h"

// Bits of REQUIRED BUFFER FORMATS. Linux's immediate data needs none: it has a flag.
#define FORMATS (SRP_FMT_DIRECT | SRP_FMT_INDIRECT)

static uint32_t check_request(const struct srp_login *l, struct err *e)
{
	if (l->it_iu_len < SRP_IU_MIN || l->it_iu_len > SRP_IT_IU_MAX) {
		err_set(e, -EMSGSIZE,
			"the initiator's IUs would have %u bytes, not %u to %u (with ib_srp lower "
			"max_imm_data or cmd_sg_entries)",
			l->it_iu_len, SRP_IU_MIN, SRP_IT_IU_MAX);
		return SRP_REJ_IU_TOO_LARGE;
	}
	if (!(l->formats & FORMATS) || l->formats & ~(FORMATS | 1 << SRP_IMMEDIATE)) {
		err_set(e, -EPROTO,
			"the initiator requires the descriptor formats 0x%04x (supported: direct "
			"0x0002, indirect 0x0004)",
			l->formats);
		return SRP_REJ_UNSUPPORTED_FORMAT;
	}
	unsigned action = l->flags & SRP_MULTICHAN_MASK;
	if (action != SRP_MULTICHAN_SINGLE && action != SRP_MULTICHAN_MULTI) {
		err_set(e, -EPROTO, "reserved multi-channel action %u", action);
		return SRP_REJ_MULTICHAN_UNSUPPORTED;
	}
	return 0;
}

// Portals on all addresses, IPv4 and IPv6, share the service id of their port.
static bool is_portal(const struct admit_query *q, const struct tcp_addr *addr)
{
	if (q->is_by_service)
		return tcp_addr_is_wildcard(addr) &&
		       tcp_addr_port(addr) == tcp_addr_port(q->portal);
	return !tcp_addr_compare(addr, q->portal);
}

static uint32_t check_portal(const struct admit_query *q, const struct view_tpg *tpg, struct err *e)
{
	unsigned offered = 0;
	bool has = false;
	for (unsigned i = 0; i < tpg->portal_count; i++) {
		if (!is_portal(q, &tpg->portals[i].addr))
			continue;
		has = true;
		offered |= tpg->portals[i].transports;
	}
	if (offered & q->transport)
		return 0;
	// The portal may be shared with targets that offer more.
	if (has)
		err_set(e, -EPROTONOSUPPORT,
			"the target does not offer SRP over %s at this portal (set transport=all)",
			q->transport == PORTAL_IWARP ? "software iWARP" : "RDMA devices");
	else
		err_set(e, -ENOENT, "the target has no portal at this %s (portals create)",
			q->is_by_service ? "service id" : "address");
	return SRP_REJ_NO_SUCH_PORT;
}

// Linux puts immediate data behind room for a table descriptor; any place behind the fixed part is
// fine.
static bool takes_immediate(const struct srp_login *l)
{
	return l->flags & SRP_IMMED_REQUESTED && l->imm_offset >= SRP_CMD_LEN &&
	       l->imm_offset < l->it_iu_len;
}

static void fill_terms(const struct srp_login *l, const struct view_tpg *tpg,
		       struct srp_accept *ret)
{
	uint32_t longest = srp_settings(tpg)->srp_max_rsp_size;
	*ret = (struct srp_accept){
		.tag = l->tag,
		.credits = SRP_CREDITS,
		.it_iu_len = SRP_IT_IU_MAX,
		.ti_iu_len = longest > SRP_TI_IU_MIN ? longest : SRP_TI_IU_MIN,
		.formats = FORMATS,
		.flags = takes_immediate(l) ? SRP_IMMED_SUPPORTED : 0,
	};
}

// One command at a time, beside the credit for task management, with its only descriptor in the IU.
static uint32_t admit_discovery(const struct srp_login *l, struct admission *ret, struct err *e)
{
	if (!(l->formats & SRP_FMT_DIRECT)) {
		err_set(e, -EPROTO, "discovery needs direct descriptors (0x0002)");
		return SRP_REJ_UNSUPPORTED_FORMAT;
	}
	ret->is_discovery = true;
	ret->terms = (struct srp_accept){
		.tag = l->tag,
		.credits = SRP_DISCOVERY_CREDITS,
		.it_iu_len = SRP_IU_MIN,
		.ti_iu_len = SRP_TI_IU_MIN,
		.formats = SRP_FMT_DIRECT,
	};
	return 0;
}

uint32_t srp_login_admit(const struct admit_query *q, struct admission *ret,
			 enum refusal_cause *ret_cause, struct err *e)
{
	*ret = (struct admission){ 0 };
	*ret_cause = REFUSED_OTHER;
	uint32_t reason = check_request(q->login, e);
	if (reason)
		return reason;
	if (!memcmp(q->login->target, srp_list_port, sizeof srp_list_port))
		return admit_discovery(q->login, ret, e);
	*ret_cause = REFUSED_TARGET;
	ret->target = target_of_port(q->view, q->login->target, e);
	if (!ret->target)
		return SRP_REJ_NO_SUCH_PORT;
	// A target is a port: it has one group.
	const struct view_tpg *tpg = ret->tpg = ret->target->tpgs;
	if (!ret->target->tpg_count || !tpg->is_enabled) {
		*ret_cause = REFUSED_OTHER;
		err_set(e, -EHOSTDOWN, "the target is disabled (enable it)");
		return SRP_REJ_INSUFFICIENT_RESOURCES;
	}
	reason = check_portal(q, tpg, e);
	if (reason)
		return reason;
	ret->acl = acl_of_port(tpg, q->initiator, q->peer);
	if (!ret->acl && !tpg->is_open) {
		*ret_cause = REFUSED_ACL;
		err_set(e, -EACCES, "no ACL for this initiator (acls create %s, or its address)",
			q->initiator);
		return SRP_REJ_NO_SUCH_PORT;
	}
	fill_terms(q->login, tpg, &ret->terms);
	return 0;
}
