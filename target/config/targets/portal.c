// SPDX-License-Identifier: BSD-2-Clause
// A portal: /iscsi/WWN/tpgN/portals/ADDRESS:PORT, its life, state and saved values.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "target/config/tree/settings.h"
#include "target/config/storage/counters.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/portal.h"
#include "target/config/tree/in_use.h"
#include "target/fabric/fabric.h"
#include "target/fabric/sessions.h"

void portal_free(struct config *c, struct node *n)
{
	struct portal_node *p = NODE_OF(struct portal_node, n);
	if (!p->open)
		c->targets->lost_portals--;
	portal_close(p->open, p->opened_for);
	node_done(n);
	free(p);
}

static void strip_brackets(const char *host, char out[TCP_ADDR_TEXT])
{
	size_t len = strlen(host);
	bool has = len > 2 && host[0] == '[' && host[len - 1] == ']';
	snprintf(out, TCP_ADDR_TEXT, "%.*s", (int)(has ? len - 2 : len), host + has);
}

int portal_name(const char *host, uint16_t port, char name[TCP_ADDR_TEXT], struct tcp_addr *ret,
		struct err *e)
{
	char bare[TCP_ADDR_TEXT];
	strip_brackets(host, bare);
	int r = strlen(host) < 64 ? tcp_addr_parse(ret, bare, port, NULL) : -EINVAL;
	if (!r && tcp_addr_port(ret) == port) {
		tcp_addr_format(ret, name);
		return 0;
	}
	snprintf(name, TCP_ADDR_TEXT, "[%.60s]:%u", bare, port);
	if (!r)
		return err_set(e, -EINVAL, "ip_address: '%s' contains a port (use ip_port)", host);
	if (r != -EINVAL)
		return err_set(e, r, "ip_address: %s: no such interface", bare);
	return err_set(e, r,
		       "ip_address: '%.60s' is neither an address nor an interface of this "
		       "machine (give the address, such as 192.0.2.1 or fd00::1; it may appear "
		       "later)",
		       host);
}

static int open_portal(struct config *c, const struct fabric_ops *fabric, struct portal_node *p,
		       const struct tcp_addr *addr, struct err *e)
{
	p->opened_for = p->transports;
	return portal_open(&p->open, fabric, c->control, addr, p->opened_for, e);
}

static const struct fabric_ops *fabric_of(const struct portal_node *p)
{
	return node_fabric(&p->node);
}

void portal_follow(struct portal_node *p)
{
	if (p->open && p->opened_for != p->transports)
		portal_change(p->open, p->opened_for, p->transports);
	p->opened_for = p->transports;
}

int portal_new(struct config *c, struct portal_node **ret, struct tpg *tpg, const char *host,
	       uint16_t port, unsigned transports, bool is_dry, struct err *e)
{
	char name[TCP_ADDR_TEXT];
	struct tcp_addr addr;
	struct err why = { 0 };
	int r = portal_name(host, port, name, &addr, &why);
	if (!r)
		r = tcp_addr_check_local(&addr, &why);
	if (r < 0 && r != -ENODEV)
		return e ? *e = why, r : r;
	if (node_child(&c->names, &tpg->portals, name))
		return err_set(e, -EEXIST, "This NetworkPortal already exists: %s", name);
	struct portal_node *p = tree_new(sizeof *p, tpg->kind->portal_class, name, e);
	if (!p)
		return -ENOMEM;
	p->transports = transports;
	attr_defaults(tpg->kind->fabric()->portal_rows, &p->attr);
	int opened = r || is_dry ? 0 : open_portal(c, node_fabric(&tpg->node), p, &addr, e);
	if (!p->open) {
		c->targets->lost_portals++;
		snprintf(p->reason, sizeof p->reason, "%.150s", why.text);
	}
	if (opened < 0) {
		portal_free(c, &p->node);
		return opened;
	}
	r = tree_add(c, &tpg->portals, &p->node, e, "This NetworkPortal already exists: %s", name);
	if (r < 0)
		return r;
	if (c->targets->lost_portals && !is_dry && !timer_is_armed(&c->storage->retry))
		retry_waiting(c);
	*ret = p;
	return 0;
}

