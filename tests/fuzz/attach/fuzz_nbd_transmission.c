// SPDX-License-Identifier: BSD-2-Clause
// NBD's transmission phase: a client sends any bytes and takes all answers, those of the simple and
// those of the structured kind. Then nothing of the pool is held.
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "fake_disk.h"
#include "initiator/attach/transmission.h"

#define SIZE 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rig {
	struct disk disk;
	struct transmission *transmission;
	int fd, server_fd;
	struct nbd_offer offer;
	atomic_bool has_ended;
	uint64_t in_use;
	uint8_t memory[SIZE];
};

static void ended(void *arg, const struct err *why)
{
	struct rig *r = arg;

	atomic_store(&r->has_ended, true);
	shutdown(r->server_fd, SHUT_RDWR); // so that the client stops waiting
}

static void begin(void *arg)
{
	struct rig *r = arg;
	struct transmission_config config = {
		.fd = r->server_fd, .ended = ended, .arg = r, .offer = r->offer
	};
	struct err e;

	if (transmission_new(&r->transmission, &r->disk, &config, &e))
		abort();
}

static void finish(void *arg)
{
	struct rig *r = arg;

	transmission_free(r->transmission);
}

static void look(void *arg)
{
	struct rig *r = arg;
	struct buf_pool_stats stats;

	buf_pool_stats(r->disk.worker, &stats);
	r->in_use = stats.bytes_in_use;
}

static struct worker *make_worker(void)
{
	struct worker_options options = { .name = "fuzz", .cpu = -1 };
	struct worker *w;
	struct err e;

	if (worker_new(&w, &options, &e) || worker_start(w, &e))
		abort();
	return w;
}

// Sends, and takes answers, until the server has ended.
static void converse(struct rig *r, const uint8_t *data, size_t size)
{
	static char answers[1 << 20];
	size_t at = 0;

	while (!atomic_load(&r->has_ended)) {
		struct pollfd p = { r->fd, (short)(POLLIN | (at < size ? POLLOUT : 0)), 0 };
		poll(&p, 1, 100);
		if (p.revents & POLLIN && recv(r->fd, answers, sizeof answers, MSG_DONTWAIT) == 0)
			return;
		if (p.revents & (POLLERR | POLLHUP))
			return;
		if (!(p.revents & POLLOUT))
			continue;
		ssize_t n = send(r->fd, data + at, size - at, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0 && (at += (size_t)n) == size)
			shutdown(r->fd, SHUT_WR);
	}
}

static void run(const uint8_t *data, size_t size, struct nbd_offer offer)
{
	static struct worker *worker;
	static struct rig r;
	int pair[2];

	if (!worker)
		worker = make_worker();
	if (!size || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	r.offer = offer;
	r.fd = pair[0];
	r.server_fd = pair[1];
	atomic_store(&r.has_ended, false);
	fake_disk_init(&r.disk, worker, r.memory, SIZE);
	worker_call(worker, begin, &r);
	converse(&r, data, size);
	worker_call(worker, finish, &r);
	for (unsigned i = 0; i < 100; i++) { // what the disk had is done at the end of a round
		worker_call(worker, look, &r);
		if (!r.in_use)
			break;
	}
	if (r.in_use)
		abort();
	close(r.fd);
	close(r.server_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t flags = NBD_CAN_FLUSH | NBD_CAN_FUA | NBD_CAN_TRIM |
				      NBD_CAN_WRITE_ZEROES | NBD_CAN_FAST_ZERO;

	run(data, size, (struct nbd_offer){ .flags = flags });
	run(data, size, (struct nbd_offer){ flags | NBD_CAN_DF, true, true });
	return 0;
}
