// SPDX-License-Identifier: BSD-2-Clause
// Common code of the target's movers for tasks: finds tasks that expect data-out by tag, checks and
// keeps unsolicited data, assigns serial numbers. Runs on the connection's worker; nothing blocks.
// RFC 7143 4.2.2, 11.7.
#pragma once

#include "transport/iscsi/datamover.h"

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
