// SPDX-License-Identifier: BSD-2-Clause
// The I_T nexus of a session by its port names, and a session that logs in with those of a lost one
// so that the target ends it. On the session's worker. RFC 7143 4.4.2, 6.3.5.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/iscsi/name.h"

#define FENCE_LOGIN_S 3600 // the target answers when its storage has ended the lost commands

void ini_nexus(const struct scsi_session *scsi, struct scsi_nexus *ret)
{
	const struct ini_session *s = ini_of(scsi);
	const struct login_config *l = &s->config.login;
	char isid[ISCSI_ISID_TEXT];
	iscsi_isid_format(l->isid, isid);
	ret->protocol = SCSI_NEXUS_ISCSI;
	snprintf(ret->initiator, sizeof ret->initiator, "%s,i,%s", l->initiator_name, isid);
	if (s->info.tpgt >= 0)
		snprintf(ret->target, sizeof ret->target, "%s,t,0x%04x", l->target_name,
			 (unsigned)s->info.tpgt);
	else // only the same portal is certain to be of the same group
		snprintf(ret->target, sizeof ret->target, "%s,t,%s", l->target_name, s->info.peer);
}

// The ISID of an initiator port that has our name.
static bool find_isid(const struct ini_session *s, const char *port, uint8_t ret[ISCSI_ISID_LEN])
{
	size_t n = strlen(s->config.login.initiator_name);
	unsigned long long isid;
	int end = 0;
	if (strncmp(port, s->config.login.initiator_name, n) != 0 ||
	    sscanf(port + n, ",i,0x%12llx%n", &isid, &end) != 1 || port[n + (size_t)end])
		return false;
	for (unsigned i = ISCSI_ISID_LEN; i-- > 0; isid >>= 8)
		ret[i] = (uint8_t)isid;
	return true;
}

int ini_reenter(struct scsi_session *scsi, const struct scsi_nexus *lost,
		const struct scsi_session_ops *ops, void *arg, struct scsi_session **ret,
		struct err *e)
{
	struct ini_session *s = ini_of(scsi);
	struct ini_config c;
	struct scsi_nexus own;
	uint8_t isid[ISCSI_ISID_LEN];
	ini_nexus(scsi, &own);
	if (lost->protocol != SCSI_NEXUS_ISCSI || strcmp(own.target, lost->target) != 0 ||
	    !find_isid(s, lost->initiator, isid))
		return err_set(e, -EOPNOTSUPP, "%.120s: another portal group", own.target);
	c = s->config;
	memcpy(c.login.isid, isid, sizeof isid);
	c.portal_count = 1;
	c.queue_depth = 1;
	c.login_timeout = FENCE_LOGIN_S;
	c.replacement_timeout = 0;
	int r = tcp_addr_parse(&c.portals[0], s->info.peer, ISCSI_PORT, e);
	if (!r)
		r = ini_session_new(ret, s->worker, &c, ops, arg, e);
	chap_wipe(&c, sizeof c);
	return r;
}
