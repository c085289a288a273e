// SPDX-License-Identifier: BSD-2-Clause
// The login of a connection. login_connection.c drives it: PDUs, limits, waiting; login_admit.c and
// login_attach.c answer its two questions from one snapshot of the configuration. RFC 7143 6.3. The
// connection's worker.
#pragma once

#include "target/iscsi/conn.h"

// ---- drives ----

// A PDU before full feature phase. Negative: close the connection for the reason in e.
int login_pdu(struct conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len, struct err *e);
// Its time is over.
void login_expired(struct conn *c);
// A newcomer takes the slot of this login, or discovery session.
void login_displaced(struct conn *c);
// conn.resume_msg: what a login waited for is over.
void login_resume(struct msg *m);

// ---- answers: struct login_target_ops ----

// Whether the initiator may log in to this target at this portal, with which credentials and which
// offer. Sets c->view and, but for discovery, the session's target, tpg and acl. 0, or an enum
// iscsi_login_status with the reason in e.
int login_admit(void *arg, const struct login_names *names, struct login_terms *ret, struct err *e);
// To which session: enters it into the table and creates its nexus. As login_admit(); -EINPROGRESS:
// c->resume_msg will be posted.
int login_attach(void *arg, const struct login_names *names, const struct iscsi_params *params,
		 struct login_session *ret, struct err *e);
// After the wait.
int login_attach_again(struct conn *c, struct login_session *ret, struct err *e);
