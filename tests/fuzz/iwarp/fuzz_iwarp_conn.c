// SPDX-License-Identifier: BSD-2-Clause
// A whole connection with a peer that sends the input. Byte 0: role, CRC and who writes the startup
// frame; byte 1: how the bytes are cut into sends; then FPDUs, each as long as it says (or as there
// is), to which pad and CRC are added, a wrong one behind a reserved bit in byte 2. So that keys
// can be met: STag 1 stands for the one that is exposed, with offsets that count from its begin,
// STag 0xf1 for the sink of our next read. The caller does with each message what its first byte
// says. What must hold: every request is done once, closed comes once, nothing is left.
#include <arpa/inet.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/worker.h"
#include "transport/rdma/iwarp/crc.h"
#include "transport/rdma/iwarp/ddp.h"
#include "transport/rdma/iwarp/iwarp.h"
#include "transport/rdma/iwarp/mpa.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ACTIVE = 1, CRC = 2, RAW_STARTUP = 4, REVISION_1 = 8, FEW_BUFFERS = 16 };
enum { LEN = 20000, REQS = 64, KEPT = 8 };

struct req {
	struct rnic_wr wr;
	struct rnic_sge sge[2];
	bool is_out;
};

static struct role {
	struct worker *w;
	uint8_t how;
	int fd, port;
	struct rnic_qp *qp;
	struct rnic *rnic;
	struct rnic_exposed x;
	uint32_t rkey;
	uint64_t base;
	uint8_t exposed[LEN], mine[LEN];
	struct req reqs[REQS];
	unsigned count, out, reserved;
	struct rnic_rx *kept[KEPT];
	unsigned kept_count;
	struct timer later;
	bool is_over;
	sem_t over, ready;
} r;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void on_done(struct rnic_wr *wr, int res)
{
	struct req *q = container_of(wr, struct req, wr);

	must(q->is_out && !r.is_over);
	q->is_out = false;
	r.out--;
}

static void post(enum rnic_opcode opcode, uint32_t len, unsigned flags)
{
	if (r.count == REQS)
		return;
	struct req *q = &r.reqs[r.count++];
	q->sge[0] = (struct rnic_sge){ r.mine, len / 3, rnic_find(r.rnic, r.mine, len) };
	q->sge[1] = q->sge[0];
	q->sge[1].addr += len / 3;
	q->sge[1].len = len - len / 3;
	q->wr = (struct rnic_wr){
		.opcode = opcode,
		.flags = flags,
		.sge = q->sge,
		.nsge = 2,
		.rkey = 0x100,
		.remote_addr = 0x1000,
		.done = on_done,
	};
	q->is_out = true;
	r.out++;
	must(rnic_post(r.qp, &q->wr) == 0);
}

static void expose(void)
{
	struct sg sg[2] = {
		{r.exposed,	     3000,	   NULL},
		   { r.exposed + 3000, LEN - 3000, NULL}
	};

	rnic_conceal(r.qp, &r.x);
	if (rnic_expose(r.qp, &r.x, sg, 2, LEN, RNIC_REMOTE_READ | RNIC_REMOTE_WRITE) < 0)
		return;
	__atomic_store_n(&r.rkey, r.x.rkey, __ATOMIC_RELAXED);
	__atomic_store_n(&r.base, r.x.remote_addr, __ATOMIC_RELAXED);
}

static void put_kept(void)
{
	while (r.kept_count)
		rnic_rx_put(r.kept[--r.kept_count]);
}

// So that no connection waits for a buffer forever.
static void on_later(struct timer *t)
{
	put_kept();
}

static void on_established(struct rnic_qp *qp, const uint8_t *data, uint32_t len)
{
	r.qp = qp;
	r.rnic = qp->rnic;
	r.reserved = r.how & FEW_BUFFERS ? 2 : 16;
	must(rnic_reserve(r.rnic, r.reserved) == 0);
	expose();
	sem_post(&r.ready);
}

