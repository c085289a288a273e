// SPDX-License-Identifier: BSD-2-Clause
// The interface between the iSCSI target and the mover of its PDUs and data (RFC 5047 4, 6):
// TCP (dm_tcp.c) or RDMA. The role knows commands, windows and sessions; the mover
// knows how a Get_Data becomes R2Ts and Data-Outs, or RDMA Reads, and a Put_Data becomes
// Data-Ins, or RDMA Writes.
//
// Names: dm_ is the target's side of the border, dmi_ the initiator's; a mover's own names add its
// carrier: dm_tcp_, dm_iser_, dmi_tcp_, dmi_iser_.
//
// Everything here runs on the worker that owns the connection; nothing blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/list.h"
#include "transport/iscsi/keys.h"
#include "transport/iscsi/pdu.h"
#include "transport/tcp/addr.h"

struct dm;

// The serial numbers that the mover puts into outgoing PDUs. The role owns and advances the two
// command numbers; only the mover advances stat_sn [RFC 7143 4.2.2].
struct dm_sns {
	uint32_t stat_sn, exp_cmd_sn, max_cmd_sn;
};

struct dm_counters {
	uint64_t pdus_in, pdus_out, bytes_in, bytes_out, digest_errors;
	struct buf_copies copied; // of payload
	uint64_t buffers;	  // bytes of the pool that the mover has
	uint64_t last_rx_ns;
	uint64_t tx_stuck_ns;	// since when queued output has made no progress, 0: none is queued
	uint64_t tx_since_ns;	// since when the oldest of what is to be sent waits, 0: nothing
	uint64_t owed_since_ns; // start of the longest wait for data-out, 0: none is owed
	uint64_t partial_ns;	// since when a control PDU's data is being received, 0: none
	uint64_t closing_ns;	// start of a close that waits for the peer to read, 0: none
};

// A SCSI command as both sides see it. The role owns its memory and allocates dm->task_size bytes
// more directly behind it: the mover's room, which it initialises when command() has returned the
// task. The mover refers to both until up->released.
struct dm_task {
	_Alignas(8) uint32_t itt; // as on the wire, byte order untouched
	uint8_t lun[8];		  // as on the wire
	uint32_t expected_out;	  // EDTL of a write, else 0
	bool is_final;		  // F: no unsolicited Data-Out follows
	// Set by the mover, read by both.
	bool is_finished;   // put_data was called; status waits for outstanding unsolicited data,
			    // and put_data(NULL) can still cancel it
	bool is_unreadable; // the kernel could not read its data-in, and the connection is closed
	bool is_fetching;   // RDMA Reads into the memory of get_data are in flight; they cannot be
			    // cancelled
};

// Fills t from a SCSI Command's header.
void dm_task_init(struct dm_task *t, const uint8_t *bhs);

// How a command ends: data-in, status, sense.
struct dm_result {
	struct sg *sg; // data_len bytes of data-in, stable until up->released
	uint32_t nsg, data_len;
	uint8_t status;		// SAM status
	uint8_t response;	// ISCSI_RSP_COMPLETED, or _TARGET_FAILURE
	uint8_t residual_flags; // ISCSI_RSP_OVERFLOW or _UNDERFLOW, or 0
	uint32_t residual;
	const uint8_t *sense; // NULL: none; stable until up->released
	uint32_t sense_len;
};

// What the mover calls. All slots are required. The mover has finished with a PDU, a request or a
// task before it passes it up: whatever the role does inside, the mover looks at it no more. Except
// where a slot says otherwise, the role may call every op from inside, for any task, but free; a
// slot is then called while another one runs. The role calls free from a message.
struct dm_up {
	// A SCSI Command's header arrived (its digest is correct), its immediate data not yet. The
	// role fills the dm_task of its command and returns it; begin follows before anything else
	// is called. NULL: ignores the command and discards its data. ahs: len bytes, NULL when
	// there are none. All pointers end with the call. From inside only send, for a Reject, and,
	// before NULL is returned, close.
	struct dm_task *(*command)(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
				   const uint8_t *ahs);
	// The mover has taken over the task and what has arrived with it: the role may run it, now
	// or later. It may be released inside, and its memory may be that of another task then.
	void (*begin)(struct dm *dm, struct dm_task *t);
	// A hint: a SCSI Command with this header, not checked yet, follows the next one. NULL:
	// older hints are void. Nothing may be called from inside.
	void (*ahead)(struct dm *dm, const uint8_t *bhs);
	// Any other PDU, complete. data: pdu->data_len bytes. Negative: close the connection for
	// the reason in e.
	int (*control)(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, struct err *e);
	// get_data has completed: res 0, or -EPIPE, -EBADMSG (data digest), -EMSGSIZE, -EPROTO,
	// -ENOBUFS (no memory for unsolicited data), -EFAULT (the memory of sg could not be
	// written to).
	void (*data)(struct dm *dm, struct dm_task *t, int res);
	// put_part has completed: the mover refers to its memory no more. res 0, -EPIPE, or -EPROTO
	// (the initiator offers no memory for it). From inside put_part only -EPIPE; not after
	// put_data.
	void (*part)(struct dm *dm, struct dm_task *t, int res);
	// The mover no longer refers to the task or its memory. Called once after each put_data.
	void (*released)(struct dm *dm, struct dm_task *t);
	// A control PDU that was sent with wants_sent has left.
	void (*sent)(struct dm *dm);
	// The connection is closed, for the reason in e. Called once. The role ends its tasks
	// (put_data with NULL for each) and calls free when none is left, but not from inside this
	// call.
	void (*closed)(struct dm *dm, const struct err *e);
};

