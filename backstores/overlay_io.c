// SPDX-License-Identifier: BSD-2-Clause
// I/O on an overlay file. Reads are cut into runs of blocks that are the overlay's or the base's.
// A change of blocks whose bits are safe, kept or noted in the file, is as in any file, without a
// lock. A change of others, which is the first one of a block, or comes before the first one has
// ended, or after it has failed:
//   1. takes its turn: changes that touch the same blocks wait for it, so that a block that is
//      completed from the base loses nothing that another change has put there
//   2. copies its first and last block from the base if it covers only a part of them, and they
//      are the base's still
//   3. writes, punches or zeroes as in any file
//   4. sets the bits, and ends its turn
//   5. makes data and bits durable if it must be (overlay_sync.c); otherwise notes the bits in the
//      file through the page cache, so that they outlive this process. Either makes them safe
//   6. ends.
// The lock is held for some instructions by these changes only. Requests of whole blocks of 4 KiB,
// which is what file systems send, skip step 2.
#include <errno.h>
#include <liburing.h>

#include "backstores/extent.h"
#include "backstores/fdstore_priv.h"
#include "backstores/overlay.h"

static struct overlay *overlay_of(const struct bs_io *io)
{
	return ((struct fdstore *)io->bs)->overlay;
}

static struct bs_io *io_of(struct uring_op *op)
{
	return container_of(op, struct bs_io, uring);
}

static uint64_t first_block(const struct bs_io *io)
{
	return io->offset / OVERLAY_BLOCK;
}

static uint64_t block_count(const struct bs_io *io)
{
	return (io->offset + io->length - 1) / OVERLAY_BLOCK - first_block(io) + 1;
}

static struct io_uring_sqe *next_sqe(struct bs_io *io, void (*done)(struct uring_op *, int))
{
	io->uring.done = done;
	return worker_sqe(worker_self(), &io->uring);
}

// The bytes from offset on, at most length, that are in one of the two files.
static uint64_t run_of_bytes(const struct overlay *o, uint64_t offset, uint64_t length,
			     bool *ret_own)
{
	uint64_t first = offset / OVERLAY_BLOCK;
	uint64_t count = (offset + length - 1) / OVERLAY_BLOCK - first + 1;
	uint64_t end = (first + overlay_map_run(&o->map, first, count, ret_own)) * OVERLAY_BLOCK;
	return end - offset < length ? end - offset : length;
}

// --- reads

static void read_done(struct bs_io *io, int res);

static void read_next(struct bs_io *io)
{
	const struct overlay *o = overlay_of(io);
	uint64_t at = io->offset + io->progress;
	bool own;
	uint64_t run = run_of_bytes(o, at, io->length - io->progress, &own);
	io->part = (struct bs_part){ .fd = own ? o->store->fd : o->base_fd,
				     .is_buffered = !own,
				     .shift = own ? o->layout.data : 0,
				     .end = io->progress + run,
				     .done = read_done };
	fdstore_transfer(io);
}

static void read_done(struct bs_io *io, int res)
{
	if (res < 0 || io->progress == io->length)
		fdstore_end(io, res);
	else
		read_next(io);
}

// --- turns

static bool touches_same(const struct bs_io *a, const struct bs_io *b)
{
	return first_block(a) < first_block(b) + block_count(b) &&
	       first_block(b) < first_block(a) + block_count(a);
}

// Whether one of the list, up to the end (NULL: all of it), touches the same blocks.
static bool has_same(const struct list *head, const struct list *end, const struct bs_io *io)
{
	for (const struct list *l = head->next; l != head && l != end; l = l->next)
		if (touches_same(list_entry(l, struct bs_io, link), io))
			return true;
	return false;
}

static void begin_change(struct bs_io *io);

static void turn_comes(struct msg *m)
{
	struct offload *off = container_of(m, struct offload, msg);
	begin_change(container_of(off, struct bs_io, offload));
}

