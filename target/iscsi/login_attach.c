// SPDX-License-Identifier: BSD-2-Clause
// To which session a login attaches: the older one of the nexus ends first; then the session has
// its nexus with the LUN map of its ACL. RFC 7143 6.3, SPC-5 7.6.4.
#include <errno.h>
#include <stdio.h>

#include "core/worker_barrier.h"
#include "target/fabric/removal.h"
#include "target/iscsi/async.h"
#include "target/iscsi/iscsi.h"
#include "target/iscsi/login.h"
#include "target/iscsi/reinstatement.h"
#include "target/iscsi/settings.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/reservations/transport_id.h"

static void on_notice(struct nexus *n, uint16_t lun, uint32_t sense_code)
{
	async_scsi(n->owner, lun, sense_code);
}

static void on_overdue(struct nexus *n, uint32_t seconds)
{
	struct conn *c = n->owner;
	session_note_slow(&c->session);
	conn_close(c, false, "other sessions have waited %u s for blocks that it transfers",
		   seconds);
}

static struct nexus_removal *on_remove(struct nexus *n, const struct nexus_name *names,
				       unsigned count, void (*done)(void *arg, int bad), void *arg)
{
	struct conn *c = n->owner;
	return removal_begin(&c->session, names, count, done, arg);
}

static const struct nexus_ops nexus_ops = {
	.notice = on_notice,
	.overdue = on_overdue,
	.remove = on_remove,
	.remove_cancel = removal_cancel,
};

void iscsi_port_name(const char *target, uint16_t tag, char out[FABRIC_PORT_SIZE])
{
	snprintf(out, FABRIC_PORT_SIZE, "%s,t,0x%04x", target, tag);
}

static int make_nexus(struct conn *c, const struct login_names *n, struct err *e)
{
	char isid[ISCSI_ISID_TEXT], port[FABRIC_PORT_SIZE], target_port[FABRIC_PORT_SIZE];
	if (!c->session.tpg)
		return 0;
	iscsi_isid_format(n->isid, isid);
	snprintf(port, sizeof port, "%s,i,%s", n->initiator_name, isid);
	iscsi_port_name(n->target_name, c->session.tpg->tag, target_port);
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_ISCSI,
		.initiator_port = port,
		.initiator_name = n->initiator_name,
		.target_name = n->target_name,
		.target_port = target_port,
		.relative_port = c->session.tpg->relative_port,
		.is_buffered = session_is_slow(&c->session, worker_now(c->session.worker)),
	};
	info.transport_id_len = pr_tid_put_iscsi(info.transport_id, port);
	int r = nexus_new(&c->session.nexus, &info, &nexus_ops, c,
			  c->session.acl ? c->session.acl->map : c->session.tpg->demo_map);
	if (r < 0)
		err_errno(e, r, "nexus");
	return r < 0 ? ISCSI_LOGIN_OUT_OF_RESOURCES : 0;
}

static uint32_t session_window(const struct conn *c)
{
	if (!c->session.tpg)
		return 1; // discovery: one request at a time, none is held
	uint32_t depth = c->session.acl ? acl_settings(c->session.acl)->cmdsn_depth : 0;
	if (!depth)
		depth = tpg_settings(c->session.tpg)->attr.default_cmdsn_depth;
	return depth ? depth : 64;
}

static int attach_finish(struct conn *c, const struct login_names *n, struct login_session *ret,
			 struct err *e)
{
	int r = make_nexus(c, n, e);
	if (r)
		return r;
	c->window = session_window(c);
	ret->tsih = c->tsih;
	uint32_t first = c->dm->first_window;
	c->is_narrow = first && first < c->window;
	ret->max_cmd_sn = ret->exp_cmd_sn + (c->is_narrow ? first : c->window) - 1;
	return 0;
}

int login_attach(void *arg, const struct login_names *names, const struct iscsi_params *params,
		 struct login_session *ret, struct err *e)
{
	struct conn *c = arg;
	// An initiator that names its session expects to find it.
	if (c->session.tpg && !names->tsih &&
	    worker_barrier(c->session.worker, &c->resume_msg) == 0) {
		conn_hold(c); // until the message
		return -EINPROGRESS;
	}
	c->is_settled = true;
	int r = reinstatement_enter(c, names, e);
	return r ? r : attach_finish(c, names, ret, e);
}

int login_attach_again(struct conn *c, struct login_session *ret, struct err *e)
{
	const struct login_names *names = login_names(c->login);
	int r = c->is_settled ? reinstatement_enter_again(c, e) : reinstatement_enter(c, names, e);
	c->is_settled = true;
	return r ? r : attach_finish(c, names, ret, e);
}
