// SPDX-License-Identifier: BSD-2-Clause
// The configuration of a fabric as sessions see it: immutable, refcounted snapshots.
//
// The control thread builds a struct view_target for every changed target, puts them into a new
// struct view and publishes it. A login takes a reference to one view and uses only that, so
// it never sees a partial change. After publishing, every session compares its target with the new
// one: if that is deleted or disabled, the session ends; a new LUN map is swapped in; other changes
// do not affect it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/fabric/name.h"
#include "target/fabric/portal.h"
#include "transport/tcp/addr.h"

struct fabric_ops;

// Credentials of a portal group, an ACL or discovery (CHAP). Empty userid: not set. One-way if
// userid and password are set, mutual if all four are.
struct view_auth {
	char userid[256], password[256];
	char mutual_userid[256], mutual_password[256];
};

// Memory of a view, zeroed, which the view wipes and frees: credentials, and `own`, the struct of a
// fabric (settings.h), which the fabric reads by a cast.
void *view_own_new(size_t size);

struct view_acl {
	char *initiator;	     // normal form
	char host[FABRIC_HOST_SIZE]; // ACLs of equal hosts are one initiator (removal.h); "": none
	struct lun_map *map;
	struct view_auth *auth;
	void *own;
};

struct view_portal {
	struct tcp_addr addr; // as configured; may be a wildcard
	unsigned transports;  // PORTAL_TCP ...
	struct portal_attr attr;
	struct portal *portal; // a reference, for the currently reachable transports; or NULL
};

struct view_tpg {
	uint16_t tag;
	uint16_t relative_port; // RELATIVE TARGET PORT IDENTIFIER, unique in this process
	bool is_enabled;
	bool is_open;		  // initiators without an ACL may log in
	struct lun_map *demo_map; // all LUNs, for those
	unsigned acl_count, portal_count;
	struct view_acl *acls; // ascending by initiator
	struct view_portal *portals;
	struct view_auth *auth; // for initiators without an ACL, and ACLs without a userid
	void *own;
};

struct view_target {
	int refs;   // atomic
	char *name; // normal form
	unsigned tpg_count;
	struct view_tpg *tpgs;
};

struct view {
	int refs; // atomic
	uint64_t generation;
	const struct fabric_ops *fabric;
	struct view_auth *discovery_auth; // NULL: discovery needs no credentials
	unsigned target_count;
	struct view_target *targets[]; // ascending by name, one reference each
};

// Where a fabric's view is published (fabric_ops.views). Private to view.c.
struct view_place {
	struct view *current;
};

// Zeroed objects with one reference. The builder allocates the arrays of a target with malloc();
// put frees them and their contents (strings, references of maps). Control thread.
struct view_target *view_target_new(const char *name, unsigned tpg_count);
struct view_target *view_target_get(struct view_target *t); // any thread
void view_target_put(struct view_target *t);		    // any thread; NULL is fine
struct view *view_new(const struct fabric_ops *fabric, unsigned target_count);
void view_put(struct view *v); // any thread; NULL is fine

// Makes v the current view of its fabric, takes over its reference, and notifies every worker
// (publish.c). Control thread; returns before the sessions have applied it.
void view_publish(struct view *v);
// The first half: makes it current, and drops the last one.
void view_set(struct view *v);
// A reference to the current view; never NULL between fabrics_start() and fabrics_stop(). Any
// thread; a short mutex, for logins and discovery only.
struct view *view_current(const struct fabric_ops *fabric);
// Drops the current view, when no session is left. Control thread.
void view_retire(const struct fabric_ops *fabric);

// Settings of RDMA connections to the portal at addr, as configured. Before the login their group
// is unknown: if groups share the portal, each value is from the first group that sets it.
struct portal_attr view_portal_attr(const struct view *v, const struct tcp_addr *addr);

// Lookup, any thread. NULL: not found.
const struct view_target *view_find_target(const struct view *v, const char *name);
int view_target_index(const struct view *v, const char *name); // -1: not found
const struct view_acl *view_find_acl(const struct view_tpg *tpg, const char *initiator);
