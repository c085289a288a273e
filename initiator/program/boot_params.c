// SPDX-License-Identifier: BSD-2-Clause
// Settings of open-iscsi's records that boot takes with --param: each is a row. The program's
// thread.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/program/boot.h"

struct param {
	const char *name;
	int (*take)(struct tool_options *o, const struct param *p, const char *value,
		    struct err *e);
	size_t at;	 // in the options
	const char *key; // of the login
};

static int wrong(const struct param *p, const char *value, const char *must, struct err *e)
{
	return err_set(e, -EINVAL, "--param %s=%.32s: must be %s", p->name, value, must);
}

static int text(struct tool_options *o, const struct param *p, const char *value, struct err *e)
{
	*(const char **)((char *)o + p->at) = value;
	return 0;
}

// boot_hide_secrets() has it.
static int taken(struct tool_options *o, const struct param *p, const char *value, struct err *e)
{
	return 0;
}

static int transport(struct tool_options *o, const struct param *p, const char *value,
		     struct err *e)
{
	if (strcmp(value, "tcp") && strcmp(value, "iser"))
		return wrong(p, value, "tcp or iser", e);
	return text(o, p, value, e);
}

static int number(const char *value, long *ret)
{
	char *end;
	errno = 0;
	*ret = strtol(value, &end, 10);
	bool is_digit = isdigit((unsigned char)value[*value == '-']);
	return !is_digit || *end || errno ? -EINVAL : 0;
}

// Of open-iscsi: 0 fails at once, a negative one waits without end.
static int replacement(struct tool_options *o, const struct param *p, const char *value,
		       struct err *e)
{
	long n;
	if (number(value, &n) || n > 31536000)
		return wrong(p, value, "seconds", e);
	if (!o->no_path_retry)
		o->no_path_retry = n < 0 ? "queue" : n ? value : "fail";
	return 0;
}

static int seconds(struct tool_options *o, const struct param *p, const char *value, struct err *e)
{
	uint64_t *to = (uint64_t *)((char *)o + p->at);
	long n;
	if (number(value, &n) || n < 1 || n > 3600)
		return wrong(p, value, "1 to 3600 seconds", e);
	if (*to == TOOL_UNSET)
		*to = (uint64_t)n;
	return 0;
}

static int ping(struct tool_options *o, const struct param *p, const char *value, struct err *e)
{
	static unsigned values[2];
	unsigned *to = &values[p->at == offsetof(struct tool_options, noop_out_timeout)];
	long n;
	if (number(value, &n) || n < 0 || n > 86400)
		return wrong(p, value, "0 to 86400 seconds", e);
	*to = (unsigned)n;
	*(unsigned **)((char *)o + p->at) = to;
	return 0;
}

static int method(struct tool_options *o, const struct param *p, const char *value, struct err *e)
{
	o->is_without_chap = !strcmp(value, "None");
	return o->is_without_chap || !strcmp(value, "CHAP") ? 0
							    : wrong(p, value, "CHAP or None", e);
}

static int key(struct tool_options *o, const struct param *p, const char *value, struct err *e)
{
	static char pairs[TOOL_KEYS_MAX][96];
	if (o->key_count == TOOL_KEYS_MAX)
		return err_set(e, -EINVAL, "--param, --set: more than %d keys", TOOL_KEYS_MAX);
	char *to = pairs[o->key_count];
	if (snprintf(to, sizeof pairs[0], "%s=%s", p->key, value) >= (int)sizeof pairs[0])
		return wrong(p, value, "shorter", e);
	o->keys[o->key_count++] = to;
	return 0;
}

#define AT(field)  offsetof(struct tool_options, field)
#define SESSION(n) "node.session." n
#define CONN(n)	   "node.conn[0]." n
// clang-format off
static const struct param params[] = {
	{"iface.transport_name", transport, AT(transport)},
	{"iface.initiatorname", text, AT(initiator_name)},
	{SESSION("timeo.replacement_timeout"), replacement},
	{CONN("timeo.login_timeout"), seconds, AT(login_timeout)},
	{CONN("timeo.noop_out_interval"), ping, AT(noop_out_interval)},
	{CONN("timeo.noop_out_timeout"), ping, AT(noop_out_timeout)},
	{SESSION("auth.authmethod"), method},
	{SESSION("auth.username"), text, AT(chap_user)},
	{SESSION("auth.password"), taken},
	{SESSION("auth.username_in"), text, AT(mutual_user)},
	{SESSION("auth.password_in"), taken},
	{SESSION("auth.chap_algs"), text, AT(chap_algs)},
	{CONN("iscsi.HeaderDigest"), text, AT(header_digest)},
	{CONN("iscsi.DataDigest"), text, AT(data_digest)},
	{SESSION("iscsi.ImmediateData"), key, .key = "ImmediateData"},
	{SESSION("iscsi.InitialR2T"), key, .key = "InitialR2T"},
	{SESSION("iscsi.FirstBurstLength"), key, .key = "FirstBurstLength"},
	{SESSION("iscsi.MaxBurstLength"), key, .key = "MaxBurstLength"},
	{CONN("iscsi.MaxRecvDataSegmentLength"), key, .key = "MaxRecvDataSegmentLength"},
};
// clang-format on

static const struct param *find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof params / sizeof *params; i++)
		if (strlen(params[i].name) == len && !memcmp(params[i].name, name, len))
			return &params[i];
	return NULL;
}

int boot_params(struct tool *t, struct err *e)
{
	int r = 0;
	for (unsigned i = 0; i < t->o.param_count && !r; i++) {
		const char *pair = t->o.params[i];
		size_t len = strcspn(pair, "=");
		const struct param *p = find(pair, len);
		if (p)
			r = p->take(&t->o, p, pair + len + 1, e);
		else
			tool_say("--param %.*s: no effect", (int)(len < 80 ? len : 80), pair);
	}
	return r;
}
