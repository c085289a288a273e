// SPDX-License-Identifier: BSD-2-Clause
// The target's end of a channel, what comes with a command: descriptors are copied, immediate data
// stays in its receive buffer until the command needs it. T10 SRP 6.8; immediate data as Linux has
// it. The connection's worker.
//
// What does not fit into the task is counted as memory that the peer makes us keep.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "transport/srp/target_priv.h"

// --- memory ---

static void *keep(struct srp_channel *ch, uint32_t bytes)
{
	if (ch->kept + bytes > peer_memory_limit(PEER_DATA_OUT))
		return NULL;
	void *ret = malloc(bytes);
	if (!ret)
		return NULL;
	ch->kept += bytes;
	peer_memory_take(PEER_DATA_OUT, bytes);
	return ret;
}

static void forget(struct srp_channel *ch, void *memory, uint32_t bytes)
{
	ch->kept -= bytes;
	peer_memory_give(PEER_DATA_OUT, bytes);
	free(memory);
}

// --- descriptors ---

static int side_copy(struct srp_channel *ch, struct srp_side *s, const struct srp_data *d)
{
	uint32_t bytes = d->count * SRP_DIRECT_LEN;
	s->format = d->format;
	s->len = d->len;
	s->count = d->count;
	s->descs = s->own;
	if (d->count == 1) // of most commands
		memcpy(s->own, d->descs, SRP_DIRECT_LEN);
	if (d->format != SRP_INDIRECT)
		return 0;
	s->table = d->table;
	s->descs = bytes <= sizeof s->own ? s->own : keep(ch, bytes);
	if (!s->descs)
		return -ENOMEM;
	if (bytes)
		memcpy(s->descs, d->descs, bytes);
	return 0;
}

void srpc_side_free(struct srp_channel *ch, struct srp_side *s)
{
	if (s->descs != s->own)
		forget(ch, s->descs, s->count * SRP_DIRECT_LEN);
	s->descs = s->own;
	s->count = 0;
}

int srpc_sides_copy(struct srp_channel *ch, struct srp_side *out, struct srp_side *in,
		    const struct srp_command *c)
{
	int r = side_copy(ch, out, &c->out);
	if (r < 0)
		return r;
	r = side_copy(ch, in, &c->in);
	if (r < 0)
		srpc_side_free(ch, out);
	return r;
}

// --- immediate data ---

void srpc_keep_immediate(struct srp_task *t, const uint8_t *imm)
{
	struct srp_channel *ch = t->channel;
	t->rx = ch->current;
	t->imm = t->rx->data + (imm - t->rx->data);
	ch->current = NULL;
	ch->rx_task = t;
}

static void rx_drop(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	if (ch->rx_task == t)
		ch->rx_task = NULL;
	rnic_rx_put(t->rx);
	t->rx = NULL;
}

void srpc_drop_immediate(struct srp_task *t)
{
	if (!t->imm)
		return;
	if (t->rx) {
		rx_drop(t);
	} else {
		forget(t->channel, t->imm, t->out.len);
	}
	t->imm = NULL;
}

void srpc_give_back(struct srp_task *t)
{
	struct srp_channel *ch = t->channel;
	if (!t->rx->is_scarce)
		return;
	uint32_t n = t->out.len;
	uint8_t *copy = keep(ch, n);
	if (copy)
		rnic_transfer_copy(&ch->transfers, copy, t->imm, n);
	rx_drop(t);
	t->imm = copy; // NULL: srp_get_data() fails
}

void srpc_place_immediate(struct srp_task *t)
{
	const uint8_t *from = t->imm;
	uint32_t left = t->want;
	for (uint32_t i = 0; i < t->nsg && left; i++) {
		uint32_t n = t->sg[i].len < left ? t->sg[i].len : left;
		rnic_transfer_copy(&t->channel->transfers, t->sg[i].addr, from, n);
		from += n;
		left -= n;
	}
}
