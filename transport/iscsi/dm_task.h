// SPDX-License-Identifier: BSD-2-Clause
// Common code of the target's movers for tasks: finds tasks that expect
// data-out by their tag; checks and parks unsolicited data; assigns serial numbers. Runs
// on the connection's worker; nothing blocks. RFC 7143 4.2.2, 11.7.
#pragma once

#include "transport/iscsi/datamover.h"

enum { DM_BUCKETS = 64 };

// The tasks of a connection that are owed data-out, by ITT, and how much they have parked.
struct dm_owed {
	struct dm_task *bucket[DM_BUCKETS];
	uint64_t parked_bytes;
};

void dm_owed_add(struct dm_owed *o, struct dm_task *t);
void dm_owed_remove(struct dm_owed *o, struct dm_task *t); // fine when it is not in there
// itt: as on the wire. NULL: none is owed data under that tag.
struct dm_task *dm_owed_find(const struct dm_owed *o, uint32_t itt);

// Whether the immediate bytes that came with a command, and the Data-Outs it announces, were agreed
// on.
bool dm_unasked_agreed(const struct iscsi_params *p, const struct dm_task *t, uint32_t immediate);
// Whether an unsolicited Data-Out of len bytes is what has to come next, and no more than was
// agreed on: 0 or -EMSGSIZE.
int dm_unasked_check(const struct iscsi_params *p, const struct dm_task *t,
		     const struct iscsi_data_out *h, uint32_t len);

// Gives t memory for all that may come unasked before there is a place for it, unless it has it
// already. False: none is left for the connection.
bool dm_park(struct dm_owed *o, struct dm_task *t, const struct iscsi_params *p);
void dm_parked_free(struct dm_owed *o, struct dm_task *t); // fine when nothing is parked

// Puts the connection's serial numbers into a header that is to be sent.
void dm_stamp(const struct dm *dm, uint8_t *bhs);
