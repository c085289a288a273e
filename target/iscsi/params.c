// SPDX-License-Identifier: BSD-2-Clause
// Parameters of a portal group: the keys of the login that it offers [RFC 7143 13].
#include <stdio.h>
#include <string.h>

#include "target/iscsi/settings.h"

// TPG parameters: the keys that can be offered, then those that only saved files of targetcli have.
enum { PARAM_ROWS_MAX = ISCSI_KEY_COUNT + 8 };
static struct attr_row offer_rows[PARAM_ROWS_MAX];
static struct iscsi_offer_row offer_text[PARAM_ROWS_MAX];

// Candidates of completion for a key with this range; NULL: none.
static const char *const *offer_choices(const char *range)
{
	static const char *const yes_no[] = { "Yes", "No", NULL };
	static const char *const digests[] = { "None", "CRC32C", "None,CRC32C", "CRC32C,None",
					       NULL };
	static const struct {
		const char *range;
		const char *const *choices;
	} known[] = {
		{"Yes or No",    yes_no },
		{ "None,CRC32C", digests},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(known[i].range, range))
			return known[i].choices;
	return NULL;
}

// clang-format off
#define MARKER(name, def) \
	{ name, ATTR_STRING, 0, 0, 16, def, NULL, "obsolete", NULL, ATTR_IGNORED, NULL, NULL, \
	  "RFC 7143 has no markers" }

static const struct attr_row kept_params[] = {
	{ "TargetAlias", ATTR_STRING, offsetof(struct tpg_attr, alias), 0, 256, "", NULL,
	  "description shown to initiators", NULL, ATTR_SPARSE },
	{ "AuthMethod", ATTR_STRING, 0, 0, 64, "CHAP", NULL,
	  "authentication methods", NULL,
	  ATTR_IGNORED, NULL, NULL, "the attribute authentication decides" },
	MARKER("IFMarker", "No"),
	MARKER("OFMarker", "No"),
	MARKER("IFMarkInt", "Reject"),
	MARKER("OFMarkInt", "Reject"),
	{ 0 },
};
// clang-format on

static const char *offer_no_effect(const char *name)
{
	return strcmp(name, "DefaultTime2Retain") ? NULL : "tasks end with their connection";
}

// Keys of RFC 7143 that rtslib does not know; it would refuse them.
static bool is_own_key(const char *name)
{
	return !strcmp(name, "TaskReporting") || !strcmp(name, "iSCSIProtocolLevel");
}

const struct attr_row *iscsi_param_rows(void)
{
	unsigned at = 0, n = 0;
	if (offer_rows[0].name)
		return offer_rows;
	while (n < ISCSI_KEY_COUNT && iscsi_offer_next(&at, &offer_text[n])) {
		const struct iscsi_offer_row *o = &offer_text[n];
		offer_rows[n] = (struct attr_row){
			.name = o->name,
			.type = ATTR_STRING,
			.max = 256,
			.default_text = o->def,
			.help = o->help,
			.choices = offer_choices(o->range),
			.flags = ATTR_RESTART | (is_own_key(o->name) ? ATTR_OWN : 0),
			.range = o->range,
			.no_effect = offer_no_effect(o->name),
		};
		n++;
	}
	for (const struct attr_row *row = kept_params; row->name; row++)
		offer_rows[n++] = *row;
	return offer_rows;
}

static bool is_alias(const struct attr_row *row)
{
	return !strcmp(row->name, "TargetAlias");
}

int iscsi_param_set(void *group, const struct attr_row *row, const char *text, struct err *e)
{
	struct tpg_settings *s = group;
	return is_alias(row) ? attr_set(row, &s->attr, text, e)
			     : iscsi_offer_set(&s->offer, row->name, text, e);
}

size_t iscsi_param_get(const void *group, const struct attr_row *row, char *out, size_t size)
{
	const struct tpg_settings *s = group;
	if (is_alias(row))
		return attr_get(row, &s->attr, out, size);
	out[0] = 0;
	iscsi_offer_get(&s->offer, row->name, out, size);
	return strlen(out);
}