static void take_turn(struct bs_io *io)
{
	struct overlay *o = overlay_of(io);
	io->offload.home = worker_self();
	pthread_mutex_lock(&o->lock);
	bool waits = has_same(&o->changes, NULL, io) || has_same(&o->turns, NULL, io);
	list_push_back(waits ? &o->turns : &o->changes, &io->link);
	pthread_mutex_unlock(&o->lock);
	if (!waits)
		begin_change(io);
}

// Those that waited for io alone are next, in the order of their arrival.
static void end_turn(struct bs_io *io)
{
	struct overlay *o = overlay_of(io);
	pthread_mutex_lock(&o->lock);
	list_remove(&io->link);
	list_for_each_safe (l, &o->turns) {
		struct bs_io *waiting = list_entry(l, struct bs_io, link);
		if (!touches_same(waiting, io) || has_same(&o->changes, NULL, waiting) ||
		    has_same(&o->turns, l, waiting))
			continue;
		list_remove(l);
		list_push_back(&o->changes, l);
		waiting->offload.msg.fn = turn_comes;
		worker_post(waiting->offload.home, &waiting->offload.msg);
	}
	pthread_mutex_unlock(&o->lock);
}

// --- the end of a change

static void noted(struct uring_op *op, int res);

// How many bytes of the map, from *ret_first on, have the bits of io.
static uint64_t bytes_of_map(const struct bs_io *io, uint64_t *ret_first)
{
	uint64_t last = (first_block(io) + block_count(io) - 1) / 8;
	uint64_t most = overlay_of(io)->layout.map_bytes - 1;
	*ret_first = first_block(io) / 8;
	return (last < most ? last : most) - *ret_first + 1;
}

// The rest of them, from io->progress on. They are read when the write takes place: of two writes
// of the same bytes the file keeps one with the bits of both.
static void note(struct bs_io *io)
{
	const struct overlay *o = overlay_of(io);
	uint64_t first, length = bytes_of_map(io, &first);
	first += io->progress;
	io_uring_prep_write(next_sqe(io, noted), o->map_fd, o->map.live + first,
			    (unsigned)(length - io->progress), o->layout.noted + first);
}

static void noted(struct uring_op *op, int res)
{
	struct bs_io *io = io_of(op);
	uint64_t first;
	if (fdstore_try_again(io, res)) {
		note(io);
		return;
	}
	if (res <= 0) {
		fdstore_end(io, res < 0 ? res : -EIO);
		return;
	}
	io->progress += (uint64_t)res;
	if (io->progress < bytes_of_map(io, &first)) {
		note(io); // a full disk, for one, ends a write early
		return;
	}
	overlay_map_noted(&overlay_of(io)->map, first_block(io), block_count(io));
	fdstore_end(io, 0);
}

static void changed(struct bs_io *io, int res)
{
	struct overlay *o = overlay_of(io);
	if (res == 0)
		overlay_map_set(&o->map, first_block(io), block_count(io));
	end_turn(io);
	if (res < 0) {
		fdstore_end(io, res);
	} else if (fdstore_must_be_durable(io)) {
		overlay_sync_wait(o, io);
	} else {
		io->progress = 0;
		note(io);
	}
}

// --- blocks that are completed from the base

static void copied(struct uring_op *op, int res);

static void copy_step(struct bs_io *io, uint64_t block, bool is_read)
{
	const struct overlay *o = overlay_of(io);
	struct io_uring_sqe *sqe = next_sqe(io, copied);
	io->copy.is_reading = is_read;
	io->copy.block = block;
	if (is_read)
		io_uring_prep_read(sqe, o->base_fd, io->bounce, OVERLAY_BLOCK,
				   block * OVERLAY_BLOCK);
	else
		io_uring_prep_write(sqe, o->store->fd, io->bounce, OVERLAY_BLOCK,
				    o->layout.data + block * OVERLAY_BLOCK);
}

static void copy_next(struct bs_io *io);

