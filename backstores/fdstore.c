// SPDX-License-Identifier: BSD-2-Clause
// I/O on a file descriptor through the worker's io_uring. Each I/O is a chain of operations on
// its own struct uring_op: rounds of at most BS_IO_IOV pieces, continued after short transfers,
// from a bounce buffer where O_DIRECT cannot use the caller's memory; zeroes by ZERO_RANGE, else
// by writing them; and a sync after zeroes and holes that must be durable.
#include "backstores/fdstore_priv.h"

#include <errno.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "backstores/extent.h"
#include "core/log.h"

#define TRIES_MAX 100 // of EAGAIN and EINTR in a row
#define ZERO_PAGE (64u << 10)

static const _Alignas(BUF_PAGE) uint8_t zeroes[ZERO_PAGE];

// The steps of BS_UNMAP (from STEP_PUNCH on) and BS_WRITE_ZEROES when the file refuses one. A hole
// does not replace written zeroes: its space may be missing later.
enum step { STEP_PUNCH, STEP_ZERO_RANGE, STEP_WRITE_ZEROES };

static struct fdstore *fdstore_of(struct backstore *bs)
{
	return (struct fdstore *)bs;
}

static struct fdstore *store(const struct bs_io *io)
{
	return fdstore_of(io->bs);
}

static struct bs_io *io_of(struct uring_op *op)
{
	return container_of(op, struct bs_io, uring);
}

// Those of this worker; NULL: out of memory.
static struct fdsync *syncs(const struct bs_io *io)
{
	struct fdstore *f = store(io);
	return fdsync_get(&f->syncs, f->fd, fdstore_synced);
}

bool fdstore_must_be_durable(const struct bs_io *io)
{
	bool is_write = io->op == BS_WRITE || io->op == BS_WRITE_ZEROES;
	return io->op == BS_FLUSH || io->flags & BS_FUA || (is_write && store(io)->is_durable);
}

void fdstore_note_lost(struct fdstore *f, int res)
{
	if (f->is_direct || __atomic_exchange_n(&f->has_lost_writes, true, __ATOMIC_RELAXED))
		return;
	log_error("%s: the page cache has lost writes: %s (flushes and durable writes fail until "
		  "the disk is opened again)",
		  f->bs.name, strerror(-res));
}

bool fdstore_has_lost(const struct fdstore *f)
{
	return __atomic_load_n(&f->has_lost_writes, __ATOMIC_RELAXED);
}

void fdstore_put_bounce(struct bs_io *io)
{
	if (io->bounce_buf)
		buf_put(io->bounce_buf);
	else
		free(io->bounce);
	io->bounce = NULL;
	io->bounce_buf = NULL;
}

void fdstore_end(struct bs_io *io, int res)
{
	fdstore_put_bounce(io);
	if (io->durable != BS_NOT_DURABLE)
		fdsync_end(syncs(io), io);
	if (res == 0 && fdstore_has_lost(store(io)) && fdstore_must_be_durable(io))
		res = -EIO;
	io->done(io, res < 0 ? backstore_errno(res) : 0);
}

void fdstore_synced(struct bs_io *io, int res)
{
	if (res < 0)
		fdstore_note_lost(store(io), res);
	fdstore_end(io, res);
}

// Ends io when it is durable.
static void sync_and_end(struct bs_io *io)
{
	struct fdsync *s = syncs(io);
	if (s)
		fdsync_wait(s, io);
	else
		fdstore_end(io, -ENOMEM);
}

bool fdstore_try_again(struct bs_io *io, int res)
{
	if (res != -EAGAIN && res != -EINTR) {
		io->tries = 0;
		return false;
	}
	return ++io->tries < TRIES_MAX;
}

static struct io_uring_sqe *next_sqe(struct bs_io *io, void (*done)(struct uring_op *, int))
{
	io->uring.done = done;
	return worker_sqe(worker_self(), &io->uring);
}

static bool is_polling(const struct fdstore *f)
{
	return __atomic_load_n(&f->is_polling, __ATOMIC_RELAXED);
}

static void stop_polling(struct fdstore *f)
{
	if (__atomic_exchange_n(&f->is_polling, false, __ATOMIC_RELAXED))
		log_warn("%s: iopoll has no effect: the device or filesystem cannot be polled",
			 f->bs.name);
}

// --- how long a read or write takes: moving averages by size, from 4 KiB up in powers of two

#define PACE_SHIFT 3
#define PACE_MAX   1000000000u // ns

static struct fdstore_pace *pace_of(const struct bs_io *io)
{
	uint64_t pages = io->length >> 12 | 1;
	unsigned i = 63 - (unsigned)__builtin_clzll(pages);
	return &store(io)->pace[io->op == BS_WRITE][i < FDSTORE_PACES ? i : FDSTORE_PACES - 1];
}

