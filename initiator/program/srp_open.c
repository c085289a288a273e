// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: a session from a URL of SRP or an add_target string.
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>

#include "initiator/program/iscsi.h"
#include "initiator/program/providers.h"
#include "initiator/program/srp.h"
#include "initiator/srp/sync.h"
#include "transport/wire/be.h"

_Static_assert((int)PROVIDERS_MAX <= (int)SRPS_PROVIDERS_MAX, "a session can try all of them");
_Static_assert((int)TOOL_TARGET_MAX >= (int)SRPS_PORT_ID_TEXT, "a target's name fits");
_Static_assert((int)TOOL_PORT_MAX >= (int)SRPS_PORT_ID_TEXT, "a port's name fits");

// --- the initiator's port ---

// The nexus, and the first half of the SHA-256 of the initiator's name: the same at every start.
static int made_port(const struct tool *t, uint8_t ret[SRP_PORT_ID_LEN], struct err *e)
{
	char name[ISCSI_NAME_MAX + 1];
	uint8_t hash[EVP_MAX_MD_SIZE];
	int r = iscsi_initiator_name(t, name, e);
	if (r)
		return r;
	if (!EVP_Digest(name, strlen(name), hash, NULL, EVP_sha256(), NULL))
		return err_set(e, -EIO, "initiator port: SHA-256 failed (use --initiator-port)");
	put_be64(ret, t->o.nexus);
	memcpy(ret + SRP_PORT_ID_LEN / 2, hash, SRP_PORT_ID_LEN / 2);
	return 0;
}

static int initiator_port(const struct tool *t, const struct srps_address *a,
			  uint8_t ret[SRP_PORT_ID_LEN], struct err *e)
{
	int r = t->o.initiator_port ? srps_port_id_parse(t->o.initiator_port, ret, e)
				    : made_port(t, ret, e);
	if (r)
		return t->o.initiator_port ? (err_prefix(e, "--initiator-port"), r) : r;
	if (a->has_initiator_ext)
		memcpy(ret, a->initiator_ext, sizeof a->initiator_ext);
	return 0;
}

// --- options ---

static int refuse_iscsi(const struct tool_options *o, struct err *e)
{
	// A port of an initiator has one session to a port of a target, by --channels.
	bool is_several = o->sessions != TOOL_UNSET && o->sessions > 1;
	const struct {
		const char *name;
		bool is_given;
	} iscsi[] = {
		{"transport",		       o->transport	    },
		{ "chap-user",	       o->chap_user	    },
		{ "chap-secret-file",	      o->chap_secret_file  },
		{ "chap-mutual-user",	      o->mutual_user	     },
		{ "chap-mutual-secret-file", o->mutual_secret_file},
		{ "chap-algs",	       o->chap_algs	    },
		{ "header-digest",	   o->header_digest	    },
		{ "data-digest",		 o->data_digest	},
		{ "set",			 o->key_count	      },
		{ "isid",			  o->isid		  },
		{ "sessions",		      is_several		 },
	};
	for (size_t i = 0; i < sizeof iscsi / sizeof *iscsi; i++)
		if (iscsi[i].is_given)
			return err_set(e, -EINVAL, "--%s: only for iSCSI and iSER", iscsi[i].name);
	return 0;
}

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

int srp_config(const struct tool *t, const struct srps_address *a, struct srps_config *ret,
	       struct err *e)
{
	struct srps_config *c = ret;
	srps_config_init(c);
	memcpy(c->target, a->target, sizeof c->target);
	c->it_iu_len = a->it_iu_len;
	if (t->o.login_timeout != TOOL_UNSET)
		c->connect_timeout = (unsigned)t->o.login_timeout;
	if (t->o.replacement_timeout != TOOL_UNSET)
		c->replacement_timeout = (unsigned)t->o.replacement_timeout;
	if (t->o.channels != TOOL_UNSET)
		c->channels = (unsigned)t->o.channels;
	else if (a->channels)
		c->channels = min(a->channels, SRPS_CHANNELS_MAX);
	if (a->channel_depth)
		c->channel_depth = min(a->channel_depth, SRPI_TASKS_MAX);
	c->queue_depth =
		a->queue_depth ? min(a->queue_depth, SRPS_QUEUE_DEPTH_MAX) : SRPS_QUEUE_DEPTH_MAX;
	int r = tool_is_mixed(t) ? 0 : refuse_iscsi(&t->o, e);
	if (!r)
		r = initiator_port(t, a, c->initiator, e);
	return r ? r : providers_set(t->o.provider, c->providers, &c->provider_count, e);
}

// --- login ---

int srp_resolve(struct srps_config *c, const struct srps_address *a, struct err *e)
{
	int n = tcp_addr_resolve(c->portals, SRPS_PORTALS_MAX, a->portal, SRPS_PORT, e);
	if (!n)
		err_set(e, -ENOENT, "%.80s: no address found", a->portal);
	if (n <= 0) // no such name or interface is no connection
		return e->code == -ENOENT || e->code == -ENODEV ? e->code = -EHOSTUNREACH : e->code;
	c->portal_count = (unsigned)n;
	if (!a->local[0])
		return 0;
	c->has_local = true;
	return tcp_addr_parse(&c->local, a->local, 0, e);
}

static int parse(const char *text, bool needs_lun, struct srps_address *ret, struct err *e)
{
	int r = srps_address_parse(text, ret, e);
	if (r)
		return r;
	if (!ret->has_target || (needs_lun && !ret->has_lun))
		return err_set(e, -EINVAL,
			       "invalid URL: %.120s: no %s (srp://host[:port]/id_ext:ioc_guid/lun, "
			       "or an add_target string and /lun)",
			       text, ret->has_target ? "LUN" : "target");
	if (ret->ignored[0])
		tool_say("no effect in farblock-initiator: %s", ret->ignored);
	return 0;
}

int srp_path(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
	     struct err *e)
{
	struct srps_address a;
	struct srps_config c;
	if (parse(url, needs_lun, &a, e) < 0 || srp_config(t, &a, &c, e) < 0)
		return TOOL_USAGE;
	srps_port_id_format(a.target, ret->target);
	srps_port_id_format(c.initiator, ret->port);
	ret->port_cure = "without --initiator-port each path has its own; add_target strings may "
			 "have an initiator_ext each";
	ret->has_lun = a.has_lun;
	ret->lun = a.lun;
	return srp_resolve(&c, &a, e) < 0 ? TOOL_FAILED
					  : tool_path_set(ret, srps_session_new, &c, sizeof c, e);
}

// Whoever asked for more channels than there are learns it, whatever the command.
void srp_opened(struct tool *t)
{
	struct srps_info info;
	srps_sync_info(t->sync, &info);
	if (info.fewer.code)
		tool_say("channels %u of %u: %s", info.channels, info.channels_wanted,
			 info.fewer.text);
}
