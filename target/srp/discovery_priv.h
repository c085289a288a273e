// SPDX-License-Identifier: BSD-2-Clause
// Private to discovery.c and discovery_list.c: a channel and its commands. The connection's worker.
#pragma once

#include "target/scsi/sense.h"
#include "target/srp/discovery.h"
#include "target/srp/listing.h"
#include "transport/srp/target.h"

struct discovery {
	struct list link;	// of the worker's
	struct list turn;	// srp_worker.turns
	struct session session; // of the slot, and for the log; not in the registry
	struct portal *portal;
	struct tcp_addr peer, local;
	char peer_text[TCP_ADDR_TEXT], initiator[PORT_NAME_SIZE];
	unsigned transport;
	struct view *view;
	struct srp_channel *ch;
	struct rnic_drain drain;
	struct list requests; // struct request
	unsigned command_count;
	struct listing listing;
	struct buf *buf;      // of the list; NULL: not begun
	struct buf_wait wait; // for that
	struct sg sg;	      // the list, once it is complete; len 0: it is not
	char why[100];	      // it was closed here; "": it was not
	bool is_closed;	      // the connection
	bool is_free_posted;
	struct msg free_msg;
};

struct request {
	struct list link;
	struct discovery *discovery;
	uint32_t sense_code; // 0: it asks for the list
	uint32_t most;	     // ALLOCATION LENGTH
	uint32_t out_len, in_len;
	bool is_put;
	struct srp_result result;
	uint8_t sense[SENSE_MAX];
	struct srp_task srp;
};

// ---- discovery_list.c ----

// Answers a command, perhaps later.
void discovery_answer(struct request *r);
// The connection is closed: ends every command without a response.
void discovery_drop(struct discovery *d);
