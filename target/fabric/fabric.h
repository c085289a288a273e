// SPDX-License-Identifier: BSD-2-Clause
// A fabric: a protocol of the target as the configuration and the administrator see it. iSCSI is
// one (target/iscsi/fabric.c). Its table is the only way down from target/config, target/rpc and
// target/metrics to a protocol; what fabrics share stands beside it in this folder: sessions
// (session.h, sessions.h), refused logins (refusals.h), limits of peers (peer_limits.h,
// login_slots.h), portals (portal.h), and the published configuration (view.h).
//
// To add one: a folder in target/ that fills a struct fabric_ops, and a line in target/fabrics.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "target/fabric/name.h"
#include "target/fabric/settings.h"
#include "target/scsi/nexus.h"
#include "transport/tcp/addr.h"

struct buf_copies;
struct fabric_counters;
struct portal;
struct rnic_provider;
struct rnic_request;
struct session;
struct session_info;
struct view_acl;
struct view_place;
struct view_tpg;
struct worker;

// Connections and logins of a fabric since the start; words, which are summed.
struct fabric_counters {
	uint64_t connections_accepted, connections_refused, connections_closed_protocol_error;
	uint64_t logins_ok, logins_failed, logins_timed_out, logins_displaced;
	uint64_t failed_auth, failed_acl, failed_target, failed_other;
	uint64_t digest_errors, rejects_sent;
	uint64_t pdus_received, pdus_sent, bytes_received, bytes_sent;
};

// A selection of transports as users write it.
struct fabric_transport {
	const char *name; // "tcp"
	unsigned mask;	  // PORTAL_TCP ...
};

// Functions: the thread is the control thread, or the worker of the session that is passed. None
// may block. fabrics_use() fills absent slots as their comments say.
struct fabric_ops {
	// ---- names ----

	// Its node below the tree's root, "fabric" in the saved file, in the log: "iscsi".
	// Required.
	const char *name;
	const char *title; // in messages: "iSCSI". Required.
	// PROTOCOL IDENTIFIER of its ports and of its TransportIDs (SPC-5 7.6.1).
	enum scsi_protocol protocol;
	// session_info.transport of its sessions, which metrics count; ends with NULL. Required.
	const char *const *session_transports;
	// Writes the normal form of a target's name. is_new: a target is being created, which is
	// checked strictly. -EINVAL with text. Any thread. Absent: no name is accepted.
	int (*name_target)(const char *in, bool is_new, char out[FABRIC_NAME_SIZE], struct err *e);
	// The same of an initiator, as ACLs and sessions have it; a fabric may accept several
	// forms, such as a port id and an address. Absent: no name is accepted.
	int (*name_initiator)(const char *in, char out[FABRIC_NAME_SIZE], struct err *e);
	// Whether two normal forms name ports of one initiator. Any thread. Absent: equal names.
	bool (*is_same_initiator)(const char *a, const char *b);
	// Writes the SCSI TARGET PORT NAME of a portal group, as VPD pages 83h and 88h report it.
	// Any thread. Required.
	void (*port_name)(const char *target, uint16_t tag, char out[FABRIC_PORT_SIZE]);

	// ---- life ----

	// Called once, before the first portal, while the workers run; control thread. Absent:
	// nothing to do.
	int (*start)(struct worker *control, struct err *e);
	// Ends every session and connection, and waits for that. Control thread; sessions of other
	// fabrics continue. Absent: it has none.
	void (*stop)(void);

	// ---- published configuration ----

	// Where its view is published: zeroed, static. Required.
	struct view_place *views;
	// The ACL of a portal group that admits s; NULL: none. s->initiator is known. Absent: the
	// one with that name; a fabric whose ACLs have several forms tries them in its order.
	const struct view_acl *(*find_acl)(const struct view_tpg *tpg, const struct session *s);
	// The session continues with another configuration: s->target, s->tpg, s->acl or its LUN
	// map is about to change. Absent: nothing to do.
	void (*follows)(struct session *s);

	// ---- portals ----

