// SPDX-License-Identifier: BSD-2-Clause
// Private to the initiator's end of a channel: shared by its files.
#pragma once

#include "transport/rdma/slots.h"
#include "transport/srp/initiator.h"

enum {
	SRPI_CONTROLS_MAX = 8, // answers and task management that are not sent yet
	SRPI_SLOTS = SRPI_TASKS_MAX + SRPI_CONTROLS_MAX,
	// Messages that the target may send at once: a response to each IU, CRED_REQ, AER_REQ.
	SRPI_RX = SRPI_SLOTS + 8,
	SRPI_HEADER_MAX = SRP_CMD_LEN + SRP_INDIRECT_LEN + RNIC_KEYS_MAX * SRP_DIRECT_LEN,
	// A tag, from below: slot, generation, number of the channel, SRPI_TMF_TAG.
	SRPI_SLOT_BITS = 8,
	SRPI_NUMBER_SHIFT = 48,
};
_Static_assert(SRPI_SLOTS <= 1 << SRPI_SLOT_BITS, "slots fit into the lower bits of a tag");
#define SRPI_TMF_TAG (1ull << 63)

struct srpi_channel {
	struct worker *worker;
	struct rnic_qp *qp;
	const struct srpi_up *up;
	void *role;
	struct rnic_slots slots; // by the lower bits of the tag
	uint64_t login_tag, generation, tmf_tag;
	uint8_t number;
	struct srp_accept accept;
	int64_t credits;	   // REQUEST LIMIT: IUs that may be sent
	unsigned tasks, tasks_max; // commands: in flight, at most
	uint32_t keys_max, imm_max;
	bool wants_immediate, is_established, is_up, is_reserved, has_tmf, is_logout;
	struct err reject; // why the target refused the login
	uint32_t reject_reason;
	char transport[32];
};

// A new tag with these lower bits.
static inline uint64_t srpi_tag(struct srpi_channel *ch, unsigned slot)
{
	ch->generation++;
	return (ch->generation << SRPI_SLOT_BITS & ((1ull << SRPI_NUMBER_SHIFT) - 1)) |
	       (uint64_t)ch->number << SRPI_NUMBER_SHIFT | slot;
}

// initiator_tx.c
void srpi_tx_init(struct srpi_channel *ch); // the connection is new
// The task's slot; NULL: it has ended, or waits for its request to be sent.
struct rnic_slot *srpi_slot(struct srpi_channel *ch, uint64_t tag);
// Sends CRED_RSP, AER_RSP.
void srpi_answer(struct srpi_channel *ch, enum srp_opcode opcode, uint64_t tag);
// Ends t with res: up->done as soon as no posted request refers to it.
void srpi_finish(struct rnic_slot *slot, int res);

// initiator_rx.c
void srpi_received(struct rnic_qp *qp, struct rnic_rx *rx);
