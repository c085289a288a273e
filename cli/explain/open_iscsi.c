// SPDX-License-Identifier: BSD-2-Clause
// open-iscsi at the initiator: connection errors of the Linux kernel in dmesg ("detected conn
// error (1020)"; enum iscsi_err of scsi/iscsi_if.h), and exit statuses of iscsiadm(8).
#include "cli/explain/explain.h"

// clang-format off
static const struct explain_row conn_rows[] = {
	{ 1001, "ISCSI_ERR_DATASN: wrong data sequence number", "the target sent a Data-In PDU out of order, or one was lost", "no action needed: the initiator logs in again; update the target if it recurs" },
	{ 1002, "ISCSI_ERR_DATA_OFFSET: data outside of the buffer", "the target sent data beyond the end of the command's buffer", "no action needed: the initiator logs in again; update the target if it recurs" },
	{ 1003, "ISCSI_ERR_MAX_CMDSN: wrong MaxCmdSN", "the target's command window is not valid", "update the target" },
	{ 1004, "ISCSI_ERR_EXP_CMDSN: wrong ExpCmdSN", "the target expects a command that was never sent", "update the target" },
	{ 1005, "ISCSI_ERR_BAD_OPCODE: unknown opcode", "the target sent a PDU with an unknown opcode: the stream is damaged, or a device on the path changes it", "enable HeaderDigest; look for a proxy or a firewall that rewrites TCP" },
	{ 1006, "ISCSI_ERR_DATALEN: data segment too long", "the target sent more data in a PDU than the initiator announced (MaxRecvDataSegmentLength)", "update the target; the stream may also be damaged: enable HeaderDigest" },
	{ 1007, "ISCSI_ERR_AHSLEN: additional header too long", "the length of an additional header is not valid", "update the target; the stream may also be damaged: enable HeaderDigest" },
	{ 1008, "ISCSI_ERR_PROTO: protocol error", "a PDU violates the protocol", "read the target's log, which shows what it sent; update both ends" },
	{ 1009, "ISCSI_ERR_LUN: wrong LUN", "a PDU carries another LUN than its command", "update the target" },
	{ 1010, "ISCSI_ERR_BAD_ITT: unknown task tag", "the target answered a command that the initiator does not know or has abandoned", "look for slow disks at the target, since a timeout may have preceded; else update the target" },
	{ 1011, "ISCSI_ERR_CONN_FAILED: connection failed", "the connection was lost: cable, switch or network interface failed, or the target stopped", "ping the target; read journalctl -u farblockd there; the initiator logs in again by itself" },
	{ 1012, "ISCSI_ERR_R2TSN: wrong R2T sequence number", "an R2T PDU arrived out of order, or one was lost", "no action needed: the initiator logs in again; update the target if it recurs" },
	{ 1013, "ISCSI_ERR_SESSION_FAILED: session failed", "the session was dropped after its connection failed", "read the preceding messages in dmesg" },
	{ 1014, "ISCSI_ERR_HDR_DGST: header digest error", "the header of a PDU was damaged in transit", "check cable, switch and network card; try without checksum offload (ethtool -K)" },
	{ 1015, "ISCSI_ERR_DATA_DGST: data digest error", "the data of a PDU was damaged in transit, or its pages changed while they were sent", "check cable, switch and network card; try without checksum offload (ethtool -K)" },
	{ 1016, "ISCSI_ERR_PARAM_NOT_FOUND: unknown parameter", "iscsid and the kernel are not compatible", "update open-iscsi" },
	{ 1017, "ISCSI_ERR_NO_SCSI_CMD: no such command", "a PDU belongs to a command that has ended", "no action needed: the initiator logs in again" },
	{ 1018, "ISCSI_ERR_INVALID_HOST: invalid host", "the host adapter of the session was removed: its driver was unloaded or reset", "load the driver again and log in" },
	{ 1019, "ISCSI_ERR_XMIT_FAILED: transmission failed", "the kernel could not send: the connection is broken or memory is short", "read the preceding messages in dmesg; the initiator logs in again by itself" },
	{ 1020, "ISCSI_ERR_TCP_CONN_CLOSE: TCP connection closed", "the target closed the connection: it was stopped or restarted, it dropped the session, or another login took its place (two hosts with one initiator name)", "read journalctl -u farblockd and `refusals` at the target; give each host its own name in /etc/iscsi/initiatorname.iscsi" },
	{ 1021, "ISCSI_ERR_SCSI_EH_SESSION_RST: reset by error handling", "commands timed out, and aborts and resets did not help, so Linux dropped the session", "look for slow disks at the target (`top`); raise the timeout in /sys/block/DISK/device/timeout" },
	{ 1022, "ISCSI_ERR_NOP_TIMEDOUT: ping timeout", "the target did not answer a NOP-Out within node.conn[0].timeo.noop_out_timeout", "check the network and the load of the target; raise noop_out_timeout, except with multipath, which needs short timeouts" },
	{ 0 },
};
static const struct explain_row iscsiadm_rows[] = {
	{ 0, "success", "the command completed", "no action needed" },
	{ 1, "generic error", "unspecified error", "run iscsiadm -d 8; read journalctl -u iscsid" },
	{ 2, "session not found", "no such session", "list the sessions: iscsiadm -m session" },
	{ 3, "out of memory", "memory ran out", "free memory" },
	{ 4, "connection failure", "no connection to the portal: nothing listens there, or a firewall rejects it", "run ping and nc -z ADDRESS 3260; at the target, check ls of the portals and doctor portals" },
	{ 5, "login failure", "the target refused the login", "read `refusals` at the target; journalctl -u iscsid shows the login status for explain" },
	{ 6, "database failure", "the node records in /etc/iscsi (or /var/lib/iscsi) cannot be read or written", "check permissions and free space there; run as root; delete the damaged record and discover again" },
	{ 7, "invalid parameter", "an option of iscsiadm or a value of a node record is not valid", "see iscsiadm(8)" },
	{ 8, "connection timed out", "the portal's address did not answer: no route, a firewall that drops packets, or the host is off", "run ping and ip route get ADDRESS; delete records of addresses that this host cannot reach" },
	{ 9, "internal error", "iscsid failed", "read journalctl -u iscsid" },
	{ 10, "logout failure", "the session did not end in order", "check whether a disk of it is still mounted: iscsiadm -m session -P 3" },
	{ 11, "PDU timed out", "the target accepted the connection and did not answer the login in time", "check that the address is an iSCSI portal; check the target's load and log" },
	{ 12, "driver not found", "the kernel module of the transport is not loaded", "run modprobe iscsi_tcp; for iSER modprobe ib_iser" },
	{ 13, "access denied", "iscsid does not let this user manage sessions", "use sudo" },
	{ 14, "capability not supported", "the transport of this interface does not support the operation", "use another interface: iscsiadm -m iface" },
	{ 15, "session exists", "the initiator is already logged in", "no action needed; treat 15 as success in scripts" },
	{ 16, "unknown request", "iscsiadm and iscsid have different versions", "systemctl restart iscsid" },
	{ 17, "iSNS not supported", "iscsid was built without iSNS support", "discover with sendtargets: iscsiadm -m discovery -t st -p ADDRESS" },
	{ 18, "no communication with iscsid", "iscsid closed the connection or does not answer", "systemctl restart iscsid (sessions continue)" },
	{ 19, "non-retryable login failure", "the target refused the login permanently: no such target, no ACL, or wrong parameters", "read `refusals` at the target; compare the name with iscsiadm -m discovery" },
	{ 20, "iscsid is not running", "nothing listens on iscsid's socket", "systemctl start iscsid" },
	{ 21, "no objects found", "no record, target, session or portal matches; for a discovery, the target offers this initiator no target", "list the records: iscsiadm -m node; at the target, create an ACL, or set demo_mode_discovery=1 and add a portal; treat 21 as success in scripts" },
	{ 22, "sysfs lookup failure", "the session was removed from /sys during the operation", "check iscsiadm -m session; try again" },
	{ 23, "host not found", "no such host number or interface", "list them: iscsiadm -m host; iscsiadm -m iface" },
	{ 24, "login failed due to authorization failure", "the CHAP settings of target and initiator differ (status 0201), or the initiator has no ACL (status 0202)", "read `refusals` at the target, which shows the status; compare node.session.auth.* (authmethod, username, password) with `get auth` of the ACL, and /etc/iscsi/initiatorname.iscsi with the ACL's name; restart iscsid after a change of that name" },
	{ 25, "iSNS query failure", "the iSNS server did not answer the query", "check the server's address and log" },
	{ 26, "iSNS registration failure", "the iSNS server did not accept the registration", "check the server's address and log" },
	{ 27, "operation not supported", "this record or transport does not support the operation", "see iscsiadm(8)" },
	{ 28, "device or resource in use", "a disk of the session is mounted or held by LVM, RAID or multipath", "find the user with findmnt and lsblk; release multipath with multipath -f" },
	{ 29, "try again", "the operation failed for a transient reason", "try again" },
	{ 30, "unknown discovery type", "the discovery type is not sendtargets, isns or fw", "iscsiadm -m discovery -t sendtargets -p ADDRESS" },
	{ 31, "child process terminated", "a process of the login was killed", "read journalctl -u iscsid and dmesg" },
	{ 32, "session not connected", "the session exists, but its connection is down", "wait for the initiator to log in again; dmesg shows the conn error" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_conn = { "conn", "connection error of Linux's initiator (dmesg)",
					    0, conn_rows };
const struct explain_table explain_iscsiadm = { "iscsiadm", "exit status of iscsiadm", 0,
						iscsiadm_rows };
