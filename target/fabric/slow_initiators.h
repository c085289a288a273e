// SPDX-License-Identifier: BSD-2-Clause
// Initiators that have kept others waiting: a session of theirs was ended because it did not take,
// or did not send, data of blocks that another command needed. For a while their data moves through
// buffers, where no other command waits for it. Any thread; takes a short mutex while an initiator
// is noted.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SLOW_KEPT    64
#define SLOW_SECONDS 600

// who: an initiator name that an ACL has admitted, or the address of one that needs no ACL and can
// have any name. now_s: of a clock that never goes back.
void slow_initiator_note(const char *who, uint64_t now_s);
// Whether who has been noted within SLOW_SECONDS. When too many are noted to know them all, anybody
// may be one.
bool slow_initiator_is_known(const char *who, uint64_t now_s);
