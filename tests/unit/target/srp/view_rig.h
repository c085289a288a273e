// SPDX-License-Identifier: BSD-2-Clause
// A published configuration of SRP made by hand, and a login to it.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/fabric/view.h"
#include "target/srp/identity.h"
#include "target/srp/settings.h"
#include "target/srp/srp.h"

#define TARGET_A "ib.0011223344556677aabbccddeeff0011"
#define TARGET_B "ib.00000000000000010203040506070809"
#define GUID_B	 "0203040506070809"

static inline void id_of(const char *name, uint8_t ret[SRP_PORT_ID_LEN])
{
	for (int i = 0; i < SRP_PORT_ID_LEN; i++) {
		char digits[3] = { name[3 + 2 * i], name[4 + 2 * i] };
		ret[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static inline struct tcp_addr address(const char *text)
{
	struct tcp_addr a;
	assert_int_equal(tcp_addr_parse(&a, text, 3261, NULL), 0);
	return a;
}

static inline int by_initiator(const void *a, const void *b)
{
	return strcmp(((const struct view_acl *)a)->initiator,
		      ((const struct view_acl *)b)->initiator);
}

// An enabled target with a portal and ACLs; names end with NULL.
static inline struct view_target *make_target(const char *name, const char *portal,
					      unsigned transports, const char *const *acls)
{
	struct view_target *t = view_target_new(name, 1);
	struct view_tpg *tpg = &t->tpgs[0];
	struct srp_settings *own = tpg->own = view_own_new(sizeof *own);
	own->srp_max_rsp_size = 256;
	tpg->tag = 1;
	tpg->is_enabled = true;
	tpg->portals = calloc(1, sizeof *tpg->portals);
	tpg->portal_count = 1;
	tpg->portals[0] = (struct view_portal){ .addr = address(portal), .transports = transports };
	tpg->acls = calloc(8, sizeof *tpg->acls);
	for (; acls && *acls; acls++)
		tpg->acls[tpg->acl_count++].initiator = strdup(*acls);
	qsort(tpg->acls, tpg->acl_count, sizeof *tpg->acls, by_initiator);
	return t;
}
