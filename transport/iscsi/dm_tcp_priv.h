// SPDX-License-Identifier: BSD-2-Clause
// Private to the target's TCP mover: its connection, shared by its files.
#pragma once

#include "transport/iscsi/dm_task.h"
#include "transport/iscsi/pdu_conn.h"

enum { DM_R2T_MAX = 16 };

// An outstanding R2T.
struct dm_r2t {
	uint32_t ttt, offset, len, received, data_sn;
};

// The room of a task.
struct dm_tcp_task {
	struct dm_out out;
	uint32_t r2t_sn;
	uint32_t in_sn, in_at; // DataSN and offset of the next Data-In
	bool is_part;	       // up->part follows when nothing is pending, with this result
	int part_res;
	unsigned tx_pending; // PDUs that refer to the task's memory
	unsigned r2t_count;  // outstanding, in order
	struct dm_r2t r2t[DM_R2T_MAX];
};

static inline struct dm_tcp_task *dm_tcp_task(const struct dm_task *t)
{
	return (struct dm_tcp_task *)dm_out(t);
}

struct dm_tcp {
	struct dm dm;
	struct pdu_conn conn;
	struct dm_owed owed;
	// The task whose data segment is being received; NULL again if it ends meanwhile.
	struct dm_task *rx_task;
	bool is_rx_solicited;
	bool is_paused;	  // by the role
	bool is_ping_cut; // the NOP-Out being received is answered without its data
	uint32_t next_ttt;
};

static inline struct dm_tcp *dm_tcp(struct dm *dm)
{
	return container_of(dm, struct dm_tcp, dm);
}

// dm_tcp_out.c: data-out.

// t has arrived, a write, or with data: its immediate data is received next (rx_task), if any.
void dm_tcp_take(struct dm_tcp *d, struct dm_task *t, const struct iscsi_pdu *pdu);
// The destination of len bytes of t's data from offset on.
void dm_tcp_sink(struct dm_tcp *d, struct dm_task *t, uint32_t offset, uint32_t len,
		 struct pdu_sink *sink);
// A Data-Out's header; an unknown task's is discarded.
void dm_tcp_data_out(struct dm_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     struct pdu_sink *sink);
// The segment announced by one of the two above has arrived.
void dm_tcp_data_received(struct dm_tcp *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
			  int res);
void dm_tcp_get_data(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len);
void dm_tcp_put_data(struct dm *dm, struct dm_task *t, struct dm_result *r);
uint64_t dm_tcp_oldest_owed(struct dm *dm);
uint64_t dm_tcp_owed_since(const struct dm_tcp *d);

// dm_tcp_tx.c: sending.

void dm_tcp_put_part(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg, uint32_t len);
// Sends data-in and status of t, which receives nothing more; NULL: neither. up->released follows.
void dm_tcp_send_result(struct dm_tcp *d, struct dm_task *t, struct dm_result *r);
void dm_tcp_send(struct dm *dm, const uint8_t *bhs, const void *data, uint32_t len, unsigned flags);
void dm_tcp_send_reject(struct dm_tcp *d, uint8_t reason, const uint8_t *bad);
// Stops receiving while the peer does not read its answers, or the role has paused it.
void dm_tcp_tx_flow(struct dm_tcp *d);
