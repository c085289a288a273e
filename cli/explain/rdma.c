// SPDX-License-Identifier: BSD-2-Clause
// RDMA: reasons of SRP_LOGIN_REJ (SRP r16a 6.4), of InfiniBand's CM REJ (IBA 12.6.7.2).
#include "cli/explain/explain.h"

// clang-format off
static const struct explain_row srp_rows[] = {
	{ 0x00010000, "unable to establish channel", "the target cannot accept the login, for an unspecified reason", "read `refusals` and the target's log" },
	{ 0x00010001, "insufficient resources", "the target is disabled, or a limit is reached: connections in total or of one address, logins in progress, channels, or memory", "read `refusals`; enable the target (/srpt/WWN enable); use fewer channels (ch_count) or shorter queues (queue_size) at the initiator" },
	{ 0x00010002, "request IU too large", "the initiator requests longer information units than the target accepts", "use a smaller cmd_sg_entries or max_it_iu_size in add_target" },
	{ 0x00010003, "unable to associate channel", "no target has this port id (id_ext, ioc_guid), or the target has no portal at this address, or not for this transport, or no ACL admits the initiator", "take the add_target line from `info` of the target (/srpt/WWN info); create an ACL (acls create NAME; acls create --from-seen lists refused initiators)" },
	{ 0x00010004, "unsupported descriptor format", "the initiator offered neither direct nor indirect descriptors", "update the initiator" },
	{ 0x00010005, "multi-channel unsupported", "the target cannot add this channel to the session", "no action needed: the initiator continues with fewer channels; ch_count=1 in add_target avoids the attempt" },
	{ 0x00010006, "channel limit reached", "the session has as many channels as the target allows; ib_srpt of Linux also means that no ACL admits the initiator", "use a smaller ch_count in add_target; at ib_srpt create an ACL for the initiator port id" },
	{ 0 },
};
static const struct explain_row cm_rows[] = {
	{ 1, "no queue pair available", "the peer's device has no free queue pairs", "end sessions there" },
	{ 2, "no end-to-end context available", "the peer's device has no free end-to-end contexts", "end sessions there" },
	{ 3, "no resources available", "the peer's device or driver lacks a resource", "check memlock limits and the number of queue pairs at the peer" },
	{ 4, "timeout", "the peer did not answer the request in time", "check the fabric: ibping, port errors, a firewall (RoCE: UDP port 4791)" },
	{ 5, "unsupported request", "the peer does not support the request", "update the peer" },
	{ 6, "invalid communication ID", "the peer does not know this connection, or no longer knows it", "connect again" },
	{ 7, "invalid communication instance", "the peer does not know this connection instance", "connect again" },
	{ 8, "invalid service ID", "nothing listens for this service at the peer", "check that the target is running, that its portal is up (ls), and that address and port are correct" },
	{ 9, "invalid transport service type", "the peer does not support reliable connections", "update the peer" },
	{ 10, "stale connection", "the peer still has an old connection with this queue pair number", "try again after a few seconds" },
	{ 12, "primary GID rejected", "address and port do not belong together at the peer", "RoCE: use the same version (v1, v2) and VLAN at both ends; compare show_gids" },
	{ 13, "primary LID rejected", "the local identifier is not the peer's", "check that a subnet manager is running (sminfo)" },
	{ 14, "invalid primary SL", "the peer rejects the service level", "check the subnet manager's configuration" },
	{ 15, "invalid primary traffic class", "the peer rejects the traffic class", "check the subnet manager's configuration" },
	{ 16, "invalid primary hop limit", "the peer rejects the hop limit", "check whether a router is between the ends" },
	{ 17, "invalid primary packet rate", "the packet rates do not match", "check the subnet manager's configuration" },
	{ 24, "port redirection", "the peer redirects the connection to another port", "no action needed: initiators follow" },
	{ 25, "CM redirection", "the peer redirects the connection to another address", "no action needed: initiators follow" },
	{ 26, "invalid path MTU", "the path MTU exceeds that of the peer's port", "use the same MTU at both ends" },
	{ 27, "insufficient responder resources", "the initiator requests more RDMA Reads at once than the peer allows", "no action needed: initiators request fewer" },
	{ 28, "consumer reject", "the program at the peer refused; its own reason accompanies the reject", "read `refusals` at the target; for SRP explain the code of SRP_LOGIN_REJ" },
	{ 29, "RNR retry count reject", "the peer does not accept the retry count", "update the peer" },
	{ 30, "duplicate local communication ID", "two connections use one communication ID", "connect again" },
	{ 31, "unsupported class version", "the peer uses another version of the connection manager", "update the peer" },
	{ 32, "invalid primary flow label", "the peer rejects the flow label", "check the subnet manager's configuration" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_srp = { "srp", "SRP_LOGIN_REJ reason", 8, srp_rows };
const struct explain_table explain_cm = { "cm", "InfiniBand CM REJ reason", 0, cm_rows };
