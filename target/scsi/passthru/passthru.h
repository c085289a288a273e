// SPDX-License-Identifier: BSD-2-Clause
// Whole commands to a pass-through backstore (pscsi). Task's worker.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct task;

// Sends t's CDB unchanged, after the checks of server/submit.c; ends t with the device's response.
void passthru_run(struct task *t);

// Whether a write-protected path may send the CDB (at least 6 bytes) to a device of this peripheral
// device type.
bool passthru_is_harmless(uint8_t device_type, const uint8_t *cdb);
