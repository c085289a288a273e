// SPDX-License-Identifier: BSD-2-Clause
// Private to software iWARP: the contents of one sendmsg. Headers are in the device's frames until
// it returns; the rest is in the memory of the messages. On the connection's worker; nothing
// blocks.
#pragma once

#include "transport/rdma/iwarp/iw_priv.h"

// One FPDU of a batch.
struct iw_fpdu {
	bool is_response, is_last, is_partial;
	uint32_t len;	   // of its payload
	uint32_t external; // ... outside head
	uint32_t left;	   // bytes of it that this batch sends
	uint8_t *head, *tail;
	uint32_t head_len, tail_len;
};

struct iw_batch {
	struct iw_qp *qp;
	struct iovec iov[IW_TX_IOV];
	unsigned count;
	struct iw_fpdu fpdus[IW_TX_FPDUS];
	unsigned fpdu_count;
	uint8_t *at; // in the frames
	uint64_t bytes;
	// State of building.
	struct list *wr;
	uint32_t response; // counted from the head of the ring
	uint64_t sent;	   // of the message being built
	struct iw_cursor cursor;
	bool is_in_message, is_response_turn;
	unsigned run; // messages of this turn
};

// Builds the next batch from the state of the connection; fpdu_count 0: nothing to send. False: a
// response refers to memory that the peer may no longer access.
bool iw_batch_build(struct iw_batch *b, struct iw_qp *qp);
// Only the rest of a partially sent FPDU, if there is one. False: as above.
bool iw_batch_begin_rest(struct iw_batch *b, struct iw_qp *qp);
void iw_batch_add(struct iw_batch *b, uint8_t *p, uint32_t len);
// Writes pad and CRC of an FPDU of len bytes with this crc to out. Returns their length.
uint32_t iw_put_tail(uint8_t *out, uint32_t len, uint32_t crc, bool has_crc);
