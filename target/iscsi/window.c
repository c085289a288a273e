// SPDX-License-Identifier: BSD-2-Clause
// The order of CmdSNs. RFC 7143 4.2.2.1.
#include "target/iscsi/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/peer_memory.h"
#include "target/iscsi/cmd.h"
#include "transport/wire/be.h"

#define HELD_BYTES_MAX (512u << 10) // of the data of PDUs that came before their turn

uint64_t window_turn_ns = 1000000; // as long as a mover receives from a connection in one round

// Where sn is held, or where it would have to be inserted.
static struct list *held_place(struct conn *c, uint32_t sn)
{
	struct list *at = c->held.next;
	while (at != &c->held && serial32_lt(list_entry(at, struct held_pdu, link)->cmd_sn, sn))
		at = at->next;
	return at;
}

static bool is_held(const struct conn *c, const struct list *at, uint32_t sn)
{
	return at != &c->held && list_entry(at, struct held_pdu, link)->cmd_sn == sn;
}

enum window_order window_look(struct conn *c, const uint8_t *bhs, bool is_immediate)
{
	uint32_t sn = get_be32(((const struct iscsi_scsi_cmd *)(const void *)bhs)->cmd_sn);
	if (is_immediate)
		return WINDOW_TAKE;
	// Outside the window, or there already: dropped without a word.
	if (!serial32_in(sn, c->sns.exp_cmd_sn, c->sns.max_cmd_sn))
		return WINDOW_DROP;
	if (c->held_count && is_held(c, held_place(c, sn), sn))
		return WINDOW_DROP;
	return sn == c->sns.exp_cmd_sn ? WINDOW_TAKE : WINDOW_HOLD;
}

enum window_order window_order(struct conn *c, const uint8_t *bhs, bool is_immediate)
{
	enum window_order order = window_look(c, bhs, is_immediate);
	c->sns.exp_cmd_sn += order == WINDOW_TAKE && !is_immediate;
	return order;
}

// Bytes of data that c may still hold.
static uint64_t held_room(const struct conn *c)
{
	uint64_t most = peer_memory_limit(PEER_ANSWERS);
	most = most < HELD_BYTES_MAX ? most : HELD_BYTES_MAX;
	return most > c->held_bytes ? most - c->held_bytes : 0;
}

static struct held_pdu *held_new(struct conn *c, uint32_t sn, uint32_t data_len)
{
	if (data_len > held_room(c))
		return NULL;
	struct held_pdu *h = calloc(1, sizeof *h + data_len);
	if (!h)
		return NULL;
	peer_memory_take(PEER_ANSWERS, sizeof *h + data_len);
	h->cmd_sn = sn;
	h->data_len = data_len;
	c->held_bytes += data_len;
	if (!c->held_count)
		c->held_ns = worker_now(c->session.worker);
	list_insert_before(held_place(c, sn), &h->link);
	c->held_count++;
	return h;
}

static void held_free(struct held_pdu *h)
{
	peer_memory_give(PEER_ANSWERS, sizeof *h + h->data_len);
	free(h);
}

int window_hold(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct cmd *cmd)
{
	uint32_t sn = get_be32(((const struct iscsi_scsi_cmd *)(const void *)bhs)->cmd_sn);
	struct held_pdu *h = held_new(c, sn, data ? pdu->data_len : 0);
	if (!h)
		return -ENOMEM;
	h->cmd = cmd;
	h->pdu = *pdu;
	memcpy(h->bhs, bhs, sizeof h->bhs);
	if (data)
		memcpy(h->data, data, pdu->data_len);
	else
		h->pdu.data_len = cmd ? pdu->data_len : 0;
	return 0;
}

int window_skip(struct conn *c, uint32_t sn)
{
	if (is_held(c, held_place(c, sn), sn))
		return -EEXIST;
	struct held_pdu *h = held_new(c, sn, 0);
	if (!h)
		return -ENOMEM;
	h->is_aborted = true;
	window_run_held(c);
	return 0;
}

static void held_again(struct msg *m)
{
	struct conn *c = container_of(m, struct conn, held_msg);
	c->is_held_posted = false;
	window_run_held(c);
	conn_release(c);
}

static void held_post(struct conn *c)
{
	if (c->is_held_posted)
		return;
	c->is_held_posted = true;
	c->held_msg.fn = held_again;
	conn_hold(c);
	worker_post(c->session.worker, &c->held_msg);
}

void window_run_held(struct conn *c)
{
	uint64_t until = clock_ns() + window_turn_ns;
	while (c->session.state == SESSION_LIVE && !c->when_idle && !c->is_text_busy) {
		struct list *l = list_first(&c->held);
		struct held_pdu *h = l ? list_entry(l, struct held_pdu, link) : NULL;
		if (!h || h->cmd_sn != c->sns.exp_cmd_sn)
			return;
		c->sns.exp_cmd_sn++;
		list_remove(&h->link);
		c->held_count--;
		c->held_bytes -= h->data_len;
		c->held_ns = worker_now(c->session.worker);
		c->run_held(c, h);
		held_free(h);
		if (clock_ns() >= until) {
			held_post(c);
			return;
		}
	}
}

void window_unhold(struct conn *c, struct cmd *cmd)
{
	cmd->is_held = false;
	// Its place in the window is free when its number's turn has come, not before.
	cmd->is_counted = false;
	c->inflight--;
	list_for_each (it, &c->held) {
		struct held_pdu *h = list_entry(it, struct held_pdu, link);
		if (h->cmd != cmd)
			continue;
		h->cmd = NULL;
		h->is_aborted = true;
		return;
	}
}

void window_drop_held(struct conn *c)
{
	for (struct list *l; (l = list_pop_front(&c->held));)
		held_free(list_entry(l, struct held_pdu, link));
	c->held_count = c->held_bytes = 0;
}

void window_widen(struct conn *c)
{
	if (!c->is_narrow)
		return;
	c->is_narrow = false;
	c->sns.max_cmd_sn += c->window - c->dm->first_window;
}
