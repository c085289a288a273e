// SPDX-License-Identifier: BSD-2-Clause
// What an iSCSI session is, for people: names, times, and the result of the login by the keys of
// RFC 7143 13. On the session's worker.
#include <stdio.h>

#include "initiator/iscsi/session_priv.h"

static void text(scsi_say *say, void *arg, const char *key, const char *value)
{
	if (*value)
		say(arg, key, value, 0);
}

static void configured(const struct ini_config *c, scsi_say *say, void *arg)
{
	char portal[TCP_ADDR_TEXT], isid[2 * ISCSI_ISID_LEN + 1];
	for (unsigned i = 0; i < ISCSI_ISID_LEN; i++)
		snprintf(isid + 2 * i, 3, "%02x", c->login.isid[i]);
	say(arg, "transport", c->provider_count ? "iser" : "tcp", 0);
	say(arg, "target", c->login.target_name, 0);
	say(arg, "portal", tcp_addr_format(&c->portals[0], portal), 0);
	say(arg, "initiator", c->login.initiator_name, 0);
	say(arg, "isid", isid, 0);
	text(say, arg, "chap_user", c->login.initiator.user);
	text(say, arg, "chap_mutual_user", c->login.target.user);
	say(arg, "recovery_timeout", NULL, c->replacement_timeout);
	say(arg, "login_timeout", NULL, c->login_timeout);
	say(arg, "abort_timeout", NULL, c->abort_timeout);
	say(arg, "noop_out_interval", NULL, c->noop_out_interval);
	say(arg, "noop_out_timeout", NULL, c->noop_out_timeout);
}

static const char *yes(bool b)
{
	return b ? "Yes" : "No";
}

static const char *digest(bool b)
{
	return b ? "CRC32C" : "None";
}

static void negotiated(const struct ini_session_info *i, scsi_say *say, void *arg)
{
	const struct iscsi_params *p = &i->params;
	if (i->tpgt >= 0)
		say(arg, "tpgt", NULL, (uint64_t)i->tpgt);
	say(arg, "tsih", NULL, i->tsih);
	text(say, arg, "TargetAlias", i->target_alias);
	say(arg, "HeaderDigest", digest(p->header_digest), 0);
	say(arg, "DataDigest", digest(p->data_digest), 0);
	say(arg, "MaxRecvDataSegmentLength", NULL, p->max_recv_data);
	say(arg, "MaxXmitDataSegmentLength", NULL, p->max_send_data);
	say(arg, "FirstBurstLength", NULL, p->first_burst);
	say(arg, "MaxBurstLength", NULL, p->max_burst);
	say(arg, "ImmediateData", yes(p->immediate_data), 0);
	say(arg, "InitialR2T", yes(p->initial_r2t), 0);
	say(arg, "MaxOutstandingR2T", NULL, p->max_outstanding_r2t);
}

void ini_describe(const struct scsi_session *scsi, scsi_say *say, void *arg)
{
	const struct ini_session *s = ini_of(scsi);
	configured(&s->config, say, arg);
	if (scsi->was_up)
		negotiated(&s->info, say, arg);
}
