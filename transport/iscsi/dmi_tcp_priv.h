// SPDX-License-Identifier: BSD-2-Clause
// Private to the initiator's TCP mover: its connection, shared by its files.
#pragma once

#include "transport/iscsi/dmi_tcp.h"
#include "transport/iscsi/pdu_conn.h"

// The room of a task.
struct dmi_tcp_task {
	uint32_t in_done;    // data-in received
	uint32_t data_sn;    // next DataSN of data-in
	uint32_t out_done;   // data-out sent unsolicited or requested by R2Ts
	uint32_t r2t_sn;     // next R2TSN
	uint32_t r2t_count;  // R2Ts whose data has not been sent
	uint32_t tx_pending; // PDUs that refer to sg
	int res;
	bool is_finished; // up->done waits for tx_pending
};

static inline struct dmi_tcp_task *dmi_tcp_task(const struct dmi_task *t)
{
	return (struct dmi_tcp_task *)(t + 1);
}

struct dmi_tcp {
	struct dmi dm;
	struct pdu_conn conn;
	struct dmi_task *tasks[DMI_TASKS_MAX]; // by slot, the lower bits of the ITT
	uint16_t free_slots[DMI_TASKS_MAX];
	unsigned free_count;
	uint32_t generation; // the upper bits of the next ITT
	// The task whose PDU is being received; NULL again if the task ends meanwhile.
	struct dmi_task *rx_task;
	bool has_window_moved;
	unsigned control_pending; // control PDUs not sent yet
	struct err fault;	  // why the connection will close at the end of the round
	struct defer fault_defer;
	struct msg free_msg;
};

static inline struct dmi_tcp *dmi_tcp(struct dmi *dm)
{
	return container_of(dm, struct dmi_tcp, dm);
}

// dmi_tcp_tx.c: sending, and the end of tasks.

void dmi_tcp_command(struct dmi *dm, struct dmi_task *t);
void dmi_tcp_send(struct dmi *dm, const uint8_t *bhs, const void *data, uint32_t len,
		  bool is_login);
// Sends len bytes of t's data-out from offset as Data-Outs with the given TTT (wire order).
// sent counts them. False: no memory, the connection will close.
bool dmi_tcp_data_out(struct dmi_tcp *d, struct dmi_task *t, const uint8_t *lun, const uint8_t *ttt,
		      uint32_t offset, uint32_t len);
// Removes t from the table; up->done follows as soon as no queued PDU refers to it.
void dmi_tcp_finish(struct dmi_tcp *d, struct dmi_task *t, int res);

// dmi_tcp_rx.c: receiving.
extern const struct pdu_conn_ops dmi_tcp_conn_ops;