static void on_received(struct rnic_qp *qp, struct rnic_rx *rx)
{
	uint8_t what = rx->len ? rx->data[0] : 0, sum = 0;
	struct err e;

	must(rx->len <= RNIC_RX_SIZE && !r.is_over);
	for (uint32_t i = 0; i < rx->len; i++)
		sum ^= rx->data[i];
	r.mine[0] = sum;
	if (what & 0x80 && r.kept_count < KEPT) {
		r.kept[r.kept_count++] = rx;
		timer_arm(r.w, &r.later, 100);
	} else {
		rnic_rx_put(rx);
	}
	switch (what & 15) {
	case 1:
		post(RNIC_SEND, sum, RNIC_SOLICITED);
		break;
	case 2:
		post(RNIC_READ, 16, 0);
		break;
	case 3:
		post(RNIC_READ, 10000, 0);
		break;
	case 4:
		post(RNIC_WRITE, 9000, 0);
		break;
	case 5:
		post(RNIC_SEND_INVALIDATE, 10, RNIC_FENCE);
		break;
	case 6:
		rnic_conceal(qp, &r.x);
		break;
	case 7:
		expose();
		break;
	case 8:
		put_kept();
		break;
	case 9:
		rnic_flush(qp);
		break;
	case 10:
		post(RNIC_READ, 0, 0);
		break;
	case 11:
		err_set(&e, -ESHUTDOWN, "over");
		rnic_close(qp, what & 0x40, &e);
		break;
	}
}

static void on_rejected(struct rnic_qp *qp, const uint8_t *data, uint32_t len)
{
	must(len <= MPA_PRIVATE_MAX);
}

static void finish(void)
{
	r.is_over = true;
	sem_post(&r.ready);
	sem_post(&r.over);
}

static void on_closed(struct rnic_qp *qp, const struct err *e)
{
	must(!r.is_over);
	must(e->code < 0);
	must(*e->text);
	must(!r.out);
	timer_cancel(r.w, &r.later);
	put_kept();
	rnic_conceal(qp, &r.x);
	if (r.reserved)
		rnic_unreserve(r.rnic, r.reserved);
	rnic_qp_free(qp);
	finish();
}

static const struct rnic_qp_ops ops = {
	.established = on_established,
	.received = on_received,
	.rejected = on_rejected,
	.closed = on_closed,
};

static void on_request(void *arg, struct rnic_request *q)
{
	struct rnic_qp_options o = { .reads_in = 4, .reads_out = 4, .wants_crc = r.how & CRC };
	struct rnic_qp *qp;
	struct err e;

	if (q->private_len && q->private_data[0] == 0xee) {
		rnic_reject(q, "no", 2);
		finish();
	} else if (rnic_accept(q, &qp, &o, &ops, NULL, &e) < 0) {
		finish();
	}
}

static void on_gone(void *arg, struct rnic_request *q)
{
	finish();
}

static void on_refused(void *arg, const struct tcp_addr *peer, const struct err *why)
{
	must(why->code < 0 && *why->text);
	finish();
}

static const struct rnic_listener_ops listener_ops = {
	.request = on_request,
	.gone = on_gone,
	.refused = on_refused,
};

static void begin(void *arg)
{
	struct rnic_qp_options o = { .reads_in = 4, .reads_out = 4, .wants_crc = r.how & CRC };
	struct tcp_addr addr;
	struct err e;

	if (!(r.how & ACTIVE)) {
		must(iwarp_passive(r.w, r.fd, &listener_ops, NULL, &e) == 0);
		return;
	}
	must(tcp_addr_parse(&addr, "127.0.0.1", (uint16_t)r.port, &e) == 0);
	must(rnic_connect(&rnic_iwarp, &r.qp, r.w, &addr, NULL, &o, &ops, NULL, &e) == 0);
	r.rnic = r.qp->rnic;
}

// --- the peer ---

static size_t put_startup(uint8_t *out)
{
	struct mpa_frame f = {
		.is_reply = r.how & ACTIVE,
		.flags = (uint8_t)((r.how & REVISION_1 ? 0 : MPA_S) | (r.how & CRC ? MPA_C : 0)),
		.revision = r.how & REVISION_1 ? 1 : 2,
		.ird = 4,
		.ord = 4,
	};

	return mpa_build(&f, out);
}

// Keys that the input cannot know.
static void fill_in_keys(uint8_t *frame, size_t len, uint32_t *sinks)
{
	uint32_t rkey = __atomic_load_n(&r.rkey, __ATOMIC_RELAXED);
	uint64_t base = __atomic_load_n(&r.base, __ATOMIC_RELAXED);
	bool is_tagged = frame[2] & DDP_T;
	uint8_t opcode = frame[3] & RDMAP_OPCODE_MASK;

	if (is_tagged && len >= 16 && get_be32(frame + 4) == 1) {
		put_be32(frame + 4, rkey);
		put_be64(frame + 8, get_be64(frame + 8) + base);
	} else if (is_tagged && len >= 16 && get_be32(frame + 4) == 0xf1) {
		put_be32(frame + 4, 0xf0000000 + *sinks);
		*sinks += frame[2] & DDP_L ? 1 : 0;
	} else if (!is_tagged && len >= 48 && opcode == RDMAP_READ_REQUEST &&
		   get_be32(frame + 36) == 1) {
		put_be32(frame + 36, rkey);
		put_be64(frame + 40, get_be64(frame + 40) + base);
	} else if (!is_tagged && len >= 20 && get_be32(frame + 4) == 1) {
		put_be32(frame + 4, rkey);
	}
}

