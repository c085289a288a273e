// SPDX-License-Identifier: BSD-2-Clause
// A copy by tokens: the source's copy manager represents its data by a token, which that of the
// destination takes in place of the data. Both may have a session of their own. The program's
// thread; blocks. See initiator/token.h.
#pragma once

#include "initiator/tool/tool.h"

struct odx {
	struct tool_disk *from, *to;
	uint64_t most; // blocks of a token
	uint32_t list_id;
};
// False: one of both does not copy by tokens, or their block sizes differ.
bool odx_init(struct odx *o, struct tool_disk *from, struct tool_disk *to);
// Copies up to bytes from one position to the other. Returns the bytes copied; -EOPNOTSUPP with a
// text: refused; another error with a text.
int64_t odx_step(struct odx *o, uint64_t from, uint64_t to, uint64_t bytes, struct err *e);
