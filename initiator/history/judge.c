// SPDX-License-Identifier: BSD-2-Clause
// The order of a block's values, and who breaks it. Gibbons and Korach, Testing shared memories
// (1997): a history of unique values is linearizable if no two values come before each other.
#include <string.h>

#include "initiator/history/history_priv.h"

struct value *history_add(struct history *h, struct block *b)
{
	uint32_t i = h->free_value;
	if (i == NONE || b->count >= HISTORY_VALUES_MAX)
		return NULL;
	h->free_value = h->values[i].next;
	h->values[i].next = b->values;
	b->values = i;
	b->count++;
	return &h->values[i];
}

// Whether it has certainly taken effect; others are in nobody's way.
static bool has_effect(const struct value *v)
{
	return v->took != NEVER;
}

static bool is_acknowledged(const struct value *v)
{
	return v->end != NEVER && v->outcome == HISTORY_OK;
}

static bool is_open(const struct value *v)
{
	return v->end != NEVER && v->outcome == HISTORY_UNKNOWN;
}

static bool is_before(const struct value *a, const struct value *b)
{
	return a->took < b->latest || (is_open(a) && is_acknowledged(b) && a->end < b->begin) ||
	       (a->end < b->begin && a->outcome != HISTORY_UNKNOWN);
}

// The newest value that a read of v from start on contradicts, or NULL.
static const struct value *newer_than(const struct history *h, const struct block *b,
				      const struct value *v, uint64_t start)
{
	const struct value *newest = NULL;
	for (uint32_t i = b->values; i != NONE; i = h->values[i].next) {
		const struct value *other = &h->values[i];
		if (other == v || !has_effect(other) || other->took >= start ||
		    !is_before(v, other))
			continue;
		if (!newest || other->seq > newest->seq)
			newest = other;
	}
	return newest;
}

// --- pruning ---

// Whether a newer value has made it impossible to read v, for every read that has not ended.
static bool is_over(const struct history *h, const struct block *b, const struct value *v)
{
	uint64_t start = b->reads ? b->oldest_read : NEVER;
	// What is to go has to be out of every read's reach itself, as it covers older ones.
	if (v->end == NEVER || (has_effect(v) && v->took >= start))
		return false;
	return newer_than(h, b, v, start);
}

void history_prune(struct history *h, struct block *b)
{
	uint32_t over[HISTORY_VALUES_MAX];
	unsigned n = 0;
	if (b->count < 2)
		return;
	for (uint32_t i = b->values; i != NONE; i = h->values[i].next)
		if (is_over(h, b, &h->values[i]))
			over[n++] = i;
	uint32_t *at = &b->values;
	for (unsigned k = 0; k < n;) {
		uint32_t i = *at;
		if (i != over[k]) {
			at = &h->values[i].next;
			continue;
		}
		*at = h->values[i].next;
		h->values[i].next = h->free_value;
		h->free_value = i;
		b->count--;
		k++;
	}
}

// --- verdicts ---

static struct history_stamp stamp_of(const struct history *h, uint64_t block, const struct value *v)
{
	struct history_stamp s = { 0 };
	if (!v || !v->seq)
		return s;
	s = (struct history_stamp){ .magic = HISTORY_MAGIC,
				    .disk = h->config.disk,
				    .block = block,
				    .writer = v->writer,
				    .seq = v->seq,
				    .time_ns = v->begin };
	s.check = history_stamp_check(&s);
	return s;
}

static void report(struct history *h, struct history_violation *v, const struct value *newer)
{
	v->newer = stamp_of(h, v->block, newer);
	if (newer)
		v->newer_end_ns = newer->took;
	h->violations++;
	if (h->config.violation)
		h->config.violation(h->config.arg, v);
}

// What was read counts as the only value from now on, beside writes under way.
static void accept(struct history *h, struct block *b, const struct history_stamp *s, uint64_t now)
{
	for (uint32_t *at = &b->values; *at != NONE;) {
		struct value *v = &h->values[*at];
		uint32_t i = *at;
		if (v->end == NEVER && v->seq != s->seq) {
			at = &v->next;
			continue;
		}
		*at = v->next;
		v->next = h->free_value;
		h->free_value = i;
		b->count--;
	}
	b->seen_seq = s->seq;
	struct value *v = history_add(h, b);
	if (v)
		*v = (struct value){ .seq = s->seq,
				     .writer = s->writer,
				     .begin = s->time_ns,
				     .end = now,
				     .latest = now,
				     .took = now,
				     .outcome = HISTORY_OK,
				     .is_seen = true,
				     .next = v->next };
}

