// SPDX-License-Identifier: BSD-2-Clause
// Administration of sessions and refused logins. Control thread; each call visits the workers and
// blocks until they respond.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/worker.h"
#include "target/scsi/lu.h"

// Statistics of sessions: commands by kind with bytes and latency, payload copies.
struct session_traffic {
	struct lu_counters scsi;
	struct buf_copies copied;
};

struct session_info {
	uint64_t id; // session id, unique in this process ("sid" in the shell)
	char initiator[224], alias[256], target[224];
	uint16_t tpg, tsih, cid;
	char isid[16]; // 12 hex digits
	bool is_discovery, is_dynamic_acl;
	unsigned chap_alg;  // enum chap_alg: how the initiator authenticated, 0: not
	bool is_mutual;	    // the target authenticated too
	char transport[16]; // "TCP", "iSER"
	char carrier[16];   // the layer below: "TCP", "iWARP", "RoCE v2" ...
	// RDMA: memory registrations on the session's device that a peer may read or write.
	uint32_t remote_rights;
	char peer[80], local[80]; // address:port
	uint64_t age_s;
	// negotiated
	bool header_digest, data_digest, initial_r2t, immediate_data;
	uint32_t max_recv_dsl, max_xmit_dsl, max_burst, first_burst, max_outstanding_r2t;
	uint32_t window, commands_in_flight;
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

// A session that uses LUNs (nexus_lun_is_used()), and these LUNs.
struct session_use {
	uint64_t id;
	char initiator[224], target[224];
	uint16_t tpg;
	char peer[80], local[80];
	uint32_t count;
	uint16_t *luns; // ascending
};
// The sessions that use at least one, for session_uses_free(). -ENOMEM.
int session_uses_list(struct session_use **ret, unsigned *ret_count);
void session_uses_free(struct session_use *list, unsigned count);

// Ends a session. drain_s not 0: requests a logout (Async Message, event 1), sets *ret_asked, and
// drops the session after that many seconds; discovery sessions end at once. -ENOENT.
int session_drop(uint64_t id, unsigned drain_s, bool *ret_asked, struct err *e);
enum { SESSION_DRAIN_S = 10, SESSION_DRAIN_MAX_S = 3600 };

// Sessions of a target, of one TPG (tag, or -1) or of one initiator (NULL: any).
unsigned sessions_count(const char *target, int tag, const char *initiator);

struct iscsi_counters {
	uint64_t connections_accepted, connections_refused, connections_closed_protocol_error;
	uint64_t logins_ok, logins_failed, logins_timed_out, logins_displaced;
	uint64_t failed_auth, failed_acl, failed_target, failed_other;
	uint64_t digest_errors, rejects_sent;
	uint64_t pdus_received, pdus_sent, bytes_received, bytes_sent;
};
void iscsi_counters(struct iscsi_counters *ret); // sum over the workers

// Starts and ends the iSCSI target on the existing workers. init: control thread, after the workers
// run and before the first portal. done: closes every connection and waits.
int iscsi_target_init(struct worker *control, struct err *e);
void iscsi_target_done(void);
