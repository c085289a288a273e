// SPDX-License-Identifier: BSD-2-Clause
// The transmission phase of the NBD protocol, as the server, on the disk's worker.
//
// One read takes the rest of a write's data, into its memory, and the headers that follow. While a
// request waits for a slot or for memory nothing is read: the client waits, too. Answers that are
// ready in a round leave in one call.
#include "initiator/attach/transmission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/buf.h"
#include "core/worker.h"
#include "initiator/attach/nbd_reply.h"
#include "initiator/attach/nbd_wire.h"

#define SLOTS	 128 // as the kernel's nbd has at once
#define HEADERS	 16  // read ahead: of a write's data at most so many go another way
#define PIECES	 (NBD_DATA_MAX / BUF_MAX)
#define IOV_MAX_ 64
#define READS	 64	     // a round
#define EXTENTS	 4096	     // bytes of memory for extents: 255 of them
#define HELD_MAX (32u << 20) // bytes of the pool, unless one request alone needs more

struct slot {
	struct transmission *owner;
	struct list link; // free, or to be answered
	struct disk_io io;
	struct nbd_request request;
	uint64_t offset, left; // of what can be done in several pieces
	struct sg sg[PIECES];
	unsigned nsg;
	int refused;	   // what it is answered with once its data has come; 0: the disk gets it
	uint32_t data_len; // bytes of the answer's data
	unsigned reply_len;
	uint32_t sent; // bytes of the answer
	uint8_t reply[NBD_ANSWER_MAX];
};

struct transmission {
	struct worker *worker;
	struct disk *disk;
	struct transmission_config config;
	struct watch watch;
	struct defer receive, send;
	struct buf_wait wait;
	struct list free, answers;
	struct slot slots[SLOTS];
	uint8_t ahead[HEADERS * NBD_REQUEST_LEN];
	unsigned ahead_len;
	struct slot *slot; // whose data is being received, or that waits for memory
	bool needs_memory; // ... the latter
	uint32_t received; // bytes of its data
	uint64_t held;	   // bytes of the pool
	unsigned with_disk;
	bool has_ended, is_released;
	struct stage {
		uint64_t count;	   // whole ones
		uint64_t of;	   // count when the wait began
		uint64_t since_ns; // 0: the client owes nothing
	} requests, replies;
	struct timer patience;
};

static void end(struct transmission *t, int code, const char *text)
{
	struct err why = { 0 };

	if (t->has_ended)
		return;
	t->has_ended = true;
	watch_remove(t->worker, &t->watch);
	timer_cancel(t->worker, &t->patience);
	if (code)
		err_errno(&why, code, "nbd: %s", text);
	t->config.ended(t->config.arg, &why);
}

// ---- patience ----

static void stage_note(struct stage *s, bool is_waiting, uint64_t now)
{
	if (!is_waiting)
		s->since_ns = 0;
	else if (!s->since_ns || s->of != s->count)
		s->since_ns = now;
	s->of = s->count;
}

// After each round: what the client owes. The timer is armed once and looks at it when it fires, so
// that a busy client costs nothing.
static void note(struct transmission *t)
{
	uint64_t now = worker_now(t->worker);
	bool is_in_request =
		t->slot ? !t->needs_memory : t->ahead_len && t->ahead_len < NBD_REQUEST_LEN;

	if (!t->config.patience_ms || t->has_ended)
		return;
	stage_note(&t->requests, is_in_request, now);
	stage_note(&t->replies, !list_empty(&t->answers), now);
	if ((t->requests.since_ns || t->replies.since_ns) && !timer_is_armed(&t->patience))
		timer_arm(t->worker, &t->patience, t->config.patience_ms * 1000ull);
}

// Microseconds until it is late; 0: it is. UINT64_MAX: the client owes nothing.
static uint64_t stage_left(const struct transmission *t, const struct stage *s)
{
	uint64_t limit = t->config.patience_ms * 1000ull;
	uint64_t us = (worker_now(t->worker) - s->since_ns) / 1000;

	if (!s->since_ns)
		return UINT64_MAX;
	return us < limit ? limit - us : 0;
}

static void is_late(struct timer *timer)
{
	struct transmission *t = container_of(timer, struct transmission, patience);
	uint64_t in = stage_left(t, &t->requests), out = stage_left(t, &t->replies);
	uint64_t left = in < out ? in : out;

	if (!in)
		end(t, -ETIMEDOUT, "the client does not send a request to its end");
	else if (!out)
		end(t, -ETIMEDOUT, "the client does not take an answer");
	else if (left != UINT64_MAX)
		timer_arm(t->worker, timer, left);
}

// ---- memory ----

