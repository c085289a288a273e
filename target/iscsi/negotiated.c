// SPDX-License-Identifier: BSD-2-Clause
// The negotiated values of a session, by the names of their keys. RFC 7143 13.
#include "target/iscsi/negotiated.h"

#include <stddef.h>

#include "target/iscsi/settings.h"

enum kind { NUMBER, YES_NO, DIGEST, FIXED };

#define VALUE(name, kind, field)                                                                   \
	{                                                                                          \
		name, kind, offsetof(struct iscsi_params, field), NULL                             \
	}
#define ALWAYS(name, text)                                                                         \
	{                                                                                          \
		name, FIXED, 0, text                                                               \
	}

// In the order of reports.
static const struct {
	const char *name;
	enum kind kind;
	size_t offset; // in struct iscsi_params
	const char *text;
} values[] = {
	VALUE("HeaderDigest", DIGEST, header_digest),
	VALUE("DataDigest", DIGEST, data_digest),
	VALUE("InitialR2T", YES_NO, initial_r2t),
	VALUE("ImmediateData", YES_NO, immediate_data),
	VALUE("MaxRecvDataSegmentLength", NUMBER, max_recv_data),
	VALUE("MaxXmitDataSegmentLength", NUMBER, max_send_data),
	VALUE("MaxBurstLength", NUMBER, max_burst),
	VALUE("FirstBurstLength", NUMBER, first_burst),
	VALUE("MaxOutstandingR2T", NUMBER, max_outstanding_r2t),
	ALWAYS("DataPDUInOrder", "Yes"),
	ALWAYS("DataSequenceInOrder", "Yes"),
	ALWAYS("ErrorRecoveryLevel", "0"),
	ALWAYS("MaxConnections", "1"),
};

#define ROW(key, text)                                                                             \
	{                                                                                          \
		.name = key, .type = ATTR_STRING, .max = 256, .default_text = "", .help = text,    \
		.flags = ATTR_READONLY                                                             \
	}

const struct attr_row iscsi_negotiated_rows[] = {
	ROW("DataDigest", "checksums of data segments"),
	ROW("DataPDUInOrder", "PDUs of a sequence are in order of offset"),
	ROW("DataSequenceInOrder", "sequences of a command are in order of offset"),
	ROW("ErrorRecoveryLevel", "0: a lost PDU ends the session"),
	ROW("FirstBurstLength", "unsolicited data of one command"),
	ROW("HeaderDigest", "checksums of PDU headers"),
	ROW("ImmediateData", "data-out may be in the command PDU"),
	ROW("InitialR2T", "Yes: no unsolicited data-out beyond immediate data"),
	ROW("MaxBurstLength", "data of one Data-In sequence or R2T"),
	ROW("MaxConnections", "connections in a session"),
	ROW("MaxOutstandingR2T", "outstanding R2Ts of one command"),
	ROW("MaxRecvDataSegmentLength", "largest data segment the target receives"),
	ROW("MaxXmitDataSegmentLength", "largest data segment the target sends"),
	{ 0 },
};

void negotiated_describe(const struct iscsi_params *p, struct session_info *to)
{
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		const char *field = (const char *)p + values[i].offset, *text = NULL;
		uint64_t number = 0;
		switch (values[i].kind) {
		case NUMBER:
			number = *(const uint32_t *)(const void *)field;
			break;
		case YES_NO:
			text = *(const bool *)field ? "Yes" : "No";
			break;
		case DIGEST:
			text = *(const bool *)field ? "CRC32C" : "None";
			break;
		case FIXED:
			text = values[i].text;
		}
		session_negotiated(to, values[i].name, text, number, values[i].kind == FIXED);
	}
}
