// SPDX-License-Identifier: BSD-2-Clause
// Port identifiers and names: which target a login means, and which ACL admits an initiator. T10
// SRP annex B. Pure functions, any thread.
#pragma once

#include "core/err.h"
#include "target/fabric/view.h"
#include "transport/wire/srp.h"

enum { PORT_NAME_SIZE = sizeof "ib." + 2 * SRP_PORT_ID_LEN };

// "ib." and the 32 hex digits of a port identifier.
void port_name(const uint8_t id[SRP_PORT_ID_LEN], char out[PORT_NAME_SIZE]);
// The other way. False: not such a name.
bool port_id(const char *name, uint8_t ret[SRP_PORT_ID_LEN]);

// Whether two names of initiators, "ib." with a port identifier or "xxxx:xxxx:xxxx:xxxx", have the
// same GUID: ports of one initiator differ in the rest. Addresses have none.
bool srp_is_same_initiator(const char *a, const char *b);

// The target that a login to this TARGET PORT IDENTIFIER means: the one with that name, or, if both
// halves are one GUID as the kernel's target has it, the only one with that GUID. NULL, with text.
const struct view_target *target_of_port(const struct view *v, const uint8_t id[SRP_PORT_ID_LEN],
					 struct err *e);

// The ACL that admits an initiator: that of its port identifier ("ib." and 32 hex digits), else of
// the GUID in it, else of its address. NULL: none.
const struct view_acl *acl_of_port(const struct view_tpg *tpg, const char *initiator,
				   const struct tcp_addr *peer);
