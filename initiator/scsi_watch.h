// SPDX-License-Identifier: BSD-2-Clause
// Watched logical units, as the session calls them: see scsi.h. On the session's worker.
#pragma once

#include "initiator/scsi_protocol.h"

void watch_up(struct scsi_session *s); // again: checks all units
// c received a unit attention: true if its unit is checked now and c waits for that.
bool watch_attention(struct scsi_session *s, const struct scsi_cmd *c);
bool watch_refuses(struct scsi_session *s, const uint8_t lun[8]);
void watch_end(struct scsi_session *s); // ends all checks
void watch_free(struct scsi_session *s);
// Ends the waiting commands of a logical unit (scsi_session.c).
void scsi_session_fail_lun(struct scsi_session *s, const uint8_t lun[8], int res);
