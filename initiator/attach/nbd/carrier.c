// SPDX-License-Identifier: BSD-2-Clause
// --via nbd: a disk as /dev/nbdN of the kernel's nbd. One end of a pair of sockets is the kernel's,
// the other is served on the disk's worker, as a client of --via socket is after its negotiation.
// The program's thread.
//
// The device outlives the process: when the socket ends, the kernel keeps the requests for
// dead_seconds, and the next process gives it another socket. What the kernel had sent before, it
// sends again when a request of its own has waited for RETRY_MS. One connection: see device.c.
//
// The program that holds it locks its memory, calls prctl(PR_SET_IO_FLUSHER) and carries the mark
// of systemd for what outlives the shutdown (initiator/holder).
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/worker.h"
#include "initiator/attach/carrier.h"
#include "initiator/attach/nbd/device.h"
#include "initiator/attach/nbd/peer.h"
#include "initiator/attach/use.h"

#define DEAD_SECONDS 300
#define RETRY_MS     "10000"
#define ROOM	     (4 << 20) // bytes

struct nbd {
	struct carrier base;
	struct disk *disk;
	struct genl genl;
	struct nbd_peer *peer;
	uint32_t device;
	struct carrier_events events;
	void *arg;
	atomic_bool is_stopping;
};

static struct nbd *of(const struct carrier *c)
{
	return container_of(c, struct nbd, base);
}

static int probe(struct err *e)
{
	struct genl g;
	int r = nbd_open(&g, e);

	if (r < 0)
		return r;
	genl_close(&g);
	return geteuid() ? err_set(e, -EPERM, "nbd: run as root") : 0;
}

// On the disk's worker.
static void ended(void *arg, const struct err *reason)
{
	struct nbd *n = arg;
	struct err why = *reason;

	if (atomic_load(&n->is_stopping))
		return;
	if (!why.code)
		err_set(&why, -ENODEV, "/dev/nbd%u: the device was disconnected", n->device);
	n->events.ended(n->arg, &why);
}

// The kernel's default is 30 s, and only a request that waits so long is sent again after a
// recovery. Without it all works, later.
static void set_retry(const struct nbd *n)
{
	char path[64];

	snprintf(path, sizeof path, "/sys/block/nbd%u/queue/io_timeout", n->device);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, RETRY_MS, sizeof RETRY_MS - 1) < 0)
		errno = 0; // optional
	close(fd);
}

// -EINVAL with a text: place is not "/dev/nbdN".
static int number_of(const char *place, int *ret, struct err *e)
{
	char end;

	*ret = NBD_ANY;
	if (place && (sscanf(place, "/dev/nbd%d%c", ret, &end) != 1 || *ret < 0))
		return err_set(e, -EINVAL, "nbd: place '%s': not /dev/nbd0, /dev/nbd1 ...", place);
	return 0;
}

static int give(struct nbd *n, const struct carrier_config *config, int fd, struct err *e)
{
	const struct disk_facts *f = disk_facts(n->disk);
	unsigned dead = config->dead_seconds ? config->dead_seconds : DEAD_SECONDS;
	int wanted;

	if (config->recover_id >= 0) {
		n->device = (uint32_t)config->recover_id;
		return nbd_reconnect(&n->genl, n->device, fd, f, e);
	}
	int r = number_of(config->place, &wanted, e);
	return r < 0 ? r : nbd_connect(&n->genl, wanted, fd, f, dead, &n->device, e);
}

// What is sent stays with its sender until it is read: room for several large requests.
static void set_room(const int pair[2])
{
	int room = ROOM;

	for (unsigned i = 0; i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
}

static int connect_kernel(struct nbd *n, const struct carrier_config *config, struct err *e)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(e, -errno, "nbd: a pair of sockets");
	set_room(pair);
	int r = nbd_peer_new(&n->peer, n->disk, pair[0], ended, n, e);
	if (!r) { // it reads the partition table at once, so the peer is there before
		r = give(n, config, pair[1], e);
	}
	close(pair[1]);
	if (r < 0 && n->peer) {
		atomic_store(&n->is_stopping, true);
		nbd_peer_free(n->peer);
	}
	return r;
}

