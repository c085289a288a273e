// SPDX-License-Identifier: BSD-2-Clause
// Private to the initiator's iSER mover: its connection, shared by its files.
#pragma once

#include "transport/iser/dmi_iser.h"
#include "transport/iser/iser.h"

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

// An outgoing PDU, and the command that it starts until that ends.
struct dmi_iser_slot {
	struct rnic_wr wr;
	struct rnic_sge sge[2]; // headers, data
	struct rnic_sge own;	// memory of the slot for data, allocated on demand
	struct dmi_iser *d;
	struct dmi_task *task; // NULL: any other PDU
	bool is_sending;       // the request is posted: it refers to the task
	bool is_finished;      // up->done waits for that
	int res;	       // of up->done
	bool is_exposed;
	struct rnic_exposed exposed;
	struct rnic_mr *own_mr; // for this command alone
	uint8_t *bounce;	// ... of this memory instead of the command's
};

struct dmi_iser {
	struct dmi dm;
	struct worker *worker;
	struct rnic_qp *qp;
	struct iscsi_params params;
	enum iscsi_phase phase;
	void (*connected)(struct dmi *dm);
	bool is_established, is_closing, is_reserved, is_invalidating, has_window_moved;
	struct dmi_iser_slot slots[DMI_ISER_SLOTS]; // by the lower bits of the ITT
	uint8_t free_slots[DMI_ISER_SLOTS];
	unsigned free_count, controls;
	uint32_t generation;		  // the upper bits of the next ITT
	struct buf *headers;		  // DMI_ISER_HDR_LEN for each slot
	struct buf *data[DMI_ISER_SLOTS]; // ISER_DATA_MAX for slots that needed it
	struct err fault;		  // why the connection will close at the end of the round
	struct defer fault_defer;
	struct defer unsent_defer; // ends tasks that could not be sent
	struct msg free_msg;
	char transport[32];
};

static inline struct dmi_iser *dmi_iser(struct dmi *dm)
{
	return container_of(dm, struct dmi_iser, dm);
}

// dmi_iser_tx.c: sending, the end of tasks, faults.
void dmi_iser_close_now(struct dmi_iser *d, const struct err *why);
// Closes at the end of the round, for the first reason given.
void dmi_iser_fault(struct dmi_iser *d, const struct err *e);
void dmi_iser_command(struct dmi *dm, struct dmi_task *t);
void dmi_iser_send(struct dmi *dm, const uint8_t *bhs, const void *data, uint32_t len,
		   bool is_login);
void dmi_iser_drop(struct dmi *dm, struct dmi_task *t);
// Prepares the slots of an established connection. -ENOMEM.
int dmi_iser_tx_open(struct dmi_iser *d, struct err *e);
void dmi_iser_tx_close(struct dmi_iser *d); // the connection is closed: ends all tasks with -EPIPE
void dmi_iser_tx_free(struct dmi_iser *d);
// The slot of a command in flight, or NULL.
struct dmi_iser_slot *dmi_iser_find(struct dmi_iser *d, uint32_t itt);
// The slot's task has ended; up->done follows as soon as no posted request refers to it.
void dmi_iser_finish(struct dmi_iser_slot *s, int res);

// dmi_iser_mem.c: a command's memory and the peer. expose: as rnic_expose().
int dmi_iser_expose(struct dmi_iser_slot *s, struct err *e);
void dmi_iser_conceal(struct dmi_iser_slot *s); // no-op if nothing is exposed

// dmi_iser_rx.c: receiving.
void dmi_iser_received(struct rnic_qp *qp, struct rnic_rx *rx);
