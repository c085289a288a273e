// SPDX-License-Identifier: BSD-2-Clause
// See requests.h. Data that libfuse has received is copied to registered memory once; data read
// goes from there to the kernel. A write that waits for memory stays where libfuse put it, and
// nothing is received meanwhile.
#include "initiator/attach/fuse/requests.h"

#include <errno.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/worker.h"

#define SLOTS	 128
#define HELD_MAX (32u << 20) // bytes of the pool

struct slot {
	struct requests *owner;
	struct list link; // free, or busy
	fuse_req_t req;	  // NULL: answered
	struct disk_io io;
	uint64_t offset, left; // of what can be done in several pieces
	size_t len;
	struct sg sg;
};

struct requests {
	struct worker *worker;
	struct disk *disk;
	void (*room)(void *arg);
	void *arg;
	struct list free, busy;
	struct slot slots[SLOTS];
	struct slot *waiting; // for memory
	const void *data;     // of waiting, if it is a write
	struct buf_wait wait;
	struct defer has_room;
	uint64_t held; // bytes of the pool
	unsigned with_disk;
	bool has_failed, is_released;
};

// ---- answers ----

// As a positive errno that the kernel's loop device can tell its users.
static int error_of(int res)
{
	static const int known[] = { 0,	     ENODATA,	ENOSPC, EROFS,	   EBADE,
				     ENOMEM, ETIMEDOUT, EINVAL, EOPNOTSUPP };

	for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
		if (-res == known[i])
			return known[i];
	return EIO;
}

static void answer(struct slot *s, int res)
{
	fuse_req_t req = s->req;

	s->req = NULL;
	if (!req)
		return;
	if (res < 0)
		fuse_reply_err(req, error_of(res));
	else if (s->io.op == DISK_READ)
		fuse_reply_buf(req, (const char *)s->sg.addr, s->len);
	else if (s->io.op == DISK_WRITE)
		fuse_reply_write(req, s->len);
	else
		fuse_reply_err(req, 0);
}

static void run_room(struct defer *d)
{
	struct requests *r = container_of(d, struct requests, has_room);

	if (requests_have_room(r))
		r->room(r->arg);
}

static void slot_free(struct slot *s)
{
	struct requests *r = s->owner;

	if (s->sg.buf) {
		r->held -= s->sg.buf->size;
		buf_put(s->sg.buf);
		s->sg.buf = NULL;
	}
	list_remove(&s->link);
	list_push_front(&r->free, &s->link);
	if (!r->is_released)
		worker_defer(r->worker, &r->has_room, run_room);
}

static struct slot *slot_new(struct requests *r, fuse_req_t req, enum disk_op op)
{
	struct slot *s = list_entry(list_pop_front(&r->free), struct slot, link);

	s->req = req;
	s->len = 0;
	s->io = (struct disk_io){ .op = (uint8_t)op };
	list_push_back(&r->busy, &s->link);
	return s;
}

// ---- the disk ----

static void submit(struct slot *s)
{
	s->owner->with_disk++;
	disk_submit(s->owner->disk, &s->io);
}

static uint64_t piece_max(const struct slot *s)
{
	const struct disk_facts *f = disk_facts(s->owner->disk);
	uint64_t max = s->io.op == DISK_WRITE_ZEROES ? f->zeroes_max : UINT64_MAX;

	max -= max % f->block_size;
	return max ? max : UINT64_MAX; // the disk refuses it
}

// What one request of the disk cannot take follows when it is done. False: nothing is left.
static bool next_piece(struct slot *s)
{
	uint64_t max = piece_max(s), len = s->left < max ? s->left : max;

	if (!s->left || !s->req)
		return false;
	s->io.offset = s->offset;
	s->io.len = len;
	s->offset += len;
	s->left -= len;
	submit(s);
	return true;
}

static void disk_done(struct disk_io *io)
{
	struct slot *s = container_of(io, struct slot, io);
	struct requests *r = s->owner;

	r->with_disk--;
	if (io->res >= 0 && next_piece(s))
		return;
	answer(s, io->res);
	slot_free(s);
	if (r->is_released && !r->with_disk)
		free(r);
}

static void execute(struct slot *s)
{
	s->io.done = disk_done;
	if (s->sg.buf) {
		s->io.sg = &s->sg;
		s->io.nsg = 1;
	}
	worker_note_traffic(s->owner->worker);
	if (!next_piece(s))
		submit(s); // a flush
}

// ---- memory ----

static bool memory_get(struct slot *s)
{
	struct requests *r = s->owner;

	if (r->held && r->held + s->len > HELD_MAX)
		return false;
	s->sg.buf = buf_get(r->worker, (uint32_t)s->len);
	if (!s->sg.buf)
		return false;
	r->held += s->sg.buf->size;
	s->sg.addr = s->sg.buf->addr;
	s->sg.len = (uint32_t)s->len;
	return true;
}

