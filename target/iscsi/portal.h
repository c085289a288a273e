// SPDX-License-Identifier: BSD-2-Clause
// Portals: listening sockets. A portal whose address is missing or in use waits, is retried every
// second or two, and reports why. One listener per address serves every TPG that uses it; the login
// selects the target.
//
// Control thread only; listeners run on the control thread's loop and pass accepted sockets to the
// data worker with the fewest connections.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "target/fabric/refusals.h"
#include "target/iscsi/sessions.h"
#include "transport/tcp/addr.h"

struct portal;

enum portal_state {
	PORTAL_LISTENING,
	PORTAL_WAITING, // will be retried; see portal_reason()
};

// Transports for initiators. Software iWARP shares the TCP socket: the first byte distinguishes
// them. Without both there is no such socket, so the kernel's iWARP, siw, can use the port.
enum {
	PORTAL_TCP = 1,	  // iSCSI over TCP
	PORTAL_ISER = 2,  // iSER, at least over RDMA devices
	PORTAL_IWARP = 4, // iSER also over software iWARP
	PORTAL_SOCKET = PORTAL_TCP | PORTAL_IWARP,
	PORTAL_ALL = PORTAL_TCP | PORTAL_ISER | PORTAL_IWARP,
};

// Opens a portal, with a count of users: the same address returns the same portal with another
// user. It offers all transports that any user wants; logins are restricted to those of their
// target's user. Transient errors (no such address yet, port in use) do not fail: the state is then
// PORTAL_WAITING. -ENOMEM.
int portal_open(struct portal **ret, struct worker *control, const struct tcp_addr *addr,
		unsigned transports, struct err *e);
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
// since iSER is not offered or the portal itself is waiting.
const char *portal_rdma_waits(const struct portal *p);
// Why the portal has lost an RDMA device, or NULL. The same.
const char *portal_rdma_gone(const struct portal *p);

enum portal_state portal_state(const struct portal *p);
const char *portal_reason(const struct portal *p); // without its address; "" while listening
const struct tcp_addr *portal_addr(const struct portal *p); // as configured

// Connections since the portal was opened: accepted, refused (limits), open.
struct portal_counters {
	uint64_t accepted, refused, logins, login_failures[REFUSAL_CAUSES];
	uint32_t connections;
};
void portal_counters(const struct portal *p, struct portal_counters *ret);
// The sum over its sessions since then, live and ended. Visits the workers and blocks until they
// respond.
void portal_traffic(const struct portal *p, struct session_traffic *ret);
