// SPDX-License-Identifier: BSD-2-Clause
// URLs of logical units. Pure functions.
#include "initiator/iscsi/url.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "transport/iscsi/name.h"
#include "transport/iscsi/text.h"

#define LUN_MAX 16383 // flat space addressing [SAM-5 4.7.7.3]

static const struct {
	const char *scheme;
	bool is_iser;
} schemes[] = {
	{"iscsi://", false},
	{ "iser://", true },
};

// The text after the scheme, in any case [RFC 3986 3.1], or NULL.
static const char *take_scheme(const char *text, struct ini_url *ret)
{
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		size_t n = strlen(schemes[i].scheme);
		if (strncasecmp(text, schemes[i].scheme, n))
			continue;
		ret->is_iser = schemes[i].is_iser;
		return text + n;
	}
	return NULL;
}

static int take_user(const char **at, struct ini_url *ret, struct err *e)
{
	const char *end = *at + strcspn(*at, "/"), *user = memchr(*at, '@', (size_t)(end - *at));
	if (!user)
		return 0;
	size_t n = (size_t)(user - *at);
	if (memchr(*at, '%', n) || memchr(*at, ':', n))
		return err_set(e, -EINVAL,
			       "invalid URL: other users can see a password on the command "
			       "line (use --chap-secret-file)");
	if (!n || n > CHAP_USER_MAX)
		return err_set(e, -EINVAL, "invalid URL: user name of %zu bytes (must be 1 to %d)",
			       n, CHAP_USER_MAX);
	memcpy(ret->user, *at, n);
	*at = user + 1;
	return 0;
}

static int take_portal(const char **at, struct ini_url *ret, struct err *e)
{
	char portal[ISCSI_HOST_MAX + 16];
	size_t n = strcspn(*at, "/");
	if (n >= sizeof portal)
		return err_set(e, -EINVAL, "invalid URL: host name too long (%zu bytes)", n);
	if (!n)
		return err_set(e, -EINVAL, "invalid URL: no host");
	memcpy(portal, *at, n);
	portal[n] = 0;
	*at += n;
	int r = iscsi_address_parse(portal, &ret->portal, e);
	return r ? (err_prefix(e, "invalid URL"), r) : 0;
}

static int take_target(const char **at, struct ini_url *ret, struct err *e)
{
	if (!**at || !(*at)[1])
		return 0;
	++*at;
	size_t n = strcspn(*at, "/");
	int r = iscsi_name_normalize(*at, n, ret->target, e);
	*at += n;
	return r ? (err_prefix(e, "invalid URL"), r) : 0;
}

static int take_lun(const char *at, struct ini_url *ret, struct err *e)
{
	uint64_t lun;
	if (!*at || !at[1])
		return 0;
	if (text_number(at + 1, 0, LUN_MAX, &lun))
		return err_set(e, -EINVAL, "invalid URL: LUN '%.32s': must be 0 to %d", at + 1,
			       LUN_MAX);
	ret->lun = (uint16_t)lun;
	ret->has_lun = true;
	return 0;
}

int ini_url_parse(const char *text, struct ini_url *ret, struct err *e)
{
	*ret = (struct ini_url){ 0 };
	const char *at = take_scheme(text, ret);
	if (!at)
		return err_set(e, -EINVAL,
			       "invalid URL: %.80s (iscsi:// or "
			       "iser://[user@]host[:port]/target/lun, or "
			       "srp://host[:port]/id_ext:ioc_guid/lun)",
			       text);
	int r = take_user(&at, ret, e);
	if (!r)
		r = take_portal(&at, ret, e);
	if (!r)
		r = take_target(&at, ret, e);
	return r ? r : take_lun(at, ret, e);
}
