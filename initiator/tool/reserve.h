// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator reserve: what a logical unit says of its persistent reservations. The
// program's thread; blocks.
#pragma once

#include "initiator/pr.h"
#include "initiator/tool/tool.h"

enum { RESERVE_DATA_MAX = 65528 };

struct reserve_state {
	uint32_t generation, registrations;
	bool is_held;
	struct pr_reservation held;
};

// Keys and reservation; buf: RESERVE_DATA_MAX bytes for answers. Negative with a text.
int reserve_state_read(struct tool *t, uint8_t *buf, struct reserve_state *ret, struct err *e);
// "none", or type and key.
#define RESERVE_TEXT 96
const char *reserve_held_text(const struct reserve_state *s, char ret[RESERVE_TEXT]);
// Prints everything, as text or JSON. Negative with a text.
int reserve_report(struct tool *t, uint8_t *buf, struct err *e);
