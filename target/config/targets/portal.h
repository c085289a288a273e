// SPDX-License-Identifier: BSD-2-Clause
// Portals of a portal group in the tree. Private to target/config; control thread.
#pragma once

#include "target/config/targets/targets.h"

// Puts the rows of the fabric into the group of the class.
void portal_groups_use(const struct fabric_ops *fabric);
// is_dry: does not listen.
int portal_new(struct config *c, struct portal_node **ret, struct tpg *tpg, const char *host,
	       uint16_t port, unsigned transports, bool is_dry, struct err *e);
// The portals of every TPG; the body must not remove one from the tree.
#define portal_each(p, c)                                                                          \
	tpg_each (p##_tpg, c)                                                                      \
		list_each (struct portal_node, p, &p##_tpg->portals.children, node.link)
// Makes the listening portal offer the node's current transports; call after the save.
void portal_follow(struct portal_node *p);
const char *portal_waits(const struct portal_node *p);	    // why it does not listen; NULL: it does
bool portal_retry(struct config *c, struct portal_node *p); // true: it has an address now

// ---- transports and names ----
// "tcp", "iser", "all": of the fabric's selections.
const char *portal_transport_name(const struct portal_node *p);
// -EINVAL with text.
int portal_transport_parse(const struct fabric_ops *fabric, const char *name, unsigned *ret,
			   struct err *e);
// The node's name: from tcp_addr_format(), or the name that it will have when the address's
// interface exists. -EINVAL; -ENODEV with a name: no such interface.
int portal_name(const char *host, uint16_t port, char name[TCP_ADDR_TEXT], struct tcp_addr *ret,
		struct err *e);

// ---- what portals of all fabrics show and save ----
void portal_summary(struct config *c, const struct node *n, struct summary *ret);
void portal_info(struct config *c, const struct node *n, struct json_object *ret);
struct session_use;
bool portal_is_used(const struct node *n, const struct session_place *p); // a class's is_used
// Whether the session came by a portal with this name: the address itself, or the wildcard of its
// family and port.
bool portal_serves(const char *name, const struct session_use *u);
void portal_free(struct config *c, struct node *n);
size_t portal_saved_transport(struct node *n, const struct attr_row *row, char *out, size_t size);
int portal_set_saved_transport(struct node *n, const struct attr_row *row, const char *text,
			       struct err *e);
int portal_saved_name(struct restore *r, struct node *n, struct json_object *o,
		      char out[SAVED_NAME_SIZE], struct err *e);
int portal_make_saved(struct restore *r, struct node *n, const char *name, struct json_object *o,
		      struct node **ret, struct err *e);
// A class's child.normal: ADDRESS:PORT of the arguments ip_address and ip_port.
int portal_normal_address(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE],
			  struct err *e);

// ---- commands, also one level higher for the only portal ----
// clang-format off
#define TRANSPORT_CHOICES "tcp|iser|rdma|all"
#define TRANSPORTS	  "tcp, iser, rdma (iSER over RDMA devices, no TCP socket) or all"
#define PARAMS_ON_OFF PARAMS({ "boolean", PARAM_BOOL, true, NULL, "true or false" })
#define PARAMS_TRANSPORT PARAMS( \
		{ "transport", PARAM_STRING, true, NULL, TRANSPORTS, NULL, TRANSPORT_CHOICES })
// clang-format on
command_fn portal_create, portal_enable_iser, portal_set_transport, portal_enable_offload;
// iSER was requested explicitly: report why no adapter offers it.
void portal_warn_rdma(const struct portal_node *p, struct reply *r);
