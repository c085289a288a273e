// SPDX-License-Identifier: BSD-2-Clause
// The requests of a ublk device, on the disk's worker. A request is fetched (the kernel has filled
// its descriptor), a write's data is read from the device into pool memory, the disk does it, a
// read's data is written to the device, and the commit fetches the next one.
#include "initiator/attach/ublk/server.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/worker.h"
#include "initiator/attach/ublk/uapi.h"

#define HELD_MAX (32u << 20) // bytes of data in flight

struct slot { // of a queue and tag
	struct ublk_server *server;
	const struct ublk_descriptor *descriptor; // the kernel may write to it
	struct uring_op fetch, copy;
	struct disk_io io;
	struct sg sg;
	struct list link; // of those that wait for memory
	uint32_t len;	  // bytes of the request
	uint16_t queue, tag;
	bool is_with_kernel; // fetch is submitted
	bool is_with_disk;
	bool is_answered; // by ublk_server_fail(), while the disk has it
};

struct ublk_server {
	struct worker *worker;
	struct disk *disk;
	struct ublk_server_config config;
	struct ublk_descriptor *arrays[UBLK_QUEUES_MAX];
	struct slot *slots;
	unsigned slot_count, live; // live: slots that the kernel has not ended
	unsigned with_disk;
	struct list waiting; // for memory, in their order
	struct buf_wait wait;
	uint64_t held, held_max; // bytes of the pool
	bool is_failing, is_released;
};

// The kernel keeps the device until all of this is gone.
static void leave_device(struct ublk_server *s)
{
	size_t size = s->config.depth * sizeof(struct ublk_descriptor);

	for (unsigned q = 0; q < s->config.queues; q++)
		if (s->arrays[q])
			munmap(s->arrays[q], size);
	memset(s->arrays, 0, sizeof s->arrays);
	if (s->config.fd >= 0)
		close(s->config.fd);
	s->config.fd = -1;
}

static void server_destroy(struct ublk_server *s)
{
	leave_device(s);
	free(s->slots);
	free(s);
}

// ---- answers ----

static void fetched(struct uring_op *op, int res);

static void command(struct slot *t, uint32_t op, int32_t result)
{
	struct ublk_request request = { .queue = t->queue, .tag = t->tag, .result = result };

	t->fetch.done = fetched;
	t->is_with_kernel = true;
	struct io_uring_sqe *sqe = worker_sqe(t->server->worker, &t->fetch);
	uint64_t owner = sqe->user_data;
	memset(sqe, 0, sizeof *sqe);
	sqe->user_data = owner;
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = t->server->config.fd;
	sqe->cmd_op = op;
	memcpy(sqe->cmd, &request, sizeof request);
}

static void memory_retry(struct ublk_server *s);

static void memory_put(struct slot *t)
{
	if (!t->sg.buf)
		return;
	t->server->held -= t->sg.buf->size;
	buf_put(t->sg.buf);
	t->sg.buf = NULL;
	memory_retry(t->server);
}

static void commit(struct slot *t, int32_t result)
{
	command(t, UBLK_COMMIT_FETCH, result);
}

static void finish(struct slot *t, int res)
{
	uint8_t op = t->descriptor->op_flags & UBLK_OP_MASK;
	bool has_bytes = op == UBLK_READ || op == UBLK_WRITE;

	memory_put(t);
	commit(t, res < 0 ? res : has_bytes ? (int32_t)t->len : 0);
}

// ---- data ----

static void copy(struct slot *t, bool is_from_device, void (*done)(struct uring_op *op, int res))
{
	struct ublk_server *s = t->server;
	uint64_t at = UBLK_DATA(t->queue, t->tag);

	t->copy.done = done;
	struct io_uring_sqe *sqe = worker_sqe(s->worker, &t->copy);
	// The driver takes no fixed buffers (-EACCES).
	if (is_from_device)
		io_uring_prep_read(sqe, s->config.fd, t->sg.addr, t->len, at);
	else
		io_uring_prep_write(sqe, s->config.fd, t->sg.addr, t->len, at);
}

static int copied(const struct slot *t, int res)
{
	if (res < 0)
		return res;
	return (uint32_t)res == t->len ? 0 : -EIO;
}

