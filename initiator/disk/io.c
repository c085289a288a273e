// SPDX-License-Identifier: BSD-2-Clause
// Requests of a disk: their commands, one after the other where a request is longer than a command
// may be, and what follows from a command's end. Commands are sent once by the session; the disk
// retries them, on another path where there is one. Nothing is allocated. On the disk's worker.
// SAM-5 5.3, SPC-5 4.4.
#include <errno.h>
#include <string.h>

#include "initiator/disk/disk_priv.h"
#include "transport/wire/be.h"

#define TRIES_MAX    5	 // of a command that fails
#define LOSSES_MAX   8	 // of a command that ends each session, in a row
#define BUSY_SECONDS 180 // of a unit that is busy or becomes ready
#define DELAY_US     50000
#define FUA	     0x08 // of byte 1
#define UNMAP_BIT    0x08
#define PARTS	     (sizeof((struct disk_io *)0)->part / sizeof(struct sg))

static struct disk_io *io_of(struct list *l)
{
	return list_entry(l, struct disk_io, link);
}

static void complete(struct disk_io *io, int res)
{
	list_remove(&io->link);
	io->res = res;
	io->done(io);
}

// --- queues ---

static void on_done(struct scsi_cmd *c);

// True: it has ended, since the disk waits for nothing any more.
static bool is_over(struct disk_io *io)
{
	const struct disk *d = io->disk;
	int res = d->is_closing ? -ESHUTDOWN : d->is_stale ? -ESTALE : -ENOTCONN;
	if (!d->is_closing && !d->is_stale && !d->fails_at_once)
		return false;
	complete(io, res);
	return true;
}

// To the head: what was sent first goes first.
static void again(struct disk_io *io)
{
	if (is_over(io))
		return;
	list_remove(&io->link);
	list_push_front(&io->disk->queue, &io->link);
	io_pump_later(io->disk);
}

static void later(struct disk_io *io)
{
	struct disk *d = io->disk;
	if (is_over(io))
		return;
	list_remove(&io->link);
	list_push_back(&d->delayed, &io->link);
	if (!timer_is_armed(&d->delay))
		timer_arm(d->worker, &d->delay, DELAY_US);
}

static void fail_list(struct list *l, int res)
{
	struct list over;
	list_init(&over);
	list_splice_back(&over, l);
	while (!list_empty(&over))
		complete(io_of(over.next), res);
}

void io_fail_fencing(struct disk *d, int res)
{
	fail_list(&d->fencing, res);
}

void io_fail_all(struct disk *d, int res)
{
	fail_list(&d->queue, res);
	fail_list(&d->fencing, res);
	fail_list(&d->delayed, res);
}

// --- commands ---

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// The piece of the request's memory from io->at on, of len bytes or less: a whole number of blocks
// in at most PARTS pieces.
static uint32_t slice(struct disk_io *io, uint32_t len, uint32_t block)
{
	struct scsi_cmd *c = &io->cmd;
	uint64_t skip = io->at;
	unsigned i = 0;
	uint32_t have = 0;
	if (!skip && len == io->len) {
		c->sg = io->sg;
		c->nsg = io->nsg;
		return len;
	}
	while (i < io->nsg && skip >= io->sg[i].len)
		skip -= io->sg[i++].len;
	c->sg = io->part;
	for (c->nsg = 0; i < io->nsg && c->nsg < PARTS && have < len; i++, skip = 0) {
		struct sg *s = &io->part[c->nsg++];
		*s = io->sg[i];
		s->addr += skip;
		s->len = (uint32_t)least(s->len - skip, len - have);
		have += s->len;
	}
	return have / block * block;
}