static void drain(int flags)
{
	char bin[4096];

	while (recv(r.fd, bin, sizeof bin, flags) > 0)
		;
}

static bool put(const uint8_t *p, size_t len, size_t step)
{
	for (; len; p += step, len -= step) {
		step = step < len ? step : len;
		if (send(r.fd, p, step, MSG_NOSIGNAL) < 0)
			return false;
		drain(MSG_DONTWAIT);
	}
	return true;
}

static void put_fpdus(const uint8_t *in, size_t size, size_t step)
{
	static uint8_t frame[65536 + 16];
	uint32_t sinks = 0;

	while (size >= 4) {
		size_t len = get_be16(in) + 2u;
		len = len < size ? len : size;
		memcpy(frame, in, len);
		in += len;
		size -= len;
		if (len < 4)
			break;
		fill_in_keys(frame, len, &sinks);
		size_t whole = (len + 3) & ~(size_t)3;
		memset(frame + len, 0, 3);
		iw_crc_put(iw_crc(IW_CRC_START, frame, (uint32_t)whole), frame + whole);
		frame[whole] ^= frame[2] >> 4 & 1;
		if (!put(frame, whole + 4, step ? step : whole + 4))
			return;
	}
}

// The input as it is. A reply of revision 1 would make the other side connect again, to nobody.
static void put_raw(const uint8_t *in, size_t size, size_t step)
{
	static uint8_t bytes[65536];

	memcpy(bytes, in, size);
	if (r.how & ACTIVE && size > 17 && bytes[17] == 1)
		bytes[17] = 2;
	put(bytes, size, step ? step : size);
}

static int listening(int *ret_port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof in;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0 && bind(fd, (void *)&in, sizeof in) == 0 && listen(fd, 8) == 0);
	must(getsockname(fd, (void *)&in, &len) == 0);
	*ret_port = ntohs(in.sin_port);
	return fd;
}

static int listener = -1;

static void accept_one(void)
{
	const struct linger reset = { .l_onoff = 1 }; // no TIME_WAIT for each input

	r.fd = accept(listener, NULL, NULL);
	must(r.fd >= 0);
	setsockopt(r.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

static void open_sockets(void)
{
	static int port;
	int fds[2];

	if (r.how & ACTIVE) {
		if (listener < 0)
			listener = listening(&port);
		r.port = port;
		worker_call(r.w, begin, NULL);
		accept_one();
		return;
	}
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	r.fd = fds[0];
	worker_call(r.w, begin, NULL);
	r.fd = fds[1];
}

// libFuzzer's alarm interrupts it.
static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		;
}

// The startup by the book; true once the connection stands.
static bool begins(void)
{
	uint8_t out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	size_t len = put_startup(out);

	if (r.how & ACTIVE && r.how & REVISION_1) { // asked again, in revision 1
		uint8_t request[MPA_STARTUP_LEN];
		must(recv(r.fd, request, sizeof request, MSG_WAITALL) == sizeof request);
		if (!put(out, len, len))
			return false;
		shutdown(r.fd, SHUT_WR);
		drain(0);
		close(r.fd);
		accept_one();
	}
	if (!put(out, len, len))
		return false;
	wait_for(&r.ready); // the keys are known
	return !r.is_over;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct worker *w;
	struct worker_options o = { .name = "fuzz", .cpu = -1 };
	struct err e;

	if (!w)
		must(worker_new(&w, &o, &e) == 0 && worker_start(w, &e) == 0);
	if (size < 2 || size > 65536)
		return 0;
	memset(&r, 0, sizeof r);
	r.w = w;
	r.how = data[0];
	timer_init(&r.later, on_later);
	sem_init(&r.over, 0, 0);
	sem_init(&r.ready, 0, 0);
	open_sockets();
	if (r.how & RAW_STARTUP)
		put_raw(data + 2, size - 2, data[1]);
	else if (begins())
		put_fpdus(data + 2, size - 2, data[1]);
	shutdown(r.fd, SHUT_WR);
	drain(0);
	close(r.fd);
	wait_for(&r.over);
	sem_destroy(&r.over);
	sem_destroy(&r.ready);
	return 0;
}
