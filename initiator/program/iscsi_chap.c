// SPDX-License-Identifier: BSD-2-Clause
// CHAP users and secrets of a login: files, environment, terminal, open-iscsi's configuration.
// Of all commands boot alone takes secrets from its command line; boot -b takes them from the iBFT.
// All are wiped when the session has its copy. The program's thread.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "initiator/program/iscsi.h"
#include "initiator/program/open_iscsi.h"

static const char OWN_VARIABLE[] = "FARBLOCK_CHAP_SECRET",
		  TARGETS_VARIABLE[] = "FARBLOCK_CHAP_MUTUAL_SECRET";

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
		fprintf(stderr,
			"farblock-initiator: warning: %s: readable by other users (chmod 600)\n",
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

// Asked once for each user, however many paths a command has.
static struct asked {
	const char *variable; // which of both directions; NULL: not asked yet
	char user[CHAP_USER_MAX + 1], secret[CHAP_SECRET_MAX + 1];
} asked[2];

static bool was_asked(const char *user, const char *variable, char *ret, size_t size)
{
	for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++)
		if (asked[i].variable == variable && !strcmp(asked[i].user, user)) {
			snprintf(ret, size, "%s", asked[i].secret);
			return true;
		}
	return false;
}

static void keep_answer(const char *user, const char *variable, const char *secret)
{
	struct asked *a = asked[0].variable ? &asked[1] : &asked[0];
	a->variable = variable;
	snprintf(a->user, sizeof a->user, "%s", user);
	snprintf(a->secret, sizeof a->secret, "%s", secret);
}

void iscsi_forget_secrets(void)
{
	chap_wipe(asked, sizeof asked);
}

static int secret_of_terminal(const char *user, const char *variable, char *ret, size_t size,
			      struct err *e)
{
	struct termios old, hidden;
	if (was_asked(user, variable, ret, size))
		return 0;
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || tcgetattr(fd, &old) < 0) {
		if (fd >= 0)
			close(fd);
		return err_set(e, -EINVAL, "CHAP user %.64s: no secret (%s FILE, or set %s)", user,
			       strcmp(variable, OWN_VARIABLE) ? "--chap-mutual-secret-file"
							      : "--chap-secret-file",
			       variable);
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
	if (!ret[0])
		return err_set(e, -EINVAL, "CHAP user %.64s: empty secret", user);
	keep_answer(user, variable, ret);
	return 0;
}

// given: a secret that is known already; NULL: none.
static int credentials(struct chap_creds *c, const char *user, const char *file, const char *given,
		       const char *variable, struct err *e)
{
	char secret[CHAP_SECRET_MAX + 1];
	const char *value = given ? given : getenv(variable);
	int r = 0;
	if (file)
		r = secret_of_file(file, secret, sizeof secret, e);
	else if (!value)
		r = secret_of_terminal(user, variable, secret, sizeof secret, e);
	else if (strlen(value) >= sizeof secret)
		r = err_set(e, -EINVAL, "%s: too long", given ? "CHAP secret" : variable);
	else
		memcpy(secret, value, strlen(value) + 1);
	if (!r)
		r = chap_creds_set(c, user, secret, e);
	chap_wipe(secret, sizeof secret);
	return r;
}

// From open-iscsi's files, if the command names their directory and no other user.
static int open_iscsi(const struct tool *t, const struct ini_url *url, const char *user,
		      struct login_config *l, struct err *e)
{
	struct open_iscsi_auth a;
	char portal[ISCSI_HOST_MAX + 16];
	snprintf(portal, sizeof portal, "%s,%u", url->portal.host, url->portal.port);
	int r = open_iscsi_auth(&a, t->o.iscsi_dir, url->target, portal, e);
	if (!r && a.is_chap && (!*user || !strcmp(user, a.user))) {
		r = chap_creds_set(&l->initiator, a.user, a.secret, e);
		if (!r && a.mutual_user[0])
			r = chap_creds_set(&l->target, a.mutual_user, a.mutual_secret, e);
		if (!r && a.algs[0])
			r = chap_algs_parse(a.algs, &l->chap_algs, e);
		if (r)
			err_prefix(e, "%s", t->o.iscsi_dir);
	}
	chap_wipe(&a, sizeof a);
	return r;
}

// Our own: those of open-iscsi unless a file is named.
static int own_credentials(const struct tool *t, const struct ini_url *url, struct login_config *l,
			   struct err *e)
{
	const char *user = t->o.chap_user ? t->o.chap_user : url->user;
	const char *file = t->o.chap_secret_file;
	int r = t->o.iscsi_dir && !file ? open_iscsi(t, url, user, l, e) : 0;
	if (r || l->initiator.user[0])
		return r;
	if (user[0])
		return credentials(&l->initiator, user, file, t->o.chap_secret, OWN_VARIABLE, e);
	return file || t->o.mutual_user ? err_set(e, -EINVAL, "CHAP: no user name (--chap-user)")
					: 0;
}

int iscsi_chap(const struct tool *t, const struct ini_url *url, struct login_config *l,
	       struct err *e)
{
	if (t->o.is_without_chap)
		return 0;
	int r = own_credentials(t, url, l, e);
	if (!r && t->o.mutual_user)
		r = credentials(&l->target, t->o.mutual_user, t->o.mutual_secret_file,
				t->o.mutual_secret, TARGETS_VARIABLE, e);
	if (!r && t->o.chap_algs)
		r = chap_algs_parse(t->o.chap_algs, &l->chap_algs, e);
	return r;
}