static void memory_put(struct slot *s)
{
	for (unsigned i = 0; i < s->nsg; i++) {
		s->owner->held -= s->sg[i].buf->size;
		buf_put(s->sg[i].buf);
	}
	s->nsg = 0;
}

static uint32_t memory_of(const struct nbd_request *r)
{
	if (r->type == NBD_READ || r->type == NBD_WRITE)
		return r->len;
	if (r->type == NBD_BLOCK_STATUS)
		return r->flags & NBD_REQ_ONE ? DISK_EXTENTS_MIN : EXTENTS;
	return 0;
}

static bool memory_get(struct slot *s)
{
	struct transmission *t = s->owner;
	uint32_t need = memory_of(&s->request);

	if (t->held && t->held + need > HELD_MAX)
		return false;
	for (uint32_t left = need; left;) {
		uint32_t len = left < BUF_MAX ? left : BUF_MAX;
		struct buf *b = buf_get(t->worker, len);
		if (!b) {
			memory_put(s);
			return false;
		}
		t->held += b->size;
		s->sg[s->nsg++] = (struct sg){ .addr = b->addr, .len = len, .buf = b };
		left -= len;
	}
	return true;
}

// ---- answers ----

static void send_run(struct defer *d);

// The data of the answer, in the slot's memory: its bytes.
static uint32_t answer_data(struct slot *s, int res)
{
	if (res < 0)
		return 0;
	if (s->request.type == NBD_BLOCK_STATUS)
		s->sg[0].len = nbd_descriptors(s->sg[0].addr, s->io.extents);
	return s->request.type == NBD_READ	     ? s->request.len
	       : s->request.type == NBD_BLOCK_STATUS ? s->sg[0].len
						     : 0;
}

static void answer(struct slot *s, int res)
{
	struct transmission *t = s->owner;

	s->data_len = answer_data(s, res);
	if (!s->data_len)
		memory_put(s);
	s->reply_len =
		nbd_reply(s->reply, &s->request, res, s->data_len, t->config.offer.is_structured);
	s->sent = 0;
	list_push_back(&t->answers, &s->link);
	worker_defer(t->worker, &t->send, send_run);
}

static uint32_t answer_len(const struct slot *s)
{
	return s->reply_len + s->data_len;
}

// The parts of [from, from + len) of a slot's data.
static unsigned data_iov(const struct slot *s, uint32_t from, struct iovec *iov, unsigned max)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->nsg && n < max; i++) {
		if (from >= s->sg[i].len) {
			from -= s->sg[i].len;
			continue;
		}
		iov[n++] = (struct iovec){ s->sg[i].addr + from, s->sg[i].len - from };
		from = 0;
	}
	return n;
}

static unsigned answers_iov(struct transmission *t, struct iovec iov[IOV_MAX_])
{
	unsigned n = 0;

	list_each (struct slot, s, &t->answers, link) {
		if (n == IOV_MAX_)
			break;
		if (s->sent < s->reply_len)
			iov[n++] = (struct iovec){ s->reply + s->sent, s->reply_len - s->sent };
		uint32_t from = s->sent < s->reply_len ? 0 : s->sent - s->reply_len;
		n += data_iov(s, from, iov + n, IOV_MAX_ - n);
	}
	return n;
}

static void receive_run(struct defer *d);

static void slot_free(struct slot *s)
{
	struct transmission *t = s->owner;

	memory_put(s);
	list_push_front(&t->free, &s->link);
	if (!t->has_ended)
		worker_defer(t->worker, &t->receive, receive_run);
}

static void answers_sent(struct transmission *t, size_t len)
{
	while (len) {
		struct slot *s = list_entry(list_first(&t->answers), struct slot, link);
		uint32_t left = answer_len(s) - s->sent;
		if (len < left) {
			s->sent += (uint32_t)len;
			return;
		}
		len -= left;
		t->replies.count++;
		list_remove(&s->link);
		slot_free(s);
	}
}

static void send_answers(struct transmission *t)
{
	struct iovec iov[IOV_MAX_];

	while (!t->has_ended && !list_empty(&t->answers)) {
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = answers_iov(t, iov) };
		ssize_t n = sendmsg(t->config.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return; // the watch tells when there is room
		if (n < 0)
			end(t, errno == EPIPE || errno == ECONNRESET ? 0 : -errno, "send");
		else
			answers_sent(t, (size_t)n);
	}
}

static void send_run(struct defer *d)
{
	struct transmission *t = container_of(d, struct transmission, send);

	send_answers(t);
	note(t);
}

// ---- the disk ----

static void late(struct transmission *t)
{
	if (!t->with_disk)
		free(t);
}

static bool next_piece(struct slot *s);

