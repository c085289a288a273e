// SPDX-License-Identifier: BSD-2-Clause
// Settings of a portal group.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/config/targets/credentials.h"

// Checked now, since logins rely on it.
static int addresses_check(const char *list, struct err *e)
{
	int r = tcp_addr_list_check(list, e);
	return r < 0 ? err_prefix(e, "allowed_addresses"), r : 0;
}

// "name:port", where the port may be absent: a name has a letter, or it is a mistyped address.
static bool is_host_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
	bool has_port = text[n] == ':';
	return strcspn(text, letters) < n && *text != '.' && *text != '-' &&
	       (has_port ? number_of(text + n + 1, "", 65535) > 0 : !text[n]);
}

// What a login redirected there is sent as TargetAddress (RFC 7143, 13.8): IPv6 in brackets.
static int check_redirect(const char *text, struct err *e)
{
	struct tcp_addr addr;
	const char *colon = strchr(text, ':');
	bool is_bare = *text != '[' && colon && strchr(colon + 1, ':');
	if (!*text || is_host_name(text) ||
	    (!is_bare && !tcp_addr_parse(&addr, text, 0, NULL) && !tcp_addr_is_wildcard(&addr)))
		return 0;
	return err_set(e, -EINVAL,
		       "redirect: '%.60s' is not an address (such as 192.0.2.1:3260, "
		       "[2001:db8::1]:3260 or host.example:3260)",
		       text);
}

static int check_tpg(struct config *c, struct node *n, struct err *e)
{
	const struct tpg_attr *attr = &NODE_OF(struct tpg, n)->attr;
	int r = addresses_check(attr->allowed_addresses, e);
	return r ? r : check_redirect(attr->redirect, e);
}

static int check_tpg_auth(struct config *c, struct node *n, struct err *e)
{
	return auth_check(&NODE_OF(const struct tpg, n)->auth, e);
}

const struct group_row tpg_groups[] = {
	{.name = "attribute",
	  .form = SAVED_NUMBERS,
	  .part = "attributes",
	  .rows = tpg_attr_rows,
	  .at = offsetof(struct tpg, attr),
	  .size = sizeof(struct tpg_attr),
	  .check = check_tpg },
 // The alias is in the attributes, so undo restores both structs.
	{ .name = "parameter",
	  .form = SAVED_STRINGS,
	  .part = "parameters",
	  .get_rows = param_rows,
	  .at = offsetof(struct tpg, attr),
	  .size = offsetof(struct tpg, offer) + sizeof(struct iscsi_offer) -
		  offsetof(struct tpg, attr),
	  .set = tpg_param_set,
	  .get = tpg_param_get },
	{ .name = "auth",
	  .form = SAVED_TYPED,
	  .prefix = "chap_",
	  .is_whole = true,
	  .rows = auth_rows,
	  .at = offsetof(struct tpg, auth),
	  .size = sizeof(struct auth_group),
	  .check = check_tpg_auth },
	{ 0},
};