bool portal_retry(struct config *c, struct portal_node *p)
{
	struct tcp_addr addr;
	struct err e = { 0 };
	if (p->open || tcp_addr_parse(&addr, p->node.name, 0, &e) < 0 ||
	    open_portal(c, fabric_of(p), p, &addr, &e) < 0)
		return false;
	c->targets->lost_portals--;
	p->reason[0] = 0;
	log_info("portal %s: interface appeared", p->node.name);
	tree_changed(c, &p->node);
	return true;
}

const char *portal_transport_name(const struct portal_node *p)
{
	for (const struct fabric_transport *t = fabric_of(p)->transports; t->name; t++)
		if (t->mask == p->transports)
			return t->name;
	return "";
}

// "tcp, iser, rdma or all": the selections of a fabric, of which all is the first one.
static void transport_choices(const struct fabric_ops *fabric, char out[80])
{
	const struct fabric_transport *all = fabric->transports;
	size_t len = 0;
	for (const struct fabric_transport *t = all; all->name && (++t)->name;)
		len += (size_t)snprintf(out + len, 80 - len, "%s%s", len ? ", " : "", t->name);
	snprintf(out + len, 80 - len, "%s%s", len ? " or " : "", all->name ? all->name : "none");
}

int portal_transport_parse(const struct fabric_ops *fabric, const char *name, unsigned *ret,
			   struct err *e)
{
	char choices[80];
	for (const struct fabric_transport *t = fabric->transports; t->name; t++) {
		if (strcasecmp(t->name, name))
			continue;
		*ret = t->mask;
		return 0;
	}
	transport_choices(fabric, choices);
	return err_set(e, -EINVAL, "transport: invalid value '%.20s' (%s)", name, choices);
}

// ---- commands ----

void portal_warn_rdma(const struct portal_node *p, struct reply *r)
{
	const char *why = p->open ? portal_rdma_waits(p->open) : NULL;
	if (why && *why)
		reply_say(r, "Warning: no RDMA device has this address yet: %s", why);
}

// The portal of a command: n or, one level higher, the only one, since most groups have one.
static int portal_meant(struct node *n, const struct args *a, const char *name,
			struct portal_node **ret, struct err *e)
{
	char path[600];
	bool is_above = n->class == tpg_of(n)->kind->portals_class;
	if (is_above && !n->child_count)
		return err_set(e, -ENOENT, "%s: no portal here (create one)", name);
	struct node *p = is_above ? list_entry(n->children.next, struct node, link) : n;
	*ret = NODE_OF(struct portal_node, p);
	if (!is_above || n->child_count == 1)
		return 0;
	node_path(p, path, sizeof path);
	return err_set(e, -EBADRQC, "%s: which of the %u portals? Type %s %s %s", name,
		       n->child_count, path, name, a->value[0]);
}

static int change_transports(struct config *c, struct portal_node *p, unsigned mask, bool is_iser)
{
	int code = txn_memory(c, &p->is_iser, sizeof p->is_iser);
	if (!code)
		code = txn_memory(c, &p->transports, sizeof p->transports);
	if (code < 0)
		return code;
	p->is_iser = is_iser;
	p->transports = mask;
	tree_changed(c, &p->node);
	code = settings_forget(c, &p->node, NULL, "transport", NULL);
	return code ? code : settings_forget(c, &p->node, NULL, "iser", NULL);
}

// From targetcli, where it also disables TCP; here TCP stays enabled unless transport disables it.
int portal_enable_iser(struct config *c, struct node *n, const struct args *a, struct reply *r,
		       struct err *e)
{
	struct portal_node *p;
	bool is_on = arg_bool(a, "boolean", true);
	unsigned mask = PORTAL_TCP;
	int code = portal_meant(n, a, "enable_iser", &p, e);
	if (code < 0)
		return code;
	if (is_on)
		mask = p->transports & PORTAL_RDMA ? p->transports : PORTAL_ALL;
	code = change_transports(c, p, mask, is_on);
	reply_say(r, "iSER enable now: %s", p->is_iser ? "True" : "False");
	if (p->is_iser)
		portal_warn_rdma(p, r);
	return code;
}

int portal_set_transport(struct config *c, struct node *n, const struct args *a, struct reply *r,
			 struct err *e)
{
	struct portal_node *p;
	unsigned mask;
	int code = portal_meant(n, a, "transport", &p, e);
	if (!code)
		code = portal_transport_parse(node_fabric(n), arg(a, "transport"), &mask, e);
	if (code < 0)
		return code;
	code = change_transports(c, p, mask, p->is_iser && (mask & PORTAL_RDMA));
	if (!code)
		reply_say(r, "Transport is now: %s", portal_transport_name(p));
	return code;
}

