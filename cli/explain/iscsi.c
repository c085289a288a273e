// SPDX-License-Identifier: BSD-2-Clause
// iSCSI: login status (RFC 7143 11.13.5), reasons of Reject PDUs (11.17.1).
#include "cli/explain/explain.h"

// clang-format off
static const struct explain_row login_rows[] = {
	{ 0x0000, "success", "the login succeeded, or continues", "no action needed" },
	{ 0x0101, "target moved temporarily", "the portal group has `redirect` set and sends the initiator to another address", "let the initiator follow, or clear redirect in the tpg: set attribute redirect= (empty)" },
	{ 0x0102, "target moved permanently", "the target has moved to another address permanently", "change the address at the initiator" },
	{ 0x0200, "initiator error", "the initiator violated the protocol; `refusals` shows how", "update the initiator; if it is widely used, report it with the line of `refusals`" },
	{ 0x0201, "authentication failure", "CHAP failed: the initiator offered none although it is required, the user or secret is wrong, or both sides share no algorithm", "compare `get auth` of the ACL (or the tpg) with the initiator's node.session.auth.*; use secrets of 12 characters or more; or set attribute authentication=0 to admit initiators without CHAP" },
	{ 0x0202, "initiator not allowed", "no ACL has this initiator's name, or its address is not in allowed_addresses", "create an ACL (acls create NAME; acls create --from-seen lists refused initiators), or set attribute generate_node_acls=1 to admit initiators without an ACL" },
	{ 0x0203, "target not found", "no target has this name, or the target has no portal at this address, or the portal does not offer it over this transport", "compare the name with `ls /iscsi`; add a portal; set transport=all at the portal" },
	{ 0x0204, "target removed", "the target was deleted permanently", "remove the node record at the initiator" },
	{ 0x0205, "unsupported version", "the initiator requires an iSCSI version above 0", "update the initiator" },
	{ 0x0206, "too many connections", "the initiator adds a second connection to its session; farblock allows one connection per session", "set node.session.nr_sessions to use several sessions, or set MaxConnections=1" },
	{ 0x0207, "missing parameter", "the login lacks InitiatorName, or TargetName in a normal session", "set the initiator's name (initiatorname.iscsi)" },
	{ 0x0208, "cannot include in session", "the target cannot add this connection to that session", "log in again" },
	{ 0x0209, "session type not supported", "SessionType is neither Normal nor Discovery", "update the initiator" },
	{ 0x020a, "session does not exist", "the initiator tries to resume a session that has ended, for example after a restart of farblockd", "no action needed: the initiator logs in again; if it does not, log out and log in there" },
	{ 0x020b, "invalid request during login", "the initiator sent another PDU than a Login Request before the login was complete", "update the initiator" },
	{ 0x0300, "target error", "farblockd cannot continue this login; `refusals` and the log show the cause", "read `refusals` and the log" },
	{ 0x0301, "service unavailable", "the portal group is disabled, or another login takes over this session", "enable the tpg (/iscsi/IQN/tpgN enable)" },
	{ 0x0302, "out of resources", "a limit is reached: connections in total or of one address, logins in progress, or memory", "compare the limits in `stats`; end sessions that are not needed, or find the initiator that opens so many" },
	{ 0 },
};
static const struct explain_row reject_rows[] = {
	{ 0x02, "data digest error", "the data of a PDU does not match its CRC: it was damaged in transit", "check cable, switch and network card, then the initiator" },
	{ 0x03, "SNACK reject", "the initiator requests a retransmission, which ErrorRecoveryLevel 0 does not support", "no action needed: the initiator logs in again" },
	{ 0x04, "protocol error", "the PDU is not allowed at this point", "update the initiator; the log shows which PDU" },
	{ 0x05, "command not supported", "the target does not support this opcode, AHS or text key", "update the initiator, or disable the option there" },
	{ 0x06, "immediate command reject", "too many immediate commands are outstanding", "no action needed: the initiator retries" },
	{ 0x07, "task in progress", "an earlier command still uses the initiator task tag", "update the initiator" },
	{ 0x08, "invalid data ack", "the DataACK SNACK is not valid here", "update the initiator" },
	{ 0x09, "invalid PDU field", "a field of the PDU has an invalid value", "update the initiator; the log shows which PDU" },
	{ 0x0a, "long operation reject", "the target lacks resources for the request", "send fewer requests at once" },
	{ 0x0b, "negotiation reset", "obsolete reason of RFC 3720", "update the peer" },
	{ 0x0c, "waiting for logout", "the target requested a logout and accepts nothing else", "let the initiator log out" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_login = { "login", "iSCSI login status", 4, login_rows };
const struct explain_table explain_reject = { "reject", "iSCSI reject reason", 2, reject_rows };
