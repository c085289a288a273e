// SPDX-License-Identifier: BSD-2-Clause
// Common code of the initiator's movers for a target's responses: serial
// numbers, residuals, sense. Pure functions over the caller's structs; all input is checked.
// RFC 7143 4.2.2, 11.4.
#pragma once

#include "transport/iscsi/datamover_initiator.h"

// Updates s from StatSN, ExpCmdSN and MaxCmdSN of a received header. True if the command window has
// opened further.
bool dmi_take_numbers(struct dmi_sns *s, const struct iscsi_pdu *pdu, const uint8_t *bhs);

// Sets t's residual, residual_flags and data_len from the O and U flags and the residual count of
// its response, after moved bytes of data-in, or of data-out that was sent unsolicited or
// requested. response and status are set. Bytes that were not moved are an underflow, whatever the
// target reports. -EPROTO: an underflow longer than the transfer.
int dmi_take_residual(struct dmi_task *t, uint8_t flags, uint32_t residual, uint32_t moved,
		      struct err *e);

// Extracts the sense data from len bytes of a SCSI Response's data segment. -EPROTO: it exceeds
// them.
int dmi_take_sense(struct dmi_task *t, const uint8_t *data, uint32_t len, struct err *e);