static void nbd_free(struct nbd *n)
{
	genl_close(&n->genl);
	free(n);
}

static int start(struct carrier **ret, struct disk *d, const struct carrier_config *config,
		 const struct carrier_events *events, void *arg, struct err *e)
{
	struct nbd *n = calloc(1, sizeof *n);

	*ret = NULL;
	if (!n)
		return err_errno(e, -ENOMEM, "nbd");
	*n = (struct nbd){
		.base.ops = &carrier_nbd,
		.disk = d,
		.events = *events,
		.arg = arg,
	};
	int r = nbd_open(&n->genl, e);
	if (r < 0) {
		free(n);
		return r;
	}
	r = connect_kernel(n, config, e);
	if (r < 0) {
		nbd_free(n);
		return r;
	}
	set_retry(n);
	*ret = &n->base;
	return 0;
}

static void info(const struct carrier *c, struct carrier_info *ret)
{
	const struct nbd *n = of(c);

	*ret = (struct carrier_info){ .id = (int)n->device, .is_block_device = true };
	snprintf(ret->device, sizeof ret->device, "/dev/nbd%u", n->device);
}

static int check_unused(const struct carrier *c, struct err *e)
{
	struct carrier_info i;

	info(c, &i);
	return use_check(i.device, e);
}

static void resized(struct carrier *c)
{
	struct nbd *n = of(c);

	nbd_resize(&n->genl, n->device, disk_facts(n->disk));
}

static int stop(struct carrier *c, bool is_forced, struct err *e)
{
	struct nbd *n = of(c);

	atomic_store(&n->is_stopping, true);
	int r = nbd_disconnect(&n->genl, n->device, e);
	if (r < 0 && r != -EINVAL) { // -EINVAL: it is not connected
		atomic_store(&n->is_stopping, false);
		return r;
	}
	nbd_peer_free(n->peer);
	nbd_free(n);
	return 0;
}

// ---- what a process left ----

// The kernel shows whose disk it is. Without that (Linux before 5.14) the state file is believed.
static bool is_of_other(const struct carrier_left *left)
{
	char path[64], text[DISK_IDENTITY_TEXT] = "";

	snprintf(path, sizeof path, "/sys/block/nbd%d/backend", left->id);
	FILE *f = fopen(path, "re");
	if (f && fgets(text, sizeof text, f))
		text[strcspn(text, "\n")] = 0;
	if (f)
		fclose(f);
	return f && strcmp(text, left->identity) != 0;
}

static int clear_device(const struct carrier_left *left, struct err *e)
{
	struct genl g;
	int r = nbd_open(&g, e);

	if (r < 0)
		return r == -ENODEV ? 0 : r; // no driver, no device
	r = nbd_disconnect(&g, (uint32_t)left->id, e);
	genl_close(&g);
	return r == -EINVAL ? 0 : r; // it is not connected
}

static int clear(const struct carrier_left *left, bool is_forced, struct err *e)
{
	if (left->id < 0 || use_is_gone(left->device))
		return 0;
	if (is_of_other(left))
		return err_set(e, -EBUSY, "%s: it is another disk's now", left->device);
	if (!is_forced)
		return err_set(e, -EHOSTDOWN,
			       "%s needs a new one (attach it again, or disconnect the device "
			       "with --force: its requests fail)",
			       left->device);
	return clear_device(left, e);
}

const struct carrier_ops carrier_nbd = {
	.name = "nbd",
	.help = "a block device of the kernel's nbd: /dev/nbdN",
	.probe = probe,
	.is_automatic = true,
	.can_recover = true,
	.needs_root = true,
	.start = start,
	.info = info,
	.check_unused = check_unused,
	.resized = resized,
	.stop = stop,
	.clear = clear,
};
