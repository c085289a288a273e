// SPDX-License-Identifier: BSD-2-Clause
// What farblock-initiator has of iSCSI: sessions from URLs and options, and the subcommands that
// are iSCSI's own. The program's thread; may block.
#pragma once

#include "initiator/iscsi/initiator.h"
#include "initiator/iscsi/url.h"
#include "initiator/tool/tool.h"
#include "transport/iscsi/name.h"

// tool.path for iscsi:// and iser://.
int iscsi_path(const struct tool *t, const char *url, bool needs_lun, struct tool_path *ret,
	       struct err *e);

// iscsi_config.c: the initiator's name, from the option, open-iscsi's file or the host name.
// -EINVAL with a text.
int iscsi_initiator_name(const struct tool *t, char ret[ISCSI_NAME_MAX + 1], struct err *e);
// A session's configuration from options, the URL and environment; prompts for a
// missing secret on the terminal. Wipe it after use. -EINVAL, -ENOENT, ... with a text.
int iscsi_config(const struct tool *t, const struct ini_url *url, struct ini_config *ret,
		 struct err *e);
// iscsi_chap.c: fills in the credentials; prompts for a missing secret on the terminal, once for
// each user. -EINVAL and errors of files with a text.
int iscsi_chap(const struct tool *t, const struct ini_url *url, struct login_config *l,
	       struct err *e);
// Wipes secrets that were asked for.
void iscsi_forget_secrets(void);
// Fills the portals of the configuration; may ask the resolver.
int iscsi_resolve(struct ini_config *c, const struct iscsi_address *portal, struct err *e);
// iscsi_transport.c: TCP, or the providers of RDMA to try. -EINVAL with a text.
int iscsi_transport(const struct tool *t, bool is_iser, struct ini_config *ret, struct err *e);

// The subcommands.
int iscsi_discover(struct tool *t);
int iscsi_ping(struct tool *t);
// Adds the portal of the first argument to the tree. TOOL_USAGE after printing the error.
struct tree;
int iscsi_tree(struct tool *t, struct tree *tree);
