// SPDX-License-Identifier: BSD-2-Clause
// What each worker has for its SRP logins and sessions. The worker's thread, but for the counters.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/list.h"
#include "core/worker.h"
#include "target/fabric/fabric.h"
#include "target/fabric/memory_trim.h"
#include "target/fabric/traffic.h"

struct srp_channel_info;

struct srp_worker {
	struct worker *worker;
	struct list logins;	 // struct login
	struct list greetings;	 // those that have ended while software iWARP had their socket
	struct list sessions;	 // struct srp_session
	struct list discoveries; // struct discovery
	struct list turns;	 // struct discovery: their lists are made in this order
	bool is_turns_posted;
	struct msg turns_msg;
	struct list free_cmds;
	unsigned free_count;
	struct list orphans; // task management requests whose sessions have ended (tmf.c)
	struct timer tick;   // every second while there are logins, sessions or discoveries
	bool is_short;	     // of memory: sessions_starve()
	struct memory_trim trim;
	struct fabric_counters counters;
};

struct srp_worker *srp_worker(void); // of the calling worker
struct srp_worker *srp_worker_at(unsigned index);
// A login, session or discovery has come: the tick runs. One has gone: it ends with the last.
void srp_worker_wake(struct srp_worker *sw);
void srp_worker_rest(struct srp_worker *sw);
// Adds what a channel has moved since it was counted to the counters.
void srp_worker_count(struct srp_worker *sw, struct fabric_traffic *counted,
		      const struct srp_channel_info *k);