static void disk_done(struct disk_io *io)
{
	struct slot *s = container_of(io, struct slot, io);
	struct transmission *t = s->owner;

	t->with_disk--;
	if (t->is_released) {
		memory_put(s);
		late(t);
	} else if (io->res < 0 || !next_piece(s)) {
		answer(s, io->res);
	}
}

static void submit(struct slot *s)
{
	s->owner->with_disk++;
	disk_submit(s->owner->disk, &s->io);
}

static uint64_t piece_max(const struct slot *s)
{
	const struct disk_facts *f = disk_facts(s->owner->disk);
	uint64_t max = s->io.op == DISK_UNMAP	       ? f->unmap_max
		       : s->io.op == DISK_WRITE_ZEROES ? f->zeroes_max
						       : UINT64_MAX;

	max -= max % f->block_size;
	return max ? max : UINT64_MAX; // the disk refuses it
}

// What one request of the disk cannot take follows when it is done. False: nothing is left.
static bool next_piece(struct slot *s)
{
	uint64_t max = piece_max(s), len = s->left < max ? s->left : max;

	if (!s->left)
		return false;
	s->io.offset = s->offset;
	s->io.len = len;
	s->offset += len;
	s->left -= len;
	submit(s);
	return true;
}

static const uint8_t ops[NBD_TYPE_COUNT] = {
	[NBD_READ] = DISK_READ,
	[NBD_WRITE] = DISK_WRITE,
	[NBD_FLUSH] = DISK_FLUSH,
	[NBD_TRIM] = DISK_UNMAP,
	[NBD_WRITE_ZEROES] = DISK_WRITE_ZEROES,
	[NBD_BLOCK_STATUS] = DISK_EXTENTS,
};

static void execute(struct slot *s)
{
	const struct nbd_request *r = &s->request;

	if (s->refused) {
		answer(s, s->refused);
		return;
	}
	s->io = (struct disk_io){
		.op = ops[r->type],
		.is_fua = r->flags & NBD_FUA,
		.may_not_unmap = r->flags & NBD_NO_HOLE,
		.sg = s->nsg ? s->sg : NULL,
		.nsg = s->nsg,
		.done = disk_done,
	};
	s->offset = r->offset;
	s->left = r->type == NBD_FLUSH ? 0 : r->len;
	worker_note_traffic(s->owner->worker);
	if (!next_piece(s))
		submit(s); // a flush
}

// ---- requests ----

// With its memory: a write's data comes next, everything else is done.
static void begin(struct transmission *t, struct slot *s)
{
	t->needs_memory = false;
	t->received = 0;
	t->slot = s->request.type == NBD_WRITE ? s : NULL;
	if (!t->slot)
		execute(s);
}

static void pool_has_memory(struct buf_wait *wait)
{
	struct transmission *t = container_of(wait, struct transmission, wait);

	receive_run(&t->receive);
}

static void try_memory(struct transmission *t)
{
	if (memory_get(t->slot))
		begin(t, t->slot);
	else
		buf_wait_add(t->worker, &t->wait, pool_has_memory);
}

static void take(struct transmission *t, struct slot *s)
{
	const struct nbd_request *r = &s->request;
	bool is_write = r->type == NBD_WRITE && r->len; // data follows, also if it is refused

	s->refused = nbd_refusal(r, &t->config.offer, disk_facts(t->disk));
	if (r->type == NBD_DISCONNECT) {
		list_push_front(&t->free, &s->link);
		end(t, 0, "");
	} else if (is_write && r->len > NBD_DATA_MAX) {
		list_push_front(&t->free, &s->link); // its data would be taken for requests
		end(t, -EMSGSIZE, "a write of more than 32 MiB");
	} else if (s->refused && !is_write) {
		answer(s, s->refused);
	} else if (memory_of(r)) {
		t->slot = s;
		t->needs_memory = true;
		try_memory(t);
	} else {
		execute(s);
	}
}

// Bytes of the slot's data that were read ahead.
static unsigned take_ahead(struct transmission *t, unsigned at)
{
	struct iovec iov[PIECES];
	unsigned count = data_iov(t->slot, t->received, iov, PIECES), taken = 0;

	for (unsigned i = 0; i < count && at + taken < t->ahead_len; i++) {
		size_t len = t->ahead_len - at - taken;
		if (len > iov[i].iov_len)
			len = iov[i].iov_len;
		buf_copy(t->worker, iov[i].iov_base, t->ahead + at + taken, len);
		taken += (unsigned)len;
	}
	return taken;
}

static void data_received(struct transmission *t, uint32_t len)
{
	struct slot *s = t->slot;

	t->received += len;
	if (t->received < s->request.len)
		return;
	t->slot = NULL;
	t->requests.count++;
	execute(s);
}

