// SPDX-License-Identifier: BSD-2-Clause
// Common code of the target's movers for tasks: finds tasks that expect data-out by tag, checks and
// keeps unsolicited data, assigns serial numbers. Runs on the connection's worker; nothing blocks.
// RFC 7143 4.2.2, 11.7.
#pragma once

#include "transport/iscsi/datamover.h"

// The data-out of a command: how the room of a target's mover begins (dm_task).
struct dm_out {
	struct dm_task *hash_next;
	bool is_hashed;
	bool wants_data;	  // get_data was called and has not completed
	bool owes_data;		  // unsolicited data (immediate or Data-Out) is outstanding
	int error;		  // result of get_data
	struct sg *sg;		  // destination
	uint32_t nsg, base, want; // sg has the bytes from base to want
	uint32_t received;	  // bytes of data-out received so far, without gaps
	uint32_t requested;	  // bytes covered by unsolicited data and by R2Ts sent
	uint32_t data_sn;	  // next DataSN of the unsolicited sequence
	struct sg parked;	  // unsolicited data received before get_data; malloc'ed
	uint64_t progress_ns;	  // when data-out last arrived or was first owed
	uint64_t owed_ns;	  // when it was first owed
	struct dm_result *result; // of put_data, while is_finished
};

static inline struct dm_out *dm_out(const struct dm_task *t)
{
	return (struct dm_out *)(t + 1);
}

enum { DM_BUCKETS = 64 };

// The tasks of a connection that expect data-out, by ITT, and how much early data they hold.
struct dm_owed {
	struct dm_task *bucket[DM_BUCKETS];
	uint64_t parked_bytes;
};

void dm_owed_add(struct dm_owed *o, struct dm_task *t);
void dm_owed_remove(struct dm_owed *o, struct dm_task *t); // no-op if it is not in the table
// itt: as on the wire. NULL: no task with this tag expects data.
struct dm_task *dm_owed_find(const struct dm_owed *o, uint32_t itt);

// Whether the negotiated parameters permit the immediate data of a command and the Data-Outs that
// it announces.
bool dm_unasked_agreed(const struct iscsi_params *p, const struct dm_task *t, uint32_t immediate);
// Whether an unsolicited Data-Out of len bytes comes next and is within the negotiated limit: 0 or
// -EMSGSIZE.
int dm_unasked_check(const struct iscsi_params *p, const struct dm_task *t,
		     const struct iscsi_data_out *h, uint32_t len);

// Allocates memory for all unsolicited data of t that may arrive before get_data, unless t has it.
// False: the connection's limit is reached.
bool dm_park(struct dm_owed *o, struct dm_task *t, const struct iscsi_params *p);
void dm_parked_free(struct dm_owed *o, struct dm_task *t); // no-op if t holds no early data

// Puts the connection's serial numbers into an outgoing header.
void dm_stamp(const struct dm *dm, uint8_t *bhs);
