// SPDX-License-Identifier: BSD-2-Clause
// RECEIVE ROD TOKEN INFORMATION (SPC-4 6.21 and SBC-3 5.22): the result of POPULATE TOKEN or WRITE
// USING TOKEN, and the token. Task's worker.
#include <string.h>

#include "target/scsi/copy/commands.h"
#include "target/scsi/copy/results.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

enum {
	COPY_OK = 0x01,
	COPY_ERROR = 0x02,
	COPY_FOREGROUND = 0x11, // in progress
	UNITS_BLOCKS = 0xf1,
	HEADER = 32,
	SENSE_FIELD = SENSE_MAX,
	TOKEN_DESCRIPTOR = 2 + ROD_TOKEN_LEN,
};

void receive_rod_token_run(struct task *t)
{
	struct copy_result r;
	uint8_t out[HEADER + SENSE_FIELD + 4 + TOKEN_DESCRIPTOR] = { 0 };
	if (!copy_result_find(t->lu, t, true, get_be32(t->cdb + 2), &r)) {
		task_invalid_cdb(t, 2, -1);
		return;
	}
	out[4] = r.kind;
	out[5] = r.is_running ? COPY_FOREGROUND : r.status == STATUS_GOOD ? COPY_OK : COPY_ERROR;
	put_be16(out + 6, 1); // OPERATION COUNTER
	// How long to wait before asking again: not needed once the operation has ended.
	put_be32(out + 8, r.is_running ? 10 : 0xfffffffe);
	out[12] = r.is_running ? 0 : r.status;
	out[13] = r.sense_len;
	out[14] = r.sense_len;
	out[15] = UNITS_BLOCKS;
	put_be64(out + 16, r.blocks);
	uint8_t *p = out + HEADER;
	memcpy(p, r.sense, r.sense_len);
	p += r.sense_len + 4;
	if (r.has_token) {
		put_be32(p - 4, TOKEN_DESCRIPTOR);
		memcpy(p + 2, r.token, ROD_TOKEN_LEN);
		p += TOKEN_DESCRIPTOR;
	}
	put_be32(out, (uint32_t)(p - out) - 4);
	task_reply(t, out, (uint32_t)(p - out), get_be32(t->cdb + 10));
}
