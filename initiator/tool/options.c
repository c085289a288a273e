// SPDX-License-Identifier: BSD-2-Clause
// The options of farblock-initiator: one row per option, parsed into struct tool_options.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "initiator/tool/tool.h"

enum kind { FLAG, TEXT, SIZE, NUMBER, KEY };

static const struct row {
	const char *name;
	char letter; // 0: none
	enum kind kind;
	size_t at;
	unsigned verbs;
	uint64_t lo, hi;
	const char *value, *help;
} rows[] = {
#define AT(field) offsetof(struct tool_options, field)
	// clang-format off
	{"help", 'h', FLAG, AT(is_help), TOOL_ALL, 0, 0, "", "show this help"},
	{"json", 0, FLAG, AT(is_json), TOOL_ALL, 0, 0, "", "print JSON"},
	{"transport", 0, TEXT, AT(transport), TOOL_ALL, 0, 0, "NAME",
	 "tcp or iser; default: from the URL"},
	{"provider", 0, TEXT, AT(provider), TOOL_ALL, 0, 0, "NAME",
	 "RDMA provider: verbs (adapter) or iwarp (software); default: the first that connects"},
	{"initiator-name", 0, TEXT, AT(initiator_name), TOOL_ALL, 0, 0, "NAME",
	 "initiator name; default: from /etc/iscsi/initiatorname.iscsi, else generated from the host name"},
	{"chap-user", 0, TEXT, AT(chap_user), TOOL_ALL, 0, 0, "USER",
	 "CHAP user name; default: from the URL"},
	{"chap-secret-file", 0, TEXT, AT(chap_secret_file), TOOL_ALL, 0, 0, "FILE",
	 "file with the CHAP secret; default: $FARBLOCK_CHAP_SECRET, else a prompt"},
	{"chap-mutual-user", 0, TEXT, AT(mutual_user), TOOL_ALL, 0, 0, "USER",
	 "CHAP user name of the target (enables mutual CHAP)"},
	{"chap-mutual-secret-file", 0, TEXT, AT(mutual_secret_file), TOOL_ALL, 0, 0, "FILE",
	 "file with the CHAP secret of the target; default: $FARBLOCK_CHAP_MUTUAL_SECRET, else a prompt"},
	{"chap-algs", 0, TEXT, AT(chap_algs), TOOL_ALL, 0, 0, "LIST",
	 "CHAP algorithms: SHA3-256, SHA256, SHA1, MD5; default: all but SHA256"},
	{"header-digest", 0, TEXT, AT(header_digest), TOOL_ALL, 0, 0, "LIST",
	 "None, CRC32C, or both in order of preference"},
	{"data-digest", 0, TEXT, AT(data_digest), TOOL_ALL, 0, 0, "LIST", "None, CRC32C, or both in order of preference"},
	{"set", 0, KEY, AT(keys), TOOL_ALL, 0, 0, "KEY=VALUE",
	 "login key to offer, for example ImmediateData=No; may be repeated"},
	{"login-timeout", 0, NUMBER, AT(login_timeout), TOOL_ALL, 1, 3600, "SECONDS",
	 "time limit for connecting and for logging in; default: 15"},
	{"replacement-timeout", 0, NUMBER, AT(replacement_timeout), TOOL_ALL, 0, 86400, "SECONDS",
	 "how long to retry a lost session; default: 120"},
	{"count", 0, NUMBER, AT(count), TOOL_PING, 1, 1000000, "N", "number of NOP-Outs; default: 3"},
	{"offset", 0, SIZE, AT(offset), TOOL_RANGE, 0, 0, "BYTES", "first byte; default: 0"},
	{"length", 0, SIZE, AT(length), TOOL_RANGE, 0, 0, "BYTES", "number of bytes; default: to the end"},
	{"output", 'o', TEXT, AT(output), TOOL_READ, 0, 0, "FILE", "required; - for standard output"},
	{"input", 'i', TEXT, AT(input), TOOL_WRITE, 0, 0, "FILE", "required; - for standard input"},
	{"pattern", 0, NUMBER, AT(pattern), TOOL_VERIFY, 0, UINT64_MAX - 1, "SEED",
	 "overwrite the range with a pattern made from the seed, then read it back"},
	{"check-only", 0, FLAG, AT(is_check_only), TOOL_VERIFY, 0, 0, "",
	 "with --pattern: only read back"},
	{"op", 0, TEXT, AT(op), TOOL_BENCH, 0, 0, "OP",
	 "randread, read, randwrite or write (the last two overwrite); default: randread"},
	{"allow-replaced", 0, FLAG, AT(allows_replaced), TOOL_RANGE, 0, 0, "",
	 "continue on a disk that was replaced, or restarted and may have lost data"},
	{"force", 0, FLAG, AT(is_forced), TOOL_WRITE | TOOL_VERIFY | TOOL_BENCH, 0, 0, "",
	 "overwrite a filesystem, partition table or other signature"},
	{"progress", 0, FLAG, AT(shows_progress), TOOL_RANGE & ~TOOL_BENCH, 0, 0, "",
	 "report progress where standard error is not a terminal"},
	{"bs", 0, SIZE, AT(block_size), TOOL_RANGE & ~TOOL_BENCH, 0, 0, "BYTES",
	 "size of a command; default: 1m"},
	{"bs", 0, SIZE, AT(block_size), TOOL_BENCH, 0, 0, "BYTES", "size of a command; default: 4k"},
	{"depth", 0, NUMBER, AT(depth), TOOL_BENCH, 1, 1024, "N", "commands in flight; default: 32"},
	{"time", 0, NUMBER, AT(seconds), TOOL_BENCH, 1, 86400, "SECONDS", "duration; default: 5"},
	// clang-format on
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

static void defaults(struct tool_options *o)
{
	*o = (struct tool_options){ 0 };
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].kind == SIZE || rows[i].kind == NUMBER)
			*(uint64_t *)((char *)o + rows[i].at) = TOOL_UNSET;
}

