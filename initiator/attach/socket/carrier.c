// SPDX-License-Identifier: BSD-2-Clause
// --via socket: a disk as an export of the NBD protocol on a Unix socket, for QEMU, qemu-img,
// nbdcopy and others. Needs neither root nor a kernel module. The program's thread.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/worker.h"
#include "initiator/attach/carrier.h"
#include "initiator/attach/socket/server.h"

#define BACKLOG 16
#define URL	"nbd+unix:///?socket="

struct socket_carrier {
	struct carrier base;
	struct disk *disk;
	struct server *server;
	char *name;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static struct socket_carrier *of(const struct carrier *c)
{
	return container_of(c, struct socket_carrier, base);
}

static int probe(struct err *e)
{
	return 0;
}

// A socket that nobody listens on is left by a process that has died.
static int remove_dead(const struct sockaddr_un *a, struct err *e)
{
	struct stat st;
	if (lstat(a->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, -EEXIST, "%s: exists and is no socket", a->sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_live = fd >= 0 && !connect(fd, (const struct sockaddr *)a, sizeof *a);
	if (fd >= 0)
		close(fd);
	if (is_live)
		return err_set(e, -EADDRINUSE, "%s: another process listens there", a->sun_path);
	unlink(a->sun_path);
	return 0;
}

static int listen_at(const char *path, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	memcpy(a.sun_path, path, strlen(path) + 1);
	int r = remove_dead(&a, e);
	if (r)
		return r;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(e, -errno, "socket");
	mode_t old = umask(0177);
	r = bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, BACKLOG) ? -errno : 0;
	umask(old);
	if (!r)
		return fd;
	close(fd);
	return err_errno(e, r, "%s: listen", path);
}

struct call {
	struct socket_carrier *s;
	int listener, r;
	struct err *e;
	unsigned clients;
};

static void begin(void *arg)
{
	struct call *c = arg;
	c->r = server_new(&c->s->server, c->s->disk, c->listener, c->s->name, c->e);
}

static void end(void *arg)
{
	server_free(((struct call *)arg)->s->server);
}

static void count(void *arg)
{
	struct call *c = arg;
	c->clients = server_clients(c->s->server);
}

static int set_path(struct socket_carrier *s, const struct carrier_config *c, struct err *e)
{
	int n = c->place ? snprintf(s->path, sizeof s->path, "%s", c->place)
			 : snprintf(s->path, sizeof s->path, "%s/%s.nbd", c->run_dir, c->name);
	return n < (int)sizeof s->path
		       ? 0
		       : err_set(e, -ENAMETOOLONG, "socket: the path is longer than %zu bytes",
				 sizeof s->path - 1);
}

static int start(struct carrier **ret, struct disk *d, const struct carrier_config *config,
		 const struct carrier_events *events, void *arg, struct err *e)
{
	struct socket_carrier *s = calloc(1, sizeof *s);
	struct call c = { .s = s, .e = e };
	if (s)
		s->name = strdup(config->name);
	int r = s && s->name ? 0 : err_set(e, -ENOMEM, "socket: out of memory");
	if (!r)
		r = set_path(s, config, e);
	if (!r) {
		s->base.ops = &carrier_socket;
		s->disk = d;
		c.listener = listen_at(s->path, e);
		r = c.listener < 0 ? c.listener : 0;
	}
	if (!r) {
		worker_call(disk_worker(d), begin, &c);
		r = c.r;
	}
	if (!r) {
		*ret = &s->base;
		return 0;
	}
	if (s)
		free(s->name);
	free(s);
	return r;
}

static void info(const struct carrier *c, struct carrier_info *ret)
{
	*ret = (struct carrier_info){ .id = -1 };
	snprintf(ret->device, sizeof ret->device, URL "%s", of(c)->path);
}

static int check_unused(const struct carrier *c, struct err *e)
{
	struct call call = { .s = of(c) };
	worker_call(disk_worker(of(c)->disk), count, &call);
	return call.clients ? err_set(e, -EBUSY, "%s: used by %u client%s", of(c)->path,
				      call.clients, call.clients > 1 ? "s" : "")
			    : 0;
}

static int stop(struct carrier *c, bool is_forced, struct err *e)
{
	struct socket_carrier *s = of(c);
	struct call call = { .s = s };
	unlink(s->path);
	worker_call(disk_worker(s->disk), end, &call);
	free(s->name);
	free(s);
	return 0;
}

static int clear(const struct carrier_left *left, bool is_forced, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t prefix = strlen(URL);
	const char *path = left->device + prefix;
	if (strncmp(left->device, URL, prefix) != 0 || strlen(path) >= sizeof a.sun_path)
		return 0;
	memcpy(a.sun_path, path, strlen(path) + 1);
	int r = remove_dead(&a, e);
	return r == -EADDRINUSE || r == -EEXIST ? 0 : r; // it is another's by now
}

const struct carrier_ops carrier_socket = {
	.name = "socket",
	.help = "an NBD export on a Unix socket, for QEMU and nbdcopy; needs no root",
	.probe = probe,
	.start = start,
	.info = info,
	.check_unused = check_unused,
	.stop = stop,
	.clear = clear,
};
