// SPDX-License-Identifier: BSD-2-Clause
// A copy between logical units of one target by the target itself: EXTENDED COPY(LID1). The
// program's thread; blocks. SPC-4 6.4.
#pragma once

#include "initiator/tool/tool.h"

enum { OFFLOAD_NAA_LEN = 16, OFFLOAD_LIST_LEN = 16 + 2 * 32 + 28, OFFLOAD_ID_MAX = 512 };

// The designators of VPD page 83h that identify the unit; 0 bytes: none.
struct offload_id {
	uint8_t data[OFFLOAD_ID_MAX];
	uint32_t len;
};
void offload_id_read(const struct tool_disk *d, struct offload_id *ret);
// Whether both name the same unit. One without an identity is like no other.
bool offload_id_equal(const struct offload_id *a, const struct offload_id *b);

struct offload {
	struct tool_disk *from, *to; // of one target, with equal block sizes
	uint8_t from_naa[OFFLOAD_NAA_LEN], to_naa[OFFLOAD_NAA_LEN];
};
// False: a unit has no name that EXTENDED COPY takes.
bool offload_init(struct offload *o, struct tool_disk *from, const struct offload_id *from_id,
		  struct tool_disk *to, const struct offload_id *to_id);
// Copies up to bytes from one position to the other. Returns the bytes copied; -EOPNOTSUPP with a
// text: the target refuses such copies; another error with a text.
int64_t offload_step(struct offload *o, uint64_t from, uint64_t to, uint64_t bytes, struct err *e);
