// SPDX-License-Identifier: BSD-2-Clause
// The rows of the command set, and how the row of a command is found.
#pragma once

#include "target/scsi/opcode.h"

// All rows, in opcode and service action order; the last one has no name.
extern const struct opcode_row opcode_rows[];

// The row for a CDB, or NULL.
const struct opcode_row *dispatch_find(const uint8_t *cdb, unsigned cdb_len);

// Whether lu, with its current settings, supports the opcode with any service action.
bool dispatch_has_opcode(const struct lu *lu, uint8_t opcode);