static void pool_has_memory(struct buf_wait *wait);

static void try_memory(struct requests *r, struct slot *s)
{
	if (!memory_get(s)) {
		r->waiting = s;
		buf_wait_add(r->worker, &r->wait, pool_has_memory);
		return;
	}
	r->waiting = NULL;
	if (s->io.op == DISK_WRITE)
		buf_copy(r->worker, s->sg.addr, r->data, s->len);
	execute(s);
}

static void pool_has_memory(struct buf_wait *wait)
{
	struct requests *r = container_of(wait, struct requests, wait);

	try_memory(r, r->waiting);
	worker_defer(r->worker, &r->has_room, run_room);
}

// ---- requests ----

// Bytes of the range that exist; negative errno: the request is refused.
static int64_t range(const struct requests *r, off_t offset, uint64_t len)
{
	const struct disk_facts *f = disk_facts(r->disk);
	uint64_t size = f->blocks * f->block_size, from = (uint64_t)offset;

	if (r->has_failed)
		return -EIO;
	if (offset < 0 || from % f->block_size)
		return -EINVAL;
	if (from >= size)
		return 0;
	len = len < size - from ? len : size - from;
	return len % f->block_size || len > INT64_MAX ? -EINVAL : (int64_t)len;
}

static void set_range(struct slot *s, off_t offset, int64_t len)
{
	s->offset = (uint64_t)offset;
	s->left = (uint64_t)len;
}

void requests_read(struct requests *r, fuse_req_t req, off_t offset, size_t len)
{
	int64_t n = len > BUF_MAX ? -EINVAL : range(r, offset, len);

	if (n < 0) {
		fuse_reply_err(req, (int)-n);
	} else if (!n) {
		fuse_reply_buf(req, NULL, 0);
	} else {
		struct slot *s = slot_new(r, req, DISK_READ);
		s->len = (size_t)n;
		set_range(s, offset, n);
		try_memory(r, s);
	}
}

void requests_write(struct requests *r, fuse_req_t req, off_t offset, const void *data, size_t len)
{
	int64_t n = len > BUF_MAX || !len ? -EINVAL : range(r, offset, len);

	if (n <= 0) {
		fuse_reply_err(req, n ? (int)-n : ENOSPC);
		return;
	}
	struct slot *s = slot_new(r, req, DISK_WRITE);
	s->len = (size_t)n;
	set_range(s, offset, n);
	r->data = data;
	try_memory(r, s);
}

void requests_flush(struct requests *r, fuse_req_t req)
{
	if (r->has_failed) {
		fuse_reply_err(req, EIO);
		return;
	}
	struct slot *s = slot_new(r, req, DISK_FLUSH);
	set_range(s, 0, 0);
	execute(s);
}

void requests_zero(struct requests *r, fuse_req_t req, off_t offset, off_t len, bool may_unmap)
{
	int64_t n = len <= 0 ? -EINVAL : range(r, offset, (uint64_t)len);

	if (n > 0 && !disk_facts(r->disk)->zeroes_max)
		n = -EOPNOTSUPP;
	if (n <= 0) {
		fuse_reply_err(req, n ? (int)-n : ENOSPC);
		return;
	}
	struct slot *s = slot_new(r, req, DISK_WRITE_ZEROES);
	s->io.may_not_unmap = !may_unmap;
	set_range(s, offset, n);
	execute(s);
}

// ---- life ----

bool requests_have_room(const struct requests *r)
{
	return !r->waiting && !list_empty(&r->free);
}

int requests_new(struct requests **ret, struct disk *d, void (*room)(void *arg), void *arg,
		 struct err *e)
{
	struct requests *r = calloc(1, sizeof *r);

	*ret = NULL;
	if (!r)
		return err_errno(e, -ENOMEM, "fuse");
	r->worker = disk_worker(d);
	r->disk = d;
	r->room = room;
	r->arg = arg;
	list_init(&r->free);
	list_init(&r->busy);
	for (unsigned i = 0; i < SLOTS; i++) {
		r->slots[i].owner = r;
		list_push_back(&r->free, &r->slots[i].link);
	}
	buf_reserve(r->worker, HELD_MAX); // without it, memory is taken when it is needed
	*ret = r;
	return 0;
}

void requests_fail(struct requests *r)
{
	r->has_failed = true;
	list_each (struct slot, s, &r->busy, link) {
		answer(s, -EIO);
	}
	if (r->waiting) {
		buf_wait_cancel(&r->wait);
		slot_free(r->waiting);
		r->waiting = NULL;
	}
}

void requests_free(struct requests *r)
{
	if (!r)
		return;
	r->is_released = true;
	requests_fail(r);
	worker_defer_cancel(&r->has_room);
	if (!r->with_disk)
		free(r);
}