static struct value *find(const struct history *h, const struct block *b, uint64_t seq)
{
	for (uint32_t i = b->values; i != NONE; i = h->values[i].next)
		if (h->values[i].seq == seq)
			return &h->values[i];
	return NULL;
}

// The newest of those with an effect.
static const struct value *newest(const struct history *h, const struct block *b)
{
	const struct value *found = NULL;
	for (uint32_t i = b->values; i != NONE; i = h->values[i].next)
		if (has_effect(&h->values[i]) && (!found || h->values[i].seq > found->seq))
			found = &h->values[i];
	return found;
}

// Takes the read into v's operations. Returns a value that the read contradicts, or NULL.
static const struct value *take(const struct history *h, struct block *b, struct value *v,
				uint64_t start, uint64_t end)
{
	if (start > v->latest)
		v->latest = start;
	if (end < v->took)
		v->took = end;
	if (v->end != NEVER && v->outcome == HISTORY_FAILED && v->end < v->took)
		v->took = v->end;
	v->is_seen = true;
	const struct value *newer = newer_than(h, b, v, v->latest);
	if (!newer && v->seq > b->seen_seq)
		b->seen_seq = v->seq;
	return newer;
}

static bool judge_stamp(struct history *h, struct history_violation *v)
{
	struct block *b = &h->blocks[v->block];
	struct value *shown = find(h, b, v->old.seq);
	const struct value *newer = NULL;
	if (v->old.seq > h->seq || (shown && shown->begin > v->read_end_ns)) {
		v->kind = HISTORY_GARBAGE;
		report(h, v, newest(h, b));
		return false;
	}
	if (shown) {
		bool was_seen = shown->seq < b->seen_seq;
		newer = take(h, b, shown, v->read_start_ns, v->read_end_ns);
		if (!newer)
			return true;
		v->kind = was_seen ? HISTORY_CAME_BACK : HISTORY_LOST;
		v->old_end_ns = shown->end == NEVER ? 0 : shown->end;
		v->old_was_unknown = is_open(shown);
	} else {
		v->kind = v->old.seq < b->seen_seq ? HISTORY_CAME_BACK : HISTORY_LOST;
		newer = newest(h, b);
	}
	report(h, v, newer);
	accept(h, b, &v->old, v->read_end_ns);
	return false;
}

bool history_judge(struct history *h, uint64_t block, uint64_t start, uint64_t end,
		   const void *data)
{
	struct history_violation v = { .block = block, .read_start_ns = start, .read_end_ns = end };
	const struct history_stamp *s = &v.old;
	bool is_stamp = history_stamp_read(data, h->config.block_size, &v.old);
	if (is_stamp && (!s->magic || (s->disk == h->config.disk && s->block == block)))
		return judge_stamp(h, &v);
	v.kind = is_stamp ? HISTORY_MISPLACED : HISTORY_GARBAGE;
	report(h, &v, newest(h, &h->blocks[block]));
	return false;
}

bool history_judge_write(struct history *h, uint64_t block, struct value *v)
{
	struct block *b = &h->blocks[block];
	bool counts = v->outcome == HISTORY_OK || (v->outcome == HISTORY_FAILED && v->is_seen);
	if (counts && v->end < v->took)
		v->took = v->end;
	if (!has_effect(v))
		return true;
	// What was read while this was under way, after this had been read, may be older than this.
	for (uint32_t i = b->values; i != NONE; i = h->values[i].next) {
		const struct value *old = &h->values[i];
		if (old == v || !has_effect(old) || !is_before(old, v) || !is_before(v, old))
			continue;
		struct history_violation bad = { .kind = HISTORY_CAME_BACK,
						 .block = block,
						 .old = stamp_of(h, block, old),
						 .old_end_ns = old->end == NEVER ? 0 : old->end,
						 .old_was_unknown = is_open(old),
						 .read_start_ns = old->latest,
						 .read_end_ns = v->end };
		report(h, &bad, v);
		accept(h, b, &bad.old, v->end);
		return false;
	}
	return true;
}

unsigned history_legal(const struct history *h, uint64_t block, uint64_t now_ns, uint64_t *ret_seq,
		       unsigned max)
{
	const struct block *b = &h->blocks[block];
	unsigned n = 0;
	for (uint32_t i = b->values; i != NONE; i = h->values[i].next) {
		const struct value *v = &h->values[i];
		if (v->begin > now_ns || newer_than(h, b, v, now_ns))
			continue;
		if (n < max)
			ret_seq[n] = v->seq;
		n++;
	}
	return n;
}