	uint16_t port; // default of ip_port
	// Selections that users make, all of them first; ends with a NULL name. Absent: none.
	const struct fabric_transport *transports;
	// Devices whose listeners bring RDMA requests. Absent: none.
	const struct rnic_provider *devices;
	// Initiators may also connect by a service id of InfiniBand, without an address.
	bool has_service_ids;
	// Chooses the worker of a new connection from peer; quietest: the one with the fewest
	// connections. Control thread. Absent: the quietest.
	struct worker *(*assign)(const struct tcp_addr *peer, struct worker *quietest);
	// A connection to p has been counted (peer_limits.h, portal.h) and assigned to the calling
	// worker w: a socket, or an RDMA request with fd -1. Takes ownership of both, and of the
	// counts, which portal_conn_closed() lowers. Absent: closes the connection.
	void (*accept)(struct worker *w, int fd, struct rnic_request *q, struct portal *p);
	// The peer of a request that accept got has disconnected before its answer: q was freed.
	// Its worker. Absent: accept answers every request itself.
	void (*gone)(struct rnic_request *q);
	// Status of a connection refused for lack of resources, in the table of refusals.
	uint32_t status_full;

	// ---- sessions; all on the session's worker ----

	// Ends the session after sending what is queued; why: for the log and for the table of
	// ended sessions. Idempotent. It is over when session_leave() is called, later, not from
	// inside. Required.
	void (*close)(struct session *s, const char *why);
	// The same at once, without sending anything more, also if it is closing already. Absent:
	// as close().
	void (*cut)(struct session *s, const char *why);
	// Asks the initiator to log out within that time, after which the fabric ends the session.
	// False: this session cannot be asked, or the protocol has no such message; the caller
	// closes it. Absent: false.
	bool (*ask_logout)(struct session *s, unsigned seconds);
	// A newcomer takes the login slot of s (login_slots.h), which is logging in or open to all
	// peers: leave the slot and end s. Absent: as close().
	void (*displace)(struct session *s);
	// Keeps the memory of s while a callback is pending, and ends that. Absent: the memory
	// outlives it anyway.
	void (*hold)(struct session *s);
	void (*release)(struct session *s);
	// Adds to ret what only the protocol knows: alias, proof, window, RDMA rights,
	// output_waits_us, and the fields of `identity` and `negotiated` (session.h). The
	// rest is filled. Absent: nothing.
	void (*describe)(const struct session *s, struct session_info *ret);
	// Payload copies by its transport, beside those of the device server. Absent: 0.
	struct buf_copies (*copies)(const struct session *s);

	// ---- reports ----

	// The sum of its counters over the workers. Any thread. Absent: zeros.
	void (*counters)(struct fabric_counters *ret);

	// ---- settings, for target/config ----

	struct fabric_settings group, acl; // beyond what all have
	struct fabric_params params;
	// Rows of struct portal_attr that it honours; ends with a NULL name. Absent: none.
	const struct attr_row *portal_rows;
	// The fields of session_info.negotiated, which the tree shows at the session's ACL; ends
	// with a NULL name. Absent: none.
	const struct attr_row *negotiated_rows;
	// Reads a portal group's own struct. Absent: initiators with an ACL, without credentials.
	void (*access)(const void *group, struct fabric_access *ret);
	// Whether logins by an ACL with this own struct need credentials: 1, 0, or -1: its portal
	// group decides. Absent: -1.
	int (*acl_needs_credentials)(const void *acl);
};

// Makes table, which ends with NULL, the fabrics of this program, and fills absent slots. Before
// every other function; control thread.
void fabrics_use(struct fabric_ops *const *table);
// Fills the absent slots of one that is not in such a table.
void fabric_fill(struct fabric_ops *f);
// Starts them, and what they share, on the existing workers. Control thread, after the workers run
// and before the first portal.
int fabrics_start(struct worker *control, struct err *e);
// Ends every session and waits. Control thread. No-op if not started.
void fabrics_stop(void);

// Any thread, after fabrics_use(). NULL: past the last; no such fabric.
const struct fabric_ops *fabric_at(unsigned index);
const struct fabric_ops *fabric_find(const char *name);

// The sum over all fabrics. Any thread.
void fabric_counters_sum(struct fabric_counters *ret);
