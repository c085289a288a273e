// SPDX-License-Identifier: BSD-2-Clause
// Whether logins by an ACL or a portal group can succeed: required CHAP needs a name and a password
// [RFC 7143 12.1.3]. login_admit.c applies the same rule at each login. Control thread.
#include <string.h>

#include "target/config/targets/credentials.h"

static bool has_password(const char *password, const char *file)
{
	return *password || *file; // the file is read at the login
}

enum credentials credentials_of(const struct auth_group *a)
{
	const struct view_auth *v = &a->auth;
	if (!*v->userid)
		return CREDENTIALS_NONE;
	if (!has_password(v->password, a->password_file))
		return CREDENTIALS_NO_PASSWORD;
	return *v->mutual_userid && has_password(v->mutual_password, a->mutual_password_file)
		       ? CREDENTIALS_MUTUAL
		       : CREDENTIALS_ONE_WAY;
}

enum credentials credentials_of_acl(const struct acl *a, bool *ret_is_own)
{
	*ret_is_own = *a->auth.auth.userid;
	return credentials_of(*ret_is_own ? &a->auth : &tpg_of(&a->node)->auth);
}

bool acl_needs_credentials(const struct acl *a)
{
	const struct tpg *tpg = tpg_of(&a->node);
	int own = tpg->kind->fabric()->acl_needs_credentials(a->own);
	return own < 0 ? tpg_access(tpg).needs_credentials : own != 0;
}

const char *acl_warning(const struct acl *a)
{
	bool is_own;
	enum credentials has = credentials_of_acl(a, &is_own);
	if (!acl_needs_credentials(a) || has >= CREDENTIALS_ONE_WAY)
		return NULL;
	return has == CREDENTIALS_NONE
		       ? "CHAP is required, but the ACL has no credentials"
		       : "CHAP is required, but the ACL's credentials have no password";
}

const char *tpg_warning(const struct tpg *tpg)
{
	const struct fabric_access access = tpg_access(tpg);
	if (!access.is_open || !access.needs_credentials ||
	    credentials_of(&tpg->auth) >= CREDENTIALS_ONE_WAY)
		return NULL;
	return "CHAP is required for initiators without an ACL, but the portal group has no "
	       "credentials";
}

static void say_ways_out(const struct node *n, struct reply *r)
{
	char path[600];
	node_path(n, path, sizeof path);
	reply_say(r, "Either set credentials: %s set auth userid=NAME password=SECRET", path);
	reply_say(r, "or do not require them: %s set attribute authentication=0", path);
}

static bool is_about_login(const struct group_row *g, struct json_object *values)
{
	return !strcmp(g->name, "auth") || json_field(values, "authentication") ||
	       json_field(values, "generate_node_acls");
}

void acl_warn(const struct acl *a, struct reply *r)
{
	const char *warning = a->node.class->warn ? acl_warning(a) : NULL;
	if (!warning)
		return;
	reply_say(r, "Warning: %s.", warning);
	say_ways_out(&a->node, r);
}

static void tpg_warn(const struct tpg *tpg, struct reply *r)
{
	unsigned count = 0;
	const struct acl *first = NULL;
	if (tpg_warning(tpg)) {
		reply_say(r, "Warning: %s.", tpg_warning(tpg));
		say_ways_out(&tpg->node, r);
	}
	list_each (const struct acl, a, &tpg->acls.children, node.link) {
		if (!acl_warning(a))
			continue;
		first = first ? first : a;
		count++;
	}
	if (count > 1)
		reply_say(r,
			  "Warning: %u ACLs have no CHAP credentials and refuse every login; the "
			  "first:",
			  count);
	if (first)
		acl_warn(first, r);
}

void credentials_warn(const struct node *n, const struct group_row *g, struct json_object *values,
		      struct reply *r)
{
	if (is_about_login(g, values) && n->class->is_group)
		tpg_warn(NODE_OF(const struct tpg, n), r);
	else if (is_about_login(g, values))
		acl_warn(NODE_OF(const struct acl, n), r);
}
