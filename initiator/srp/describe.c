// SPDX-License-Identifier: BSD-2-Clause
// What an SRP session is, for people: ports, times, and what the logins agreed on. On the session's
// worker.
#include "initiator/srp/address.h"
#include "initiator/srp/session_priv.h"

void srps_describe(const struct scsi_session *scsi, scsi_say *say, void *arg)
{
	const struct srps_session *s = srps_of(scsi);
	const struct srps_config *c = &s->config;
	char text[TCP_ADDR_TEXT], port[SRPS_PORT_ID_TEXT];
	say(arg, "transport", "srp", 0);
	say(arg, "target", srps_port_id_format(c->target, port), 0);
	say(arg, "portal", tcp_addr_format(&c->portals[0], text), 0);
	say(arg, "initiator", srps_port_id_format(c->initiator, port), 0);
	say(arg, "recovery_timeout", NULL, c->replacement_timeout);
	say(arg, "login_timeout", NULL, c->connect_timeout);
	say(arg, "abort_timeout", NULL, c->abort_timeout);
	say(arg, "ping_interval", NULL, c->ping_interval);
	say(arg, "ping_timeout", NULL, c->ping_timeout);
	if (!scsi->was_up)
		return;
	say(arg, "channels", NULL, s->info.channels);
	say(arg, "request_limit", NULL, s->info.accept.credits);
	say(arg, "it_iu_len", NULL, s->info.accept.it_iu_len);
	say(arg, "ti_iu_len", NULL, s->info.accept.ti_iu_len);
	say(arg, "immediate_max", NULL, s->info.immediate_max);
}
