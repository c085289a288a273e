// SPDX-License-Identifier: BSD-2-Clause
// SRP as the configuration and the administrator see it: the slots of struct fabric_ops.
#include <stdio.h>
#include <string.h>

#include "target/fabric/portal.h"
#include "target/fabric/session.h"
#include "target/srp/settings.h"
#include "target/srp/srp.h"
#include "transport/rdma/rnic.h"
#include "transport/srp/name.h"
#include "transport/wire/srp.h"

_Static_assert(SRP_NAME_MAX + 1 == FABRIC_NAME_SIZE, "names of SRP ports");

static struct view_place views;

// --- names ---

static int name_target(const char *in, bool is_new, char out[FABRIC_NAME_SIZE], struct err *e)
{
	return name_srpt_target(in, out, e);
}

// --- sessions ---

static void on_close(struct session *s, const char *why)
{
	// There are none: no connection is accepted.
}

static const char *const session_transports[] = { "SRP", NULL };

static const struct fabric_transport transports[] = {
	{"all",	 PORTAL_RDMA | PORTAL_IWARP },
	{ "rdma",		  PORTAL_RDMA },
	{ "iwarp",PORTAL_IWARP },
	{ 0    },
};

struct fabric_ops srp_fabric = {
	.name = "srpt",
	.title = "SRP",
	.protocol = SCSI_PROTOCOL_SRP,
	.session_transports = session_transports,
	.name_target = name_target,
	.name_initiator = name_srpt_initiator,
	.port_name = srp_port_name,
	.views = &views,
	.port = 3261,
	.transports = transports,
	.devices = &rnic_verbs,
	.status_full = SRP_REJ_INSUFFICIENT_RESOURCES,
	.close = on_close,
	.group = {srp_group_rows, sizeof(struct srp_settings)},
	.portal_rows = portal_attr_rows,
};
