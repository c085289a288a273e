// SPDX-License-Identifier: BSD-2-Clause
// Looks up a code or text in the tables, see explain.h.
#include <ctype.h>
#include <scsi/sg_lib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/explain/explain.h"

const struct explain_table *const explain_tables[] = {
	&explain_login,	 &explain_reject, &explain_conn, &explain_iscsiadm,
	&explain_status, &explain_sense,  &explain_srp,	 &explain_cm,
	&explain_errno,	 &explain_exit,	  NULL,
};

struct search {
	struct explain_hit *out;
	unsigned count, max;
};

static void hit(struct search *s, const struct explain_table *t, const struct explain_row *row)
{
	if (s->count < s->max)
		s->out[s->count++] = (struct explain_hit){ .table = t, .row = *row };
}

static const struct explain_row *find_code(const struct explain_table *t, uint32_t code)
{
	for (const struct explain_row *r = t->rows; r->name; r++)
		if (r->code == code)
			return r;
	return NULL;
}

// ---- sense ----

// "5/24/00", "05 24 00", "0x5,0x24,0x0", "5h/24h/00h": three hexadecimal numbers.
static bool parse_sense(const char *text, uint32_t *ret)
{
	unsigned long n[3];
	for (int i = 0; i < 3; i++) {
		char *end;
		if (!isxdigit((unsigned char)*text))
			return false;
		n[i] = strtoul(text, &end, 16);
		if (end == text || n[i] > (i ? 0xffu : 0xfu))
			return false;
		end += *end == 'h';
		if (i < 2 && !strchr(" /,:", *end))
			return false;
		if (i == 2 && *end)
			return false;
		text = end;
		while (*text && strchr(" /,:", *text))
			text++;
	}
	*ret = (uint32_t)(n[0] << 16 | n[1] << 8 | n[2]);
	return true;
}

// The meaning of each sense key, for codes that the table lacks.
static const struct {
	const char *cause, *cure;
} keys[16] = {
	[0x0] = {"no error",						      "no action needed"					 },
	[0x1] = { "recovered error: the command succeeded after error recovery",
		  "monitor the device if it recurs"										    },
	[0x2] = { "the device is not ready",					     "wait, or start the device"			 },
	[0x3] = { "medium error",						 "check dmesg and SMART of the machine with the disk"},
	[0x4] = { "hardware error",					       "read the device's log"				    },
	[0x5] = { "the device does not support the command or one of its fields",
		  "no action needed: the option is optional"									   },
	[0x6] = { "unit attention: an event, reported once",
		  "no action needed: the initiator retries the command"								},
	[0x7] = { "the medium is write-protected",				   "look for ro in ls"				       },
	[0xa] = { "a copy command was aborted",					"read the sense of the other device"		     },
	[0xb] = { "the command was aborted",					     "try again; read the target's log"			},
	[0xe] = { "the disk holds other data",				       "for COMPARE AND WRITE no action needed"		},
};

static void find_sense(struct search *s, uint32_t code)
{
	char key[40], what[110];
	const struct explain_row *row = find_code(&explain_sense, code);
	if (s->count == s->max)
		return;
	struct explain_hit *h = &s->out[s->count++];
	int k = (int)(code >> 16 & 0xf);
	*h = (struct explain_hit){ .table = &explain_sense };
	h->row = row ? *row
		     : (struct explain_row){ code, NULL,
					     keys[k].cause ? keys[k].cause : "see the name",
					     keys[k].cure ? keys[k].cure : "see the name" };
	sg_get_sense_key_str(k, sizeof key, key);
	sg_get_asc_ascq_str((int)(code >> 8 & 0xff), (int)(code & 0xff), sizeof what, what);
	const char *name = row ? row->name : strstr(what, "Additional sense: ");
	name = row ? name : name ? name + strlen("Additional sense: ") : what;
	snprintf(h->name, sizeof h->name, "%s, %s", key, name);
}

// ---- other codes ----

// A number in the notation of the table. Hexadecimal codes may have the prefix 0x; is_exact:
// without it they need all their digits.
static bool parse_number(const struct explain_table *t, const char *text, bool is_exact,
			 uint32_t *ret)
{
	bool has_prefix = !strncasecmp(text, "0x", 2);
	const char *digits = text + (has_prefix ? 2 : 0);
	size_t len = strlen(digits);
	char *end;
	if (!isxdigit((unsigned char)*digits) || len > 8)
		return false;
	if (is_exact && t->digits && len != t->digits && !has_prefix)
		return false; // "0201" is a login status, "09" a reject
	*ret = (uint32_t)strtoul(digits, &end, t->digits || has_prefix ? 16 : 10);
	return !*end;
}

