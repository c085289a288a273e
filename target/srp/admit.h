// SPDX-License-Identifier: BSD-2-Clause
// Whether a login is accepted, and on which terms: decided from one snapshot of the configuration.
// T10 SRP 6.3 to 6.5. Pure functions, any thread.
#pragma once

#include "core/err.h"
#include "target/fabric/refusals.h"
#include "target/fabric/view.h"
#include "transport/srp/iu.h"
#include "transport/srp/login.h"

enum {
	SRP_CREDITS = 128, // commands of a channel in flight, and receive buffers
	SRP_DISCOVERY_CREDITS = 2,
	SRP_TI_IU_MIN = 256,   // longest IU to an initiator, at least
	SRP_CHANNELS_MAX = 64, // of a nexus
};

struct admit_query {
	const struct view *view;
	const struct srp_login *login;
	const char *initiator; // its name
	const struct tcp_addr *peer;
	const struct tcp_addr *portal; // by which it comes, as configured
	bool is_by_service;	       // ... or by another one on all addresses with its port
	unsigned transport;	       // PORTAL_RDMA or PORTAL_IWARP
};

// What the initiator gets. Pointers are into the view.
struct admission {
	bool is_discovery; // of targets (discovery.h): of the following only terms is set
	const struct view_target *target;
	const struct view_tpg *tpg;
	const struct view_acl *acl; // NULL: none, demo mode
	struct srp_accept terms;    // without the result of a login to several channels
};

// 0, or the reason of a LOGIN_REJ; then *ret_cause and e say why. ret->target is set as soon as it
// is known.
uint32_t srp_login_admit(const struct admit_query *q, struct admission *ret,
			 enum refusal_cause *ret_cause, struct err *e);