// What the role calls.
struct dm_ops {
	// Sends a PDU other than Data-In, R2T and SCSI Response. data is copied. The mover fills in
	// ExpCmdSN, MaxCmdSN and the next StatSN, which it advances only with advances. Login
	// responses are complete: with is_login the mover does not change the numbers.
	void (*send)(struct dm *dm, const uint8_t bhs[ISCSI_BHS_LEN], const void *data,
		     uint32_t len, unsigned flags);
	// Moves the next len bytes of the command's data-out to sg (RFC 5047 Get_Data):
	// immediate, unsolicited, then solicited. Answered by up->data, possibly at once. The first
	// call covers all unsolicited data.
	void (*get_data)(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg,
			 uint32_t len);
	// Sends the next len bytes of the command's data-in from sg. up->part follows, unless
	// put_data ends the command before.
	void (*put_part)(struct dm *dm, struct dm_task *t, struct sg *sg, uint32_t nsg,
			 uint32_t len);
	// Ends the command: what is left of data-in, and status (RFC 5047 Put_Data and
	// Send_Control). NULL: no
	// status (aborted); data-out that still arrives is discarded. up->released follows,
	// possibly at once; result must stay valid until then.
	void (*put_data)(struct dm *dm, struct dm_task *t, struct dm_result *result);
	// Login is over: params hold from the next PDU on, in both directions
	// (RFC 5047 Enable_Datamover). Copied.
	void (*full_feature)(struct dm *dm, const struct iscsi_params *params);
	// Sends queued PDUs now instead of at the end of the round.
	void (*flush)(struct dm *dm);
	// Stops receiving, even of data that has arrived already, until called with false. No
	// effect over RDMA, where a peer's sends cannot be held back.
	void (*pause)(struct dm *dm, bool is_paused);
	// Closes the connection; up->closed follows, possibly at once. With linger, queued PDUs are
	// sent first.
	void (*close)(struct dm *dm, bool linger, const struct err *why);
	void (*free)(struct dm *dm);
	// Time of the last progress of owed data-out, for the task that waits longest; 0 if none is
	// owed. worker_now()'s clock.
	uint64_t (*oldest_owed)(struct dm *dm);
	// What the connection has transferred so far, and when the last byte arrived.
	void (*counters)(struct dm *dm, struct dm_counters *ret);
};

enum {
	DM_ADVANCES = 1, // the PDU takes a StatSN
	DM_IS_LOGIN = 2,
	DM_WANTS_SENT = 4, // call up->sent when it has been sent
};

// A connection as the role sees it; the mover's struct begins with it.
struct dm {
	const struct dm_ops *ops;
	const struct dm_up *up;
	void *role;
	uint32_t task_size;    // bytes of room behind each dm_task; set by the mover, constant
	struct dm_sns *sns;    // set by the role before the first PDU
	uint32_t window;       // commands; set by the role before full_feature
	uint32_t first_window; // not 0: the command window of the final login response; the first
			       // response after it opens the full window
	bool is_rdma;	       // the keys of RFC 7145 are negotiated
	bool has_no_immediate; // the peer may announce immediate data without sending it
	const char *transport; // "TCP", "iSER"
	const char *carrier;   // the layer below: "TCP", "iWARP", "RoCE v2", "InfiniBand"
	struct tcp_addr local_addr, peer_addr;
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT];
};

// A TCP mover over an accepted socket. Takes ownership of the descriptor, on failure too.
struct worker;
int dm_tcp_new(struct dm **ret, struct worker *w, int fd, const struct dm_up *up, void *role,
	       struct err *e);
