// SPDX-License-Identifier: BSD-2-Clause
// Slots of logins in progress, of all fabrics: when all are taken, the address with the most logins
// loses one, so that a peer cannot keep others from logging in. What is open to all peers, such as
// discovery, keeps the slot of its login. The worker's thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/list.h"
#include "core/worker.h"
#include "transport/tcp/addr.h"

struct session;

// In struct session.
struct login_slot {
	struct login_peer *peer; // NULL: no slot
	struct list link;
	bool is_displaced; // by a newcomer
	bool has_spoken;   // a complete request has arrived
	uint64_t since_ns; // ... and when the last one, or the connection, arrived
};

// Before the first login; control thread.
void login_slots_init(void);
// Takes a slot for a connection from addr; may displace another one. -EBUSY, -ENOMEM.
int login_slot_take(struct session *s, const struct tcp_addr *addr, struct err *e);
void login_slot_progress(struct session *s); // it has sent a complete request
void login_slot_leave(struct session *s);    // idempotent
void login_slot_done(struct session *s);     // its connection has ended
// Every second: for newcomers refused for lack of connections, before they could displace a login.
void login_slots_tick(struct worker *w);
