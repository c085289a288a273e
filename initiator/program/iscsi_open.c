// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: a session by a URL of iSCSI.
#include <string.h>

#include "initiator/program/iscsi.h"

_Static_assert((int)TOOL_TARGET_MAX > (int)ISCSI_NAME_MAX, "a target's name fits");

static int login(struct tool *t, const struct ini_url *url, struct ini_config *c, struct err *e)
{
	memcpy(c->login.target_name, url->target, sizeof url->target);
	int r = iscsi_resolve(c, &url->portal, e);
	return r ? r : tool_login(t, ini_session_new, c, e);
}

int iscsi_open(struct tool *t, bool needs_lun)
{
	struct ini_url url;
	struct ini_config c;
	struct err e;
	if (ini_url_parse(t->o.args[0], &url, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	if (!url.target[0] || (needs_lun && !url.has_lun)) {
		err_set(&e, -1,
			"invalid URL: %.120s: no %s (iscsi://host[:port]/target/lun, or iser://)",
			t->o.args[0], url.target[0] ? "LUN" : "target");
		return tool_fail(TOOL_USAGE, &e);
	}
	if (iscsi_config(t, &url, &c, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	tool_interrupt_init();
	memcpy(t->target, url.target, sizeof url.target);
	t->lun = url.lun;
	int r = login(t, &url, &c, &e);
	chap_wipe(&c, sizeof c);
	return r ? tool_fail(TOOL_FAILED, &e) : TOOL_OK;
}
