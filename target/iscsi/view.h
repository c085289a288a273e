// SPDX-License-Identifier: BSD-2-Clause
// The configuration of the iSCSI target: immutable, refcounted snapshots.
//
// The control thread builds a struct view_target for every changed target, puts them into a new
// struct iscsi_view and publishes it. A login takes a reference to one view and uses only that, so
// it never sees a partial change. After publishing, every session compares its target with the new
// one: if that is deleted or disabled, the session ends; a new LUN map is swapped in; other changes
// do not affect it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "target/scsi/nexus.h"
#include "transport/iscsi/keys.h"
#include "transport/tcp/addr.h"

struct portal;

// CHAP credentials of a TPG, an ACL or discovery. Empty userid: not set. One-way if userid and
// password are set, mutual if all four are.
struct view_auth {
	char userid[256], password[256];
	char mutual_userid[256], mutual_password[256];
};

struct tpg_attr { // rows: tpg_attr_rows (targetcli's names first)
	uint32_t authentication, generate_node_acls, demo_mode_write_protect;
	uint32_t prod_mode_write_protect, demo_mode_discovery, cache_dynamic_acls;
	uint32_t tpg_enabled_sendtargets, login_timeout, netif_timeout, default_cmdsn_depth;
	uint32_t default_erl, t10_pi, fabric_prot_type, login_keys_workaround;
	// ours
	uint32_t chap_algorithms;    // bits 5..8, the permitted CHAP_A: 1<<5 MD5 ...
	char redirect[128];	     // host:port to redirect logins to (status 0101); empty: none
	char allowed_addresses[512]; // comma-separated address/prefix; empty: any
	char alias[256];
	uint32_t nopin_timeout, nopin_response_timeout, dataout_timeout; // demo-mode sessions
	uint32_t iser_unsolicited_data; // the parameter InitialR2T also applies to iSER
};
extern const struct attr_row tpg_attr_rows[];

struct acl_attr {		// rows: acl_attr_rows
	int32_t authentication; // -1: from the TPG
	uint32_t dataout_timeout, dataout_timeout_retries, nopin_timeout, nopin_response_timeout;
	uint32_t default_erl, random_datain_pdu_offsets, random_datain_seq_offsets;
	uint32_t random_r2t_offsets;
	uint32_t cmdsn_depth; // 0: the TPG's default_cmdsn_depth
};
extern const struct attr_row acl_attr_rows[];

struct view_acl {
	char *initiator; // normalized name
	struct acl_attr attr;
	struct view_auth auth;
	struct lun_map *map;
};

struct portal_attr {   // rows: portal_attr_rows
	uint32_t tos;  // of iSER's connections; 0: the system's
	uint32_t pkey; // their required partition; 0: any
};
extern const struct attr_row portal_attr_rows[];

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
	struct tpg_attr attr;
	struct view_auth auth;	  // for demo mode and for ACLs without credentials of their own
	struct iscsi_offer offer; // from the TPG's parameters
	struct lun_map *demo_map; // all LUNs, for initiators without an ACL (generate_node_acls)
	unsigned acl_count, portal_count;
	struct view_acl *acls; // ascending by initiator
	struct view_portal *portals;
};

struct view_target {
	int refs;   // atomic
	char *name; // normalized
	unsigned tpg_count;
	struct view_tpg *tpgs;
};

struct iscsi_view {
	int refs; // atomic
	uint64_t generation;
	bool discovery_auth_enabled;
	struct view_auth discovery_auth;
	unsigned target_count;
	struct view_target *targets[]; // ascending by name, one reference each
};

// Zeroed objects with one reference. The builder allocates the arrays of a target with malloc();
// put frees them and their contents (strings, references of maps). Control thread.
struct view_target *view_target_new(const char *name, unsigned tpg_count);
struct view_target *view_target_get(struct view_target *t); // any thread
void view_target_put(struct view_target *t);		    // any thread; NULL is fine
struct iscsi_view *iscsi_view_new(unsigned target_count);
void iscsi_view_put(struct iscsi_view *v); // any thread; NULL is fine

// Makes v the current view, takes over its reference, and notifies every worker. Control thread;
// returns before the sessions have applied it.
void iscsi_view_publish(struct iscsi_view *v);
// A reference to the current view; never NULL after the first publish. Any thread; a short
// mutex, for logins and discovery only.
struct iscsi_view *iscsi_view_current(void);

// Settings of iSER connections to the portal at addr, as configured. Before the login their group
// is unknown: if groups share the portal, each value is from the first group that sets it.
struct portal_attr view_portal_attr(const struct iscsi_view *v, const struct tcp_addr *addr);

// Lookup, any thread. NULL: not found.
const struct view_target *view_find_target(const struct iscsi_view *v, const char *name);
int view_target_index(const struct iscsi_view *v, const char *name); // -1: not found
const struct view_acl *view_find_acl(const struct view_tpg *tpg, const char *initiator);