static int set_transfer(struct disk_io *io, uint16_t lun, uint64_t lba)
{
	const struct disk_facts *f = &io->disk->facts.disk;
	bool is_write = io->op == DISK_WRITE;
	struct scsi_cmd *c = &io->cmd;
	uint32_t len = slice(io, (uint32_t)least(io->len - io->at, f->transfer_max), f->block_size);
	struct scsi_args args = { .lba = lba,
				  .len = len / f->block_size,
				  .flags = io->is_fua && f->has_fua && is_write ? FUA : 0 };
	bool is_small = args.lba + args.len <= UINT32_MAX && args.len <= UINT16_MAX;
	enum scsi_op op = is_write ? (is_small ? SCSI_WRITE_10 : SCSI_WRITE_16)
				   : (is_small ? SCSI_READ_10 : SCSI_READ_16);
	struct sg *sg = c->sg;
	uint32_t nsg = c->nsg;
	if (!len)
		return -EINVAL;
	int r = scsi_cmd_set(c, lun, op, &args, NULL, 0);
	c->sg = sg;
	c->nsg = nsg;
	c->len = len;
	c->is_write = is_write;
	c->is_read = !is_write;
	return r;
}

// One descriptor [SBC-4 5.35].
static int set_unmap(struct disk_io *io, uint16_t lun, uint64_t lba)
{
	const struct disk_facts *f = &io->disk->facts.disk;
	struct scsi_args args = { .len = sizeof io->unmap };
	uint64_t len = least(io->len - io->at, f->unmap_max);
	memset(io->unmap, 0, sizeof io->unmap);
	put_be16(io->unmap, 22);
	put_be16(io->unmap + 2, 16);
	put_be64(io->unmap + 8, lba);
	put_be32(io->unmap + 16, (uint32_t)(len / f->block_size));
	io->part_len = len;
	return scsi_cmd_set(&io->cmd, lun, SCSI_UNMAP, &args, io->unmap, sizeof io->unmap);
}

static int set_zeroes(struct disk_io *io, uint16_t lun, uint64_t lba)
{
	const struct disk *d = io->disk;
	const struct disk_facts *f = &d->facts.disk;
	uint64_t len = least(io->len - io->at, f->zeroes_max);
	bool unmaps = d->facts.has_write_same && f->is_thin && !io->may_not_unmap;
	struct scsi_args args = { .lba = lba,
				  .len = (uint32_t)(len / f->block_size),
				  .flags = unmaps ? UNMAP_BIT : 0 };
	io->part_len = len;
	return scsi_cmd_set(&io->cmd, lun, SCSI_WRITE_SAME_16, &args, d->zeroes, f->block_size);
}

static int set_flush(struct disk_io *io, uint16_t lun, uint64_t lba)
{
	return scsi_cmd_set(&io->cmd, lun, SCSI_SYNCHRONIZE_CACHE_10, NULL, NULL, 0);
}

// The target says how far its answer goes.
static int set_extents(struct disk_io *io, uint16_t lun, uint64_t lba)
{
	struct scsi_args args = { .lba = lba, .len = io->sg->len };
	int r = scsi_cmd_set(&io->cmd, lun, SCSI_GET_LBA_STATUS, &args, io->sg->addr, io->sg->len);
	io->cmd.sg = io->sg;
	io->part_len = io->len;
	return r;
}

static void extents_done(struct disk_io *io, uint32_t len)
{
	io->extents = facts_extents(&io->disk->facts.disk, io->sg->addr, len, io->offset, io->len);
}

static int (*const setters[DISK_OP_COUNT])(struct disk_io *io, uint16_t lun, uint64_t lba) = {
	[DISK_READ] = set_transfer, [DISK_WRITE] = set_transfer,      [DISK_FLUSH] = set_flush,
	[DISK_UNMAP] = set_unmap,   [DISK_WRITE_ZEROES] = set_zeroes, [DISK_EXTENTS] = set_extents,
};

static int set_command(struct disk_io *io, uint16_t lun)
{
	const struct disk_facts *f = &io->disk->facts.disk;
	if (io->is_flushing)
		return set_flush(io, lun, 0);
	int r = setters[io->op](io, lun, (io->offset + io->at) / f->block_size);
	if (io->op == DISK_READ || io->op == DISK_WRITE)
		io->part_len = io->cmd.len;
	return r;
}

static bool is_change(const struct disk_io *io)
{
	return io->op != DISK_READ && io->op != DISK_FLUSH && io->op != DISK_EXTENTS;
}

static bool is_denied(const struct disk *d, const struct disk_io *io)
{
	return reservation_is_taken(d) && is_change(io);
}

