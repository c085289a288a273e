// SPDX-License-Identifier: BSD-2-Clause
// See reader.h. SBC-4 5.16.
#include "initiator/tool/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 4 };

struct slot {
	struct scsi_sync_cmd c;
	uint8_t *buf;
	uint64_t offset;
	uint32_t len;
};

struct reader {
	struct tool_disk *d;
	struct tool_memory *memory;
	uint64_t next, end;
	uint32_t chunk;
	unsigned head, count;
	struct slot slots[AHEAD];
};

static void fill(struct reader *r)
{
	while (r->count < AHEAD && r->next < r->end && !tool_interrupted()) {
		struct slot *s = &r->slots[(r->head + r->count) % AHEAD];
		uint64_t left = r->end - r->next;
		s->offset = r->next;
		s->len = (uint32_t)(left < r->chunk ? left : r->chunk);
		struct scsi_args args = { .lba = s->offset / r->d->block_size,
					  .len = s->len / r->d->block_size };
		scsi_cmd_set(&s->c.cmd, r->d->lun, SCSI_READ_16, &args, s->buf, s->len);
		scsi_sync_submit(r->d->sync, &s->c);
		r->next += s->len;
		r->count++;
	}
}

int reader_new(struct reader **ret, struct tool_disk *d, uint64_t offset, uint64_t bytes,
	       uint32_t chunk, struct err *e)
{
	struct reader *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(e, -ENOMEM, "out of memory");
	r->d = d;
	r->next = offset;
	r->end = offset + bytes;
	r->chunk = chunk;
	int res = tool_memory_new(&r->memory, (size_t)AHEAD * chunk, e);
	if (res) {
		free(r);
		return res;
	}
	for (unsigned i = 0; i < AHEAD; i++)
		r->slots[i].buf = tool_memory_at(r->memory, (size_t)i * chunk);
	fill(r);
	*ret = r;
	return 0;
}

int64_t reader_take(struct reader *r, uint8_t *buf, uint32_t len, struct err *e)
{
	char text[240];
	if (!r->count)
		return err_set(e, -ECANCELED, "interrupted");
	struct slot *s = &r->slots[r->head];
	const struct scsi_cmd *c = &s->c.cmd;
	scsi_sync_wait(&s->c);
	r->head = (r->head + 1) % AHEAD;
	r->count--;
	if (!scsi_cmd_is_good(c)) {
		tool_cmd_text(r->d->sync, c, text, sizeof text);
		return err_set(e, c->res ? c->res : -EIO, "READ of %u bytes at %lu: %s", s->len,
			       (unsigned long)s->offset, text);
	}
	if (c->data_len != s->len || s->len != len)
		return err_set(e, -EPROTO, "READ at %lu: short read: %u of %u bytes",
			       (unsigned long)s->offset, c->data_len, len);
	memcpy(buf, s->buf, len);
	fill(r);
	return len;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	for (; r->count; r->count--) {
		scsi_sync_wait(&r->slots[r->head].c);
		r->head = (r->head + 1) % AHEAD;
	}
	tool_memory_free(r->memory);
	free(r);
}
