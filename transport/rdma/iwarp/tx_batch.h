// SPDX-License-Identifier: BSD-2-Clause
// Private to software iWARP: the contents of one sendmsg. Headers stay in the device's frames until
// it returns; the rest stays in the messages' memory. On the connection's worker; nothing blocks.
#pragma once

#include "transport/rdma/iwarp/iw_priv.h"

// One FPDU of a batch.
struct iw_fpdu {
	bool is_response, is_last, is_partial;
	uint32_t len;	   // of its payload
	uint32_t external; // ... that is not in head
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
	// Where building stands.
	struct list *wr;
	uint32_t response; // counted from the head of the ring
	uint64_t sent;	   // of the message being built
	struct iw_cursor cursor;
	bool is_in_message, is_response_turn;
	unsigned run; // messages of this turn
};

// What comes next, from where the connection stands; fpdu_count 0: there is nothing. False if it
// met a response whose memory is no longer the peer's.
bool iw_batch_build(struct iw_batch *b, struct iw_qp *qp);
// Only the rest of an FPDU that has left in part, if there is one. False: as above.
bool iw_batch_begin_rest(struct iw_batch *b, struct iw_qp *qp);
void iw_batch_add(struct iw_batch *b, uint8_t *p, uint32_t len);
// Pad and CRC at out, of an FPDU of len bytes that gave crc. Returns their length.
uint32_t iw_put_tail(uint8_t *out, uint32_t len, uint32_t crc, bool has_crc);
