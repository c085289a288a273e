// SPDX-License-Identifier: BSD-2-Clause
#include "target/rpc/socket_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/lockfile.h"

static int is_answered(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int r = connect(fd, (const struct sockaddr *)a, sizeof *a) < 0 ? -errno : 1;
	close(fd);
	return r == -EAGAIN ? 1 : r; // a full backlog: another process listens
}

static int make_way(const struct sockaddr_un *a, struct err *e)
{
	struct stat st;
	if (lstat(a->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST,
			       "%s: exists and is not a socket (remove it, or use --socket)",
			       a->sun_path);
	int r = is_answered(a);
	if (r > 0)
		return err_set(e, -EADDRINUSE,
			       "%s: in use by another farblockd (stop it, or use --socket)",
			       a->sun_path);
	if (r != -ECONNREFUSED && r != -ENOENT)
		return err_errno(e, r, "%s: connect to an existing socket", a->sun_path);
	unlink(a->sun_path);
	return 0;
}

static int take_lock(struct socket_file *s, struct err *e)
{
	int r = lockfile_take(s->lock_path, &s->lock_fd, e);
	if (r == -EADDRINUSE)
		return err_set(e, r, "%s: locked by another farblockd (stop it, or use --socket)",
			       s->path);
	return r;
}

static int bind_to(struct socket_file *s, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (strlen(s->path) >= sizeof a.sun_path)
		return err_set(e, -ENAMETOOLONG, "%.80s...: socket path longer than %zu bytes",
			       s->path, sizeof a.sun_path - 1);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", s->path);
	int r = folder_make_for(s->path, 0755, e);
	if (!r)
		r = take_lock(s, e);
	if (!r)
		r = make_way(&a, e);
	if (r < 0)
		return r;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(e, -errno, "control socket");
	mode_t old = umask(0177);
	r = bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -errno : 0;
	umask(old);
	s->fd = fd;
	s->is_bound = !r;
	return r < 0 ? err_errno(e, r, "%s: control socket", s->path) : 0;
}

int socket_file_init(struct socket_file *s, const char *path, struct err *e)
{
	*s = (struct socket_file){ .path = strdup(path), .fd = -1, .lock_fd = -1 };
	if (!s->path || asprintf(&s->lock_path, "%s.lock", path) < 0) {
		s->lock_path = NULL;
		return err_set(e, -ENOMEM, "control socket: out of memory");
	}
	return bind_to(s, e);
}

void socket_file_done(struct socket_file *s)
{
	if (s->is_bound)
		unlink(s->path);
	if (s->fd >= 0)
		close(s->fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd); // its file stays: otherwise two processes could hold the lock
	free(s->path);
	free(s->lock_path);
}