int portal_enable_offload(struct config *c, struct node *n, const struct args *a, struct reply *r,
			  struct err *e)
{
	struct portal_node *p;
	int code = portal_meant(n, a, "enable_offload", &p, e);
	if (code < 0)
		return code;
	code = txn_memory(c, &p->is_offload, sizeof p->is_offload);
	if (!code)
		p->is_offload = arg_bool(a, "boolean", true);
	reply_say(r, "offload enable now: %s (kept in the saved file, without effect here)",
		  p->is_offload ? "True" : "False");
	return code;
}

// clang-format off
static const struct command_row portal_commands[] = {
	{ "enable_iser", PARAMS_ON_OFF, "Offer iSER beside TCP (the default), or TCP only.", false,
	  portal_enable_iser, .is_report = true },
	{ "transport", PARAMS_TRANSPORT, "Select the transports of new sessions.", false,
	  portal_set_transport, .is_report = true },
	{ "enable_offload", PARAMS_ON_OFF, "Kept in the saved file; no effect.", false,
	  portal_enable_offload, .is_report = true },
	{ 0 },
};
// clang-format on

// ---- what it shows ----

bool portal_serves(const char *name, const struct session_use *u)
{
	const char *any = *name == '[' ? "[::]:" : "0.0.0.0:";
	if (!strncmp(name, any, strlen(any)))
		return (*u->local == '[') == (*name == '[') &&
		       !strcmp(strrchr(u->local, ':') ?: "", strrchr(name, ':'));
	return !strcmp(name, u->local);
}

bool portal_is_used(const struct node *n, const struct session_place *p)
{
	return n->parent->parent == p->tpg && portal_serves(n->name, p->use);
}

const char *portal_waits(const struct portal_node *p)
{
	if (!p->open)
		return p->reason;
	return portal_state(p->open) == PORTAL_WAITING ? portal_reason(p->open) : NULL;
}

void portal_summary(struct config *c, const struct node *n, struct summary *ret)
{
	const struct portal_node *p = NODE_OF(const struct portal_node, n);
	const char *gone = p->open ? portal_rdma_gone(p->open) : NULL;
	const char *waits = portal_waits(p);
	ret->is_healthy = !waits && !gone;
	ret->is_broken = !ret->is_healthy;
	if (gone)
		snprintf(ret->text, sizeof ret->text, "RDMA waiting: %s", gone);
	else if (waits)
		snprintf(ret->text, sizeof ret->text, "waiting: %s", waits);
	else
		snprintf(ret->text, sizeof ret->text, "%s",
			 p->is_iser ? "iser"
			 : p->transports != fabric_of(p)->transports->mask
				 ? portal_transport_name(p)
				 : "OK");
}

static void put_failures(struct json_object *to, const struct portal_counters *k)
{
	static const char *const names[REFUSAL_CAUSES] = {
		[REFUSED_AUTH] = "failed_auth",	    [REFUSED_ACL] = "failed_acl",
		[REFUSED_TARGET] = "failed_target", [REFUSED_TIMEOUT] = "timed_out",
		[REFUSED_OTHER] = "failed_other",
	};
	uint64_t sum = 0;
	for (int i = 0; i < REFUSAL_CAUSES; i++)
		sum += k->login_failures[i];
	json_put_number(to, "login_failures", sum);
	for (int i = 0; i < REFUSAL_CAUSES; i++)
		json_put_number(to, names[i], k->login_failures[i]);
}

