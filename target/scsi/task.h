// SPDX-License-Identifier: BSD-2-Clause
// The struct that a protocol passes to the device server (SAM-5 5.1): one command on one I_T_L
// nexus. A task belongs to the worker of its nexus; nothing here blocks.
//
// Life: the protocol embeds a struct task in its command, fills the caller's part and calls
// task_submit(). The device server checks and decodes, then either
//   - (data-out) names a destination in sg and calls ops->get_data; the protocol moves the
//     bytes and answers with task_data_ready(); then the work is done;
//   - or works at once.
// A READ or WRITE beyond the largest transfer is served in pieces: the protocol is called for each,
// for a READ with ops->put_part for all but the last.
// In the end it calls ops->done exactly once, possibly before task_submit() returns. The
// protocol sends data-in from sg and the status, and when the transport no longer needs the
// memory it calls task_release(). An aborted task also reaches done (with is_aborted set) and
// release; the protocol then sends no status.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backstores/backstore.h"
#include "core/buf.h"
#include "core/list.h"
#include "target/scsi/sense.h"

struct nexus;
struct nexus_lun;
struct lu;
struct opcode_row;
struct task;

enum task_attr { TASK_SIMPLE, TASK_ORDERED, TASK_HEAD_OF_QUEUE, TASK_ACA };

// What the device server is waiting for on behalf of the task.
enum task_state {
	TASK_NEW,	    // not submitted yet
	TASK_WAITS_TURN,    // for an ORDERED task, or for frozen blocks
	TASK_WAITS_DELAY,   // for the delay of a non-optimized path
	TASK_WAITS_BUFFERS, // for pool memory
	TASK_WAITS_DATA,    // for the protocol's data-out
	TASK_WAITS_SENT,    // for the protocol to send a piece of data-in
	TASK_WAITS_REMOVAL, // for the end of other nexuses (nexus_ops.remove)
	TASK_RUNNING,	    // owned by the handler, the backstore or the LU's home worker
	TASK_DONE,	    // done was called
};

// The protocol's side of a task. All slots are required.
struct task_ops {
	// Move the next task->fetch_len bytes of data-out into task->sg, then call
	// task_data_ready(), possibly before returning. Called once for each piece, never with 0
	// bytes. The first piece has all unsolicited data (nexus_info.unsolicited).
	void (*get_data)(struct task *t);
	// Send the next task->data_in bytes of data-in from task->sg, and call task_part_sent()
	// when the transport no longer needs the memory; before returning only with an error. More
	// follows. Not called for a copy manager's tasks, which have one piece.
	void (*put_part)(struct task *t);
	// The task is finished: status, sense, wanted and the data-in in sg are valid. The protocol
	// owns the task again and calls task_release() after sending the response.
	void (*done)(struct task *t);
};

// What a task holds until its end: release() is called before its status is sent, and sets the
// task's hold to NULL; or keeps it, and is called again in task_release(), of an aborted task in
// the disk's own memory.
struct task_hold {
	void (*release)(struct task *t);
	bool is_freeze; // of lu_freeze(): no other freeze waits for the task
};

#define TASK_SG 4

struct task {
	// Set by the protocol before task_submit().
	const struct task_ops *ops;
	struct nexus *nexus;
	uint64_t lun; // decoded LUN number (lun_decode); UINT64_MAX for an unknown address format
	const uint8_t *cdb;    // cdb_len bytes, stable until done; bytes after it are not read
	uint16_t cdb_len;      // 6..260; as received by the protocol, at least the opcode's length
	uint8_t attr;	       // enum task_attr
	uint32_t expected_out; // bytes of data-out the initiator announced (EDTL)
	uint32_t expected_in;  // bytes of data-in that it has room for
	bool is_landing; // set in done() of an aborted task: data-out may still arrive in sg until
			 // task_release(), for which an aborter must wait

