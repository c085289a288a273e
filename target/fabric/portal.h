// SPDX-License-Identifier: BSD-2-Clause
// Portals: an address of a fabric, with a listening socket and listeners on the RDMA devices that
// have the address. A portal whose address is missing or in use waits, is retried every second or
// two, and reports why. One portal per address serves every group of its fabric that uses it; the
// login selects the target.
//
// Control thread only, unless noted otherwise; listeners run on the control thread's loop and pass
// connections to the worker that the fabric chooses (fabric_ops.assign, accept).
#pragma once

#include "core/attr.h"
#include "core/err.h"
#include "core/worker.h"
#include "target/fabric/refusals.h"
#include "target/fabric/traffic.h"
#include "transport/tcp/addr.h"

struct fabric_ops;
struct portal;

enum portal_state {
	PORTAL_LISTENING,
	PORTAL_WAITING, // will be retried; see portal_reason()
};

// Transports for initiators. Software iWARP uses the TCP socket, for iSCSI together with the
// protocol itself: the first byte distinguishes them. Without both there is no such socket, so the
// kernel's iWARP, siw, can use the port.
enum {
	PORTAL_TCP = 1,	  // the protocol over TCP: iSCSI
	PORTAL_RDMA = 2,  // over RDMA devices: iSER, SRP
	PORTAL_IWARP = 4, // also over software iWARP
	PORTAL_SOCKET = PORTAL_TCP | PORTAL_IWARP,
	PORTAL_ALL = PORTAL_TCP | PORTAL_RDMA | PORTAL_IWARP,
};

// Settings of a portal's RDMA connections, as rows in portal_attr.c.
struct portal_attr {
	uint32_t tos;  // type of service; 0: the system's
	uint32_t pkey; // required partition; 0: any
};
extern const struct attr_row portal_attr_rows[];

// Opens a portal, with a count of users: the same address returns the same portal with another
// user. It offers all transports that any user wants; logins are restricted to those of their
// target's user. Transient errors (no such address yet, port in use) do not fail: the state is then
// PORTAL_WAITING. -ENOMEM.
int portal_open(struct portal **ret, const struct fabric_ops *fabric, struct worker *control,
		const struct tcp_addr *addr, unsigned transports, struct err *e);
// Drops one user and its transports; the last one closes the listener. Sessions continue. NULL is
// fine.
void portal_close(struct portal *p, unsigned transports);
// Changes the transports of a user. Sessions continue.
void portal_change(struct portal *p, unsigned from, unsigned to);
unsigned portal_transports(const struct portal *p); // offered now; any thread
unsigned portal_listening(const struct portal *p);  // ... and listening; any thread
// References keep the memory, not the listener. Any thread; put: NULL is fine.
struct portal *portal_get(struct portal *p);
void portal_put(struct portal *p);
// Why the portal's listener on RDMA devices is waiting; "": it listens; NULL: no such listener,
// since RDMA is not offered or the portal itself is waiting.
const char *portal_rdma_waits(const struct portal *p);
// The same of its listener on the service id of InfiniBand, NULL also without an InfiniBand port.
const char *portal_service_waits(const struct portal *p);
// Why the portal has lost an RDMA device, or NULL. The same.
const char *portal_rdma_gone(const struct portal *p);

enum portal_state portal_state(const struct portal *p);
const char *portal_reason(const struct portal *p); // without its address; "" while listening
const struct tcp_addr *portal_addr(const struct portal *p);	// as configured
const struct fabric_ops *portal_fabric(const struct portal *p); // any thread

// Connections since the portal was opened: accepted, refused (limits), open.
struct portal_counters {
	uint64_t accepted, refused, logins, login_failures[REFUSAL_CAUSES];
	uint32_t connections;
};
void portal_counters(const struct portal *p, struct portal_counters *ret);

// For the fabric, on the connection's worker. A connection that fabric_ops.accept got has closed:
// it is counted no more; its reference to p is dropped.
void portal_conn_closed(struct portal *p, const struct tcp_addr *peer);
// A connection of that peer is refused: for the log and for the table of refusals. Any thread.
void portal_refused(const struct fabric_ops *fabric, const struct tcp_addr *peer, const char *why);
void portal_note_login(struct portal *p);
void portal_note_failure(struct portal *p, enum refusal_cause why);
// A session ends: adds its statistics to those of the calling worker.
void portal_note_end(struct portal *p, const struct session_traffic *traffic);
// The sum of those noted by the calling worker.
const struct session_traffic *portal_ended_here(const struct portal *p);
