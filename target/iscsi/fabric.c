// SPDX-License-Identifier: BSD-2-Clause
// iSCSI as the configuration and the administrator see it: the slots of struct fabric_ops.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/counter.h"
#include "core/utf8.h"
#include "target/fabric/portal.h"
#include "target/iscsi/async.h"
#include "target/iscsi/conn.h"
#include "target/iscsi/conn_life.h"
#include "target/iscsi/iscsi.h"
#include "target/iscsi/login.h"
#include "target/iscsi/negotiated.h"
#include "target/iscsi/settings.h"
#include "target/iscsi/worker.h"
#include "transport/iscsi/name.h"
#include "transport/iser/dm_iser.h"
#include "transport/rdma/iwarp/iwarp.h"
#include "transport/rdma/rnic.h"

static struct view_place views;

// --- names ---

static int name_normal(const char *in, bool is_new_target, char out[FABRIC_NAME_SIZE],
		       struct err *e)
{
	int r = iscsi_name_normalize(in, strlen(in), out, e);
	if (!r && strchr(out, '/')) // it becomes a node of the tree
		r = err_set(e, -EINVAL, "a name cannot contain /");
	if (!r)
		r = is_new_target ? iscsi_name_check(out, e) : iscsi_name_check_type(out, e);
	if (r < 0)
		err_prefix(e, "WWN not valid as: iqn, naa, eui");
	return r;
}

static int name_initiator(const char *in, char out[FABRIC_NAME_SIZE], struct err *e)
{
	return name_normal(in, false, out, e);
}

// --- life ---

static int start(struct worker *control, struct err *e)
{
	for (unsigned i = 0; i < worker_count(); i++) {
		struct iscsi_worker *iw = iscsi_worker_at(i);
		iw->worker = worker_at(i);
		list_init(&iw->conns);
		for (unsigned k = 0; k < CMD_POOLS; k++)
			list_init(&iw->cmds[k].free);
		list_init(&iw->greetings);
		list_init(&iw->texts);
	}
	return 0;
}

static void close_run(void *arg)
{
	bool *is_busy = arg;
	struct err why;
	list_for_each_safe (it, &iscsi_worker()->conns) {
		struct conn *c = list_entry(it, struct conn, link);
		*is_busy = true;
		conn_close(c, false, "the target is stopping");
	}
	err_set(&why, -ESHUTDOWN, "the target is stopping");
	iwarp_refuse_half_open(&why);
}

static void stop(void)
{
	for (bool is_busy = true; is_busy;) {
		is_busy = false;
		for (unsigned i = 0; i < worker_count(); i++)
			worker_call(worker_at(i), close_run, &is_busy);
	}
}

// --- sessions ---

static void on_follows(struct session *s)
{
	conn_of(s)->ahead = NULL; // of the old map
}

static void on_close(struct session *s, const char *why)
{
	conn_close(conn_of(s), true, "%s", why);
}

static void on_cut(struct session *s, const char *why)
{
	conn_close(conn_of(s), false, "%s", why);
}

static bool ask_logout(struct session *s, unsigned seconds)
{
	struct conn *c = conn_of(s);
	if (s->state != SESSION_LIVE || !s->tpg)
		return false;
	async_logout(c, seconds);
	c->drain_ns = worker_now(s->worker) + seconds * 1000000000ull;
	return true;
}

static void on_displace(struct session *s)
{
	login_displaced(conn_of(s));
}

static void on_hold(struct session *s)
{
	conn_hold(conn_of(s));
}

static void on_release(struct session *s)
{
	conn_release(conn_of(s));
}

static struct buf_copies copies(const struct session *s)
{
	struct conn *c = conn_of(s);
	struct dm_counters moved;
	c->dm->ops->counters(c->dm, &moved);
	return moved.copied;
}

static void describe_proof(const struct login_proof *proof, struct session_info *to)
{
	to->is_authenticated = proof->alg != 0;
	to->is_mutual = proof->is_mutual;
	if (proof->alg)
		snprintf(to->proof, sizeof to->proof, "%sCHAP %s",
			 proof->is_mutual ? "mutual " : "", chap_alg_name(proof->alg));
}