static void copied(struct uring_op *op, int res)
{
	struct bs_io *io = io_of(op);
	if (res >= 0 && res < (int)OVERLAY_BLOCK)
		res = io->copy.is_reading ? -EIO
					  : -EAGAIN; // the base is shorter; a full disk says so
	if (fdstore_try_again(io, res))
		copy_step(io, io->copy.block, io->copy.is_reading);
	else if (res < 0)
		changed(io, res);
	else if (io->copy.is_reading)
		copy_step(io, io->copy.block, false);
	else
		copy_next(io);
}

static bool is_partial(const struct bs_io *io, uint64_t block)
{
	uint64_t begin = block * OVERLAY_BLOCK;
	bool is_whole = io->offset <= begin && io->offset + io->length >= begin + OVERLAY_BLOCK;
	return !is_whole && !overlay_map_owns(&overlay_of(io)->map, block, 1);
}

// Step 3 of a first change.
static void change(struct bs_io *io)
{
	fdstore_put_bounce(io);
	if (io->op == BS_WRITE)
		fdstore_transfer(io); // the sync is ours
	else
		fdstore_serve(io);
}

// The first block, then the last one.
static void copy_next(struct bs_io *io)
{
	uint64_t first = first_block(io), last = first + block_count(io) - 1;
	while (io->copy.looked < 2) {
		uint64_t block = io->copy.looked++ ? last : first;
		bool is_again = io->copy.looked == 2 && first == last;
		if (is_again || !is_partial(io, block))
			continue;
		if (!io->bounce && !fdstore_get_bounce(io, OVERLAY_BLOCK))
			changed(io, -ENOMEM);
		else
			copy_step(io, block, true);
		return;
	}
	change(io);
}

static void begin_change(struct bs_io *io)
{
	io->part.done = changed;
	io->copy.looked = 0;
	copy_next(io);
}

// --- one entry per operation

// Blocks that are safe, but not durable.
static void written(struct bs_io *io, int res)
{
	if (res < 0)
		fdstore_end(io, res);
	else
		overlay_sync_wait(overlay_of(io), io);
}

static void serve_change(struct bs_io *io)
{
	const struct overlay *o = overlay_of(io);
	uint64_t first = first_block(io), count = block_count(io);
	if (!overlay_map_is_safe(&o->map, first, count)) {
		take_turn(io);
		return;
	}
	bool is_late = fdstore_must_be_durable(io) && overlay_map_is_dirty(&o->map, first, count);
	if (is_late)
		io->part.done = written;
	if (is_late && io->op == BS_WRITE)
		fdstore_transfer(io);
	else
		fdstore_serve(io);
}

static void serve_flush(struct bs_io *io)
{
	if (overlay_map_has_dirty(&overlay_of(io)->map))
		overlay_sync_wait(overlay_of(io), io);
	else
		fdstore_serve(io);
}

// What is the base's alone is mapped, whatever the base's file has there.
static void serve_extent(struct bs_io *io)
{
	const struct overlay *o = overlay_of(io);
	bool own;
	uint64_t run = run_of_bytes(o, io->offset, io->length, &own);
	if (own) {
		extent_submit(io->bs, io, o->store->fd, o->layout.data, run);
		return;
	}
	io->ret_is_mapped = true;
	io->ret_extent_length = run;
	io->done(io, 0);
}

void overlay_submit(struct backstore *bs, struct bs_io *io)
{
	static void (*const serve[BS_OP_MAX])(struct bs_io * io) = {
		[BS_READ] = read_next,
		[BS_WRITE] = serve_change,
		[BS_FLUSH] = serve_flush,
		[BS_UNMAP] = serve_change,
		[BS_WRITE_ZEROES] = serve_change,
		[BS_EXTENT] = serve_extent,
	};
	fdstore_begin(bs, io, ((struct fdstore *)bs)->overlay->layout.data);
	serve[io->op](io);
}
