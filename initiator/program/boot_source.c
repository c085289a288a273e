// SPDX-License-Identifier: BSD-2-Clause
// Where boot finds its disk: URLs and credentials from the options of iscsistart, or from the iBFT.
// The program's thread.
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/boot/network.h"
#include "initiator/program/boot.h"
#include "transport/iscsi/chap.h"

enum { URL_MAX = 600 };

static char urls[TOOL_ARGS_MAX][URL_MAX];

// ---- secrets of the command line ----

static struct {
	char own[CHAP_SECRET_MAX + 1], mutual[CHAP_SECRET_MAX + 1];
} secrets;

// The words of the command line are memory of this process, which may change them.
static int hide(const char **secret, char kept[CHAP_SECRET_MAX + 1], struct err *e)
{
	char *word = (char *)(uintptr_t)*secret;
	size_t len = word ? strlen(word) : 0;
	if (!word)
		return 0;
	bool fits = len <= CHAP_SECRET_MAX;
	if (fits)
		memcpy(kept, word, len + 1);
	memset(word, 'x', len);
	*secret = kept;
	return fits && len
		       ? 0
		       : err_set(e, -EINVAL, "CHAP secret: must be 1 to %d bytes", CHAP_SECRET_MAX);
}

static const char AUTH[] = "node.session.auth.password";

// A setting of --param is a word of the command line, too: its value alone is hidden.
static int hide_param(struct tool_options *o, const char *pair, struct err *e)
{
	if (strncmp(pair, AUTH, sizeof AUTH - 1))
		return 0;
	const char *rest = pair + sizeof AUTH - 1, *value = strchr(pair, '=') + 1;
	bool is_mutual = !strncmp(rest, "_in=", 4);
	if (!is_mutual && *rest != '=')
		return 0;
	int r = hide(&value, is_mutual ? secrets.mutual : secrets.own, e);
	*(is_mutual ? &o->mutual_secret : &o->chap_secret) = value;
	return r;
}

int boot_hide_secrets(struct tool_options *o, struct err *e)
{
	int own = hide(&o->chap_secret, secrets.own, e);
	int r = hide(&o->mutual_secret, secrets.mutual, e);
	for (unsigned i = 0; i < o->param_count; i++) {
		int of_param = hide_param(o, o->params[i], e);
		r = r ? r : of_param;
	}
	return own ? own : r;
}

void boot_forget_secrets(void)
{
	explicit_bzero(&secrets, sizeof secrets);
}

// ---- URLs ----

static int add_url(struct tool *t, const char *host, uint64_t port, const char *target, int lun,
		   struct err *e)
{
	char *url = urls[t->o.arg_count];
	bool is_v6 = strchr(host, ':') && *host != '[';
	int n = snprintf(url, URL_MAX, "%s://%s%s%s:%llu/%s",
			 t->o.transport && !strcmp(t->o.transport, "iser") ? "iser" : "iscsi",
			 is_v6 ? "[" : "", host, is_v6 ? "]" : "", (unsigned long long)port,
			 target);
	if (n >= 0 && n < URL_MAX && lun >= 0)
		n += snprintf(url + n, (size_t)(URL_MAX - n), "/%d", lun);
	if (n < 0 || n >= URL_MAX)
		return err_set(
			e, -EINVAL,
			"address '%.40s' and target name '%.40s': a URL of %d bytes, must be "
			"at most %d",
			host, target, n, URL_MAX - 1);
	t->o.args[t->o.arg_count++] = url;
	return 0;
}

// ---- the options ----

static int needs(const struct tool_options *o, struct err *e)
{
	const char *missing = !o->target ? "--targetname" : !o->address ? "--address" : NULL;
	return missing ? err_set(e, -EINVAL, "boot: missing %s (or -b for the disk of the iBFT)",
				 missing)
		       : 0;
}

int boot_of_options(struct tool *t, struct err *e)
{
	const char *more[TOOL_ARGS_MAX];
	unsigned count = t->o.arg_count;
	uint64_t port = t->o.port == TOOL_UNSET ? IBFT_PORT : t->o.port;
	int lun = t->o.lun == TOOL_UNSET ? -1 : (int)t->o.lun;
	memcpy(more, t->o.args, sizeof more);
	int r = needs(&t->o, e);
	t->o.arg_count = 0;
	if (!r)
		r = add_url(t, t->o.address, port, t->o.target, lun, e);
	for (unsigned i = 0; i < count && !r; i++)
		r = add_url(t, more[i], port, t->o.target, lun, e);
	return r;
}

// ---- the iBFT ----

// Those of the command line are preferred.
static void take_credentials(struct tool_options *o, const struct ibft_target *t)
{
	bool has_own = o->chap_secret || o->chap_secret_file || o->chap_user;
	bool has_mutual = o->mutual_secret || o->mutual_secret_file || o->mutual_user;
	if (!has_own && t->user[0]) {
		o->chap_user = t->user;
		o->chap_secret = t->secret;
	}
	if (!has_mutual && t->mutual_user[0]) {
		o->mutual_user = t->mutual_user;
		o->mutual_secret = t->mutual_secret;
	}
}

static int add_path(struct tool *t, const struct ibft *i, const struct ibft_target *target,
		    struct err *e)
{
	char host[IBFT_ADDRESS_TEXT + 1 + IF_NAMESIZE], interface[IF_NAMESIZE] = "";
	const struct ibft_nic *nic = ibft_nic_of(i, target);
	ibft_address_text(&target->ip, host);
	if (ibft_is_link_local(&target->ip) && nic) {
		network_interface(nic, interface, sizeof interface);
		if (!*interface)
			return err_set(
				e, -EADDRNOTAVAIL,
				"target%u: %s: no interface has the address of ethernet%u yet "
				"(load its driver, or give -N)",
				target->object.number, host, nic->object.number);
		size_t n = strlen(host);
		snprintf(host + n, sizeof host - n, "%%%s", interface);
	}
	return add_url(t, host, target->port ? target->port : IBFT_PORT, target->name,
		       t->o.lun == TOOL_UNSET ? target->lun : (int)t->o.lun, e);
}

static void say_others(const struct ibft_choice *c)
{
	if (c->is_unselected)
		tool_say("iBFT: no target is selected: target%u is taken, the first valid one",
			 c->paths[0]->object.number);
	for (unsigned n = 0; n < c->other_count; n++) {
		const struct ibft_target *t = c->others[n];
		if (t->object.fault.code)
			tool_say("iBFT: target%u is not attached: %s", t->object.number,
				 t->object.fault.text);
		else
			tool_say("iBFT: target%u is not attached: it is another disk than target%u "
				 "(%s, LUN %u)",
				 t->object.number, c->paths[0]->object.number, t->name, t->lun);
	}
}

int boot_of_ibft(struct tool *t, const struct ibft *i, struct err *e)
{
	struct ibft_choice c;
	int r = ibft_choose(i, &c, e);
	if (r)
		return r;
	if (i->initiator.object.fault.code && !t->o.initiator_name) {
		*e = i->initiator.object.fault;
		return e->code;
	}
	if (t->o.target || t->o.address || t->o.arg_count)
		tool_say("--targetname, --address: no effect with -b");
	say_others(&c);
	if (!t->o.initiator_name && i->initiator.name[0])
		t->o.initiator_name = i->initiator.name;
	take_credentials(&t->o, c.paths[0]);
	t->o.arg_count = 0;
	r = add_path(t, i, c.paths[0], e);
	for (unsigned n = 1; n < c.count && !r; n++)
		if (add_path(t, i, c.paths[n], e))
			tool_say("warning: skipped: %s", e->text);
	return r;
}
