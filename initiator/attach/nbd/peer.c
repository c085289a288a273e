// SPDX-License-Identifier: BSD-2-Clause
// The other end of the kernel's socket: a transmission of the disk's worker, begun and ended on the
// program's thread.
#include "initiator/attach/nbd/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/worker.h"
#include "initiator/attach/transmission.h"

struct nbd_peer {
	struct disk *disk;
	struct transmission *transmission;
	struct transmission_config config;
	struct err *e;
	int result;
};

static void begin(void *arg)
{
	struct nbd_peer *p = arg;

	p->result = transmission_new(&p->transmission, p->disk, &p->config, p->e);
}

static void end(void *arg)
{
	struct nbd_peer *p = arg;

	transmission_free(p->transmission);
}

int nbd_peer_new(struct nbd_peer **ret, struct disk *d, int fd,
		 void (*ended)(void *arg, const struct err *why), void *arg, struct err *e)
{
	struct nbd_peer *p = calloc(1, sizeof *p);

	*ret = NULL;
	if (!p) {
		close(fd);
		return err_errno(e, -ENOMEM, "nbd");
	}
	*p = (struct nbd_peer){ .disk = d, .e = e };
	p->config = (struct transmission_config){ .fd = fd, .ended = ended, .arg = arg };
	// A device that was taken over has the flags that an earlier process gave it.
	p->config.offer.flags = NBD_CAN_FLUSH | NBD_CAN_FUA | NBD_CAN_TRIM | NBD_CAN_WRITE_ZEROES;
	worker_call(disk_worker(d), begin, p);
	if (p->result < 0) {
		int r = p->result;
		close(fd);
		free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void nbd_peer_free(struct nbd_peer *p)
{
	worker_call(disk_worker(p->disk), end, p);
	close(p->config.fd);
	free(p);
}
