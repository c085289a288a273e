// SPDX-License-Identifier: BSD-2-Clause
// Administration of the sessions of all fabrics. Control thread; each call visits the workers and
// blocks until they respond. Sessions are what session.h enters into the registry.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "target/fabric/name.h"
#include "target/fabric/traffic.h"

struct fabric_ops;
struct portal;

enum { SESSION_IDENTITY_MAX = 4, SESSION_NEGOTIATED_MAX = 16 };

// A value that only the protocol knows.
struct session_field {
	const char *name; // static
	char text[16];
	uint64_t number;
	bool is_number; // else text
	bool is_fixed;	// the same in every session of the protocol
};

struct session_info {
	uint64_t id; // session id, unique in this process ("sid" in the shell)
	const struct fabric_ops *fabric;
	char initiator[FABRIC_NAME_SIZE], alias[256], target[FABRIC_NAME_SIZE];
	uint16_t tpg;
	bool is_discovery, is_dynamic_acl;
	char acl[FABRIC_NAME_SIZE]; // that admitted it; "": none
	// How the initiator authenticated, and whether the target did too: "none", "CHAP MD5".
	bool is_authenticated, is_mutual;
	char proof[32];
	char transport[16]; // "TCP", "iSER"
	char carrier[16];   // the layer below: "TCP", "iWARP", "RoCE v2" ...
	// RDMA: memory registrations on the session's device that a peer may read or write.
	uint32_t remote_rights;
	char peer[80], local[80]; // address:port
	uint64_t age_s;
	// What the protocol calls the session beside its names, and what both sides have
	// negotiated.
	struct session_field identity[SESSION_IDENTITY_MAX], negotiated[SESSION_NEGOTIATED_MAX];
	unsigned identity_count, negotiated_count;
	uint32_t window, commands_in_flight; // window: commands that it may have in flight
	uint64_t commands, read_bytes, written_bytes;
	uint64_t output_waits_us; // since the oldest of what is to be sent waits for the peer
	struct session_traffic traffic;
	unsigned worker;
	uint32_t lun_count;
	struct session_lun {
		uint16_t lun;
		bool is_write_protected;
		uint32_t in_flight; // commands of this session
		char storage_object[64];
	} luns[16]; // the first ones of lun_count
};

// *ret is an array of *ret_count entries, for free(). -ENOMEM.
int sessions_list(struct session_info **ret, unsigned *ret_count);

// A session that sees LUNs or uses them (nexus_lun_is_used()), and these LUNs.
struct session_use {
	uint64_t id;
	const struct fabric_ops *fabric;
	char initiator[FABRIC_NAME_SIZE], target[FABRIC_NAME_SIZE];
	char acl[FABRIC_NAME_SIZE]; // "": none
	uint16_t tpg;
	char peer[80], local[80];
	uint32_t count;
	uint16_t *luns; // ascending
};
// The sessions that use at least one, or with is_seen see one, for session_uses_free(). -ENOMEM.
int session_uses_list(bool is_seen, struct session_use **ret, unsigned *ret_count);
void session_uses_free(struct session_use *list, unsigned count);

// Ends a session. drain_s not 0: asks its initiator to log out (*ret_asked), and drops the session
// after that many seconds; one that cannot be asked ends at once. -ENOENT.
int session_drop(uint64_t id, unsigned drain_s, bool *ret_asked, struct err *e);
enum { SESSION_DRAIN_S = 10, SESSION_DRAIN_MAX_S = 3600 };

// Sessions of a target, of one TPG (tag, or -1) or of one ACL (NULL: any).
unsigned sessions_count(const char *target, int tag, const char *acl);

// The sum over the sessions of a portal since it was opened, live and ended.
void sessions_portal_traffic(const struct portal *p, struct session_traffic *ret);