	// The result, valid in done().
	uint8_t status; // enum scsi_status
	uint8_t sense_len;
	uint8_t sense[SENSE_MAX];
	bool is_aborted;      // no status may be sent
	bool sends_aborted;   // ... unless this is set too: TASK ABORTED status (TAS=1)
	bool fails_with_data; // data_in is valid with CHECK CONDITION too: a pass-through device
	uint32_t data_in;     // bytes of data-in in sg, after those of put_part; 0 unless GOOD
	uint32_t moved;	      // bytes of the data in earlier pieces
	// Bytes that the command would transfer without the expected length: residual overflow =
	// wanted - expected, underflow = expected - wanted.
	uint64_t wanted;

	// Data: source of data-in or destination of data-out.
	struct sg *sg; // sg_inline, or a longer list owned by the task
	uint32_t nsg;
	uint32_t fetch_len; // get_data: bytes to fetch, the sum of sg
	struct sg sg_inline[TASK_SG];

	// Private to the device server.
	uint8_t state;	  // enum task_state
	bool in_set;	  // linked in the channel's task set
	bool in_place;	  // sg is the disk's own memory: stays in the set until task_release()
	bool fetches;	  // next runs after the data-out has arrived, not when buffers are
			  // available
	bool has_begun;	  // counted in nl->begun: TASK_WAITS_TURN is not for the task attributes
	bool is_held;	  // counted in nl->held until task_release()
	bool is_internal; // of a copy manager: exempt from unit attentions and TASK SET FULL
	struct buf *lent; // of a copy manager: memory for its data instead of pool buffers
	const struct opcode_row *row;
	struct nexus_lun *nl;
	struct lu *lu;	       // of nl, NULL for commands to no logical unit
	struct list link;      // in the channel's task set
	struct list nl_link;   // in nl->open or nl->aborting
	struct list turn_link; // TASK_WAITS_TURN: in a list of those that wait
	struct lu_round_slot *awaited_by;
	void (*next)(struct task *t); // runs when data, buffers or the turn arrive
	uint64_t lba;		      // decoded operands, in blocks
	uint64_t blocks;
	bool fua;
	uint64_t start_ns;
	struct timer timer;
	struct buf_wait buf_wait;
	uint32_t buffer_len;		 // bytes that it waits for
	uint32_t pooled;		 // bytes counted in nexus->pool_used until task_release()
	struct msg msg;			 // to the LU's home worker and back
	void (*home_fn)(struct task *t); // run by the home worker, or by a copy on its turn
	void *home_result;		 // handler's scratch across messages
	void *scratch;		// allocation of the handler, freed with free() by task_release()
	void *reply;		// parameter data when the pool was empty, freed likewise
	struct task_hold *hold; // of lu_freeze() or ending.c, or NULL
	uint64_t io_ns;		// when the backstore got it
	struct bs_io io;	// READ, WRITE, ... in flight at the backstore
};

// Resets the device server's fields and the result; the protocol calls it before it sets its own
// fields. Cheap: it clears fields, not buffers.
void task_init(struct task *t, const struct task_ops *ops, struct nexus *n);

// Completes get_data. res: 0, or negative: -EPIPE the connection is closed, -EBADMSG digest error,
// -EMSGSIZE wrong amount of data, -EPROTO unexpected data, -ENOBUFS no memory for unsolicited data,
// -EFAULT the memory of sg could not be written to.
void task_data_ready(struct task *t, int res);

// Completes put_part. res: 0, or negative: -EPIPE the connection is closed, others: the initiator's
// memory cannot be reached.
void task_part_sent(struct task *t, int res);

// Requests an early end (task management, lost nexus). done() follows when the backstore has
// released the memory, possibly before this returns. Idempotent. with_status: the initiator gets
// TASK ABORTED status.
void task_abort(struct task *t, bool with_status);

// Whether the command has data-out. Of an unknown command: whether the initiator has announced
// data-out alone. In done().
bool task_takes_data(const struct task *t);

// Frees buffers and scratch after done(). The protocol owns the struct itself.
void task_release(struct task *t);
