// SPDX-License-Identifier: BSD-2-Clause
// The table of text keys: one row holds everything about a key.
// RFC 7143 §13, RFC 7144 §9, RFC 7145 §6.
#include "transport/iscsi/keys.h"

#include <string.h>

#include "transport/wire/iser.h"

#define DEST(field)    offsetof(struct iscsi_params, field)
#define PACK2(a, b)    (((a) + 1u) | ((b) + 1u) << 8)
#define NUMBER(l, h)   .lo = (l), .hi = (h), .ours_lo = (l), .ours_hi = (h)
#define DATA_LEN       NUMBER(512, ISCSI_DATA_LEN_MAX)
#define TEXT(max)      .kind = ISCSI_KIND_STRING, .dest = ISCSI_NO_DEST, .value_max = (max)
#define OBSOLETE(with) .kind = ISCSI_KIND_OBSOLETE, .dest = ISCSI_NO_DEST, .values = (with)
#define YES	       .standard = 1, .hi = 1, .ours = 1, .ours_hi = 1
#define YES_OURS_NO    .standard = 1, .hi = 1, .ours = 0, .ours_hi = 1
#define YES_ONLY       YES, .ours_lo = 1
#define NO	       .standard = 0, .hi = 1, .ours = 0, .ours_hi = 1
// The combinations of sender and stage that exist.
#define SECURITY	    .by = ISCSI_BY_BOTH, .in = ISCSI_IN_SECURITY
#define OPERATIONAL	    .by = ISCSI_BY_BOTH, .in = ISCSI_IN_OPERATIONAL
#define BY_INITIATOR(where) .by = ISCSI_BY_INITIATOR, .in = (where)
#define BY_TARGET(where)    .by = ISCSI_BY_TARGET, .in = (where)
#define ALWAYS		    (ISCSI_IN_LOGIN | ISCSI_IN_FULL_FEATURE)
#define SESSION		    (ISCSI_KEY_LEADING | ISCSI_KEY_NOT_DISCOVERY | ISCSI_KEY_CONFIG)

// Binary values are limited by their decoded length; base64 and hex need at most this much.
#define BINARY_TEXT_MAX (2 + 2 * ISCSI_BINARY_MAX)

static const char *const auth_methods[] = { "None", "CHAP", NULL };
// The default offer has None first: digests cost time and TCP has a checksum; configure them if
// needed.
static const char *const digests[] = { "None", "CRC32C", NULL };
static const char *const reporting[] = { "RFC3720", "ResponseFence", "FastAbort", NULL };
// iscsid requires the answer No for markers; their intervals need no answer.
static const char *const answer_no[] = { "No", NULL };
static const char *const answer_reject[] = { "Reject", NULL };

