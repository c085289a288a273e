// SPDX-License-Identifier: BSD-2-Clause
// Secrets in files: the owner is checked before reading.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/config/targets/credentials.h"

static int check_file(int fd, const char *file, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_errno(e, -errno, "%s", file);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s: not a regular file", file);
	if (st.st_uid && st.st_uid != geteuid())
		return err_set(e, -EACCES, "%s: owned by untrusted user %u (chown root)", file,
			       st.st_uid);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return err_set(e, -EACCES, "%s: accessible to others (chmod 600)", file);
	return 0;
}

// The first line of the text.
static int take_line(const char *file, const char *text, size_t n, char out[256], struct err *e)
{
	size_t len = strcspn(text, "\r\n");
	if (len > 255 || (len == n && n > 255))
		return err_set(e, -EINVAL, "%s: first line longer than 255 bytes", file);
	if (!len || (len < n && !text[len]))
		return err_set(e, -EINVAL, "%s: no secret in the first line", file);
	memcpy(out, text, len);
	out[len] = 0;
	return 0;
}

int secret_read(const char *file, char out[256], struct err *e)
{
	char text[260] = "";
	out[0] = 0;
	if (*file != '/')
		return err_set(e, -EINVAL, "%s: not an absolute path", file);
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(e, -errno, "%s: cannot open", file);
	int r = check_file(fd, file, e);
	ssize_t n = r ? 0 : read(fd, text, sizeof text - 1);
	if (n < 0)
		r = err_errno(e, -errno, "%s: cannot read", file);
	if (!r)
		r = take_line(file, text, (size_t)n, out, e);
	close(fd);
	explicit_bzero(text, sizeof text);
	return r;
}

static int fill_one(const char *file, const char *name, char password[256], struct err *e)
{
	if (!*file)
		return 0;
	int r = *password ? err_set(e, -EINVAL, "%s and %s_file are both set (clear one of them)",
				    name, name)
			  : secret_read(file, password, e);
	if (r < 0 && !*password)
		err_prefix(e, "%s", name);
	return r;
}

int secret_fill(const struct auth_group *a, struct view_auth *out, struct err *e)
{
	*out = a->auth;
	int r = fill_one(a->password_file, "password", out->password, e);
	if (!r)
		r = fill_one(a->mutual_password_file, "mutual_password", out->mutual_password, e);
	if (r < 0) {
		explicit_bzero(out->password, sizeof out->password);
		explicit_bzero(out->mutual_password, sizeof out->mutual_password);
	}
	return r;
}
