// SPDX-License-Identifier: BSD-2-Clause
// Session reinstatement: one session of an I_T nexus at a time, and its TSIH. RFC
// 7143 6.3.1, 6.3.4, 6.3.5. The connection's worker.
#pragma once

#include "target/iscsi/conn.h"

// Enters the session into the table. 0 and c->tsih, or an enum iscsi_login_status, or -EINPROGRESS:
// an older session of the nexus must end first; then c->resume_msg is posted.
int reinstatement_enter(struct conn *c, const struct login_names *names, struct err *e);
// The same, after the wait.
int reinstatement_enter_again(struct conn *c, struct err *e);
// Removes the session from the table and wakes who waits for that. No-op without an entry.
void reinstatement_leave(struct conn *c);