static uint32_t average(uint32_t old, uint32_t more)
{
	return old - (old >> PACE_SHIFT) + (more >> PACE_SHIFT);
}

static void pace_note(const struct bs_io *io)
{
	struct fdstore_pace *p = pace_of(io);
	uint64_t took = worker_elapsed(worker_self(), &io->uring);
	uint32_t ns = took < PACE_MAX ? (uint32_t)took : PACE_MAX;
	uint32_t mean = __atomic_load_n(&p->mean, __ATOMIC_RELAXED);
	uint32_t deviation = __atomic_load_n(&p->deviation, __ATOMIC_RELAXED);
	deviation = average(deviation, ns > mean ? ns - mean : mean - ns);
	__atomic_store_n(&p->mean, mean ? average(mean, ns) : ns, __ATOMIC_RELAXED);
	__atomic_store_n(&p->deviation, deviation, __ATOMIC_RELAXED);
}

static void pace_expect(struct bs_io *io)
{
	const struct fdstore_pace *p = pace_of(io);
	worker_expect(worker_self(), &io->uring, __atomic_load_n(&p->mean, __ATOMIC_RELAXED),
		      __atomic_load_n(&p->deviation, __ATOMIC_RELAXED));
}

// --- reads and writes

static bool is_aligned(const struct bs_io *io, const struct iovec *v)
{
	const struct fdstore *f = store(io);
	if (io->part.is_buffered)
		return true;
	return (((uintptr_t)v->iov_base & (f->mem_align - 1)) | (v->iov_len & (f->io_align - 1))) ==
	       0;
}

// Fills io->iov with what the scatter list has for the rest of io's part. Returns the number of
// pieces, 0 if O_DIRECT cannot take them.
static unsigned fill_iov(struct bs_io *io)
{
	uint64_t skip = io->progress, left = io->part.end - io->progress;
	unsigned n = 0;
	for (uint32_t i = 0; i < io->nsg && n < BS_IO_IOV && left; i++) {
		const struct sg *sg = &io->sg[i];
		if (skip >= sg->len) {
			skip -= sg->len;
			continue;
		}
		uint64_t piece = sg->len - skip < left ? sg->len - skip : left;
		io->iov[n] = (struct iovec){ sg->addr + skip, piece };
		left -= piece;
		skip = 0;
		if (!is_aligned(io, &io->iov[n++]))
			return 0;
	}
	return n;
}

// Copies between the scatter list, from io->progress on, and the bounce buffer.
static void copy_bounce(struct bs_io *io, uint32_t length, bool is_to_bounce)
{
	struct worker *w = worker_self();
	uint8_t *bounce = io->bounce;
	uint64_t skip = io->progress;
	for (uint32_t i = 0; i < io->nsg && length; i++) {
		const struct sg *sg = &io->sg[i];
		if (skip >= sg->len) {
			skip -= sg->len;
			continue;
		}
		uint32_t n = sg->len - (uint32_t)skip;
		if (n > length)
			n = length;
		if (is_to_bounce)
			buf_copy_for(w, io->copied, bounce, sg->addr + skip, n);
		else
			buf_copy_for(w, io->copied, sg->addr + skip, bounce, n);
		bounce += n;
		length -= n;
		skip = 0;
	}
}

static void rw_failed(struct bs_io *io, int res)
{
	if (io->durable != BS_WRITTEN_DURABLY || store(io)->is_direct) {
		io->part.done(io, res);
		return;
	}
	io->durable = BS_WRITTEN_AGAIN;
	fdstore_transfer(io);
}

// The whole of io is one part.
static void whole_done(struct bs_io *io, int res)
{
	bool is_change = io->op == BS_UNMAP || io->op == BS_WRITE_ZEROES;
	if (res < 0)
		fdstore_end(io, res);
	else if (io->durable == BS_WRITTEN_AGAIN)
		fdstore_synced(io, -EIO); // the write succeeds, so the sync has failed
	else if (io->durable == BS_WRITTEN_BEFORE_SYNC ||
		 (is_change && fdstore_must_be_durable(io)))
		sync_and_end(io); // an unmap on request only: a list of ranges needs one sync
	else
		fdstore_end(io, 0);
}