// Decimal, or hexadecimal after 0x.
static int parse_number(const char *text, uint64_t lo, uint64_t hi, uint64_t *ret)
{
	char *end;
	errno = 0;
	uint64_t n = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n < lo || n > hi)
		return -EINVAL;
	*ret = n;
	return 0;
}

static int set(struct tool_options *o, const struct row *r, const char *value, struct err *e)
{
	void *field = (char *)o + r->at;
	switch (r->kind) {
	case FLAG:
		*(bool *)field = true;
		return 0;
	case TEXT:
		*(const char **)field = value;
		return 0;
	case SIZE:
		if (parse_size(value, field, e) < 0)
			return err_prefix(e, "--%s", r->name), -EINVAL;
		return 0;
	case NUMBER:
		if (parse_number(value, r->lo, r->hi, field))
			return err_set(e, -EINVAL, "--%s %.32s: must be %lu to %lu", r->name, value,
				       (unsigned long)r->lo, (unsigned long)r->hi);
		return 0;
	case KEY:
		if (!strchr(value, '='))
			return err_set(e, -EINVAL, "--%s %.64s: must be %s", r->name, value,
				       r->value);
		if (o->key_count == TOOL_KEYS_MAX)
			return err_set(e, -EINVAL, "--%s: more than %d", r->name, TOOL_KEYS_MAX);
		o->keys[o->key_count++] = value;
		return 0;
	}
	return -EINVAL;
}

// The row of "--name", "--name=value" or "-x"; ret_value: the text after '=', or NULL.
static const struct row *find(const char *arg, unsigned verb, const char **ret_value)
{
	*ret_value = NULL;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const struct row *r = &rows[i];
		size_t n = strlen(r->name);
		if (!(r->verbs & verb))
			continue;
		if (arg[1] != '-') {
			if (r->letter && arg[1] == r->letter && !arg[2])
				return r;
			continue;
		}
		if (strncmp(arg + 2, r->name, n) || (arg[2 + n] && arg[2 + n] != '='))
			continue;
		*ret_value = arg[2 + n] ? arg + 3 + n : NULL;
		return r;
	}
	return NULL;
}

int tool_options_parse(struct tool_options *o, unsigned verb, int argc, char **argv, struct err *e)
{
	defaults(o);
	for (int i = 0; i < argc; i++) {
		const char *value;
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (o->arg_count == TOOL_ARGS_MAX)
				return err_set(e, -EINVAL, "unexpected argument: %.64s", argv[i]);
			o->args[o->arg_count++] = argv[i];
			continue;
		}
		const struct row *r = find(argv[i], verb, &value);
		if (!r)
			return err_set(e, -EINVAL, "unknown option: %.64s (see --help)", argv[i]);
		if (r->kind == FLAG && value)
			return err_set(e, -EINVAL, "--%s takes no value", r->name);
		if (r->kind != FLAG && !value && ++i == argc)
			return err_set(e, -EINVAL, "--%s: missing %s", r->name, r->value);
		int rc = set(o, r, value || r->kind == FLAG ? value : argv[i], e);
		if (rc)
			return rc;
	}
	return 0;
}

bool tool_option_at(unsigned index, struct tool_option_row *ret)
{
	if (index >= ROW_COUNT)
		return false;
	const struct row *r = &rows[index];
	*ret = (struct tool_option_row){ r->letter, r->name, r->value, r->help, r->verbs };
	return true;
}

void tool_options_help(unsigned verb, FILE *f)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const struct row *r = &rows[i];
		char name[64];
		if (!(r->verbs & verb))
			continue;
		snprintf(name, sizeof name, "%c%c%s --%s %s", r->letter ? '-' : ' ',
			 r->letter ? r->letter : ' ', r->letter ? "," : " ", r->name, r->value);
		fprintf(f, "  %-36s %s\n", name, r->help);
	}
}
