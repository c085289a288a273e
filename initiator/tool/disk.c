// SPDX-License-Identifier: BSD-2-Clause
// A logical unit as a range of bytes: capacity, and copies in commands of 1 MiB or a given size,
// several at a time. SBC-4 5.15, 5.16, 6.6.3. Sizes from the target are checked before use.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/tool/tool.h"
#include "transport/wire/be.h"

#define CHUNK_MOST	    (1u << 24)
#define CHUNK_DEFAULT	    (1u << 20)
#define PIPELINE	    8 // commands at a time
#define KEY_ILLEGAL_REQUEST 5

void tool_cmd_text(struct scsi_sync *y, const struct scsi_cmd *c, char *ret, size_t size)
{
	struct err why = { 0 };
	// The cause of the end of the session or, for a rejected command, of the connection.
	if (c->res == -ENOTCONN || c->res == -EPROTO || c->res == -ESTALE)
		scsi_sync_why(y, &why);
	if (why.code)
		snprintf(ret, size, "%s%s", why.text,
			 c->res == -ESTALE ? " (--allow-replaced continues)" : "");
	else
		scsi_cmd_text(c, ret, size);
}

int tool_run(struct scsi_sync *y, struct scsi_sync_cmd *c, enum scsi_op op, struct err *e)
{
	char text[240];
	scsi_sync_run(y, c);
	if (scsi_cmd_is_good(&c->cmd) && !(c->cmd.is_write && c->cmd.is_under))
		return 0;
	if (scsi_cmd_is_good(&c->cmd))
		return err_set(e, -EPROTO, "%s: GOOD, but %u of %u bytes of its data were not read",
			       scsi_op_name(op), c->cmd.residual, c->cmd.len);
	tool_cmd_text(y, &c->cmd, text, sizeof text);
	return err_set(e, c->cmd.res ? c->cmd.res : -EIO, "%s: %s", scsi_op_name(op), text);
}

// --- capacity ---

int tool_data_in(struct scsi_sync *y, uint16_t lun, enum scsi_op op, const struct scsi_args *args,
		 uint8_t *data, uint32_t size, uint32_t *ret_len, struct err *e)
{
	struct scsi_sync_cmd c;
	memset(data, 0, size);
	int r = scsi_cmd_set(&c.cmd, lun, op, args, data, size);
	if (r)
		return err_set(e, r, "%s: invalid parameters", scsi_op_name(op));
	r = tool_run(y, &c, op, e);
	*ret_len = r ? 0 : c.cmd.data_len;
	return r;
}

static int capacity(struct tool_disk *d, struct err *e)
{
	uint8_t b[32];
	uint32_t n;
	uint64_t last;
	struct scsi_args args = { .len = sizeof b };
	if (!tool_data_in(d->sync, d->lun, SCSI_READ_CAPACITY_16, &args, b, sizeof b, &n, e) &&
	    n >= 12) {
		last = get_be64(b);
		d->block_size = get_be32(b + 8);
		d->is_thin = n > 14 && b[14] & 0x80;
	} else {
		int r = tool_data_in(d->sync, d->lun, SCSI_READ_CAPACITY_10, NULL, b, 8, &n, e);
		if (r)
			return r;
		if (n < 8)
			return err_set(e, -EPROTO, "READ CAPACITY: short answer: %u bytes", n);
		if (get_be32(b) == UINT32_MAX) // refers to READ CAPACITY(16)
			return err_set(e, -EPROTO,
				       "READ CAPACITY: no number of blocks: READ CAPACITY(10) "
				       "refers to READ CAPACITY(16), which has no valid answer");
		last = get_be32(b);
		d->block_size = get_be32(b + 4);
	}
	if (d->block_size < 512 || d->block_size > 65536 || d->block_size & (d->block_size - 1))
		return err_set(e, -EPROTO, "READ CAPACITY: unsupported block size: %u bytes",
			       d->block_size);
	if (last >= INT64_MAX / d->block_size)
		return err_set(e, -EPROTO, "READ CAPACITY: invalid last block: %lu",
			       (unsigned long)last);
	d->blocks = last + 1;
	return 0;
}

// MAXIMUM TRANSFER LENGTH of the Block Limits page, if present.
static void limits(struct tool_disk *d)
{
	uint8_t b[64];
	uint32_t n, most = 0;
	struct err ignored;
	struct scsi_args args = { .len = sizeof b, .flags = 1, .page = 0xb0 };
	d->chunk_max = CHUNK_MOST;
	if (!tool_data_in(d->sync, d->lun, SCSI_INQUIRY, &args, b, sizeof b, &n, &ignored) &&
	    n >= 12 && b[1] == 0xb0)
		most = get_be32(b + 8);
	if (most && most < CHUNK_MOST / d->block_size)
		d->chunk_max = most * d->block_size;
	d->chunk = d->chunk_max < CHUNK_DEFAULT ? d->chunk_max : CHUNK_DEFAULT;
}