static bool send(struct disk *d, struct disk_io *io)
{
	if (is_denied(d, io)) {
		complete(io, -EBADE);
		return true;
	}
	if (fence_blocks(d, io)) {
		list_remove(&io->link);
		list_push_back(&d->fencing, &io->link);
		return true;
	}
	struct disk_path *p = select_path(d);
	if (!p)
		return false;
	int r = set_command(io, p->config.lun);
	if (r) {
		complete(io, -EINVAL);
		return true;
	}
	io->cmd.is_once = true;
	io->cmd.done = on_done;
	io->cmd.arg = io;
	io->path = p;
	r = scsi_cmd_submit(p->session, &io->cmd);
	if (r) // the session ends: its state follows
		return r != -ENOTCONN && r != -ECANCELED && r != -ESTALE
			       ? (complete(io, r == -ESTALE ? r : -EIO), true)
			       : false;
	list_remove(&io->link);
	list_push_back(&p->flying, &io->link);
	io->since_ns = worker_now(d->worker);
	select_begin(p, io);
	return true;
}

static void on_pump(struct defer *defer)
{
	struct disk *d = container_of(defer, struct disk, pump);
	if (!d->is_ready || d->is_closing)
		return;
	while (!list_empty(&d->queue) && send(d, io_of(d->queue.next)))
		;
}

void io_pump_later(struct disk *d)
{
	worker_defer(d->worker, &d->pump, on_pump);
}

// --- the end of a command ---

// The command did its part; another one follows, or the request is done.
static void part_done(struct disk_io *io)
{
	const struct disk_facts *f = &io->disk->facts.disk;
	struct disk_path *p = io->path;
	p->info.bytes_read += io->op == DISK_READ ? io->cmd.len : 0;
	p->info.bytes_written += io->op == DISK_WRITE ? io->cmd.len : 0;
	io->tries = io->losses = 0;
	if (p->disk->notices && (io->op == DISK_WRITE || io->op == DISK_WRITE_ZEROES))
		notice_written(p->disk);
	if (io->op == DISK_FLUSH || io->is_flushing) {
		complete(io, 0);
		return;
	}
	if (io->op == DISK_EXTENTS)
		extents_done(io, io->cmd.data_len);
	io->at += io->part_len;
	if (io->at < io->len) {
		again(io);
	} else if (io->is_fua && f->has_write_cache &&
		   (!f->has_fua || io->op == DISK_WRITE_ZEROES)) {
		io->is_flushing = true;
		again(io);
	} else {
		complete(io, 0);
	}
}

static void retry(struct disk_io *io, int res)
{
	if (++io->tries < TRIES_MAX)
		again(io);
	else
		complete(io, res);
}

static void wait_busy(struct disk_io *io, int res)
{
	if (worker_now(io->disk->worker) - io->begin_ns < BUSY_SECONDS * NS_PER_SEC)
		later(io);
	else
		complete(io, res);
}

// --- sense data ---

enum action { FAIL, RECOVERED, RETRY, WAIT, CHECK_RETRY, CHECK_ALL, CHECK_WAIT, LEAVE, MISSING };

// The first matching row applies; asc and ascq -1: any.
static const struct {
	int key, asc, ascq;
	enum action action;
	int res;
} sense_rows[] = {
	// clang-format off
	{0x1, -1, -1, RECOVERED, -EIO},
	{0x2, 0x04, 0x01, WAIT, -EIO},	       // becoming ready
	{0x2, 0x04, 0x0a, CHECK_WAIT, -EIO},   // ALUA: transition
	{0x2, 0x04, 0x0b, LEAVE, -EIO},	       // standby
	{0x2, 0x04, 0x0c, LEAVE, -EIO},	       // unavailable
	{0x2, 0x3a, -1, FAIL, -ENOMEDIUM},
	{0x2, -1, -1, WAIT, -EIO},
	{0x3, -1, -1, FAIL, -ENODATA},
	{0x4, -1, -1, RETRY, -EIO},
	{0x5, 0x20, 0x00, MISSING, -EOPNOTSUPP},
	{0x5, 0x24, 0x00, MISSING, -EOPNOTSUPP},
	{0x5, 0x26, -1, MISSING, -EOPNOTSUPP},
	{0x5, 0x25, 0x00, LEAVE, -EIO},	       // no such LUN
	{0x5, 0x21, -1, FAIL, -EINVAL},
	{0x5, -1, -1, FAIL, -EIO},
	{0x6, 0x2a, 0x06, CHECK_ALL, -EIO},    // ALUA: the state of a group, of any path
	{0x6, 0x2a, 0x07, CHECK_ALL, -EIO},
	{0x6, 0x2a, -1, CHECK_RETRY, -EIO},    // capacity, parameters
	{0x6, -1, -1, RETRY, -EIO},
	{0x7, 0x27, 0x07, FAIL, -ENOSPC},
	{0x7, 0x20, -1, FAIL, -EACCES},
	{0x7, -1, -1, FAIL, -EROFS},
	{0xb, -1, -1, RETRY, -EIO},
	{-1, -1, -1, FAIL, -EIO},
	// clang-format on
};

