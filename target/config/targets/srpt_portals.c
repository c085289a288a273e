// SPDX-License-Identifier: BSD-2-Clause
// Portals of an SRP target: /srpt/WWN/portals/ADDRESS:PORT. rtslib has none, so the saved file has
// them under a key of ours, without which a target gets the default portal. Control thread.
#include "target/config/targets/portal.h"
#include "target/config/targets/srpt.h"
#include "target/config/tree/in_use.h"
#include "target/fabric/fabric.h"

int srpt_default_portal(struct config *c, struct tpg *tpg, bool is_dry, struct portal_node **ret,
			struct err *e)
{
	const struct fabric_ops *fabric = tpg->kind->fabric();
	return portal_new(c, ret, tpg, "0.0.0.0", fabric->port, fabric->transports->mask, is_dry,
			  e);
}

static void info(struct config *c, const struct node *n, struct json_object *ret)
{
	portal_info(c, n, ret);
	srpt_put_attach(&tpg_of(n)->node, n, json_list(ret, "attach"));
}

// ---- rows ----

// clang-format off
#define SRP_CHOICES "rdma|iwarp|all"
#define SRP_TRANSPORTS "rdma (over RDMA devices), iwarp (software iWARP over a TCP socket) or all"
static const struct command_row portals_commands[] = {
	{ "create", PARAMS(
		{ "ip_address", PARAM_ADDRESS, false, "0.0.0.0",
		  "IPv4 or IPv6 address, or an interface (its first address)" },
		{ "ip_port", PARAM_NUMBER, false, "3261", "port of RDMA-CM, and TCP port of iWARP" },
		{ "transport", PARAM_STRING, false, "all", SRP_TRANSPORTS, NULL, SRP_CHOICES }),
	  "Listen on an address, which may appear later.", false, portal_create },
	{ "delete", PARAMS(
		{ "ip_address", PARAM_PORTAL, true, NULL, "IPv4 or IPv6 address" },
		{ "ip_port", PARAM_NUMBER, true, NULL, "port" },
		PARAM_FORCE),
	  "Stop listening; sessions continue.", false, delete_child },
	{ "transport", PARAMS(
		{ "transport", PARAM_STRING, true, NULL, SRP_TRANSPORTS, NULL, SRP_CHOICES }),
	  "Set transport of the only portal.", false, portal_set_transport, .is_report = true },
	{ 0 },
};
static const struct command_row portal_commands[] = {
	{ "transport", PARAMS(
		{ "transport", PARAM_STRING, true, NULL, SRP_TRANSPORTS, NULL, SRP_CHOICES }),
	  "Select the transports of new sessions.", false, portal_set_transport,
	  .is_report = true },
	{ 0 },
};
static struct group_row groups[] = {
	{ .name = "attribute", .form = SAVED_NUMBERS, .part = "attributes",
	  .rows = VALUES({ 0 }), .at = offsetof(struct portal_node, attr),
	  .size = sizeof(struct portal_attr) },
	{ 0 },
};
static const struct group_row saved_fields[] = {
	{ .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "transport", ATTR_STRING, .default_text = "all", .flags = ATTR_SPARSE }),
	  .offset = offsetof(struct portal_node, transports), .size = sizeof(unsigned),
	  .get = portal_saved_transport, .set = portal_set_saved_transport },
	{ 0 },
};
// clang-format on

void srpt_portal_rows_use(const struct fabric_ops *fabric)
{
	groups[0].rows = fabric->portal_rows;
}

static const struct saved_class portal_saved = {
	.list = "srp_portals",
	.is_list_ours = true,
	.folder = "portals",
	.id = {"ip_address", "port"},
	.between = ":",
	.is_numbered = true,
	.fields = saved_fields,
	.name = portal_saved_name,
	.make = portal_make_saved,
};

const struct node_class srpt_portals_class = {
	.name = "srpt_portals",
	.help = "The addresses this target listens on",
	.commands = portals_commands,
	.child = {"No network portal %s", "Deleted network portal %s",
		   .normal = portal_normal_address},
	.counts = "Portals",
};

const struct node_class srpt_portal_class = {
	.name = "srpt_portal",
	.help = "One address and port of an SRP target",
	.saved = &portal_saved,
	.is_used = portal_is_used,
	.commands = portal_commands,
	.groups = groups,
	.summary = portal_summary,
	.info = info,
	.free = portal_free,
};
