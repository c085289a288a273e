// SPDX-License-Identifier: BSD-2-Clause
// The I_T nexus of a session by its port identifiers, and a session that logs in with those of a
// lost one so that the target ends it (MULTICHANNEL ACTION: terminate). On the session's worker.
// T10 SRP 5.4.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/srp/session_priv.h"

#define FENCE_LOGIN_S 3600 // the target answers when its storage has ended the lost commands

static void format(const uint8_t id[SRP_PORT_ID_LEN], char ret[SCSI_PORT_TEXT])
{
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

void srps_nexus(const struct scsi_session *scsi, struct scsi_nexus *ret)
{
	const struct srps_session *s = srps_of(scsi);
	ret->protocol = SCSI_NEXUS_SRP;
	format(s->config.initiator, ret->initiator);
	format(s->config.target, ret->target);
}

static bool parse(const char *text, uint8_t ret[SRP_PORT_ID_LEN])
{
	unsigned byte;
	if (strlen(text) != 2 * SRP_PORT_ID_LEN ||
	    strspn(text, "0123456789abcdef") != 2 * SRP_PORT_ID_LEN)
		return false;
	for (unsigned i = 0; i < SRP_PORT_ID_LEN; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		ret[i] = (uint8_t)byte;
	}
	return true;
}

int srps_reenter(struct scsi_session *scsi, const struct scsi_nexus *lost,
		 const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
		 struct err *e)
{
	struct srps_session *s = srps_of(scsi);
	struct srps_config c = s->config;
	struct scsi_nexus own;
	srps_nexus(scsi, &own);
	if (lost->protocol != SCSI_NEXUS_SRP || strcmp(own.target, lost->target) != 0 ||
	    !parse(lost->initiator, c.initiator))
		return err_set(e, -EOPNOTSUPP, "%s: another target port", own.target);
	c.portal_count = 1;
	c.channels = 1;
	c.connect_timeout = FENCE_LOGIN_S;
	c.replacement_timeout = 0;
	int r = tcp_addr_parse(&c.portals[0], s->info.peer, SRPS_PORT, e);
	return r ? r : srps_session_new(ret, s->worker, &c, ops, arg, e);
}
