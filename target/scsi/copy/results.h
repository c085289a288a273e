// SPDX-License-Identifier: BSD-2-Clause
// Results of copies of a logical unit, for RECEIVE COPY RESULTS and RECEIVE ROD TOKEN INFORMATION
// (SPC-4 6.20, 6.21). A few dozen; the oldest are dropped. Under a separate mutex, not used on the
// I/O path. Any worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/lu_part.h"
#include "target/scsi/sense.h"
#include "target/scsi/task.h"

#define ROD_TOKEN_LEN 512

enum copy_kind { // the service action of the command
	COPY_EXTENDED = 0x00,
	COPY_POPULATE_TOKEN = 0x10,
	COPY_WRITE_USING_TOKEN = 0x11,
};

struct copy_result {
	struct list link;
	uint64_t nexus_id; // list identifiers belong to an I_T nexus
	uint32_t list_id;
	uint8_t kind; // enum copy_kind
	bool is_running;
	uint8_t status; // enum scsi_status of the copy
	uint8_t sense_len;
	uint8_t sense[SENSE_MAX];
	uint32_t segments; // done
	uint64_t bytes;	   // done
	uint64_t blocks;   // the same in blocks of the command's LU
	bool has_token;
	uint8_t token[ROD_TOKEN_LEN];
};

// Keeps a copy of r, replacing an older one of the same command. No-op without memory.
void copy_result_keep(struct lu *lu, const struct copy_result *r);
// Finds the latest of kind for t's nexus; is_odx: either of the two token commands. False: no such
// result.
bool copy_result_find(struct lu *lu, const struct task *t, bool is_odx, uint32_t list_id,
		      struct copy_result *ret);
void copy_result_drop(struct lu *lu, const struct copy_result *r);

extern const struct lu_part third_party_part;
