// SPDX-License-Identifier: BSD-2-Clause
// Private to the initiator's iSER mover: its connection, shared by its files.
#pragma once

#include "transport/iser/dmi_iser.h"
#include "transport/iser/iser.h"
#include "transport/rdma/slots.h"

enum {
	// Commands in flight. A target posts one receive per PDU that it accepts; Linux posts 128,
	// also for pings, task management and logout.
	DMI_ISER_TASKS_MAX = 120,
	DMI_ISER_CONTROLS_MAX = 40, // other PDUs not sent yet
	DMI_ISER_SLOTS = DMI_ISER_TASKS_MAX + DMI_ISER_CONTROLS_MAX,
	// Messages that the target may send at once: a response to each PDU, and unsolicited PDUs.
	DMI_ISER_RX = DMI_ISER_TASKS_MAX + 16,
	DMI_ISER_HDR_LEN = ISER_HDR_LEN + ISCSI_BHS_LEN,
};

struct dmi_iser {
	struct dmi dm;
	struct worker *worker;
	struct rnic_qp *qp;
	struct iscsi_params params;
	enum iscsi_phase phase;
	void (*connected)(struct dmi *dm);
	bool is_established, is_reserved, is_invalidating, has_window_moved;
	struct rnic_slots slots; // by the lower bits of the ITT
	uint32_t generation;	 // the upper bits of the next ITT
	struct msg free_msg;
	char transport[32];
};

static inline struct dmi_iser *dmi_iser(struct dmi *dm)
{
	return container_of(dm, struct dmi_iser, dm);
}

// dmi_iser_tx.c: sending.
void dmi_iser_command(struct dmi *dm, struct dmi_task *t);
void dmi_iser_send(struct dmi *dm, const uint8_t *bhs, const void *data, uint32_t len,
		   bool is_login);
void dmi_iser_drop(struct dmi *dm, struct dmi_task *t);
// A connection is new: its slots, which rnic_slots_open() prepares.
void dmi_iser_tx_init(struct dmi_iser *d);
// The slot of a command in flight, or NULL.
struct rnic_slot *dmi_iser_find(struct dmi_iser *d, uint32_t itt);
// The slot's task has ended; up->done follows.
void dmi_iser_finish(struct rnic_slot *s, int res);

// dmi_iser_rx.c: receiving.
void dmi_iser_received(struct rnic_qp *qp, struct rnic_rx *rx);