static void read_copied(struct uring_op *op, int res)
{
	struct slot *t = container_of(op, struct slot, copy);

	finish(t, copied(t, res));
}

// ---- the disk ----

static void late(struct slot *t)
{
	struct ublk_server *s = t->server;

	t->is_answered = false;
	memory_put(t);
	if (s->is_released && !s->with_disk)
		server_destroy(s);
}

static void disk_done(struct disk_io *io)
{
	struct slot *t = container_of(io, struct slot, io);

	t->is_with_disk = false;
	t->server->with_disk--;
	if (t->is_answered)
		late(t);
	else if (io->op == DISK_READ && io->res >= 0)
		copy(t, false, read_copied);
	else
		finish(t, io->res);
}

static void submit(struct slot *t)
{
	t->is_with_disk = true;
	t->server->with_disk++;
	worker_note_traffic(t->server->worker);
	disk_submit(t->server->disk, &t->io);
}

static void write_copied(struct uring_op *op, int res)
{
	struct slot *t = container_of(op, struct slot, copy);
	int r = copied(t, res);

	if (t->server->is_failing)
		r = -EIO;
	if (r < 0)
		finish(t, r);
	else
		submit(t);
}

// ---- memory ----

static bool memory_get(struct slot *t)
{
	struct ublk_server *s = t->server;

	// Only if nothing is held can the wait be for others alone.
	if (s->held && s->held + t->len > s->held_max)
		return false;
	struct buf *b = buf_get(s->worker, t->len);
	if (!b)
		return false;
	s->held += b->size;
	t->sg = (struct sg){ .addr = b->addr, .len = t->len, .buf = b };
	return true;
}

static void transfer(struct slot *t)
{
	if (t->io.op == DISK_WRITE)
		copy(t, true, write_copied);
	else
		submit(t);
}

static void pool_has_memory(struct buf_wait *wait)
{
	memory_retry(container_of(wait, struct ublk_server, wait));
}

static void memory_retry(struct ublk_server *s)
{
	while (!list_empty(&s->waiting)) {
		struct slot *t = list_entry(list_first(&s->waiting), struct slot, link);
		if (!memory_get(t)) {
			buf_wait_add(s->worker, &s->wait, pool_has_memory);
			return;
		}
		list_remove(&t->link);
		transfer(t);
	}
}

static void need_memory(struct slot *t)
{
	struct ublk_server *s = t->server;

	if (list_empty(&s->waiting) && memory_get(t)) {
		transfer(t);
		return;
	}
	list_push_back(&s->waiting, &t->link);
	memory_retry(s);
}

// ---- requests ----

static const struct {
	uint8_t op;
	bool is_known, has_data;
} ops[UBLK_OP_COUNT] = {
	[UBLK_READ] = {DISK_READ,	   true, true },
	[UBLK_WRITE] = { DISK_WRITE,	     true, true },
	[UBLK_FLUSH] = { DISK_FLUSH,	     true, false},
	[UBLK_DISCARD] = { DISK_UNMAP,	       true, false},
	[UBLK_WRITE_ZEROES] = { DISK_WRITE_ZEROES, true, false},
};

static void request(struct slot *t)
{
	struct ublk_server *s = t->server;
	struct ublk_descriptor d = *t->descriptor;
	uint8_t op = d.op_flags & UBLK_OP_MASK;
	if (op == UBLK_FLUSH) // its sector is -1
		d.sector = d.sectors = 0;
	uint64_t len = (uint64_t)d.sectors * UBLK_SECTOR;

	if (s->is_failing || op >= UBLK_OP_COUNT || !ops[op].is_known) {
		commit(t, s->is_failing ? -EIO : -EOPNOTSUPP);
		return;
	}
	if (d.sector > INT64_MAX / UBLK_SECTOR ||
	    (ops[op].has_data && (!len || len > s->config.io_bytes_max))) {
		commit(t, -EIO);
		return;
	}
	t->len = (uint32_t)len;
	t->io = (struct disk_io){
		.op = ops[op].op,
		.is_fua = d.op_flags & UBLK_FUA,
		.may_not_unmap = d.op_flags & UBLK_NO_UNMAP,
		.offset = d.sector * UBLK_SECTOR,
		.len = len,
		.sg = ops[op].has_data ? &t->sg : NULL,
		.nsg = ops[op].has_data,
		.done = disk_done,
	};
	if (ops[op].has_data)
		need_memory(t);
	else
		submit(t);
}