// Whose ISIDs begin so [RFC 7143 11.12.5]: an enterprise number or an OUI. Those of a random type
// tell nothing.
static const struct {
	uint8_t bytes[4], count;
	const char *name;
} makers[] = {
	{{ 0x40, 0x00, 0x27, 0x23 },  4, "iPXE"	},
	{ { 0x00, 0x02, 0x3d },	3, "open-iscsi"},
	{ { 0x40, 0x00, 0x01, 0x37 }, 4, "Windows"   },
	{ { 0 },		      0, NULL	 },
};

static const char *isid_maker(const uint8_t isid[ISCSI_ISID_LEN])
{
	size_t i = 0;
	while (makers[i].name && memcmp(isid, makers[i].bytes, makers[i].count))
		i++;
	bool is_random = (isid[0] & ISCSI_ISID_TYPE_MASK) == ISCSI_ISID_TYPE_RANDOM;
	return makers[i].name ? makers[i].name : is_random ? "random" : "unknown";
}

static void describe(const struct session *s, struct session_info *to)
{
	const struct conn *c = conn_of(s);
	struct dm_counters k;
	char isid[ISCSI_ISID_TEXT];
	uint64_t now = worker_now(s->worker);
	snprintf(to->alias, sizeof to->alias, "%s", c->names.initiator_alias);
	utf8_tame(to->alias); // the initiator may have sent any bytes
	iscsi_isid_format(c->names.isid, isid);
	session_identity(to, "tsih", NULL, c->tsih);
	session_identity(to, "cid", NULL, c->names.cid);
	session_identity(to, "isid", isid + 2, 0);
	session_identity(to, "isid_of", isid_maker(c->names.isid), 0);
	describe_proof(&c->proof, to);
	to->remote_rights = c->dm->is_rdma ? dm_iser_remote_rights(c->dm) : 0;
	negotiated_describe(&c->params, to);
	to->window = c->window;
	to->commands_in_flight = c->cmd_count;
	c->dm->ops->counters(c->dm, &k);
	if (k.tx_since_ns && now > k.tx_since_ns)
		to->output_waits_us = (now - k.tx_since_ns) / 1000;
}

// --- reports ---

static void sum_counters(struct fabric_counters *ret)
{
	memset(ret, 0, sizeof *ret);
	uint64_t *sum = (uint64_t *)ret;
	for (unsigned i = 0; i < worker_count(); i++) {
		const uint64_t *n = (const uint64_t *)&iscsi_worker_at(i)->counters;
		for (unsigned f = 0; f < sizeof *ret / sizeof *sum; f++)
			sum[f] += counter_get(&n[f]);
	}
}

static const char *const session_transports[] = { "TCP", "iSER", NULL };

static const struct fabric_transport transports[] = {
	{"all",	 PORTAL_ALL },
	{ "tcp",		 PORTAL_TCP },
	{ "iser",PORTAL_RDMA | PORTAL_IWARP },
	{ "rdma",	  PORTAL_RDMA },
	{ 0	    },
};

struct fabric_ops iscsi_fabric = {
	.name = "iscsi",
	.title = "iSCSI",
	.protocol = SCSI_PROTOCOL_ISCSI,
	.session_transports = session_transports,
	.name_target = name_normal,
	.name_initiator = name_initiator,
	.port_name = iscsi_port_name,
	.start = start,
	.stop = stop,
	.views = &views,
	.follows = on_follows,
	.port = 3260,
	.transports = transports,
	.devices = &rnic_verbs,
	.accept = conn_accept,
	.status_full = ISCSI_LOGIN_OUT_OF_RESOURCES,
	.close = on_close,
	.cut = on_cut,
	.ask_logout = ask_logout,
	.displace = on_displace,
	.hold = on_hold,
	.release = on_release,
	.describe = describe,
	.copies = copies,
	.counters = sum_counters,
	.group = {tpg_attr_rows, sizeof(struct tpg_settings), tpg_settings_init,
		   tpg_settings_check },
	.acl = { acl_attr_rows,		sizeof(struct acl_attr),				 .presets = acl_presets	},
	.params = { iscsi_param_rows,	      iscsi_param_set,		       iscsi_param_get      },
	.portal_rows = portal_attr_rows,
	.negotiated_rows = iscsi_negotiated_rows,
	.access = tpg_settings_access,
	.acl_needs_credentials = acl_settings_need_credentials,
};
