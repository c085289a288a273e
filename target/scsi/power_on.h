// SPDX-License-Identifier: BSD-2-Clause
// Which I_T nexuses know that a logical unit was powered on. A nexus that comes back to a unit
// which has lost nothing meanwhile is told I_T NEXUS LOSS (29/07); POWER ON (29/00) says that what
// a volatile medium or cache held may be gone (SAM-5 6.2, 6.3.4), so an initiator in the middle of
// a transfer needs to know which. Any thread; forgotten with the daemon.
#pragma once

#include <stdbool.h>

struct nexus_lun;

// The unit attention POWER ON has been reported to the nexus.
void power_on_reported(const struct nexus_lun *nl);

// Whether it was to this nexus or an earlier one of the same ports. The memory is bounded; a
// nexus that was forgotten is told once more.
bool power_on_was_reported(const struct nexus_lun *nl);