// clang-format off
const struct iscsi_key iscsi_keys[ISCSI_KEY_COUNT] = {
	[ISCSI_KEY_AUTH_METHOD] = { "AuthMethod",
		.kind = ISCSI_KIND_LIST, SECURITY, .dest = ISCSI_NO_DEST,
		.values = auth_methods },
	[ISCSI_KEY_CHAP_A] = { "CHAP_A", TEXT(0), SECURITY },
	[ISCSI_KEY_CHAP_I] = { "CHAP_I", TEXT(0), SECURITY },
	[ISCSI_KEY_CHAP_C] = { "CHAP_C", TEXT(BINARY_TEXT_MAX), SECURITY },
	[ISCSI_KEY_CHAP_N] = { "CHAP_N", TEXT(0), SECURITY },
	[ISCSI_KEY_CHAP_R] = { "CHAP_R", TEXT(BINARY_TEXT_MAX), SECURITY },
	[ISCSI_KEY_INITIATOR_NAME] = { "InitiatorName",
		TEXT(ISCSI_NAME_MAX), BY_INITIATOR(ISCSI_IN_LOGIN) },
	[ISCSI_KEY_INITIATOR_ALIAS] = { "InitiatorAlias", TEXT(0), BY_INITIATOR(ALWAYS) },
	[ISCSI_KEY_TARGET_NAME] = { "TargetName",
		TEXT(ISCSI_NAME_MAX), BY_INITIATOR(ISCSI_IN_LOGIN) },
	[ISCSI_KEY_TARGET_ALIAS] = { "TargetAlias", TEXT(0), BY_TARGET(ALWAYS) },
	[ISCSI_KEY_TARGET_ADDRESS] = { "TargetAddress",
		TEXT(ISCSI_VALUE_MAX + 16), BY_TARGET(ALWAYS) },
	[ISCSI_KEY_TARGET_PORTAL_GROUP_TAG] = { "TargetPortalGroupTag",
		TEXT(0), BY_TARGET(ISCSI_IN_LOGIN),
		NUMBER(0, UINT16_MAX) },
	[ISCSI_KEY_SESSION_TYPE] = { "SessionType", TEXT(0), BY_INITIATOR(ISCSI_IN_LOGIN) },
	[ISCSI_KEY_SEND_TARGETS] = { "SendTargets", TEXT(0), BY_INITIATOR(ISCSI_IN_FULL_FEATURE) },
	[ISCSI_KEY_HEADER_DIGEST] = { "HeaderDigest", .kind = ISCSI_KIND_LIST, OPERATIONAL,
		.flags = ISCSI_KEY_CONFIG | ISCSI_KEY_TCP, .values = digests,
		.ours = PACK2(0, 1), .dest = DEST(header_digest),
		.help = "header digests, in order of preference" },
	[ISCSI_KEY_DATA_DIGEST] = { "DataDigest", .kind = ISCSI_KIND_LIST, OPERATIONAL,
		.flags = ISCSI_KEY_CONFIG | ISCSI_KEY_TCP, .values = digests,
		.ours = PACK2(0, 1), .dest = DEST(data_digest),
		.help = "data digests, in order of preference" },
	[ISCSI_KEY_MAX_CONNECTIONS] = { "MaxConnections", .kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = SESSION, .lo = 1, .hi = UINT16_MAX, .ours_lo = 1, .ours_hi = 1,
		.standard = 1, .ours = 1, .dest = DEST(max_connections), .help = "connections per session" },
	[ISCSI_KEY_INITIAL_R2T] = { "InitialR2T",
		.kind = ISCSI_KIND_OR, OPERATIONAL, .flags = SESSION,
		YES_OURS_NO, .dest = DEST(initial_r2t),
		.help = "Yes: no unsolicited data except immediate data" },
	[ISCSI_KEY_IMMEDIATE_DATA] = { "ImmediateData", .kind = ISCSI_KIND_AND, OPERATIONAL,
		.flags = SESSION, YES, .dest = DEST(immediate_data),
		.help = "Yes: write data may be sent in the command PDU" },
	[ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH] = { "MaxRecvDataSegmentLength",
		.kind = ISCSI_KIND_DECLARE,
		OPERATIONAL | ISCSI_IN_FULL_FEATURE, .flags = ISCSI_KEY_CONFIG | ISCSI_KEY_TCP,
		DATA_LEN, .standard = 8192, .ours = 262144, .dest = DEST(max_send_data),
		.help = "maximum bytes of data this side receives in a PDU" },
	[ISCSI_KEY_MAX_XMIT_DATA_SEGMENT_LENGTH] = { "MaxXmitDataSegmentLength",
		.kind = ISCSI_KIND_DECLARE, .flags = ISCSI_KEY_CONFIG, DATA_LEN,
		.standard = ISCSI_DATA_LEN_MAX, .ours = 262144, .dest = ISCSI_NO_DEST,
		.help = "maximum bytes of data this side sends in a PDU" },
	[ISCSI_KEY_MAX_BURST_LENGTH] = { "MaxBurstLength", .kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = SESSION, DATA_LEN, .standard = 262144, .ours = 1048576,
		.dest = DEST(max_burst), .help = "maximum bytes of a Data-In sequence or an R2T" },
	[ISCSI_KEY_FIRST_BURST_LENGTH] = { "FirstBurstLength", .kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = SESSION, DATA_LEN, .standard = 65536, .ours = 262144,
		.dest = DEST(first_burst), .help = "maximum bytes of unsolicited data per command" },
	[ISCSI_KEY_DEFAULT_TIME2WAIT] = { "DefaultTime2Wait", .kind = ISCSI_KIND_MAX, OPERATIONAL,
		.flags = ISCSI_KEY_LEADING | ISCSI_KEY_CONFIG, NUMBER(0, 3600), .standard = 2,
		.ours = 2, .dest = DEST(time2wait),
		.help = "seconds to wait before reconnecting" },
	[ISCSI_KEY_DEFAULT_TIME2RETAIN] = { "DefaultTime2Retain",
		.kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = ISCSI_KEY_LEADING | ISCSI_KEY_CONFIG, NUMBER(0, 3600), .standard = 20,
		.ours = 0, .dest = DEST(time2retain),
		.help = "seconds to keep tasks after the connection is lost" },
	[ISCSI_KEY_MAX_OUTSTANDING_R2T] = { "MaxOutstandingR2T",
		.kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = SESSION, NUMBER(1, UINT16_MAX), .standard = 1, .ours = 8,
		.dest = DEST(max_outstanding_r2t), .help = "maximum outstanding R2Ts per command" },
	[ISCSI_KEY_DATA_PDU_IN_ORDER] = { "DataPDUInOrder", .kind = ISCSI_KIND_OR, OPERATIONAL,
		.flags = SESSION, YES_ONLY, .dest = DEST(data_pdu_in_order),
		.help = "Yes: PDUs of a sequence are in order of offset" },
	[ISCSI_KEY_DATA_SEQUENCE_IN_ORDER] = { "DataSequenceInOrder",
		.kind = ISCSI_KIND_OR, OPERATIONAL,
		.flags = SESSION, YES_ONLY, .dest = DEST(data_sequence_in_order),
		.help = "Yes: sequences of a command are in order of offset" },
	[ISCSI_KEY_ERROR_RECOVERY_LEVEL] = { "ErrorRecoveryLevel",
		.kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = ISCSI_KEY_LEADING | ISCSI_KEY_CONFIG, .hi = 2, .standard = 0,
		.dest = DEST(erl),
		.help = "0: a connection failure ends the session" },
	[ISCSI_KEY_TASK_REPORTING] = { "TaskReporting", .kind = ISCSI_KIND_LIST, OPERATIONAL,
		.flags = SESSION | ISCSI_KEY_WHEN_SET, .values = reporting, .ours = 1,
		.dest = DEST(task_reporting),
		.help = "how other sessions learn of aborted tasks" },
	[ISCSI_KEY_PROTOCOL_LEVEL] = { "iSCSIProtocolLevel", .kind = ISCSI_KIND_MIN, OPERATIONAL,
		.flags = SESSION | ISCSI_KEY_WHEN_SET, .hi = 31, .ours_hi = 2,
		.standard = 1, .ours = 1, .dest = DEST(protocol_level),
		.help = "1: RFC 7143, 2: with the additions of RFC 7144" },
	[ISCSI_KEY_IF_MARKER] = { "IFMarker", OBSOLETE(answer_no), OPERATIONAL },
	[ISCSI_KEY_OF_MARKER] = { "OFMarker", OBSOLETE(answer_no), OPERATIONAL },
	[ISCSI_KEY_IF_MARK_INT] = { "IFMarkInt", OBSOLETE(answer_reject), OPERATIONAL },
	[ISCSI_KEY_OF_MARK_INT] = { "OFMarkInt", OBSOLETE(answer_reject), OPERATIONAL },
	[ISCSI_KEY_NODE_ARCHITECTURE] = { "X#NodeArchitecture", TEXT(0), .by = ISCSI_BY_BOTH,
		.in = ISCSI_IN_LOGIN },
	[ISCSI_KEY_RDMA_EXTENSIONS] = { "RDMAExtensions", .kind = ISCSI_KIND_AND, OPERATIONAL,
		.flags = ISCSI_KEY_LEADING | ISCSI_KEY_RDMA | ISCSI_KEY_NOT_DISCOVERY, NO,
		.dest = DEST(rdma_extensions) },
	[ISCSI_KEY_TARGET_RECV_DATA_SEGMENT_LENGTH] = { "TargetRecvDataSegmentLength",
		.kind = ISCSI_KIND_MIN, OPERATIONAL, .flags = ISCSI_KEY_RDMA, DATA_LEN,
		.standard = 8192, .ours = ISER_DATA_MAX, .dest = DEST(target_recv_data) },
	[ISCSI_KEY_INITIATOR_RECV_DATA_SEGMENT_LENGTH] = { "InitiatorRecvDataSegmentLength",
		.kind = ISCSI_KIND_MIN, OPERATIONAL, .flags = ISCSI_KEY_RDMA, DATA_LEN,
		.standard = 8192, .ours = ISER_DATA_MAX, .dest = DEST(initiator_recv_data) },
	[ISCSI_KEY_MAX_OUTSTANDING_UNEXPECTED_PDUS] = { "MaxOutstandingUnexpectedPDUs",
		.kind = ISCSI_KIND_DECLARE, OPERATIONAL,
		.flags = ISCSI_KEY_RDMA | ISCSI_KEY_WHEN_SET, NUMBER(0, UINT32_MAX), .standard = 0,
		.ours = 0, .dest = DEST(max_unexpected_pdus) },
	[ISCSI_KEY_MAX_AHS_LENGTH] = { "MaxAHSLength", .kind = ISCSI_KIND_DECLARE, OPERATIONAL,
		.flags = ISCSI_KEY_RDMA | ISCSI_KEY_WHEN_SET, NUMBER(0, UINT32_MAX),
		.standard = 256, .ours = 256, .dest = ISCSI_NO_DEST },
	// The RFC's default is No, but all initiators that do not send it behave as with Yes.
	[ISCSI_KEY_TAGGED_BUFFER_ONLY] = { "TaggedBufferForSolicitedDataOnly",
		.kind = ISCSI_KIND_DECLARE,
		BY_INITIATOR(ISCSI_IN_OPERATIONAL), YES, .dest = DEST(tagged_solicited_only),
		.flags = ISCSI_KEY_RDMA | ISCSI_KEY_WHEN_SET | ISCSI_KEY_BOOL },
	[ISCSI_KEY_ISER_HELLO_REQUIRED] = { "iSERHelloRequired", .kind = ISCSI_KIND_DECLARE,
		BY_INITIATOR(ISCSI_IN_OPERATIONAL), NO, .dest = DEST(is_hello_required),
		.flags = ISCSI_KEY_RDMA | ISCSI_KEY_WHEN_SET | ISCSI_KEY_BOOL },
};
// clang-format on

