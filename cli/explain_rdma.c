// SPDX-License-Identifier: BSD-2-Clause
// RDMA: reasons of SRP_LOGIN_REJ (SRP r16a 6.4), of InfiniBand's CM REJ (IBA 12.6.7.2).
#include "cli/explain.h"

// clang-format off
static const struct explain_row srp_rows[] = {
	{ 0x00010000, "unable to establish channel", "the target cannot take the login, for no reason that has a code of its own", "look at the target's log (farblock: `refusals`)" },
	{ 0x00010001, "insufficient resources", "too many channels, or no memory for their queues", "fewer channels (ch_count), or shorter queues (queue_size) at the initiator" },
	{ 0x00010002, "request IU too large", "the initiator wants longer information units than the target takes", "a smaller cmd_sg_entries or max_it_iu_size in add_target" },
	{ 0x00010003, "unable to associate channel", "the target port id (id_ext, ioc_guid) is not the target's, or the initiator has no ACL", "take id_ext and ioc_guid from ibsrpdm or from the target; create an ACL for the initiator port id" },
	{ 0x00010004, "unsupported descriptor format", "neither direct nor indirect descriptors were offered", "update the initiator" },
	{ 0x00010005, "multi-channel unsupported", "the target has one channel a session", "ch_count=1 at the initiator" },
	{ 0x00010006, "channel limit reached", "the session has as many channels as the target allows", "a smaller ch_count at the initiator" },
	{ 0 },
};
static const struct explain_row cm_rows[] = {
	{ 1, "no queue pair available", "the peer's device has no queue pairs left", "end sessions there" },
	{ 2, "no end-to-end context available", "the peer's device has none left", "end sessions there" },
	{ 3, "no resources available", "the peer's device or driver ran out of something", "memlock limits, number of queue pairs, at the peer" },
	{ 4, "timeout", "the peer did not answer the request in time", "look at the fabric: ibping, port errors, a firewall (RoCE: UDP port 4791)" },
	{ 5, "unsupported request", "the peer does not do what was asked for", "update the peer" },
	{ 6, "invalid communication ID", "the peer does not know this connection (any more)", "connect anew" },
	{ 7, "invalid communication instance", "the same for a part of it", "connect anew" },
	{ 8, "invalid service ID", "nothing listens for this service at the peer", "is the target running, is its portal up (ls), are address and port right" },
	{ 9, "invalid transport service type", "reliable connection is not possible there", "update the peer" },
	{ 10, "stale connection", "the peer still has an old connection with this queue pair number", "try again after some seconds" },
	{ 12, "primary GID rejected", "address and port do not belong together at the peer", "RoCE: same version (v1, v2) and VLAN at both ends; show_gids" },
	{ 13, "primary LID rejected", "the local identifier is not the peer's", "is a subnet manager running (sminfo)" },
	{ 14, "invalid primary SL", "service level", "ask the subnet manager's configuration" },
	{ 15, "invalid primary traffic class", "traffic class", "ask the subnet manager's configuration" },
	{ 16, "invalid primary hop limit", "hop limit", "is a router between the ends" },
	{ 17, "invalid primary packet rate", "rates do not fit", "ask the subnet manager's configuration" },
	{ 24, "port redirection", "the peer wants to be reached at another port", "initiators follow by themselves" },
	{ 25, "CM redirection", "the peer wants to be reached at another address", "initiators follow by themselves" },
	{ 26, "invalid path MTU", "the path MTU is more than the peer's port can", "same MTU at both ends" },
	{ 27, "insufficient responder resources", "more RDMA Reads at once than the peer allows", "none needed: initiators ask for fewer" },
	{ 28, "consumer reject", "the program at the peer refused: its own reason comes beside it", "`refusals` at the target; for SRP explain the code of SRP_LOGIN_REJ" },
	{ 29, "RNR retry count reject", "the retry count is not accepted", "update the peer" },
	{ 30, "duplicate local communication ID", "two connections with one number", "connect anew" },
	{ 31, "unsupported class version", "another version of the connection manager", "update the peer" },
	{ 32, "invalid primary flow label", "flow label", "ask the subnet manager's configuration" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_srp = { "srp", "SRP_LOGIN_REJ reason", 8, srp_rows };
const struct explain_table explain_cm = { "cm", "InfiniBand CM REJ reason", 0, cm_rows };