// The size of --bs, else d->chunk unchanged.
static int chunk(const struct tool *t, struct tool_disk *d, struct err *e)
{
	uint64_t bs = t->o.block_size;
	if (bs == TOOL_UNSET)
		return 0;
	if (!bs || bs % d->block_size || bs > d->chunk_max)
		return err_set(e, -EINVAL, "--bs %lu: must be a multiple of %u, at most %u",
			       (unsigned long)bs, d->block_size, d->chunk_max);
	d->chunk = (uint32_t)bs;
	return 0;
}

int tool_disk_open(struct tool_disk *d, struct scsi_sync *y, uint16_t lun, struct err *e)
{
	struct scsi_sync_cmd c;
	*d = (struct tool_disk){ .sync = y, .lun = lun };
	scsi_cmd_set(&c.cmd, lun, SCSI_TEST_UNIT_READY, NULL, NULL, 0);
	int r = tool_run(y, &c, SCSI_TEST_UNIT_READY, e);
	if (r && scsi_cmd_is_absent(&c.cmd))
		return err_set(e, r, "no LUN %u (the luns command lists them)", lun);
	if (!r)
		r = capacity(d, e);
	if (r)
		return err_prefix(e, "LUN %u", lun), r;
	limits(d);
	return 0;
}

int tool_watch_disk(struct tool *t, struct tool_disk *d)
{
	struct err e;
	int status = tool_open(t, true);
	if (status)
		return status;
	if (scsi_sync_watch(t->sync, t->lun, &e) < 0 || tool_disk_open(d, t->sync, t->lun, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	return TOOL_OK;
}

int tool_open_disk(struct tool *t, struct tool_disk *d)
{
	struct err e;
	int status = tool_watch_disk(t, d);
	if (!status && chunk(t, d, &e) < 0)
		status = tool_fail(TOOL_USAGE, &e);
	return status;
}

int tool_range(const struct tool *t, const struct tool_disk *d, uint64_t *ret_offset,
	       uint64_t *ret_length, struct err *e)
{
	uint64_t size = d->blocks * d->block_size;
	uint64_t offset = t->o.offset == TOOL_UNSET ? 0 : t->o.offset;
	if (offset > size)
		return err_set(e, -EINVAL,
			       "--offset %lu: beyond the end of the logical unit (%lu bytes)",
			       (unsigned long)offset, (unsigned long)size);
	uint64_t length = t->o.length == TOOL_UNSET ? size - offset : t->o.length;
	if (length > size - offset)
		return err_set(e, -EINVAL,
			       "--length %lu: only %lu bytes from offset %lu to the end",
			       (unsigned long)length, (unsigned long)(size - offset),
			       (unsigned long)offset);
	*ret_offset = offset;
	*ret_length = length;
	return 0;
}

// --- transferring data ---

struct slot {
	struct scsi_sync_cmd c;
	uint8_t *buf;
	uint64_t offset;
	uint32_t len, used; // used: bytes from the caller, without the rest of a last block
	bool is_out;
};

struct mover {
	struct tool_disk *d;
	const struct tool_io *io;
	struct slot slots[PIPELINE];
	unsigned head, count;
	uint64_t next, done;
	bool is_at_end;
};

static int submit(struct mover *m, struct slot *s)
{
	struct tool_disk *d = m->d;
	struct scsi_args args = { .lba = s->offset / d->block_size, .len = s->len / d->block_size };
	bool is_small = args.lba + args.len <= UINT32_MAX && args.len <= UINT16_MAX;
	enum scsi_op op = m->io->is_write ? (is_small ? SCSI_WRITE_10 : SCSI_WRITE_16)
					  : (is_small ? SCSI_READ_10 : SCSI_READ_16);
	int r = scsi_cmd_set(&s->c.cmd, d->lun, op, &args, s->buf, s->len);
	if (r)
		return r;
	scsi_sync_submit(d->sync, &s->c);
	s->is_out = true;
	m->count++;
	return 0;
}

// The rest of a block that the caller's data fills partly.
static int complete_block(struct mover *m, struct slot *s, struct err *e)
{
	uint32_t size = m->d->block_size, part = s->used % size, n;
	s->len = s->used;
	if (!part)
		return 0;
	uint8_t *block = malloc(size);
	struct scsi_args args = { .lba = (s->offset + s->used) / size, .len = 1 };
	if (!block)
		return err_set(e, -ENOMEM, "out of memory");
	int r = tool_data_in(m->d->sync, m->d->lun, SCSI_READ_16, &args, block, size, &n, e);
	if (!r && n != size)
		r = err_set(e, -EPROTO, "READ: short read: %u of %u bytes", n, size);
	if (!r) {
		memcpy(s->buf + s->used, block + part, size - part);
		s->len += size - part;
	}
	free(block);
	return r;
}

static int begin(struct mover *m, struct slot *s, struct err *e)
{
	uint64_t left = m->io->bytes - m->next;
	s->offset = m->io->offset + m->next;
	s->used = s->len = (uint32_t)(left < m->d->chunk ? left : m->d->chunk);
	if (m->io->is_write) {
		int64_t n = m->io->give(m->io->arg, s->offset, s->buf, s->len, e);
		if (n == -ECANCELED) { // commands in flight still count
			m->is_at_end = true;
			return 0;
		}
		if (n < 0)
			return (int)n;
		m->is_at_end = (uint64_t)n < s->len;
		s->used = (uint32_t)n;
		int r = complete_block(m, s, e);
		if (r)
			return r;
	}
	if (!s->len)
		return 0;
	m->next += s->used;
	int r = submit(m, s);
	return r ? err_set(e, r, "command: invalid range") : 0;
}

static int finish(struct mover *m, struct slot *s, bool is_wanted, struct err *e)
{
	char text[240];
	scsi_sync_wait(&s->c);
	s->is_out = false;
	m->count--;
	if (!is_wanted)
		return 0;
	const struct scsi_cmd *c = &s->c.cmd;
	if (!scsi_cmd_is_good(c)) {
		tool_cmd_text(m->d->sync, c, text, sizeof text);
		return err_set(e, c->res ? c->res : -EIO, "%s of %u bytes at %lu: %s",
			       m->io->is_write ? "WRITE" : "READ", s->len, (unsigned long)s->offset,
			       text);
	}
	if (!m->io->is_write && c->data_len != s->len)
		return err_set(e, -EPROTO, "READ at %lu: short read: %u of %u bytes",
			       (unsigned long)s->offset, c->data_len, s->len);
	if (m->io->is_write && (c->is_under || c->is_over))
		return err_set(e, -EPROTO, "WRITE at %lu: short write: %u of %u bytes not written",
			       (unsigned long)s->offset, c->residual, s->len);
	int64_t r = m->io->take ? m->io->take(m->io->arg, s->offset, s->buf, s->len, e) : 0;
	if (r < 0)
		return (int)r;
	m->done += s->used;
	tool_progress(m->io->done + m->done);
	return 0;
}

static int move(struct mover *m, struct err *e)
{
	int r = 0;
	while (!r) {
		struct slot *s = &m->slots[(m->head + m->count) % PIPELINE];
		m->is_at_end |= tool_interrupted();
		if (m->count < PIPELINE && m->next < m->io->bytes && !m->is_at_end) {
			r = begin(m, s, e);
			continue;
		}
		if (!m->count)
			break;
		s = &m->slots[m->head];
		m->head = (m->head + 1) % PIPELINE;
		r = finish(m, s, true, e);
	}
	return r;
}

int64_t tool_io_run(struct tool_disk *d, const struct tool_io *io, struct err *e)
{
	struct mover *m = calloc(1, sizeof *m);
	struct tool_memory *memory = NULL;
	struct err ignored;
	int r = m ? tool_memory_new(&memory, (size_t)PIPELINE * d->chunk, e)
		  : err_set(e, -ENOMEM, "out of memory");
	if (r) {
		free(m);
		return r;
	}
	m->d = d;
	m->io = io;
	for (unsigned i = 0; i < PIPELINE; i++)
		m->slots[i].buf = tool_memory_at(memory, (size_t)i * d->chunk);
	r = move(m, e);
	if (!r && tool_interrupted())
		r = err_set(e, -ECANCELED, "interrupted");
	for (unsigned i = 0; i < PIPELINE; i++)
		if (m->slots[i].is_out)
			finish(m, &m->slots[i], false, &ignored);
	int64_t done = (int64_t)m->done;
	tool_memory_free(memory);
	free(m);
	return r ? r : done;
}

int tool_read_blocks(struct tool_disk *d, uint64_t first, uint64_t last, tool_take *take, void *arg,
		     struct err *e)
{
	struct tool_io io = { .take = take, .arg = arg };
	if (first == last)
		return 0;
	io.offset = first / d->block_size * d->block_size;
	io.bytes = (last + d->block_size - 1) / d->block_size * d->block_size - io.offset;
	int64_t n = tool_io_run(d, &io, e);
	return n < 0 ? (int)n : 0;
}

int tool_flush(struct tool_disk *d, struct err *e)
{
	struct scsi_sync_cmd c;
	struct scsi_sense s;
	scsi_cmd_set(&c.cmd, d->lun, SCSI_SYNCHRONIZE_CACHE_10, NULL, NULL, 0);
	int r = tool_run(d->sync, &c, SCSI_SYNCHRONIZE_CACHE_10, e);
	if (r && !c.cmd.res && scsi_sense_parse(c.cmd.sense, c.cmd.sense_len, &s) &&
	    s.key == KEY_ILLEGAL_REQUEST)
		return 0; // no cache, no such command
	return r;
}
