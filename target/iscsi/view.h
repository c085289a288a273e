// SPDX-License-Identifier: BSD-2-Clause
// The configuration as the iSCSI target sees it: immutable, refcounted snapshots.
//
// The control thread builds a struct view_target for every target that changed, puts them
// into a new struct iscsi_view and publishes it. A login takes one reference to the view and
// decides everything from it, so that a change never meets half a login. Publishing makes
// every session compare its target with the new one: gone or disabled ends the session, a
// new LUN map is swapped in, anything else goes on undisturbed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "target/scsi/nexus.h"
#include "transport/iscsi/keys.h"
#include "transport/tcp/addr.h"

struct portal;

// CHAP credentials of a TPG, an ACL or discovery. Empty userid: not set. One-way when userid
// and password are set, mutual when all four are.
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
	uint32_t chap_algorithms;    // bits 5..8 of CHAP_A allowed: 1<<5 MD5 ...
	char redirect[128];	     // host:port to send logins to (status 0101); empty: none
	char allowed_addresses[512]; // comma list of address/prefix; empty: any
	char alias[256];
	uint32_t nopin_timeout, nopin_response_timeout, dataout_timeout; // demo-mode sessions
	uint32_t iser_unsolicited_data; // InitialR2T is what the parameter says over iSER too
};
extern const struct attr_row tpg_attr_rows[];

struct acl_attr {		// rows: acl_attr_rows
	int32_t authentication; // -1: the TPG's
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
	uint32_t pkey; // partition that they have to come by; 0: any
};
extern const struct attr_row portal_attr_rows[];

struct view_portal {
	struct tcp_addr addr; // as configured; may be a wildcard
	unsigned transports;  // PORTAL_TCP ...
	struct portal_attr attr;
	struct portal *portal; // a reference, which tells what can be reached now; or NULL
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

// Zeroed objects with one reference. The arrays in a target are malloc'ed by the builder and
// freed by put with everything in them (strings, maps' references). Control thread.
struct view_target *view_target_new(const char *name, unsigned tpg_count);
struct view_target *view_target_get(struct view_target *t); // any thread
void view_target_put(struct view_target *t);		    // any thread; NULL is fine
struct iscsi_view *iscsi_view_new(unsigned target_count);
void iscsi_view_put(struct iscsi_view *v); // any thread; NULL is fine

// Makes v (whose reference is taken over) the current view and tells every worker. Control
// thread; returns before the sessions have followed.
void iscsi_view_publish(struct iscsi_view *v);
// A reference to the current view; never NULL after the first publish. Any thread; a short
// mutex, for logins and discovery only.
struct iscsi_view *iscsi_view_current(void);

// What connections of iSER to the portal at addr, as configured, are to have. Before a login it is
// not known whose they are: where groups share it, each value is the first one's that has set it.
struct portal_attr view_portal_attr(const struct iscsi_view *v, const struct tcp_addr *addr);

// Lookup, any thread. NULL when there is none.
const struct view_target *view_find_target(const struct iscsi_view *v, const char *name);
int view_target_index(const struct iscsi_view *v, const char *name); // -1: not found
const struct view_acl *view_find_acl(const struct view_tpg *tpg, const char *initiator);
