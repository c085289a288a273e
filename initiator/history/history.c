// SPDX-License-Identifier: BSD-2-Clause
// Operations of a history: begin, end, and the memory of values. Bounded by history_new(). See
// history.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/history/history_priv.h"

enum { VALUES_PER_BLOCK = 4, VALUES_SPARE = 65536, BLOCK_SIZE_MAX = 65536 };

static int check_config(const struct history_config *c, struct err *e)
{
	if (!c->block_size || c->block_size % HISTORY_STAMP_LEN || c->block_size > BLOCK_SIZE_MAX)
		return err_set(e, -EINVAL, "history: block size %u: not a multiple of %u up to %u",
			       c->block_size, HISTORY_STAMP_LEN, BLOCK_SIZE_MAX);
	if (!c->blocks || c->blocks > UINT32_MAX / (2 * VALUES_PER_BLOCK))
		return err_set(e, -EINVAL, "history: %llu blocks: none, or too many",
			       (unsigned long long)c->blocks);
	if (!c->ops_max || c->ops_max > INT32_MAX)
		return err_set(e, -EINVAL, "history: %u operations: none, or too many", c->ops_max);
	return 0;
}

// Each block has been written with zeros before the beginning.
static void begin_blocks(struct history *h)
{
	for (uint64_t i = 0; i < h->config.blocks; i++) {
		h->blocks[i].values = NONE;
		struct value *v = history_add(h, &h->blocks[i]);
		*v = (struct value){ .next = v->next, .outcome = HISTORY_OK };
	}
}

static void link_free(struct history *h, uint32_t values)
{
	for (uint32_t i = 0; i < values; i++)
		h->values[i].next = i + 1 < values ? i + 1 : NONE;
	for (uint32_t i = 0; i < h->config.ops_max; i++)
		h->ops[i].next = i + 1 < h->config.ops_max ? i + 1 : NONE;
}

int history_new(struct history **ret, const struct history_config *config, struct err *e)
{
	int r = check_config(config, e);
	if (r)
		return r;
	uint32_t values = (uint32_t)config->blocks * VALUES_PER_BLOCK + VALUES_SPARE;
	struct history *h = calloc(1, sizeof *h);
	if (!h)
		return err_set(e, -ENOMEM, "history: no memory");
	h->config = *config;
	h->blocks = calloc(config->blocks, sizeof *h->blocks);
	h->values = calloc(values, sizeof *h->values);
	h->ops = calloc(config->ops_max, sizeof *h->ops);
	if (!h->blocks || !h->values || !h->ops) {
		history_free(h);
		return err_set(e, -ENOMEM, "history: no memory for %llu blocks",
			       (unsigned long long)config->blocks);
	}
	link_free(h, values);
	begin_blocks(h);
	*ret = h;
	return 0;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	free(h->blocks);
	free(h->values);
	free(h->ops);
	free(h);
}

// Whether each block of a write has room for one value more.
static bool has_room(const struct history *h, uint64_t block, uint32_t count)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < count; i++)
		if (h->blocks[block + i].count >= HISTORY_VALUES_MAX)
			return false;
	for (uint32_t i = h->free_value; i != NONE && n < count; i = h->values[i].next)
		n++;
	return n == count;
}

static int begin(struct history *h, uint64_t block, uint32_t count, uint64_t now)
{
	uint32_t op = h->free_op;
	if (!count || count > HISTORY_SPAN_MAX || block >= h->config.blocks ||
	    count > h->config.blocks - block || !now || now == NEVER)
		return -EINVAL;
	if (op == NONE)
		return -EBUSY;
	h->free_op = h->ops[op].next;
	h->ops[op] =
		(struct operation){ .block = block, .start = now, .count = count, .is_used = true };
	return (int)op;
}

static void add_stamp(struct history *h, uint64_t block, uint64_t writer, uint64_t now, void *data)
{
	struct value *v = history_add(h, &h->blocks[block]);
	struct history_stamp s = { .magic = HISTORY_MAGIC,
				   .disk = h->config.disk,
				   .block = block,
				   .writer = writer,
				   .seq = h->seq,
				   .time_ns = now };
	*v = (struct value){ .seq = h->seq,
			     .writer = writer,
			     .begin = now,
			     .end = NEVER,
			     .latest = now,
			     .took = NEVER,
			     .next = v->next };
	s.check = history_stamp_check(&s);
	history_stamp_fill(data, h->config.block_size, &s);
}

int history_write(struct history *h, uint64_t block, uint32_t count, uint64_t writer,
		  uint64_t now_ns, void *data)
{
	int op = begin(h, block, count, now_ns);
	if (op < 0)
		return op;
	if (!has_room(h, block, count)) {
		h->ops[op].is_used = false;
		h->ops[op].next = h->free_op;
		h->free_op = (uint32_t)op;
		return -EBUSY;
	}
	h->ops[op].seq = ++h->seq;
	for (uint32_t i = 0; i < count; i++)
		add_stamp(h, block + i, writer, now_ns,
			  (uint8_t *)data + (size_t)i * h->config.block_size);
	return op;
}

int history_read(struct history *h, uint64_t block, uint32_t count, uint64_t now_ns)
{
	int op = begin(h, block, count, now_ns);
	for (uint32_t i = 0; op >= 0 && i < count; i++) {
		struct block *b = &h->blocks[block + i];
		if (!b->reads++)
			b->oldest_read = now_ns;
	}
	return op;
}

static unsigned end_write(struct history *h, const struct operation *op,
			  enum history_outcome outcome, uint64_t now)
{
	unsigned bad = 0;
	for (uint32_t i = 0; i < op->count; i++) {
		struct block *b = &h->blocks[op->block + i];
		uint32_t at = b->values;
		while (at != NONE && h->values[at].seq != op->seq)
			at = h->values[at].next;
		if (at == NONE)
			continue;
		struct value *v = &h->values[at];
		v->end = now;
		v->outcome = (uint8_t)outcome;
		bad += !history_judge_write(h, op->block + i, v);
		history_prune(h, b);
	}
	return bad;
}

static unsigned end_read(struct history *h, const struct operation *op,
			 enum history_outcome outcome, uint64_t now, const uint8_t *data)
{
	unsigned bad = 0;
	for (uint32_t i = 0; i < op->count; i++) {
		struct block *b = &h->blocks[op->block + i];
		if (outcome == HISTORY_OK)
			bad += !history_judge(h, op->block + i, op->start, now,
					      data + (size_t)i * h->config.block_size);
		b->reads--;
		history_prune(h, b);
	}
	return bad;
}

unsigned history_end(struct history *h, int op, enum history_outcome outcome, uint64_t now_ns,
		     const void *data)
{
	if (op < 0 || (uint32_t)op >= h->config.ops_max || !h->ops[op].is_used)
		return 0;
	struct operation *o = &h->ops[op];
	unsigned bad =
		o->seq ? end_write(h, o, outcome, now_ns) : end_read(h, o, outcome, now_ns, data);
	o->is_used = false;
	o->next = h->free_op;
	h->free_op = (uint32_t)op;
	return bad;
}

uint64_t history_violations(const struct history *h)
{
	return h->violations;
}
