// SPDX-License-Identifier: BSD-2-Clause
// What the portal groups of all fabrics have: LUNs, ACLs, portals, a relative port, on and off.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/targets/targets.h"

// Whether a portal group has the RELATIVE TARGET PORT IDENTIFIER.
static bool has_port(const struct config *c, unsigned port)
{
	return c->targets->ports[port / 8] & 1u << port % 8;
}

// The lowest free one; 0 is reserved and means none.
static uint16_t free_relative_port(const struct config *c)
{
	for (unsigned p = 1; p < 65536; p++)
		if (!has_port(c, p))
			return (uint16_t)p;
	return 0;
}

static int init_parts(struct tpg *tpg)
{
	if (node_init(&tpg->acls, &acls_class, "acls") < 0 ||
	    node_init(&tpg->luns, &luns_class, "luns") < 0 ||
	    node_init(&tpg->portals, tpg->kind->portals_class, "portals") < 0)
		return -ENOMEM;
	const struct fabric_settings *settings = &tpg->kind->fabric()->group;
	attr_defaults(settings->rows, tpg->own);
	settings->init(tpg->own);
	return 0;
}

int tpg_add(struct config *c, struct node **ret, struct node *parent,
	    const struct node_class *class, const struct tpg_kind *kind, const char *name,
	    unsigned tag, const char *taken, struct err *e)
{
	uint16_t port = free_relative_port(c);
	if (!port)
		return err_set(e, -ENOSPC, "%s: limit of 65535 target portal groups reached", name);
	struct tpg *tpg = tree_new(sizeof *tpg + kind->fabric()->group.size, class, name, e);
	if (!tpg)
		return -ENOMEM;
	tpg->kind = kind;
	tpg->tag = (uint16_t)tag;
	tpg->relative_port = port;
	published_init(&tpg->published, &tpg->node);
	if (init_parts(tpg) < 0) {
		tpg_free(c, &tpg->node);
		return err_set(e, -ENOMEM, "%s: out of memory", name);
	}
	int r = tree_add(c, parent, &tpg->node, e, "%s", taken);
	if (r < 0)
		return r;
	struct node *parts[] = { &tpg->acls, &tpg->luns, &tpg->portals };
	for (int i = 0; i < 3; i++)
		if (txn_attach(c, &tpg->node, parts[i]) < 0)
			return err_set(e, -ENOMEM, "%s: out of memory", name);
	*ret = &tpg->node;
	return 0;
}

static int switch_tpg(struct config *c, struct node *n, bool is_on, struct reply *r, struct err *e)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	if (tpg->is_enabled == is_on) {
		reply_say(r, "The TPGT is already %s.", is_on ? "enabled" : "disabled");
		return 0;
	}
	int code = txn_memory(c, &tpg->is_enabled, sizeof tpg->is_enabled);
	if (!code) {
		tpg->is_enabled = is_on;
		tree_changed(c, n);
	}
	reply_say(r, "The TPGT has been %s.", is_on ? "enabled" : "disabled");
	return code;
}

int tpg_enable(struct config *c, struct node *n, const struct args *a, struct reply *r,
	       struct err *e)
{
	return switch_tpg(c, n, true, r, e);
}

int tpg_disable(struct config *c, struct node *n, const struct args *a, struct reply *r,
		struct err *e)
{
	return switch_tpg(c, n, false, r, e);
}

void tpg_attached(struct config *c, struct node *n, bool is_attached)
{
	uint16_t port = NODE_OF(struct tpg, n)->relative_port;
	uint8_t bit = (uint8_t)(1u << port % 8);
	if (is_attached)
		c->targets->ports[port / 8] |= bit;
	else
		c->targets->ports[port / 8] &= (uint8_t)~bit;
}

void tpg_info(const struct tpg *tpg, struct json_object *ret)
{
	json_put_number(ret, "tag", tpg->tag);
	json_put_number(ret, "relative_target_port", tpg->relative_port);
	json_put_bool(ret, "enable", tpg->is_enabled);
}

void tpg_free(struct config *c, struct node *n)
{
	struct tpg *tpg = NODE_OF(struct tpg, n);
	node_done(&tpg->acls);
	node_done(&tpg->luns);
	node_done(&tpg->portals);
	published_done(&tpg->published);
	node_done(n);
	explicit_bzero(&tpg->auth, sizeof tpg->auth);
	free(tpg);
}

// ---- the saved file ----

static size_t saved_port(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	return (size_t)snprintf(out, size, "%u", NODE_OF(const struct tpg, n)->relative_port);
}

int tpg_keep_port(struct restore *r, struct node *n, struct json_object *o, bool is_old,
		  struct err *e)
{
	struct json_object *own = restore_own_section(r, n);
	int port = restore_number_field(own, "relative_port", 65535, NULL);
	if (port <= 0 || is_old || has_port(r->c, (uint16_t)port))
		return 0;
	tpg_attached(r->c, n, false);
	NODE_OF(struct tpg, n)->relative_port = (uint16_t)port;
	tpg_attached(r->c, n, true);
	return 0;
}

// clang-format off
const struct group_row tpg_fields[] = {
	{ .form = SAVED_TYPED, .is_whole = true, .rows = VALUES(
		{ "enable", ATTR_BOOL, offsetof(struct tpg, is_enabled), .default_text = "1" }),
	  .offset = offsetof(struct tpg, is_enabled), .size = sizeof(uint32_t) },
	{ .form = SAVED_TYPED, .get = saved_port, .rows = VALUES(
		{ "relative_port", ATTR_UINT, .flags = ATTR_GIVEN | ATTR_OWN }) },
	{ 0 },
};
// clang-format on
