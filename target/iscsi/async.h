// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous messages. RFC 7143 11.9. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

// Asks the initiator to log out within that time.
void async_logout(struct conn *c, unsigned seconds);
void async_scsi(struct conn *c, uint16_t lun, uint32_t sense_code);
void async_held(struct conn *c); // the initiator is alive: sends what waited for that
