// SPDX-License-Identifier: BSD-2-Clause
// The security stage, for login_target.c and login_initiator.c only.
#pragma once

#include "transport/iscsi/login.h"

// Processes one text of the security stage: appends answers to l->out, advances l->auth. 0 or a
// login status.
int login_target_auth(struct login *l, const struct iscsi_key_set *set, struct err *e);

// The same for the initiator; is_transit: the response has T. 0 or a negative errno.
int login_initiator_auth(struct login *l, const struct iscsi_key_set *set, bool is_transit,
			 struct err *e);

// True if the target must authenticate itself too.
bool login_initiator_is_mutual(const struct login *l);
