// SPDX-License-Identifier: BSD-2-Clause
// RECEIVE COPY STATUS, RECEIVE COPY OPERATING PARAMETERS and RECEIVE COPY FAILURE DETAILS
// (SPC-4 6.17, 6.18, 6.20): the results of an EXTENDED COPY, and its limits.
#include <string.h>

#include "target/scsi/copy/commands.h"
#include "target/scsi/copy/extended_copy.h"
#include "target/scsi/copy/results.h"
#include "target/scsi/copy/turn.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

enum { IN_PROGRESS = 0, COMPLETED = 1, COMPLETED_WITH_ERRORS = 2, UNITS_KIB = 1 };

// The result with the list identifier in CDB byte 2; false: the task has ended.
static bool find_result(struct task *t, struct copy_result *ret)
{
	if (copy_result_find(t->lu, t, false, t->cdb[2], ret))
		return true;
	task_invalid_cdb(t, 2, -1);
	return false;
}

void receive_copy_status_run(struct task *t)
{
	struct copy_result r;
	uint8_t out[12] = { 0 };
	if (!find_result(t, &r))
		return;
	put_be32(out, sizeof out - 4);
	out[4] = r.is_running		   ? IN_PROGRESS
		 : r.status == STATUS_GOOD ? COMPLETED
					   : COMPLETED_WITH_ERRORS;
	put_be16(out + 5, (uint16_t)r.segments);
	out[7] = UNITS_KIB;
	put_be32(out + 8, (uint32_t)(r.bytes >> 10));
	task_reply(t, out, sizeof out, get_be32(t->cdb + 10));
}

void receive_copy_failure_run(struct task *t)
{
	struct copy_result r;
	uint8_t out[60 + SENSE_MAX] = { 0 };
	uint32_t len = 4;
	if (!find_result(t, &r))
		return;
	if (!r.is_running && r.status != STATUS_GOOD) {
		out[56] = r.status;
		put_be16(out + 58, r.sense_len);
		memcpy(out + 60, r.sense, r.sense_len);
		len = 60u + r.sense_len;
		put_be32(out, len - 4);
		// These details are kept until they are requested.
		copy_result_drop(t->lu, &r);
	}
	task_reply(t, out, len, get_be32(t->cdb + 10));
}

void receive_copy_parameters_run(struct task *t)
{
	uint8_t out[46] = { 0 };
	put_be32(out, sizeof out - 4);
	put_be16(out + 8, XCOPY_CSCD_MAX);
	put_be16(out + 10, XCOPY_SEGMENT_MAX);
	put_be32(out + 12, XCOPY_LIST_MAX);
	put_be32(out + 16, 256u << 20); // bytes of one segment: 65535 blocks of 4 KiB fit
	put_be16(out + 34, COPIES_MAX); // copies at the same time, in all ...
	out[36] = COPIES_NEXUS_MAX;	// ... and of one nexus
	out[37] = (uint8_t)t->lu->block_shift;
	out[43] = 2;
	out[44] = XCOPY_BLOCK_TO_BLOCK;
	out[45] = XCOPY_CSCD_ID;
	task_reply(t, out, sizeof out, get_be32(t->cdb + 10));
}
