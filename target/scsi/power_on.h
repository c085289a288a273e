// SPDX-License-Identifier: BSD-2-Clause
// Which I_T nexuses know that a logical unit was powered on. A nexus that returns to a unit without
// loss of data gets I_T NEXUS LOSS (29/07); POWER ON (29/00) means that data of a volatile medium
// or cache may be lost (SAM-5 6.2, 6.3.4), which matters to an initiator in the middle of a
// transfer. Any thread; not kept across restarts.
#pragma once

#include <stdbool.h>

struct nexus_lun;

// Notes that POWER ON was reported to the nexus.
void power_on_reported(const struct nexus_lun *nl);

// Whether it was reported to this nexus or an earlier one of the same ports. The memory is bounded;
// a nexus that was dropped gets it again.
bool power_on_was_reported(const struct nexus_lun *nl);
