// SPDX-License-Identifier: BSD-2-Clause
// A connection until the answer to its LOGIN_REQ: software iWARP's startup, the checks, the wait
// for the end of an older session. It has a login slot, which a newcomer may take. Private to
// target/srp; the connection's worker.
#pragma once

#include "target/fabric/session.h"
#include "target/srp/admit.h"
#include "target/srp/identity.h"

struct rnic_request;

struct login {
	struct session session; // of the slot, and for the log; not in the registry
	struct list link;	// of the worker's logins, or greetings
	struct portal *portal;
	struct tcp_addr peer;
	char peer_text[TCP_ADDR_TEXT];
	unsigned transport;	      // PORTAL_RDMA or PORTAL_IWARP
	struct rnic_request *request; // NULL: it has not come, or was answered
	bool is_greeting;	      // software iWARP has the socket
	bool is_over;
	unsigned holds; // atomic: nexuses.c refers to it until resume_msg
	struct msg resume_msg;

	// From the request on.
	struct srp_login req;
	char initiator[PORT_NAME_SIZE], target[PORT_NAME_SIZE];
	struct view *view;
	struct admission terms; // pointers into view
};

// ---- slots of struct fabric_ops, and the tick ----
void login_accept(struct worker *w, int fd, struct rnic_request *q, struct portal *p);
void login_gone(struct rnic_request *q);
void login_displace(struct session *s);
void login_check(struct login *l, uint64_t now); // its time
void login_stop(struct login *l);		 // the target is stopping
