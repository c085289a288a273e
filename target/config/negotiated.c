// SPDX-License-Identifier: BSD-2-Clause
// The read-only group parameter of an ACL: the negotiated values of its initiator's session.
// Control thread; visits the workers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/config/model.h"
#include "target/iscsi/sessions.h"

#define NUMBER(field)                                                                              \
	{                                                                                          \
		offsetof(struct session_info, field), false,                                       \
		{                                                                                  \
			NULL                                                                       \
		}                                                                                  \
	}
#define CHOICE(field, no, yes)                                                                     \
	{                                                                                          \
		offsetof(struct session_info, field), true,                                        \
		{                                                                                  \
			no, yes                                                                    \
		}                                                                                  \
	}
#define ALWAYS(text)                                                                               \
	{                                                                                          \
		0, false,                                                                          \
		{                                                                                  \
			text                                                                       \
		}                                                                                  \
	}
#define ROW(key, text)                                                                             \
	{                                                                                          \
		.name = key, .type = ATTR_STRING, .max = 256, .default_text = "", .help = text,    \
		.flags = ATTR_READONLY                                                             \
	}

// In the order of the rows.
static const struct source {
	size_t offset; // in struct session_info
	bool is_choice;
	const char *words[2]; // for false and true; a single one: always that
} sources[] = {
	CHOICE(data_digest, "None", "CRC32C"),
	ALWAYS("Yes"),
	ALWAYS("Yes"),
	ALWAYS("0"),
	NUMBER(first_burst),
	CHOICE(header_digest, "None", "CRC32C"),
	CHOICE(immediate_data, "No", "Yes"),
	CHOICE(initial_r2t, "No", "Yes"),
	NUMBER(max_burst),
	ALWAYS("1"),
	NUMBER(max_outstanding_r2t),
	NUMBER(max_recv_dsl),
	NUMBER(max_xmit_dsl),
};

const struct attr_row negotiated_rows[] = {
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
_Static_assert(sizeof sources / sizeof *sources + 1 ==
		       sizeof negotiated_rows / sizeof *negotiated_rows,
	       "a source for each row");

static bool is_of(const struct session_info *s, const struct node *acl)
{
	return !s->is_discovery && !strcmp(s->initiator, acl->name) && s->tpg == tpg_of(acl)->tag &&
	       !strcmp(s->target, target_name(acl));
}

static size_t put_value(const struct source *from, const struct session_info *s, char *out,
			size_t size)
{
	const char *at = (const char *)s + from->offset;
	const char *word = from->is_choice ? from->words[*(const bool *)at] : from->words[0];
	if (word)
		return (size_t)snprintf(out, size, "%s", word);
	return (size_t)snprintf(out, size, "%u", *(const uint32_t *)at);
}

size_t negotiated_get(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	struct session_info *list = NULL;
	unsigned count = 0, i = 0;
	sessions_list(&list, &count); // none without memory
	while (i < count && !is_of(&list[i], n))
		i++;
	size_t len = i < count ? put_value(&sources[row - negotiated_rows], &list[i], out, size)
			       : (size_t)snprintf(out, size, "No Active iSCSI Session");
	free(list);
	return len;
}
