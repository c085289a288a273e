// SPDX-License-Identifier: BSD-2-Clause
// CHAP credentials, and whether logins can succeed with them. Private to target/config; control
// thread.
#pragma once

#include "target/config/targets/targets.h"

// ---- auth.c ----
extern const struct attr_row auth_rows[], discovery_rows[];
int auth_check(const struct auth_group *a, struct err *e); // -EINVAL
// The credentials of a portal group or an ACL as a group of its class, and their check.
#define AUTH_GROUP(type)                                                                           \
	{                                                                                          \
		.name = "auth", .form = SAVED_TYPED, .prefix = "chap_", .is_whole = true,          \
		.rows = auth_rows, .at = offsetof(type, auth), .size = sizeof(struct auth_group),  \
		.check = auth_check_node                                                           \
	}
int auth_check_node(struct config *c, struct node *n, struct err *e);

// ---- credentials.c: required credentials of logins, from the tree ----
enum credentials {
	CREDENTIALS_NONE,
	CREDENTIALS_NO_PASSWORD,
	CREDENTIALS_ONE_WAY,
	CREDENTIALS_MUTUAL
};
enum credentials credentials_of(const struct auth_group *a);
// The credentials of logins by the ACL: its own, or those of its portal group. *ret_is_own: which.
enum credentials credentials_of_acl(const struct acl *a, bool *ret_is_own);
bool acl_needs_credentials(const struct acl *a);
// Why no login by the ACL, or without an ACL where permitted, can succeed. NULL: it can.
const char *acl_warning(const struct acl *a);
const char *tpg_warning(const struct tpg *tpg);
// Warns the user of that, with cures.
void acl_warn(const struct acl *a, struct reply *r);
// The same after settings of a portal group or an ACL that decide about it: a class's warn.
void credentials_warn(const struct node *n, const struct group_row *g, struct json_object *values,
		      struct reply *r);

// ---- secret.c ----
// Secrets in separate files: the saved file and all output have only their paths.

// Reads the first line of a file that belongs to root or the daemon's user and that only its owner
// can read. -EACCES: others can read it; -EINVAL: not an absolute path, not a regular file, empty,
// longer than 255 bytes; other errnos of open(2). out is then empty.
int secret_read(const char *file, char out[256], struct err *e);

// The credentials of logins: those of the group, with the current content of its files. On error
// neither direction has a password, so that no login succeeds.
int secret_fill(const struct auth_group *a, struct view_auth *out, struct err *e);
