// SPDX-License-Identifier: BSD-2-Clause
// Private to login_target.c and login_initiator.c.
#pragma once

#include "transport/iscsi/login.h"

_Static_assert(ISCSI_KEY_COUNT <= 64, "struct login has one bit a key");

static inline uint64_t login_bit(unsigned id)
{
	return UINT64_C(1) << id;
}

// Zeroes all but the two big buffers, sets the standard's values, points out at its buffer.
void login_reset(struct login *l);

// Joins the texts of a sequence. has_more: C is set. Without it ret_text and ret_len are the
// complete text. -EPROTO: longer than LOGIN_TEXT_MAX.
int login_join(struct login *l, const void *text, size_t len, bool has_more, const char **ret_text,
	       size_t *ret_len, struct err *e);

// Flags of byte 1 for a PDU of the current stage.
uint8_t login_flags(const struct login *l, bool is_transit);

// Moves the text in l->out to ret and starts a new one in the same buffer; the bytes stay until the
// next append.
void login_give_text(struct login *l, struct login_reply *ret);

// True if the current stage of l allows key id.
bool login_is_in_stage(const struct login *l, unsigned id);

// Wipes the secrets and forbids further steps.
void login_close(struct login *l);
