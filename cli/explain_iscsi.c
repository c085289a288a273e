// SPDX-License-Identifier: BSD-2-Clause
// iSCSI: login status (RFC 7143 11.13.5), reasons of Reject PDUs (11.17.1).
#include "cli/explain.h"

// clang-format off
static const struct explain_row login_rows[] = {
	{ 0x0000, "success", "the login went well, or goes on", "nothing" },
	{ 0x0101, "target moved temporarily", "the portal group has `redirect` set: the initiator is sent to another address",
	  "set attribute redirect= (empty) in the tpg, or let the initiator follow" },
	{ 0x0102, "target moved permanently", "the target is at another address for good", "change the address at the initiator" },
	{ 0x0200, "initiator error", "the initiator has sent something that breaks the protocol's rules; `refusals` says what",
	  "update the initiator; if it is a well-known one, report it with the line of `refusals`" },
	{ 0x0201, "authentication failure", "CHAP: none was offered where it is required, user or secret are wrong, or no algorithm is common",
	  "compare `get auth` of the ACL (or the tpg) with the initiator's node.session.auth.*; secrets of 12 characters or more; or set attribute authentication=0 where nobody has to prove anything" },
	{ 0x0202, "initiator not allowed", "no ACL has this initiator's name, or its address is not in allowed_addresses",
	  "acls create NAME (acls create --from-seen lists who was refused), or set attribute generate_node_acls=1 for everybody" },
	{ 0x0203, "target not found", "no such target name, or the target has no portal at this address, or does not offer this transport there",
	  "compare the name with `ls /iscsi`; add a portal; set transport=all at the portal" },
	{ 0x0204, "target removed", "the target was deleted for good", "remove the node record at the initiator" },
	{ 0x0205, "unsupported version", "the initiator wants a version of iSCSI above 0", "update the initiator" },
	{ 0x0206, "too many connections", "the initiator adds a second connection to its session; one is all a session has here",
	  "set node.session.nr_sessions for several sessions instead, or MaxConnections=1" },
	{ 0x0207, "missing parameter", "InitiatorName, or TargetName of a normal session, did not come", "give the initiator a name (initiatorname.iscsi)" },
	{ 0x0208, "cannot include in session", "the target cannot take this connection into that session", "log in anew" },
	{ 0x0209, "session type not supported", "SessionType is neither Normal nor Discovery", "update the initiator" },
	{ 0x020a, "session does not exist", "the initiator wants to go on with a session that has ended, as after a restart of farblockd", "it logs in anew by itself; if not, log out and in there" },
	{ 0x020b, "invalid request during login", "another PDU than Login Request before the login was over", "update the initiator" },
	{ 0x0300, "target error", "farblockd could not go on with this login; `refusals` and the log say why", "see there" },
	{ 0x0301, "service unavailable", "the portal group is disabled, or another login takes this session's place",
	  "enable the tpg (/iscsi/IQN/tpgN enable)" },
	{ 0x0302, "out of resources", "a limit: connections in all or of one address, logins in progress, memory",
	  "`stats` shows the limits; end sessions that are not needed, or find who opens so many" },
	{ 0 },
};
static const struct explain_row reject_rows[] = {
	{ 0x02, "data digest error", "the data of a PDU did not fit its CRC: it was damaged on the way", "look at cable, switch and network card; without them, at the initiator" },
	{ 0x03, "SNACK reject", "the initiator asks for something to be sent again, which ErrorRecoveryLevel 0 does not know", "none needed: it recovers with a new login" },
	{ 0x04, "protocol error", "a PDU that does not fit where it came", "update the initiator; the log says which PDU" },
	{ 0x05, "command not supported", "an opcode, AHS or text that the target does not know", "update the initiator, or take the option away there" },
	{ 0x06, "immediate command reject", "too many immediate commands at once", "none needed: the initiator tries again" },
	{ 0x07, "task in progress", "the initiator tag is still in use by an earlier command", "update the initiator" },
	{ 0x08, "invalid data ack", "a DataACK SNACK that does not fit", "update the initiator" },
	{ 0x09, "invalid PDU field", "a field of the PDU has a value that cannot be", "update the initiator; the log says which PDU" },
	{ 0x0a, "long operation reject", "no resources for what was asked for", "fewer requests at once" },
	{ 0x0b, "negotiation reset", "of the first RFC; no longer used", "update the peer" },
	{ 0x0c, "waiting for logout", "the target has asked for a logout and takes nothing else", "let the initiator log out" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_login = { "login", "iSCSI login status", 4, login_rows };
const struct explain_table explain_reject = { "reject", "iSCSI reject reason", 2, reject_rows };