static bool is_complete(const struct disk_io *io)
{
	const struct scsi_cmd *c = &io->cmd;
	if (io->op == DISK_EXTENTS)
		return true; // as much as there is
	return c->is_read ? c->data_len == c->len : !(c->is_under || c->is_over);
}

static void act(struct disk_io *io, enum action a, int res)
{
	struct disk_path *p = io->path;
	if (a == CHECK_RETRY || a == CHECK_WAIT || a == LEAVE)
		check_begin(p);
	if (a == CHECK_ALL)
		check_states(p->disk);
	if (a == LEAVE && p->state == DISK_PATH_UP)
		path_set_state(p, DISK_PATH_CHECKING, NULL);
	bool is_needed = io->op != DISK_FLUSH && io->op != DISK_EXTENTS;
	if (a == MISSING)
		io->cmd.data_len = 0;
	if (a == FAIL || (a == MISSING && is_needed))
		complete(io, res);
	else if (a == MISSING || (a == RECOVERED && is_complete(io)))
		part_done(io); // MISSING: no cache, no such command, nothing told of extents
	else if (a == WAIT || a == CHECK_WAIT)
		wait_busy(io, res);
	else if (a == LEAVE)
		wait_busy(io, res);
	else
		retry(io, res);
}

static void note_sense(struct disk_path *p, const struct scsi_sense *s)
{
	if (s->key == 0x6)
		notice_attention(p, s->asc, s->ascq);
	else if (s->key == 0x7 && s->asc == 0x27 && s->ascq == 0x07)
		notice_set(p->disk, DISK_SPACE_EXHAUSTED);
}

static void judge_sense(struct disk_io *io)
{
	struct scsi_sense s;
	if (!scsi_sense_parse(io->cmd.sense, io->cmd.sense_len, &s)) {
		retry(io, -EIO);
		return;
	}
	note_sense(io->path, &s);
	for (size_t i = 0; i < sizeof sense_rows / sizeof *sense_rows; i++) {
		if ((sense_rows[i].key >= 0 && sense_rows[i].key != s.key) ||
		    (sense_rows[i].asc >= 0 && sense_rows[i].asc != s.asc) ||
		    (sense_rows[i].ascq >= 0 && sense_rows[i].ascq != s.ascq))
			continue;
		// A deferred error is of an earlier command: this one was not executed.
		act(io,
		    s.is_deferred && sense_rows[i].action == FAIL ? RETRY : sense_rows[i].action,
		    sense_rows[i].res);
		return;
	}
}

static void judge_status(struct disk_io *io)
{
	const struct scsi_cmd *c = &io->cmd;
	if (scsi_cmd_is_good(c)) {
		if (is_complete(io))
			part_done(io);
		else
			retry(io, -EIO);
	} else if (c->status == SCSI_BUSY || c->status == SCSI_TASK_SET_FULL) {
		wait_busy(io, -EIO);
	} else if (c->status == SCSI_RESERVATION_CONFLICT && reservation_conflict(io->path)) {
		check_begin(io->path);
		retry(io, -EBADE);
	} else if (c->status == SCSI_RESERVATION_CONFLICT) {
		notice_set(io->disk, DISK_RESERVATION_CONFLICT);
		complete(io, -EBADE);
	} else if (c->status == SCSI_CHECK_CONDITION) {
		judge_sense(io);
	} else {
		retry(io, -EIO);
	}
}

