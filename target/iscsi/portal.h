// SPDX-License-Identifier: BSD-2-Clause
// Portals: listening sockets, bound late. A portal whose address is missing or taken waits,
// is retried every second or two, and says why. One listener per address serves every TPG
// that names it; the login tells which target is meant.
//
// Control thread only; listeners live on the control thread's loop and hand accepted sockets
// to the data worker with the fewest connections.
#pragma once

#include "core/err.h"
#include "core/worker.h"
#include "target/iscsi/sessions.h"
#include "transport/tcp/addr.h"

struct portal;

enum portal_state {
	PORTAL_LISTENING,
	PORTAL_WAITING, // will be retried; portal_reason() says what is missing
};

// What initiators may use. Software iWARP shares the TCP socket: the first byte tells. Without
// both, there is no such socket: then the kernel's own iWARP, siw, can have the port.
enum {
	PORTAL_TCP = 1,	  // iSCSI over TCP
	PORTAL_ISER = 2,  // iSER, over RDMA devices at least
	PORTAL_IWARP = 4, // iSER over software iWARP too
	PORTAL_SOCKET = PORTAL_TCP | PORTAL_IWARP,
	PORTAL_ALL = PORTAL_TCP | PORTAL_ISER | PORTAL_IWARP,
};

// Counted open: the same address given again returns the same portal with one more user. The
// portal offers what one user at least wants; logins are held to what their target's user does.
// Never fails for what may heal by itself (no such address yet, port taken): then the state
// is PORTAL_WAITING. -ENOMEM.
int portal_open(struct portal **ret, struct worker *control, const struct tcp_addr *addr,
		unsigned transports, struct err *e);
// Drops one user, with the transports it wanted; the last one closes the listener. Sessions go on.
// NULL is fine.
void portal_close(struct portal *p, unsigned transports);
// A user wants others from now on. Sessions go on.
void portal_change(struct portal *p, unsigned from, unsigned to);
unsigned portal_transports(const struct portal *p); // offered now; any thread
unsigned portal_listening(const struct portal *p);  // ... and listened for; any thread
// References keep the memory, not the listener. Any thread; put: NULL is fine.
struct portal *portal_get(struct portal *p);
void portal_put(struct portal *p);
// What the portal's listener on RDMA devices waits for; "": it listens; NULL: there is none, since
// iSER is not offered or the portal waits itself.
const char *portal_rdma_waits(const struct portal *p);
// Why the portal lacks an RDMA device that it had before, or NULL. The same.
const char *portal_rdma_gone(const struct portal *p);

enum portal_state portal_state(const struct portal *p);
const char *portal_reason(const struct portal *p); // without its address; "" while listening
const struct tcp_addr *portal_addr(const struct portal *p); // as configured

enum login_failure {
	LOGIN_BAD_AUTH,
	LOGIN_NO_ACL,
	LOGIN_NO_TARGET,
	LOGIN_TIMED_OUT,
	LOGIN_OTHER,
	LOGIN_FAILURES
};

// Accepted, refused (limits) and open connections since the portal was opened.
struct portal_counters {
	uint64_t accepted, refused, logins, login_failures[LOGIN_FAILURES];
	uint32_t connections;
};
void portal_counters(const struct portal *p, struct portal_counters *ret);
// The sum of the sessions that came in here since then, live ones as well as ended ones. Visits
// the workers and blocks for their answer.
void portal_traffic(const struct portal *p, struct session_traffic *ret);