static void find_number(struct search *s, const struct explain_table *t, const char *text,
			bool is_exact)
{
	uint32_t code;
	if (t == &explain_sense || !parse_number(t, text, is_exact, &code))
		return;
	const struct explain_row *row = find_code(t, code);
	if (row)
		hit(s, t, row);
}

static void find_name(struct search *s, const struct explain_table *t, const char *text)
{
	for (const struct explain_row *r = t->rows; strlen(text) > 2 && r->name; r++) {
		if (t == &explain_errno ? strcasecmp(r->name, text) : !strcasestr(r->name, text))
			continue;
		if (t == &explain_sense)
			find_sense(s, r->code);
		else
			hit(s, t, r);
	}
}

// Skips "error", "exit status" and the like between a kind and its code.
static const char *skip_fillers(const char *text)
{
	static const char *const words[] = { "error", "exit", "code", "status" };
	for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t len = strlen(words[i]);
		if (!strncasecmp(text, words[i], len) && text[len] == ' ')
			return skip_fillers(text + len + strspn(text + len, " "));
	}
	return text;
}

// The table selected by the first word; advances *text past it.
static const struct explain_table *named_table(const char **text)
{
	size_t len = strcspn(*text, " ");
	for (const struct explain_table *const *t = explain_tables; *t; t++)
		if (strlen((*t)->kind) == len && !strncasecmp((*t)->kind, *text, len) &&
		    (*text)[len]) {
			*text = skip_fillers(*text + len + strspn(*text + len, " "));
			return *t;
		}
	return NULL;
}

// A line of open-iscsi: "connection1:0: detected conn error (1020)",
// "initiator reported error (24 - ...". number: the code.
static const struct explain_table *pasted_table(const char *text, char number[12])
{
	static const char *const whose[] = { "conn", "iscsi", "initiator reported" };
	const char *error = strcasestr(text, "error "), *at = NULL;
	const char *digits = error ? error + strcspn(error, " ") : "";
	digits += strspn(digits, " (");
	size_t len = strspn(digits, "0123456789");
	for (unsigned i = 0; !at && i < sizeof whose / sizeof whose[0]; i++)
		at = strcasestr(text, whose[i]);
	if (!at || at > error || !len || len >= 12)
		return NULL;
	snprintf(number, 12, "%.*s", (int)len, digits);
	bool is_conn = strcasestr(text, "conn error") || strtoul(number, NULL, 10) > 1000;
	return is_conn ? &explain_conn : &explain_iscsiadm;
}

// A line of the kernel's ib_srp: "SRP LOGIN from ... REJECTED, reason 0x00010003",
// "REJ reason 0x8". number: the code.
static const struct explain_table *srp_table(const char *text, char number[12])
{
	static const struct {
		const char *mark;
		const struct explain_table *table;
	} marks[] = {
		{"REJECTED, reason 0x", &explain_srp},
		{ "REJ reason 0x",	   &explain_cm },
	};
	for (unsigned i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		const char *at = strcasestr(text, marks[i].mark);
		const char *digits = at ? at + strlen(marks[i].mark) : "";
		size_t len = strspn(digits, "0123456789abcdefABCDEF");
		if (!len || len > 8)
			continue;
		snprintf(number, 12, "0x%.*s", (int)len, digits);
		return marks[i].table;
	}
	return NULL;
}

unsigned explain_find(const char *text, struct explain_hit *out, unsigned max)
{
	struct search s = { .out = out, .max = max };
	char number[12];
	const struct explain_table *only = pasted_table(text, number);
	if (!only)
		only = srp_table(text, number);
	if (only)
		text = number;
	else
		only = named_table(&text);
	uint32_t sense;
	if ((!only || only == &explain_sense) && parse_sense(text, &sense))
		find_sense(&s, sense);
	for (const struct explain_table *const *t = explain_tables; *t; t++)
		if (!only || only == *t)
			find_number(&s, *t, text, !only);
	for (const struct explain_table *const *t = explain_tables; *t && !s.count; t++)
		if (!only || only == *t)
			find_name(&s, *t, text);
	return s.count;
}

void explain_code_text(const struct explain_hit *h, char out[24])
{
	uint32_t c = h->row.code;
	if (h->table == &explain_sense)
		snprintf(out, 24, "%x/%02x/%02x", c >> 16, c >> 8 & 0xff, c & 0xff);
	else if (h->table->digits)
		snprintf(out, 24, "%0*x", (int)h->table->digits, c);
	else
		snprintf(out, 24, "%u", c);
}