// A session that ends whenever the command is sent ends because of it, most likely: no login helps.
// Or the target dies again and again, for which requests wait if they are to wait without end.
static bool ends_sessions(struct disk_io *io)
{
	if (io->disk->config.no_path_retry == DISK_QUEUE_FOREVER)
		return false;
	bool is_short = io->cmd.is_unanswered && path_is_new(io->path);
	io->losses = is_short ? io->losses + 1 : 0;
	return io->losses == LOSSES_MAX;
}

// The command was not answered.
static void judge_loss(struct disk_io *io)
{
	struct disk *d = io->disk;
	int res = io->cmd.res;
	if (io->cmd.is_unanswered)
		fence_note(io);
	if (d->is_closing) {
		complete(io, -ESHUTDOWN);
	} else if (d->is_stale) {
		complete(io, -ESTALE);
	} else if (res == -ENOMEM) {
		wait_busy(io, -ENOMEM);
	} else if (ends_sessions(io)) {
		complete(io, -EIO);
	} else if (res == -ENOTCONN || res == -ESHUTDOWN || res == -ECANCELED || res == -ESTALE) {
		io->path->info.failovers++;
		again(io);
	} else {
		retry(io, res == -ETIMEDOUT ? res : -EIO);
	}
	if (!disk_has_path(d))
		d->events->paths_changed(d);
}

static void on_done(struct scsi_cmd *c)
{
	struct disk_io *io = c->arg;
	struct disk_path *p = io->path;
	select_end(p, io);
	if (c->res || !scsi_cmd_is_good(c))
		p->info.errors++;
	if (c->res)
		judge_loss(io);
	else
		judge_status(io);
	if (p->disk->is_closing && !p->flying_count)
		p->disk->events->idle(p->disk);
}

// --- the border ---

static int check(const struct disk *d, const struct disk_io *io)
{
	const struct disk_facts *f = &d->facts.disk;
	uint64_t size = f->blocks * f->block_size;
	if (d->is_closing)
		return -ESHUTDOWN;
	if (d->is_stale)
		return -ESTALE;
	if (io->op >= DISK_OP_COUNT)
		return -EOPNOTSUPP;
	if (d->fails_at_once)
		return -ENOTCONN;
	if (io->op == DISK_FLUSH)
		return 0;
	if (is_change(io) && (f->is_read_only || d->config.is_read_only))
		return -EROFS;
	if ((io->op == DISK_UNMAP && !f->unmap_max) ||
	    (io->op == DISK_WRITE_ZEROES && !f->zeroes_max))
		return -EOPNOTSUPP;
	if (!io->len || io->offset > size || io->len > size - io->offset ||
	    (io->offset | io->len) & (f->block_size - 1))
		return -EINVAL;
	return 0;
}

void disk_submit(struct disk *d, struct disk_io *io)
{
	io->disk = d;
	io->path = NULL;
	io->at = io->part_len = 0;
	io->tries = io->losses = 0;
	io->is_flushing = false;
	io->begin_ns = worker_now(d->worker);
	io->res = check(d, io);
	bool ends = io->res || (io->op == DISK_FLUSH && !d->facts.disk.has_write_cache);
	if (!io->res && io->op == DISK_EXTENTS && !d->facts.disk.is_thin) {
		extents_done(io, 0);
		ends = true;
	}
	list_push_back(ends ? &d->over : &d->queue, &io->link);
	if (ends)
		worker_defer(d->worker, &d->over_defer, io_over);
	else
		io_pump_later(d);
}

// Requests that end without a command.
void io_over(struct defer *defer)
{
	struct disk *d = container_of(defer, struct disk, over_defer);
	struct list over;
	list_init(&over);
	list_splice_back(&over, &d->over);
	while (!list_empty(&over))
		complete(io_of(over.next), io_of(over.next)->res);
}

void io_on_delay(struct timer *t)
{
	struct disk *d = container_of(t, struct disk, delay);
	list_splice_back(&d->queue, &d->delayed);
	io_pump_later(d);
}