// True: it went on by at least a byte.
static bool parse_one(struct transmission *t, unsigned *at)
{
	if (t->needs_memory || t->has_ended)
		return false;
	if (t->slot) {
		unsigned taken = take_ahead(t, *at);
		*at += taken;
		data_received(t, taken);
		return taken;
	}
	if (t->ahead_len - *at < NBD_REQUEST_LEN || list_empty(&t->free))
		return false;
	struct slot *s = list_entry(list_pop_front(&t->free), struct slot, link);
	if (!nbd_request_parse(t->ahead + *at, &s->request)) {
		list_push_front(&t->free, &s->link);
		end(t, -EPROTO, "not a request");
		return false;
	}
	*at += NBD_REQUEST_LEN;
	t->requests.count++;
	take(t, s);
	return true;
}

static void parse(struct transmission *t)
{
	unsigned at = 0;

	while (parse_one(t, &at))
		;
	t->ahead_len -= at;
	memmove(t->ahead, t->ahead + at, t->ahead_len);
}

// ---- the socket ----

// Bytes read; 0: the client has gone; -EAGAIN.
static ssize_t receive_some(struct transmission *t)
{
	struct iovec iov[PIECES + 1];
	unsigned n = t->slot ? data_iov(t->slot, t->received, iov, PIECES) : 0;
	uint32_t data = t->slot ? t->slot->request.len - t->received : 0;

	iov[n++] = (struct iovec){ t->ahead + t->ahead_len, sizeof t->ahead - t->ahead_len };
	ssize_t got = readv(t->config.fd, iov, (int)n);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	uint32_t of_data = (size_t)got < data ? (uint32_t)got : data;
	t->ahead_len += (unsigned)((size_t)got - of_data);
	if (of_data)
		data_received(t, of_data);
	return got;
}

static bool is_blocked(const struct transmission *t)
{
	return t->has_ended || t->needs_memory || t->ahead_len == sizeof t->ahead ||
	       (!t->slot && t->ahead_len >= NBD_REQUEST_LEN);
}

static void receive_requests(struct transmission *t)
{
	if (t->needs_memory)
		try_memory(t);
	parse(t);
	for (unsigned i = 0; i < READS && !is_blocked(t); i++) {
		ssize_t got = receive_some(t);
		if (got == -EAGAIN)
			return;
		if (got == -EINTR)
			continue;
		if (got <= 0) {
			end(t, got == -ECONNRESET ? 0 : (int)got, "receive");
			return;
		}
		parse(t);
	}
	if (!is_blocked(t))
		worker_defer(t->worker, &t->receive, receive_run);
}

static void receive_run(struct defer *d)
{
	struct transmission *t = container_of(d, struct transmission, receive);

	receive_requests(t);
	note(t);
}

static void has_events(struct watch *w, uint32_t events)
{
	struct transmission *t = container_of(w, struct transmission, watch);

	if (events & EPOLLOUT)
		send_run(&t->send);
	if (!t->has_ended)
		receive_run(&t->receive);
}

// ---- life ----

int transmission_new(struct transmission **ret, struct disk *d,
		     const struct transmission_config *config, struct err *e)
{
	struct transmission *t = calloc(1, sizeof *t);
	int flags = fcntl(config->fd, F_GETFL);

	*ret = NULL;
	if (!t)
		return err_errno(e, -ENOMEM, "nbd");
	t->worker = disk_worker(d);
	t->disk = d;
	t->config = *config;
	t->watch = (struct watch){ .fn = has_events, .fd = -1 };
	timer_init(&t->patience, is_late);
	list_init(&t->free);
	list_init(&t->answers);
	for (unsigned i = 0; i < SLOTS; i++) {
		t->slots[i].owner = t;
		list_push_back(&t->free, &t->slots[i].link);
	}
	int r = flags < 0 || fcntl(config->fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
	if (!r)
		r = watch_add(t->worker, &t->watch, config->fd, 0);
	if (r < 0) {
		free(t);
		return err_errno(e, r, "nbd: watch a socket");
	}
	buf_reserve(t->worker, HELD_MAX); // without it, memory is taken when it is needed
	*ret = t;
	return 0;
}

void transmission_free(struct transmission *t)
{
	if (!t)
		return;
	t->has_ended = t->is_released = true;
	watch_remove(t->worker, &t->watch);
	worker_defer_cancel(&t->receive);
	worker_defer_cancel(&t->send);
	timer_cancel(t->worker, &t->patience);
	buf_wait_cancel(&t->wait);
	list_each (struct slot, s, &t->answers, link) {
		memory_put(s);
	}
	if (t->slot)
		memory_put(t->slot);
	late(t);
}
