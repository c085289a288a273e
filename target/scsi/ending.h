// SPDX-License-Identifier: BSD-2-Clause
// Writes of ended nexuses that are still in the storage: new ones of other nexuses that overlap
// wait for them, whatever command they are.
#pragma once

struct nexus;

// n is ending (SAM-5 6.3.4): its connection is closed. From now on, on each worker as soon as it
// has the message, commands that change blocks which a write of n is about to change wait
// (TASK_WAITS_TURN) until that is over. Before n's tasks are aborted; once more does no harm. NULL
// is fine. Nexus's worker.
void nexus_begin_end(struct nexus *n);