static void rw_done(struct uring_op *op, int res)
{
	struct bs_io *io = io_of(op);
	if (res == -EOPNOTSUPP && io->is_polled) {
		stop_polling(store(io));
		res = -EAGAIN;
	}
	if (fdstore_try_again(io, res)) {
		fdstore_transfer(io);
		return;
	}
	if (!io->is_polled)
		pace_note(io);
	if (res <= 0) {
		rw_failed(io, res < 0 ? res : -EIO); // 0: the file has become shorter
		return;
	}
	if (io->bounce && io->op == BS_READ)
		copy_bounce(io, (uint32_t)res, false);
	io->progress += (uint64_t)res;
	if (io->progress < io->part.end)
		fdstore_transfer(io);
	else
		io->part.done(io, 0);
}

// Which of the ring's registered buffers holds all of iov[0], -1 for none.
static int fixed_index(const struct bs_io *io, unsigned n)
{
	const struct buf *b = io->bounce ? io->bounce_buf : io->nsg == 1 ? io->sg[0].buf : NULL;
	return n == 1 && b && b->pool == worker_pool(worker_self()) ? b->fixed_index : -1;
}

// NULL: the kernel cannot, or it is not asked to.
static struct io_uring_sqe *polled_sqe(struct bs_io *io)
{
	struct fdstore *f = store(io);
	if (!is_polling(f) || io->part.is_buffered)
		return NULL;
	io->uring.done = rw_done;
	struct io_uring_sqe *sqe = worker_polled_sqe(worker_self(), &io->uring);
	if (!sqe)
		stop_polling(f);
	return sqe;
}

static void rw_submit(struct bs_io *io, unsigned n)
{
	int fd = io->part.fd;
	bool is_read = io->op == BS_READ;
	uint64_t at = io->offset + io->part.shift + io->progress;
	struct io_uring_sqe *sqe = polled_sqe(io);
	io->is_polled = sqe;
	int fixed = sqe ? -1 : fixed_index(io, n);
	if (!sqe)
		sqe = next_sqe(io, rw_done);
	if (fixed >= 0 && is_read)
		io_uring_prep_read_fixed(sqe, fd, io->iov[0].iov_base, (unsigned)io->iov[0].iov_len,
					 at, fixed);
	else if (fixed >= 0)
		io_uring_prep_write_fixed(sqe, fd, io->iov[0].iov_base,
					  (unsigned)io->iov[0].iov_len, at, fixed);
	else if (is_read)
		io_uring_prep_readv(sqe, fd, io->iov, n, at);
	else
		io_uring_prep_writev(sqe, fd, io->iov, n, at);
	if (io->durable == BS_WRITTEN_DURABLY)
		sqe->rw_flags = RWF_DSYNC;
	if (!io->is_polled)
		pace_expect(io);
}

// A bounce buffer from the pool, or from the heap if the pool is exhausted: the holders of the
// pool's buffers may be waiting for this I/O.
bool fdstore_get_bounce(struct bs_io *io, uint64_t most)
{
	uint32_t length = most < BUF_MAX ? (uint32_t)most : BUF_MAX;
	io->bounce_buf = buf_get(worker_self(), length);
	if (io->bounce_buf) {
		io->bounce = io->bounce_buf->addr;
		io->bounce_size = io->bounce_buf->size;
		return true;
	}
	io->bounce_size = (length + BUF_PAGE - 1) & ~(BUF_PAGE - 1);
	io->bounce = aligned_alloc(BUF_PAGE, io->bounce_size);
	return io->bounce;
}

// One round through the bounce buffer.
static void bounce_next(struct bs_io *io)
{
	if (!io->bounce && !fdstore_get_bounce(io, io->length)) {
		io->part.done(io, -ENOMEM);
		return;
	}
	uint64_t left = io->part.end - io->progress;
	uint32_t n = left < io->bounce_size ? (uint32_t)left : io->bounce_size;
	if (io->op == BS_WRITE)
		copy_bounce(io, n, true);
	io->iov[0] = (struct iovec){ io->bounce, n };
	rw_submit(io, 1);
}

void fdstore_transfer(struct bs_io *io)
{
	unsigned n = io->bounce ? 0 : fill_iov(io);
	if (n)
		rw_submit(io, n);
	else
		bounce_next(io);
}

// --- unmap and zeroes

static void zero_next(struct bs_io *io);

// Continues with the next method of writing zeroes if the file refuses one.
static void zero_fall_back(struct bs_io *io)
{
	struct fdstore *f = store(io);
	if (io->step == STEP_ZERO_RANGE)
		__atomic_store_n(&f->has_no_zero_range, true, __ATOMIC_RELAXED);
	bool has_zero_range = !__atomic_load_n(&f->has_no_zero_range, __ATOMIC_RELAXED);
	io->step = has_zero_range ? STEP_ZERO_RANGE : STEP_WRITE_ZEROES;
	zero_next(io);
}

