// SPDX-License-Identifier: BSD-2-Clause
// Answers on a channel of discovery. The list is made at the first request, in a buffer of the pool
// that is kept for further ones. Lists are made one after the other, a slice in each round: any
// number of peers may ask.
#include <errno.h>
#include <string.h>

#include "target/srp/discovery_priv.h"
#include "target/srp/residual.h"

#define GROWTH 4    // of the page
#define SLICE  256u // targets in one round

static struct request *request_of(struct list *link)
{
	return list_entry(link, struct request, link);
}

// ---- answers ----

static void put(struct request *r, const struct srp_result *result)
{
	if (r->is_put)
		return;
	r->is_put = true;
	srp_put_data(&r->srp, result); // r may be gone
}

// wanted: bytes of data-in that the command would transfer.
static void answer(struct request *r, uint8_t status, uint32_t wanted)
{
	struct task t = { .wanted = wanted, .expected_out = r->out_len, .expected_in = r->in_len };
	struct sg *sg = &r->discovery->sg;
	r->result.status = status;
	r->result.sg = sg;
	r->result.nsg = 1;
	r->result.data_len = wanted < r->in_len ? wanted : r->in_len;
	residual_set(&r->result, &t, false);
	put(r, &r->result);
}

static void answer_list(struct request *r)
{
	uint32_t len = r->discovery->sg.len;
	answer(r, STATUS_GOOD, len < r->most ? len : r->most);
}

static void refuse(struct request *r, uint32_t sense_code)
{
	r->result.sense = r->sense;
	r->result.sense_len = sense_encode(r->sense, sense_code, NULL, false);
	answer(r, STATUS_CHECK_CONDITION, 0);
}

// ---- the list ----

// The page is full: -ENOBUFS without memory for a larger one, -ENOSPC if no page is larger.
static int grow(struct discovery *d)
{
	if (d->buf->size >= SRP_LIST_MAX)
		return -ENOSPC;
	struct buf *b = buf_get(d->session.worker, d->buf->size * GROWTH);
	if (!b)
		return -ENOBUFS;
	memcpy(b->addr, d->buf->addr, d->listing.out.len);
	srp_list_move(&d->listing.out, b->addr, b->size);
	buf_put(d->buf);
	d->buf = b;
	return 0;
}

// 0: another slice follows. 1: it is complete. -ENOBUFS.
static int continue_list(struct discovery *d)
{
	const struct listing_query q = { d->initiator, &d->peer, &d->local, d->transport };
	int r = listing_continue(&d->listing, d->view, &q, SLICE);
	if (r == -ENOSPC)
		r = grow(d);
	if (!r || r == -ENOBUFS)
		return r;
	d->sg.addr = d->buf->addr;
	d->sg.len = srp_list_end(&d->listing.out, r < 0);
	return 1;
}

static int begin_list(struct discovery *d)
{
	d->buf = buf_get(d->session.worker, BUF_MIN);
	if (!d->buf)
		return -ENOBUFS;
	d->listing = (struct listing){ 0 };
	srp_list_begin(&d->listing.out, d->buf->addr, d->buf->size);
	return 0;
}

static void take_turn(struct discovery *d);

static void on_memory(struct buf_wait *w)
{
	take_turn(container_of(w, struct discovery, wait));
}

// One slice of the list; the last one, or the lack of memory, ends its turn.
static void serve_slice(struct discovery *d)
{
	int r = d->buf ? 0 : begin_list(d);
	if (!r)
		r = continue_list(d);
	if (!r)
		return;
	list_remove(&d->turn);
	if (r < 0) {
		buf_wait_add(d->session.worker, &d->wait, on_memory);
		return;
	}
	list_for_each_safe (it, &d->requests)
		if (!request_of(it)->is_put)
			answer_list(request_of(it));
}

static void turns_post(struct srp_worker *sw);

static void turns_run(struct msg *m)
{
	struct srp_worker *sw = container_of(m, struct srp_worker, turns_msg);
	struct list *first = list_first(&sw->turns);
	sw->is_turns_posted = false;
	if (first)
		serve_slice(list_entry(first, struct discovery, turn));
	if (!list_empty(&sw->turns))
		turns_post(sw);
}

static void turns_post(struct srp_worker *sw)
{
	if (sw->is_turns_posted)
		return;
	sw->is_turns_posted = true;
	sw->turns_msg.fn = turns_run;
	worker_post(sw->worker, &sw->turns_msg);
}

static void take_turn(struct discovery *d)
{
	if (list_linked(&d->turn))
		return;
	list_push_back(&srp_worker()->turns, &d->turn);
	turns_post(srp_worker());
}

// ---- commands ----

void discovery_answer(struct request *r)
{
	if (r->sense_code)
		refuse(r, r->sense_code);
	else if (r->discovery->sg.len)
		answer_list(r);
	else
		take_turn(r->discovery);
}

void discovery_drop(struct discovery *d)
{
	list_remove(&d->turn);
	buf_wait_cancel(&d->wait);
	list_for_each_safe (it, &d->requests)
		put(request_of(it), NULL);
}
