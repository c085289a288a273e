// SPDX-License-Identifier: BSD-2-Clause
// Small state files, see state_file.h. Everything except state_file_verify() blocks.
#include "target/scsi/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)4 << 20)
#define SUM_WORD "sha256 "
#define SUM_LINE (sizeof SUM_WORD - 1 + 64 + 1)

static bool is_plain_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-_.");
	return len && len < 200 && !name[len] && name[0] != '.';
}

static int checksum_line(char out[SUM_LINE + 1], const char *text, size_t len)
{
	unsigned char sum[32];
	if (!EVP_Digest(text, len, sum, NULL, EVP_sha256(), NULL))
		return -EIO;
	memcpy(out, SUM_WORD, sizeof SUM_WORD - 1);
	for (size_t i = 0; i < sizeof sum; i++)
		snprintf(out + sizeof SUM_WORD - 1 + 2 * i, 3, "%02x", sum[i]);
	out[SUM_LINE - 1] = '\n';
	out[SUM_LINE] = 0;
	return 0;
}

long state_file_verify(const char *bytes, size_t len)
{
	char line[SUM_LINE + 1];
	if (len < SUM_LINE || len > FILE_MAX || checksum_line(line, bytes, len - SUM_LINE) ||
	    memcmp(bytes + len - SUM_LINE, line, SUM_LINE))
		return -EBADMSG;
	return (long)(len - SUM_LINE);
}

// Opens <dir>/<sub>, created on request. Negative errno on failure.
static int open_folder(const char *dir, const char *sub, bool makes, struct err *e)
{
	int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_errno(e, -errno, "state directory %s: open", dir);
	int res = 0;
	if (makes && mkdirat(top, sub, 0700)) {
		if (errno != EEXIST)
			res = err_errno(e, -errno, "state directory %s/%s: create", dir, sub);
	} else if (makes && fsync(top)) {
		res = err_errno(e, -errno, "state directory %s: sync", dir);
	}
	if (!res) {
		res = openat(top, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (res < 0)
			res = err_errno(e, -errno, "state directory %s/%s: open", dir, sub);
	}
	close(top);
	return res;
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_new(int folder, const char *temp, const char *text, size_t len)
{
	char line[SUM_LINE + 1];
	int res = checksum_line(line, text, len);
	if (res)
		return res;
	unlinkat(folder, temp, 0);
	int fd = openat(folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	res = write_all(fd, text, len);
	if (!res)
		res = write_all(fd, line, SUM_LINE);
	if (!res && fsync(fd))
		res = -errno;
	if (close(fd) && !res)
		res = -errno;
	return res;
}

int state_file_write(const char *dir, const char *sub, const char *name, const char *text,
		     size_t len, struct err *e)
{
	char temp[256];
	if (!is_plain_name(name) || len > FILE_MAX - SUM_LINE)
		return err_set(e, -EINVAL, "state file: %s: name or size out of bounds", sub);
	int folder = open_folder(dir, sub, true, e);
	if (folder < 0)
		return folder;
	snprintf(temp, sizeof temp, ".%s.new", name);
	int res = write_new(folder, temp, text, len);
	if (!res && renameat(folder, temp, folder, name))
		res = -errno;
	if (!res && fsync(folder))
		res = -errno;
	if (res) {
		unlinkat(folder, temp, 0);
		err_errno(e, res, "state file %s/%s/%s: write", dir, sub, name);
	}
	close(folder);
	return res;
}

int state_file_remove(const char *dir, const char *sub, const char *name, struct err *e)
{
	if (!is_plain_name(name))
		return err_set(e, -EINVAL, "state file: %s: name out of bounds", sub);
	int folder = open_folder(dir, sub, false, NULL), res = 0;
	if (folder == -ENOENT)
		return 0;
	if (folder < 0)
		return err_errno(e, folder, "state directory %s/%s: open", dir, sub);
	if (unlinkat(folder, name, 0)) {
		if (errno != ENOENT)
			res = err_errno(e, -errno, "state file %s/%s/%s: remove", dir, sub, name);
	} else if (fsync(folder)) {
		res = err_errno(e, -errno, "state directory %s/%s: sync", dir, sub);
	}
	close(folder);
	return res;
}

static int read_all(int fd, char **ret, size_t *ret_len)
{
	struct stat st;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_MAX)
		return -EBADMSG;
	size_t len = 0, size = (size_t)st.st_size;
	char *p = malloc(size + 1);
	if (!p)
		return -ENOMEM;
	while (len < size) {
		ssize_t n = read(fd, p + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	p[len] = 0;
	*ret = p;
	*ret_len = len;
	return 0;
}

// Most units have no state, and 10,000 of them look for three files each at start: one lookup of
// the whole path is enough.
static bool is_missing(const char *dir, const char *sub, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s/%s", dir, sub, name);
	struct stat st;
	return n > 0 && (size_t)n < sizeof path && lstat(path, &st) && errno == ENOENT;
}

int state_file_read(char **ret, size_t *ret_len, const char *dir, const char *sub, const char *name,
		    struct err *e)
{
	if (!is_plain_name(name))
		return err_set(e, -EINVAL, "state file: %s: name out of bounds", sub);
	if (is_missing(dir, sub, name))
		return err_set(e, -ENOENT, "state file %s/%s/%s: not found", dir, sub, name);
	int folder = open_folder(dir, sub, false, e);
	if (folder < 0)
		return folder;
	// Without waiting for the writer of a FIFO, which is refused then.
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int res = fd < 0 ? -errno : 0;
	close(folder);
	if (!res) {
		res = read_all(fd, ret, ret_len);
		close(fd);
	}
	if (res)
		return err_errno(e, res, "state file %s/%s/%s: read", dir, sub, name);
	long len = state_file_verify(*ret, *ret_len);
	if (len < 0) {
		free(*ret);
		*ret = NULL;
		return err_set(e, -EBADMSG, "state file %s/%s/%s: damaged: wrong checksum", dir,
			       sub, name);
	}
	*ret_len = (size_t)len;
	(*ret)[len] = 0;
	return 0;
}

void state_file_set_aside(const char *dir, const char *sub, const char *name)
{
	char to[256];
	int folder = is_plain_name(name) ? open_folder(dir, sub, false, NULL) : -EINVAL;
	if (folder < 0)
		return;
	snprintf(to, sizeof to, "%s.damaged", name);
	if (!renameat(folder, name, folder, to))
		(void)!fsync(folder);
	close(folder);
}
