// SPDX-License-Identifier: BSD-2-Clause
// A session's configuration from options, files, environment and terminal. Secrets never come from
// the command line, and are wiped when the session has its copy.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "initiator/program/iscsi.h"
#include "transport/iscsi/name.h"
#include "transport/wire/be.h"

#define NAME_FILE "/etc/iscsi/initiatorname.iscsi"
#define OWN_NAME  "iqn.2025-01.org.farblock:initiator-"

// --- the initiator's name ---

// InitiatorName=... of open-iscsi's file, so that this machine's ACLs match.
static bool name_of_file(char *ret, size_t size)
{
	char line[512];
	bool has_name = false;
	FILE *f = fopen(NAME_FILE, "re");
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
	const char *from = given ? "--initiator-name" : NAME_FILE;
	char text[ISCSI_NAME_MAX + 1];
	if (!given && !name_of_file(text, sizeof text)) {
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
	return t->verb && t->verb->bit == TOOL_RESERVE ? isid_of_name(l->initiator_name, l->isid, e)
						       : 0;
}

// --- secrets ---

static int secret_of_file(const char *path, char *ret, size_t size, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int r = err_errno(e, -errno, "%s: read secret", path);
		if (fd >= 0)
			close(fd);
		return r;
	}
	ssize_t n = read(fd, ret, size);
	close(fd);
	if (n < 0)
		return err_errno(e, -errno, "%s: read secret", path);
	if (S_ISREG(st.st_mode) && st.st_mode & 077)
		fprintf(stderr, "farblock-initiator: %s: readable by other users (chmod 600)\n",
			path);
	size_t len = (size_t)n;
	while (len && (ret[len - 1] == '\n' || ret[len - 1] == '\r'))
		len--;
	if (!len || len == size || memchr(ret, 0, len))
		return err_set(e, -EINVAL,
			       "%s: invalid secret: %zu bytes (must be 1 to %zu bytes of text)",
			       path, len, size - 1);
	ret[len] = 0;
	return 0;
}

static int secret_of_terminal(const char *user, const char *variable, char *ret, size_t size,
			      struct err *e)
{
	struct termios old, hidden;
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || tcgetattr(fd, &old) < 0) {
		if (fd >= 0)
			close(fd);
		return err_set(e, -EINVAL, "CHAP user %.64s: no secret (set %s, or name a file)",
			       user, variable);
	}
	hidden = old;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(fd, TCSAFLUSH, &hidden);
	dprintf(fd, "CHAP secret for %s: ", user);
	ssize_t n = read(fd, ret, size - 1);
	tcsetattr(fd, TCSAFLUSH, &old);
	dprintf(fd, "\n");
	close(fd);
	ret[n > 0 ? n : 0] = 0;
	ret[strcspn(ret, "\r\n")] = 0;
	return ret[0] ? 0 : err_set(e, -EINVAL, "CHAP user %.64s: empty secret", user);
}

static int credentials(struct chap_creds *c, const char *user, const char *file,
		       const char *variable, struct err *e)
{
	char secret[CHAP_SECRET_MAX + 1];
	const char *value = getenv(variable);
	int r = 0;
	if (file)
		r = secret_of_file(file, secret, sizeof secret, e);
	else if (!value)
		r = secret_of_terminal(user, variable, secret, sizeof secret, e);
	else if (strlen(value) >= sizeof secret)
		r = err_set(e, -EINVAL, "%s: too long", variable);
	else
		memcpy(secret, value, strlen(value) + 1);
	if (!r)
		r = chap_creds_set(c, user, secret, e);
	chap_wipe(secret, sizeof secret);
	return r;
}

static int authentication(const struct tool *t, const struct ini_url *url, struct login_config *l,
			  struct err *e)
{
	const char *user = t->o.chap_user ? t->o.chap_user : url->user;
	int r = 0;
	if (user[0])
		r = credentials(&l->initiator, user, t->o.chap_secret_file, "FARBLOCK_CHAP_SECRET",
				e);
	else if (t->o.chap_secret_file || t->o.mutual_user)
		r = err_set(e, -EINVAL, "CHAP: no user name (--chap-user)");
	if (!r && t->o.mutual_user)
		r = credentials(&l->target, t->o.mutual_user, t->o.mutual_secret_file,
				"FARBLOCK_CHAP_MUTUAL_SECRET", e);
	if (!r && t->o.chap_algs)
		r = chap_algs_parse(t->o.chap_algs, &l->chap_algs, e);
	return r;
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
	c->queue_depth = INI_QUEUE_DEPTH_MAX;
	int r = iscsi_initiator_name(t, c->login.initiator_name, e);
	if (!r)
		r = isid(t, &c->login, e);
	if (!r)
		r = iscsi_transport(t, url->is_iser, c, e);
	if (!r)
		r = offer(t, &c->login.offer, e);
	if (!r)
		r = authentication(t, url, &c->login, e);
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
	if (n <= 0) // no such name is no connection
		return e->code == -ENOENT ? e->code = -EHOSTUNREACH : e->code;
	c->portal_count = (unsigned)n;
	return 0;
}
