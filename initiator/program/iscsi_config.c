// SPDX-License-Identifier: BSD-2-Clause
// A session's configuration from options and files; its secrets: iscsi_chap.c.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "initiator/program/iscsi.h"
#include "initiator/program/open_iscsi.h"
#include "transport/iscsi/name.h"
#include "transport/wire/be.h"

#define NAME_FILE "initiatorname.iscsi"
#define OWN_NAME  "iqn.2025-01.org.farblock:initiator-"

// --- the initiator's name ---

// InitiatorName=... of open-iscsi's file, so that this machine's ACLs match.
static bool name_of_file(const char *path, char *ret, size_t size)
{
	char line[512];
	bool has_name = false;
	FILE *f = fopen(path, "re");
	while (f && !has_name && fgets(line, sizeof line, f)) {
		char *value = line + strlen("InitiatorName=");
		if (strncmp(line, "InitiatorName=", strlen("InitiatorName=")))
			continue;
		value[strcspn(value, " \t\r\n")] = 0;
		has_name = *value && strlen(value) < size;
		if (has_name)
			memcpy(ret, value, strlen(value) + 1);
	}
	if (f)
		fclose(f);
	return has_name;
}

static void own_name(char *ret, size_t size)
{
	char host[65] = "";
	if (gethostname(host, sizeof host - 1) || !host[0])
		snprintf(host, sizeof host, "unnamed");
	for (char *p = host; *p; p++)
		*p = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '-';
	snprintf(ret, size, OWN_NAME "%s", host);
}

int iscsi_initiator_name(const struct tool *t, char name[ISCSI_NAME_MAX + 1], struct err *e)
{
	const char *given = t->o.initiator_name;
	const char *dir = t->o.iscsi_dir ? t->o.iscsi_dir : OPEN_ISCSI_DIR;
	char text[ISCSI_NAME_MAX + 1], path[PATH_MAX];
	const char *from = given ? "--initiator-name" : path;
	snprintf(path, sizeof path, "%s/" NAME_FILE, dir);
	if (!given && !name_of_file(path, text, sizeof text)) {
		own_name(name, ISCSI_NAME_MAX + 1);
		return 0;
	}
	int r = iscsi_name_normalize(given ? given : text, strlen(given ? given : text), name, e);
	if (!r)
		r = iscsi_name_check_type(name, e);
	return r ? (err_prefix(e, "%s", from), r) : 0;
}

// --- the session's ISID ---

// Twelve hex digits, not all zero.
static int isid_parse(const char *text, uint8_t ret[ISCSI_ISID_LEN], struct err *e)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");
	unsigned long long v = n == 2 * ISCSI_ISID_LEN && !text[n] ? strtoull(text, NULL, 16) : 0;
	if (!v)
		return err_set(e, -EINVAL, "--isid '%.32s': must be %d hex digits, not all zero",
			       text, 2 * ISCSI_ISID_LEN);
	for (int i = ISCSI_ISID_LEN - 1; i >= 0; i--, v >>= 8)
		ret[i] = (uint8_t)v;
	return 0;
}

// The same at every start, so that registrations of persistent reservations stay this port's. The
// type is random [RFC 7143 11.12.5]; no vendor's numbers are taken.
static int isid_of_name(const char *name, uint8_t ret[ISCSI_ISID_LEN], struct err *e)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	if (!EVP_Digest(name, strlen(name), hash, NULL, EVP_sha256(), NULL))
		return err_set(e, -EIO, "ISID: SHA-256 failed (use --isid)");
	memcpy(ret, hash, ISCSI_ISID_LEN);
	ret[0] = (uint8_t)((ret[0] & ~ISCSI_ISID_TYPE_MASK) | ISCSI_ISID_TYPE_RANDOM);
	return 0;
}

// Zeros: a random one, with which parallel commands do not end each other's sessions.
static int isid(const struct tool *t, struct login_config *l, struct err *e)
{
	uint8_t nexus[8];
	if (t->o.isid)
		return isid_parse(t->o.isid, l->isid, e);
	if (t->o.nexus) { // RFC 7143 11.12.5, type 10b: random
		put_be64(nexus, t->o.nexus);
		memcpy(l->isid, nexus, sizeof l->isid);
		l->isid[0] = 0x80;
		return 0;
	}
	return t->keeps_port ? isid_of_name(l->initiator_name, l->isid, e) : 0;
}

// --- the rest ---

static int set_key(struct iscsi_offer *o, const char *pair, struct err *e)
{
	char name[ISCSI_KEY_MAX + 1];
	size_t n = strcspn(pair, "=");
	if (n >= sizeof name)
		return err_set(e, -EINVAL, "--set: unknown key: %.80s", pair);
	memcpy(name, pair, n);
	name[n] = 0;
	int r = iscsi_offer_set(o, name, pair + n + 1, e);
	return r ? (err_prefix(e, "--set"), r) : 0;
}

static int offer(const struct tool *t, struct iscsi_offer *o, struct err *e)
{
	int r = 0;
	if (t->o.header_digest)
		r = iscsi_offer_set(o, "HeaderDigest", t->o.header_digest, e);
	if (!r && t->o.data_digest)
		r = iscsi_offer_set(o, "DataDigest", t->o.data_digest, e);
	for (unsigned i = 0; i < t->o.key_count && !r; i++)
		r = set_key(o, t->o.keys[i], e);
	return r;
}

int iscsi_config(const struct tool *t, const struct ini_url *url, struct ini_config *ret,
		 struct err *e)
{
	struct ini_config *c = ret;
	ini_config_init(c);
	if (t->o.login_timeout != TOOL_UNSET)
		c->login_timeout = c->connect_timeout = (unsigned)t->o.login_timeout;
	if (t->o.replacement_timeout != TOOL_UNSET)
		c->replacement_timeout = (unsigned)t->o.replacement_timeout;
	if (t->o.noop_out_interval)
		c->noop_out_interval = *t->o.noop_out_interval;
	if (t->o.noop_out_timeout)
		c->noop_out_timeout = *t->o.noop_out_timeout;
	c->queue_depth = INI_QUEUE_DEPTH_MAX;
	int r = iscsi_initiator_name(t, c->login.initiator_name, e);
	if (!r)
		r = isid(t, &c->login, e);
	if (!r)
		r = iscsi_transport(t, url->is_iser, c, e);
	if (!r)
		r = offer(t, &c->login.offer, e);
	if (!r)
		r = iscsi_chap(t, url, &c->login, e);
	if (r)
		chap_wipe(c, sizeof *c);
	return r;
}

int iscsi_resolve(struct ini_config *c, const struct iscsi_address *portal, struct err *e)
{
	char text[ISCSI_HOST_MAX + 16];
	struct iscsi_address bare = *portal;
	bare.has_tpgt = false;
	if (iscsi_address_format(&bare, text, sizeof text))
		return err_set(e, -EINVAL, "host name too long: %.80s", portal->host);
	int n = tcp_addr_resolve(c->portals, INI_PORTALS_MAX, text, portal->port, e);
	if (!n)
		err_set(e, -ENOENT, "%.80s: no address found", portal->host);
	if (n <= 0) // no such name or interface is no connection
		return e->code == -ENOENT || e->code == -ENODEV ? e->code = -EHOSTUNREACH : e->code;
	c->portal_count = (unsigned)n;
	return 0;
}