int iscsi_key_find(const char *name, size_t len)
{
	for (int id = 0; id < ISCSI_KEY_COUNT; id++)
		if (iscsi_keys[id].by && strlen(iscsi_keys[id].name) == len &&
		    memcmp(iscsi_keys[id].name, name, len) == 0)
			return id;
	return -1;
}

// True when the result is stored as one byte (a boolean or a list's index).
static bool is_byte(const struct iscsi_key *k)
{
	return k->kind == ISCSI_KIND_LIST || k->kind == ISCSI_KIND_AND ||
	       k->kind == ISCSI_KIND_OR || k->flags & ISCSI_KEY_BOOL;
}

void iscsi_key_store(unsigned id, struct iscsi_params *p, uint32_t value)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	if (k->dest == ISCSI_NO_DEST)
		return;
	if (is_byte(k))
		*((uint8_t *)p + k->dest) = (uint8_t)value;
	else
		memcpy((uint8_t *)p + k->dest, &value, sizeof value);
}

uint32_t iscsi_key_load(unsigned id, const struct iscsi_params *p)
{
	const struct iscsi_key *k = &iscsi_keys[id];
	uint32_t value;
	if (k->dest == ISCSI_NO_DEST)
		return k->standard;
	if (is_byte(k))
		return *((const uint8_t *)p + k->dest);
	memcpy(&value, (const uint8_t *)p + k->dest, sizeof value);
	return value;
}

void iscsi_params_init(struct iscsi_params *p)
{
	*p = (struct iscsi_params){ 0 };
	for (unsigned id = 0; id < ISCSI_KEY_COUNT; id++)
		iscsi_key_store(id, p, iscsi_keys[id].standard);
	p->max_recv_data = iscsi_keys[ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH].standard;
}
