// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: a session from a URL of iSCSI.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/program/iscsi.h"

_Static_assert((int)TOOL_TARGET_MAX > (int)ISCSI_NAME_MAX, "a target's name fits");

static void set_port(struct tool_path *p, const uint8_t isid[ISCSI_ISID_LEN])
{
	static const uint8_t random[ISCSI_ISID_LEN];
	for (size_t i = 0; memcmp(isid, random, sizeof random) && i < sizeof random; i++)
		snprintf(p->port + 2 * i, 3, "%02x", isid[i]);
	p->port_cure = "without --isid each path has its own";
}

int iscsi_path(const struct tool *t, const char *text, bool needs_lun, struct tool_path *ret,
	       struct err *e)
{
	struct ini_url url;
	struct ini_config c;
	if (ini_url_parse(text, &url, e) < 0)
		return TOOL_USAGE;
	if (!url.target[0] || (needs_lun && !url.has_lun)) {
		err_set(e, -EINVAL,
			"invalid URL: %.120s: no %s (iscsi://host[:port]/target/lun, or iser://)",
			text, url.target[0] ? "LUN" : "target");
		return TOOL_USAGE;
	}
	if (iscsi_config(t, &url, &c, e) < 0)
		return TOOL_USAGE;
	memcpy(c.login.target_name, url.target, sizeof url.target);
	memcpy(ret->target, url.target, sizeof url.target);
	ret->has_lun = url.has_lun;
	ret->lun = url.lun;
	set_port(ret, c.login.isid);
	if (iscsi_resolve(&c, &url.portal, e) < 0) {
		chap_wipe(&c, sizeof c);
		return TOOL_FAILED;
	}
	return tool_path_set(ret, ini_session_new, &c, sizeof c, e);
}
