// SPDX-License-Identifier: BSD-2-Clause
// CHAP credentials as rows: of a portal group, an ACL and discovery.
#include <errno.h>
#include <string.h>

#include "target/config/targets/credentials.h"

#define AUTH(field)                                                                                \
	offsetof(struct auth_group, auth) + offsetof(struct view_auth, field), 0, 256, ""
#define SECRET(field)                                                                              \
	offsetof(struct auth_group, auth) + offsetof(struct view_auth, field), SECRET_MIN, 256, ""
enum { SECRET_MIN = 12 }; // characters [RFC 7143 9.2.1]; shorter ones cause a warning

#define AUTH_FILE(field) offsetof(struct auth_group, field), 0, 256, ""

// clang-format off
#define AUTH_ROWS \
	{ "userid", ATTR_STRING, AUTH(userid), NULL, "user name of the initiator", NULL, ATTR_SPARSE }, \
	{ "password", ATTR_STRING, SECRET(password), NULL, "secret of the initiator, at least 12 characters; + generates one", NULL, \
	  ATTR_SECRET | ATTR_SPARSE }, \
	{ "mutual_userid", ATTR_STRING, AUTH(mutual_userid), NULL, \
	  "user name of the target (mutual CHAP)", NULL, ATTR_SPARSE }, \
	{ "mutual_password", ATTR_STRING, SECRET(mutual_password), NULL, \
	  "secret of the target (mutual CHAP), at least 12 characters; + generates one", NULL, \
	  ATTR_SECRET | ATTR_SPARSE }, \
	{ "password_file", ATTR_STRING, AUTH_FILE(password_file), NULL, \
	  "file of mode 0600 whose first line is the password; only its path is saved", NULL, \
	  ATTR_OWN }, \
	{ "mutual_password_file", ATTR_STRING, AUTH_FILE(mutual_password_file), NULL, \
	  "file for mutual_password, as password_file", NULL, ATTR_OWN }

const struct attr_row auth_rows[] = {
	AUTH_ROWS,
	{ 0 },
};

const struct attr_row discovery_rows[] = {
	{ "enable", ATTR_BOOL, offsetof(struct auth_group, enable), 0, 1, "0", NULL,
	  "1: discovery requires CHAP", NULL, 0, NULL, "enable_auth" },
	AUTH_ROWS,
	{ 0 },
};
// clang-format on

static int check_creds(const char *what, const char *user, const char *password, struct err *e)
{
	if (!strcmp(user, "NULL") || !strcmp(password, "NULL"))
		return err_set(e, -EINVAL,
			       "%s: NULL is not a value (set it to nothing to unset it)", what);
	return 0;
}

int auth_check(const struct auth_group *a, struct err *e)
{
	struct view_auth v;
	int r = secret_fill(a, &v, e);
	if (!r)
		r = check_creds("auth", v.userid, v.password, e);
	if (!r)
		r = check_creds("mutual auth", v.mutual_userid, v.mutual_password, e);
	if (!r && v.password[0] && !strcmp(v.password, v.mutual_password))
		r = err_set(e, -EINVAL,
			    "auth: the two directions cannot have the same password (RFC 7143, "
			    "9.2.1)");
	explicit_bzero(&v, sizeof v);
	return r;
}

int auth_check_node(struct config *c, struct node *n, struct err *e)
{
	return auth_check(n->class->is_group ? &NODE_OF(const struct tpg, n)->auth
					     : &NODE_OF(const struct acl, n)->auth,
			  e);
}
