// SPDX-License-Identifier: BSD-2-Clause
// open-iscsi at the initiator: what Linux's kernel tells of a connection in dmesg ("detected conn
// error (1020)"; enum iscsi_err of scsi/iscsi_if.h), and exit statuses of iscsiadm(8).
#include "cli/explain.h"

// clang-format off
static const struct explain_row conn_rows[] = {
	{ 1001, "ISCSI_ERR_DATASN: wrong data sequence number", "the target sent a Data-In PDU out of order, or one was lost", "none needed: the initiator logs in again; update the target if it happens again" },
	{ 1002, "ISCSI_ERR_DATA_OFFSET: data outside of the buffer", "the target sent data beyond the end of the command's buffer", "none needed: the initiator logs in again; update the target if it happens again" },
	{ 1003, "ISCSI_ERR_MAX_CMDSN: wrong MaxCmdSN", "the target's command window is not valid", "update the target" },
	{ 1004, "ISCSI_ERR_EXP_CMDSN: wrong ExpCmdSN", "the target expects a command that was never sent", "update the target" },
	{ 1005, "ISCSI_ERR_BAD_OPCODE: unknown opcode", "the target sent a PDU with an unknown opcode: the stream is damaged, or something between changes it", "enable HeaderDigest; look for a proxy or a firewall that rewrites TCP" },
	{ 1006, "ISCSI_ERR_DATALEN: data segment too long", "the target sent more data in a PDU than the initiator announced (MaxRecvDataSegmentLength)", "update the target; the stream may also be damaged: enable HeaderDigest" },
	{ 1007, "ISCSI_ERR_AHSLEN: additional header too long", "the length of an additional header is not valid", "update the target; the stream may also be damaged: enable HeaderDigest" },
	{ 1008, "ISCSI_ERR_PROTO: protocol error", "a PDU breaks the rules of the protocol", "the log of the target tells what it sent; update both ends" },
	{ 1009, "ISCSI_ERR_LUN: wrong LUN", "a PDU carries another LUN than its command", "update the target" },
	{ 1010, "ISCSI_ERR_BAD_ITT: unknown task tag", "the target answered a command that the initiator does not know, or has given up", "a timeout may have come before: look for slow disks at the target; else update the target" },
	{ 1011, "ISCSI_ERR_CONN_FAILED: connection failed", "the connection was lost: cable, switch, network interface, or the target has gone", "ping the target; journalctl -u farblockd there has its side of it; the initiator logs in again by itself" },
	{ 1012, "ISCSI_ERR_R2TSN: wrong R2T sequence number", "an R2T PDU came out of order, or one was lost", "none needed: the initiator logs in again; update the target if it happens again" },
	{ 1013, "ISCSI_ERR_SESSION_FAILED: session failed", "the session was given up after its connection failed", "see the messages before it in dmesg" },
	{ 1014, "ISCSI_ERR_HDR_DGST: header digest error", "the header of a PDU was damaged on the way", "look at cable, switch and network card; try without checksum offload (ethtool -K)" },
	{ 1015, "ISCSI_ERR_DATA_DGST: data digest error", "the data of a PDU was damaged on the way, or its pages changed while they were sent", "look at cable, switch and network card; try without checksum offload (ethtool -K)" },
	{ 1016, "ISCSI_ERR_PARAM_NOT_FOUND: unknown parameter", "iscsid and the kernel do not fit together", "update open-iscsi" },
	{ 1017, "ISCSI_ERR_NO_SCSI_CMD: no such command", "a PDU belongs to a command that has ended", "none needed: the initiator logs in again" },
	{ 1018, "ISCSI_ERR_INVALID_HOST: invalid host", "the host adapter of the session is gone: its driver was unloaded or reset", "load the driver again and log in" },
	{ 1019, "ISCSI_ERR_XMIT_FAILED: transmission failed", "the kernel could not send: the connection is broken or memory is short", "dmesg before it; the initiator logs in again by itself" },
	{ 1020, "ISCSI_ERR_TCP_CONN_CLOSE: TCP connection closed", "the target closed the connection: it was stopped or restarted, it dropped the session, or another login took its place (two hosts with one initiator name)", "journalctl -u farblockd and `refusals` at the target say why; give each host its own name in /etc/iscsi/initiatorname.iscsi" },
	{ 1021, "ISCSI_ERR_SCSI_EH_SESSION_RST: reset by error handling", "commands timed out, and aborts and resets did not help, so Linux dropped the session", "look for slow disks at the target (`top`); a longer timeout in /sys/block/DISK/device/timeout" },
	{ 1022, "ISCSI_ERR_NOP_TIMEDOUT: ping timeout", "the target did not answer a NOP-Out within node.conn[0].timeo.noop_out_timeout", "look at the network and the load of the target; with multipath short timeouts are wanted, else raise noop_out_timeout" },
	{ 0 },
};
static const struct explain_row iscsiadm_rows[] = {
	{ 0, "success", "the command is done", "nothing" },
	{ 1, "generic error", "an error without a status of its own", "run iscsiadm -d 8, and read journalctl -u iscsid" },
	{ 2, "session not found", "there is no such session", "iscsiadm -m session lists them" },
	{ 3, "out of memory", "memory ran out", "free some" },
	{ 4, "connection failure", "no connection to the portal: nobody listens there, or a firewall refuses it", "ping; nc -z ADDRESS 3260; at the target: ls of the portals, and doctor portals" },
	{ 5, "login failure", "the target refused the login", "`refusals` at the target says why; journalctl -u iscsid has the login status for explain" },
	{ 6, "database failure", "the node records in /etc/iscsi (or /var/lib/iscsi) cannot be read or written", "permissions and free space there; run as root; delete the damaged record and discover again" },
	{ 7, "invalid parameter", "an option of iscsiadm, or a value of a node record, is not valid", "iscsiadm(8)" },
	{ 8, "connection timed out", "the portal's address did not answer: no route, a firewall that drops packets, or the host is off", "ping; ip route get ADDRESS; delete records of addresses that the host cannot reach" },
	{ 9, "internal error", "iscsid failed", "journalctl -u iscsid" },
	{ 10, "logout failure", "the session did not end in order", "is a disk of it still mounted? iscsiadm -m session -P 3" },
	{ 11, "PDU timed out", "the target took the connection and did not answer the login in time", "is it an iSCSI portal; load of the target, and its log" },
	{ 12, "driver not found", "the kernel module of the transport is not loaded", "modprobe iscsi_tcp; for iSER: modprobe ib_iser" },
	{ 13, "access denied", "iscsid does not let this user manage sessions", "sudo" },
	{ 14, "capability not supported", "the transport of this interface cannot do that", "another interface: iscsiadm -m iface" },
	{ 15, "session exists", "the initiator is logged in already", "nothing; scripts take 15 as success" },
	{ 16, "unknown request", "iscsiadm and iscsid are of different versions", "systemctl restart iscsid" },
	{ 17, "iSNS not supported", "this iscsid has no iSNS", "discovery by sendtargets: iscsiadm -m discovery -t st -p ADDRESS" },
	{ 18, "no communication with iscsid", "iscsid closed the connection or does not answer", "systemctl restart iscsid: sessions go on" },
	{ 19, "non-retryable login failure", "the target refused the login for good: no such target, no ACL, wrong parameters", "`refusals` at the target says why; compare the name with iscsiadm -m discovery" },
	{ 20, "iscsid is not running", "nothing listens on iscsid's socket", "systemctl start iscsid" },
	{ 21, "no objects found", "no record, target, session or portal matches; a discovery that shows nothing: the target offers this initiator no target", "iscsiadm -m node; at the target an ACL, or demo_mode_discovery=1 and a portal; scripts take 21 as success" },
	{ 22, "sysfs lookup failure", "the session has gone from /sys meanwhile", "iscsiadm -m session; try again" },
	{ 23, "host not found", "no such host number or interface", "iscsiadm -m host; iscsiadm -m iface" },
	{ 24, "login failed due to authorization failure", "the target's CHAP and the initiator's do not agree (status 0201), or the initiator has no ACL (status 0202)", "`refusals` at the target says which; compare node.session.auth.* (authmethod, username, password) with `get auth` of the ACL, and /etc/iscsi/initiatorname.iscsi with the ACL's name; after a change of that name restart iscsid" },
	{ 25, "iSNS query failure", "the iSNS server did not answer the query", "the server's address and log" },
	{ 26, "iSNS registration failure", "the iSNS server did not take the registration", "the server's address and log" },
	{ 27, "operation not supported", "this record or transport cannot do that", "iscsiadm(8)" },
	{ 28, "device or resource in use", "a disk of the session is mounted or held by LVM, RAID or multipath", "findmnt, lsblk, multipath -f" },
	{ 29, "try again", "the operation failed for a reason that may pass", "try again" },
	{ 30, "unknown discovery type", "the type is not one of sendtargets, isns, fw", "iscsiadm -m discovery -t sendtargets -p ADDRESS" },
	{ 31, "child process terminated", "a process of the login was killed", "journalctl -u iscsid; dmesg" },
	{ 32, "session not connected", "the session is there and its connection is not", "wait for the initiator to log in again; dmesg has the conn error" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_conn = { "conn", "connection error of Linux's initiator (dmesg)",
					    0, conn_rows };
const struct explain_table explain_iscsiadm = { "iscsiadm", "exit status of iscsiadm", 0,
						iscsiadm_rows };