static void fetched(struct uring_op *op, int res)
{
	struct slot *t = container_of(op, struct slot, fetch);
	struct ublk_server *s = t->server;

	t->is_with_kernel = false;
	if (!res) {
		request(t);
		return;
	}
	if (!--s->live) // -ENODEV: the device has stopped
		s->config.gone(s->config.arg);
}

// ---- life ----

static int map_arrays(struct ublk_server *s, struct err *e)
{
	size_t size = s->config.depth * sizeof(struct ublk_descriptor);

	for (unsigned q = 0; q < s->config.queues; q++) {
		void *m = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE, s->config.fd,
			       (off_t)(q * UBLK_ARRAY_STRIDE));
		if (m == MAP_FAILED)
			return err_errno(e, -errno, "ublk: map the descriptors of queue %u", q);
		s->arrays[q] = m;
	}
	return 0;
}

static void fill_slots(struct ublk_server *s)
{
	for (unsigned i = 0; i < s->slot_count; i++) {
		unsigned queue = i / s->config.depth, tag = i % s->config.depth;
		s->slots[i] = (struct slot){
			.server = s,
			.descriptor = &s->arrays[queue][tag],
			.queue = (uint16_t)queue,
			.tag = (uint16_t)tag,
		};
	}
}

int ublk_server_new(struct ublk_server **ret, struct disk *d,
		    const struct ublk_server_config *config, struct err *e)
{
	struct ublk_server *s = calloc(1, sizeof *s);

	*ret = NULL;
	if (!s) {
		close(config->fd);
		return err_errno(e, -ENOMEM, "ublk");
	}
	*s = (struct ublk_server){
		.worker = disk_worker(d),
		.disk = d,
		.config = *config,
		.slot_count = config->queues * config->depth,
	};
	list_init(&s->waiting);
	s->slots = calloc(s->slot_count, sizeof *s->slots);
	int r = s->slots ? map_arrays(s, e)
			 : err_errno(e, -ENOMEM, "ublk: %u requests", s->slot_count);
	if (r < 0) {
		server_destroy(s);
		return r;
	}
	fill_slots(s);
	*ret = s;
	return 0;
}

static void start_on_worker(void *arg)
{
	struct ublk_server *s = arg;
	struct buf_pool_stats stats;

	buf_pool_stats(s->worker, &stats);
	s->held_max = stats.bytes_limit / 2; // sessions need memory, too
	if (s->held_max > HELD_MAX)
		s->held_max = HELD_MAX;
	buf_reserve(s->worker, s->held_max); // without it, memory is taken when it is needed
	s->live = s->slot_count;
	for (unsigned i = 0; i < s->slot_count; i++)
		command(&s->slots[i], UBLK_FETCH, -1);
}

void ublk_server_start(struct ublk_server *s)
{
	worker_call(s->worker, start_on_worker, s);
}

static void fail_on_worker(void *arg)
{
	struct ublk_server *s = arg;

	s->is_failing = true;
	while (!list_empty(&s->waiting)) {
		struct slot *t = list_entry(list_first(&s->waiting), struct slot, link);
		list_remove(&t->link);
		commit(t, -EIO);
	}
	for (unsigned i = 0; i < s->slot_count; i++) {
		struct slot *t = &s->slots[i];
		if (t->is_with_disk && !t->is_answered) {
			t->is_answered = true;
			commit(t, -EIO);
		}
	}
}

void ublk_server_fail(struct ublk_server *s)
{
	worker_call(s->worker, fail_on_worker, s);
}

static void free_on_worker(void *arg)
{
	struct ublk_server *s = arg;

	buf_wait_cancel(&s->wait);
	s->is_released = true;
	if (s->with_disk)
		leave_device(s); // the rest goes with the last of them
	else
		server_destroy(s);
}

void ublk_server_free(struct ublk_server *s)
{
	if (s)
		worker_call(s->worker, free_on_worker, s);
}
