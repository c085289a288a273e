// SPDX-License-Identifier: BSD-2-Clause
// Stamps of blocks, and violations in words. Pure functions. See history.h.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "initiator/history/history_priv.h"

static_assert(sizeof(struct history_stamp) == HISTORY_STAMP_LEN, "a stamp's length");

static uint64_t mix(uint64_t x, uint64_t y)
{
	x = (x ^ y) * 0x9e3779b97f4a7c15u;
	return x ^ (x >> 29);
}

uint64_t history_stamp_check(const struct history_stamp *s)
{
	uint64_t x = mix(s->magic, s->disk);
	x = mix(x, s->block);
	x = mix(x, s->writer);
	x = mix(x, s->seq);
	return mix(mix(x, s->time_ns), s->reserved);
}

void history_stamp_fill(void *data, uint32_t block_size, const struct history_stamp *s)
{
	for (uint32_t i = 0; i < block_size; i += HISTORY_STAMP_LEN)
		memcpy((uint8_t *)data + i, s, HISTORY_STAMP_LEN);
}

bool history_stamp_read(const void *data, uint32_t block_size, struct history_stamp *ret)
{
	static const struct history_stamp zeros;
	struct history_stamp s;
	memcpy(&s, data, sizeof s);
	for (uint32_t i = sizeof s; i < block_size; i += sizeof s)
		if (memcmp((const uint8_t *)data + i, &s, sizeof s) != 0)
			return false;
	if (memcmp(&s, &zeros, sizeof s) != 0 &&
	    (s.magic != HISTORY_MAGIC || s.check != history_stamp_check(&s) || !s.seq))
		return false;
	*ret = s;
	return true;
}

const char *history_kind_name(enum history_kind kind)
{
	static const char *const names[] = {
		[HISTORY_CAME_BACK] = "came-back",
		[HISTORY_LOST] = "lost",
		[HISTORY_MISPLACED] = "misplaced",
		[HISTORY_GARBAGE] = "garbage",
	};
	return names[kind];
}

static double seconds(uint64_t ns, uint64_t zero)
{
	return ns > zero ? (double)(ns - zero) / 1e9 : 0;
}

void history_text(const struct history_violation *v, uint64_t zero_ns, char text[HISTORY_TEXT_MAX])
{
	snprintf(text, HISTORY_TEXT_MAX,
		 "%s: block %llu: read from %.6f to %.6f s: has write %llu of writer %llu, begun "
		 "%.6f, ended %.6f%s; should have write %llu of writer %llu, begun %.6f, effective "
		 "by %.6f",
		 history_kind_name(v->kind), (unsigned long long)v->block,
		 seconds(v->read_start_ns, zero_ns), seconds(v->read_end_ns, zero_ns),
		 (unsigned long long)v->old.seq, (unsigned long long)v->old.writer,
		 seconds(v->old.time_ns, zero_ns), seconds(v->old_end_ns, zero_ns),
		 v->old_was_unknown ? " (unknown outcome)" : "", (unsigned long long)v->newer.seq,
		 (unsigned long long)v->newer.writer, seconds(v->newer.time_ns, zero_ns),
		 seconds(v->newer_end_ns, zero_ns));
}