static void zero_done(struct uring_op *op, int res)
{
	struct bs_io *io = io_of(op);
	if (fdstore_try_again(io, res)) {
		zero_next(io);
	} else if (res == -EOPNOTSUPP && io->step != STEP_WRITE_ZEROES) {
		zero_fall_back(io);
	} else if (res < 0) {
		io->part.done(io, res);
	} else if (io->step == STEP_WRITE_ZEROES) {
		io->progress += (uint64_t)res;
		if (res == 0)
			io->part.done(io, -EIO);
		else if (io->progress < io->length)
			zero_next(io);
		else
			io->part.done(io, 0);
	} else {
		io->part.done(io, 0);
	}
}

static unsigned fill_zeroes(struct bs_io *io)
{
	uint64_t left = io->length - io->progress;
	unsigned n = 0;
	for (; n < BS_IO_IOV && left; n++) {
		uint64_t piece = left < ZERO_PAGE ? left : ZERO_PAGE;
		io->iov[n] = (struct iovec){ (void *)zeroes, piece };
		left -= piece;
	}
	return n;
}

static void zero_next(struct bs_io *io)
{
	int fd = store(io)->fd;
	if (io->step == STEP_WRITE_ZEROES) {
		unsigned n = fill_zeroes(io);
		io_uring_prep_writev(next_sqe(io, zero_done), fd, io->iov, n,
				     io->offset + io->part.shift + io->progress);
		return;
	}
	int mode = FALLOC_FL_KEEP_SIZE |
		   (io->step == STEP_PUNCH ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE);
	io_uring_prep_fallocate(next_sqe(io, zero_done), fd, mode,
				(off_t)(io->offset + io->part.shift), (off_t)io->length);
}

static void discard_work(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	uint64_t range[2] = { io->offset, io->length };
	io->result = ioctl(store(io)->fd, BLKDISCARD, range) < 0 ? -errno : 0;
}

static void discard_done(struct offload *o)
{
	struct bs_io *io = container_of(o, struct bs_io, offload);
	io->part.done(io, io->result);
}

// --- one entry per operation

// Over the page cache, RWF_DSYNC writes what others have written to the file only where it is, a
// sync all of it. In a mode in which all writes are durable that is the same.
static void choose_durability(struct fdsync *s, struct bs_io *io)
{
	const struct fdstore *f = store(io);
	if (f->is_direct)
		fdsync_begin(s, io, f->has_fua, io->length > f->dsync_max);
	else
		fdsync_begin(s, io, !f->is_durable, f->is_durable);
}

static void serve_write(struct bs_io *io)
{
	if (fdstore_must_be_durable(io)) {
		struct fdsync *s = syncs(io);
		if (!s) {
			fdstore_end(io, -ENOMEM);
			return;
		}
		choose_durability(s, io);
	}
	fdstore_transfer(io);
}

static void serve_unmap(struct bs_io *io)
{
	const struct fdstore *f = store(io);
	if (f->is_discarding) {
		io->offload.work = discard_work;
		io->offload.done = discard_done;
		offload_submit(&io->offload);
	} else if (f->is_punching) {
		io->step = STEP_PUNCH;
		zero_next(io);
	} else {
		io->part.done(io, -EOPNOTSUPP);
	}
}

static void serve_write_zeroes(struct bs_io *io)
{
	const struct fdstore *f = store(io);
	if (!__atomic_load_n(&f->has_no_zero_range, __ATOMIC_RELAXED))
		io->step = STEP_ZERO_RANGE;
	else
		io->step = STEP_WRITE_ZEROES;
	zero_next(io);
}

static void serve_extent(struct bs_io *io)
{
	if (io->bs->limits.can_extent)
		extent_submit(io->bs, io, store(io)->fd, 0, io->length);
	else
		io->done(io, -EOPNOTSUPP);
}

void fdstore_serve(struct bs_io *io)
{
	static void (*const serve[BS_OP_MAX])(struct bs_io * io) = {
		[BS_READ] = fdstore_transfer,
		[BS_WRITE] = serve_write,
		[BS_FLUSH] = sync_and_end,
		[BS_UNMAP] = serve_unmap,
		[BS_WRITE_ZEROES] = serve_write_zeroes,
		[BS_EXTENT] = serve_extent,
	};
	serve[io->op](io);
}

void fdstore_begin(struct backstore *bs, struct bs_io *io, uint64_t shift)
{
	io->bs = bs;
	io->durable = BS_NOT_DURABLE;
	io->part = (struct bs_part){
		.fd = store(io)->fd, .shift = shift, .end = io->length, .done = whole_done
	};
}

void fdstore_submit(struct backstore *bs, struct bs_io *io)
{
	fdstore_begin(bs, io, 0);
	fdstore_serve(io);
}