void portal_info(struct config *c, const struct node *n, struct json_object *ret)
{
	const struct portal_node *p = NODE_OF(const struct portal_node, n);
	struct portal_counters k = { 0 };
	struct session_traffic traffic = { 0 };
	const char *waits = portal_waits(p);
	if (p->open)
		portal_counters(p->open, &k);
	json_put_text(ret, "state", waits ? "waiting" : "listening");
	json_put_text(ret, "reason", waits);
	if (n->class == &portal_class)
		json_put_bool(ret, "iser", p->transports & PORTAL_RDMA);
	json_put_text(ret, "transport", portal_transport_name(p));
	const char *rdma = p->open ? portal_rdma_waits(p->open) : NULL;
	if (rdma)
		json_put_text(ret, "rdma_devices", *rdma ? "waiting" : "listening");
	if (rdma && *rdma)
		json_put_text(ret, "rdma_reason", rdma);
	const char *service = p->open ? portal_service_waits(p->open) : NULL;
	if (service)
		json_put_text(ret, "service_id", *service ? "waiting" : "listening");
	if (service && *service)
		json_put_text(ret, "service_id_reason", service);
	json_put_number(ret, "connections", k.connections);
	json_put_number(ret, "accepted", k.accepted);
	json_put_number(ret, "refused", k.refused);
	json_put_number(ret, "logins", k.logins);
	put_failures(ret, &k);
	if (p->open)
		sessions_portal_traffic(p->open, &traffic);
	report_traffic(ret, &traffic);
}

// ---- the saved file ----

size_t portal_saved_transport(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	const struct portal_node *p = NODE_OF(const struct portal_node, n);
	return (size_t)snprintf(out, size, "%s", portal_transport_name(p));
}

int portal_set_saved_transport(struct node *n, const struct attr_row *row, const char *text,
			       struct err *e)
{
	return portal_transport_parse(node_fabric(n), text,
				      &NODE_OF(struct portal_node, n)->transports, e);
}

int portal_saved_name(struct restore *r, struct node *n, struct json_object *o,
		      char out[SAVED_NAME_SIZE], struct err *e)
{
	const char *host = json_text(o, "ip_address");
	struct tcp_addr addr;
	int port = restore_number_field(o, "port", 65535, e);
	if (port < 1 || !host)
		return port < 0 ? port : err_set(e, -EINVAL, "missing 'ip_address' or 'port'");
	int code = portal_name(host, (uint16_t)port, out, &addr, e);
	return code == -ENODEV ? 0 : code;
}

int portal_make_saved(struct restore *r, struct node *n, const char *name, struct json_object *o,
		      struct node **ret, struct err *e)
{
	const char *transport = json_text(o, "transport");
	const struct fabric_ops *fabric = node_fabric(n);
	unsigned mask = fabric->transports->mask;
	struct portal_node *p;
	int port = restore_number_field(o, "port", 65535, e);
	int code = transport ? portal_transport_parse(fabric, transport, &mask, e) : 0;
	if (!code)
		code = portal_new(r->c, &p, tpg_of(n), json_text(o, "ip_address"), (uint16_t)port,
				  mask, r->options->is_dry, e);
	if (!code)
		*ret = &p->node;
	return code;
}

// targetcli writes iser=false for all portals by default: it does not disable iSER.
// clang-format off
static const struct group_row saved_fields[] = {
	{ .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "iser", ATTR_BOOL, offsetof(struct portal_node, is_iser), .default_text = "0" },
		{ "offload", ATTR_BOOL, offsetof(struct portal_node, is_offload),
		  .default_text = "0" }),
	  .offset = offsetof(struct portal_node, is_iser), .size = 2 * sizeof(uint32_t) },
	{ .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "transport", ATTR_STRING, .default_text = "all", .flags = ATTR_SPARSE }),
	  .offset = offsetof(struct portal_node, transports), .size = sizeof(unsigned),
	  .get = portal_saved_transport, .set = portal_set_saved_transport },
	{ 0 },
};
// clang-format on

static const struct saved_class portal_saved = {
	.list = "portals",
	.folder = "portals",
	.id = {"ip_address", "port"},
	.between = ":",
	.is_numbered = true,
	.fields = saved_fields,
	.name = portal_saved_name,
	.make = portal_make_saved,
};

// clang-format off
static struct group_row portal_groups[] = {
	{ .name = "attribute", .form = SAVED_NUMBERS, .part = "attributes",
	  .at = offsetof(struct portal_node, attr), .size = sizeof(struct portal_attr) },
	{ 0 },
};
// clang-format on

void portal_groups_use(const struct fabric_ops *fabric)
{
	portal_groups[0].rows = fabric->portal_rows;
}

const struct node_class portal_class = {
	.name = "portal",
	.help = "One address and port",
	.saved = &portal_saved,
	.is_used = portal_is_used,
	.commands = portal_commands,
	.groups = portal_groups,
	.summary = portal_summary,
	.info = portal_info,
	.free = portal_free,
};
