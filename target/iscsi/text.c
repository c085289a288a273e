// SPDX-License-Identifier: BSD-2-Clause
// Text Requests in full feature phase: SendTargets, and nothing else to negotiate. RFC 7143 11.10,
// 11.11, appendix C. The connection's worker.
//
// Any peer may send them, so the work and memory of a response are limited. Each connection has one
// request at a time; receiving continues when its response was sent. Responses wait in the worker's
// queue: the first one gets a slice of work per round, until its PDU is complete. The part that
// does not fit into that PDU is built when the peer requests it.
#include "target/iscsi/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/iscsi/discovery.h"
#include "target/iscsi/window.h"
#include "target/iscsi/worker.h"
#include "transport/iscsi/name.h"
#include "transport/iscsi/text.h"
#include "transport/wire/be.h"

#define REQUEST_MAX 8192u
#define HEAD_MAX    8192u
#define PAIR_MAX    512u // TargetName=, TargetAddress= and their longest values
#define SLICE	    256u // steps of target_list_next() in one round
// libiscsi does not support responses of several PDUs, so a PDU is as long as the peer accepts, up
// to this; less if the movers of this worker hold too much unread data.
#define PDU_MAX	   (256u << 10)
#define PDU_SHORT  8192u
#define UNREAD_MAX (4u << 20)
#define PEER_NS	   15000000000ull // for the peer to read a response, or to request the rest

enum text_state {
	TEXT_OPEN,   // the peer must continue its request, or request more of the response
	TEXT_DUE,    // in the worker's queue
	TEXT_UNREAD, // the mover has not sent all of it
};

struct text_exchange {
	struct list turn; // iscsi_worker.texts
	struct conn *conn;
	enum text_state state;
	uint64_t since_ns; // of the state
	uint8_t lun[8], itt[4];
	bool is_final;	   // F of the last request
	bool is_answering; // there is more to send, or the end
	uint32_t ttt;	   // 0: none yet
	char *in;	   // the request so far
	uint32_t in_len;
	char *head; // the answers to other keys, before the list
	uint32_t head_len, head_at;
	struct target_list list;
	char pair[PAIR_MAX];
	uint32_t pair_len, pair_at;
	char *out; // the PDU's data, while it is built
	uint32_t out_len, out_size;
	uint32_t unread;
};

static void set_state(struct text_exchange *x, enum text_state state)
{
	x->state = state;
	x->conn->is_text_busy = state != TEXT_OPEN;
	x->since_ns = worker_now(x->conn->session.worker);
}

void text_drop(struct conn *c)
{
	struct text_exchange *x = c->text;
	if (!x)
		return;
	c->text = NULL;
	c->is_text_busy = false;
	list_remove(&x->turn);
	iscsi_worker()->text_unread -= x->unread;
	target_list_end(&x->list);
	free(x->in);
	free(x->head);
	free(x->out);
	free(x);
}

static struct text_exchange *exchange_new(struct conn *c)
{
	struct text_exchange *x = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	list_init(&x->turn);
	x->conn = c;
	c->text = x;
	return x;
}

// --- sending ---

// len bytes of data. C: more of this text follows; F answers F: to a request that is not final the
// answer is not final either (11.11.1). x may be freed afterwards.
static void respond(struct text_exchange *x, const char *data, uint32_t len, bool has_more)
{
	struct conn *c = x->conn;
	struct iscsi_text_rsp h = { .opcode = ISCSI_OP_TEXT_RSP };
	bool is_last = !has_more && x->is_final;
	h.flags = is_last ? ISCSI_F : has_more ? ISCSI_TEXT_C : 0;
	memcpy(h.lun, x->lun, sizeof h.lun);
	memcpy(h.itt, x->itt, sizeof h.itt);
	if (!is_last && !x->ttt)
		x->ttt = conn_next_ttt(c);
	put_be32(h.ttt, is_last ? ISCSI_TAG_NONE : x->ttt);
	if (is_last)
		x->ttt = 0;
	x->is_answering = has_more;
	x->unread = len;
	iscsi_worker()->text_unread += len;
	set_state(x, TEXT_UNREAD);
	c->dm->ops->pause(c->dm, true);
	conn_send(c, (const uint8_t *)&h, data, len, DM_ADVANCES | DM_WANTS_SENT);
}

bool text_sent(struct conn *c)
{
	struct text_exchange *x = c->text;
	if (!x || x->state != TEXT_UNREAD)
		return false;
	iscsi_worker()->text_unread -= x->unread;
	x->unread = 0;
	set_state(x, TEXT_OPEN);
	if (!x->ttt)
		text_drop(c);
	c->dm->ops->pause(c->dm, false);
	window_run_held(c);
	return true;
}

// --- the response, PDU by PDU ---

// The next bytes: of the head, then pair by pair. 1; 0: no more; or negative.
static int next_bytes(struct text_exchange *x, const char **ret, uint32_t *ret_len, unsigned *steps)
{
	*ret = x->head + x->head_at;
	*ret_len = x->head_len - x->head_at;
	if (*ret_len)
		return 1;
	if (x->pair_at == x->pair_len) {
		struct text_out o;
		text_out_init(&o, x->pair, sizeof x->pair);
		int r = target_list_next(&x->list, x->conn, &o, steps);
		x->pair_len = (uint32_t)o.len;
		x->pair_at = 0;
		if (r <= 0)
			return r;
	}
	*ret = x->pair + x->pair_at;
	*ret_len = x->pair_len - x->pair_at;
	return 1;
}

static void take_bytes(struct text_exchange *x, const char *from, uint32_t n)
{
	memcpy(x->out + x->out_len, from, n);
	x->out_len += n;
	*(x->head_at < x->head_len ? &x->head_at : &x->pair_at) += n;
}

// One slice. 1: the PDU is full and there is more; 0: end of the response; -EAGAIN: another slice.
static int fill_slice(struct text_exchange *x)
{
	unsigned steps = SLICE;
	const char *from;
	uint32_t n;
	int r;
	while ((r = next_bytes(x, &from, &n, &steps)) > 0) {
		uint32_t room = x->out_size - x->out_len;
		if (!room)
			return 1;
		take_bytes(x, from, n < room ? n : room);
	}
	return r;
}

static int out_begin(struct text_exchange *x)
{
	uint32_t most = iscsi_worker()->text_unread > UNREAD_MAX ? PDU_SHORT : PDU_MAX;
	uint32_t peers = x->conn->params.max_send_data;
	x->out_size = peers < most ? peers : most;
	x->out_len = 0;
	x->out = malloc(x->out_size);
	return x->out ? 0 : -ENOMEM;
}

// -EAGAIN: it stays first in the queue. Else x may be freed.
static int serve_slice(struct text_exchange *x)
{
	int r = x->out ? 0 : out_begin(x);
	if (!r)
		r = fill_slice(x);
	if (r == -EAGAIN)
		return r;
	list_remove(&x->turn);
	char *out = x->out;
	x->out = NULL;
	if (r < 0)
		conn_close(x->conn, false, "no memory for a Text Response");
	else
		respond(x, out, x->out_len, r > 0);
	free(out);
	return 0;
}

static void turns_post(struct iscsi_worker *iw);

static void turns_run(struct msg *m)
{
	struct iscsi_worker *iw = container_of(m, struct iscsi_worker, text_msg);
	struct list *first = list_first(&iw->texts);
	iw->is_text_posted = false;
	if (first)
		serve_slice(list_entry(first, struct text_exchange, turn));
	if (!list_empty(&iw->texts))
		turns_post(iw);
}

static void turns_post(struct iscsi_worker *iw)
{
	if (iw->is_text_posted)
		return;
	iw->is_text_posted = true;
	iw->text_msg.fn = turns_run;
	worker_post(iw->worker, &iw->text_msg);
}

static void answer_due(struct text_exchange *x)
{
	struct iscsi_worker *iw = iscsi_worker();
	set_state(x, TEXT_DUE);
	x->conn->dm->ops->pause(x->conn->dm, true);
	list_push_back(&iw->texts, &x->turn);
	turns_post(iw);
}

// --- the request ---

static int say_other_keys(const struct iscsi_key_set *keys, struct text_out *o)
{
	int r = 0;
	for (unsigned i = 0; !r && i < keys->count; i++)
		if (keys->order[i] != ISCSI_KEY_SEND_TARGETS)
			r = text_append(o, iscsi_keys[keys->order[i]].name, "Reject");
	return r;
}

// Whether there is an unknown key that is not an extension.
static bool has_unknown_key(const struct text_exchange *x)
{
	struct text_iter it;
	struct text_pair p;
	text_iter_init(&it, x->in, x->in_len);
	while (text_next(&it, &p) > 0)
		if (iscsi_key_find(p.key, p.key_len) < 0 &&
		    (p.key_len < 2 || p.key[0] != 'X' || (p.key[1] != '-' && p.key[1] != '#')))
			return true;
	return false;
}

// The list for an unknown or hidden name is empty: peers cannot distinguish them.
static int begin_list(struct text_exchange *x, const char *which)
{
	char name[ISCSI_NAME_MAX + 1];
	struct err e;
	if (!strcmp(which, "All") || (!*which && !x->conn->params.is_discovery))
		return target_list_begin(&x->list, x->conn, which);
	if (iscsi_name_normalize(which, strlen(which), name, &e) < 0)
		return -EPROTO;
	int r = target_list_begin(&x->list, x->conn, name);
	if (r == -ENOENT)
		r = iscsi_name_check(name, &e) < 0 ? -EPROTO : 0;
	return r;
}

// How initiators handle a response that is not a list: libiscsi closes the connection, with every
// command on it, at any key except TargetName and TargetAddress; at a Reject it fails only that
// request, as its test suite requires; LIO sends a Reject. open-iscsi sends only SendTargets=All.
// So a request without a list is rejected. Keys of extensions, and other keys beside a list, are
// answered NotUnderstood (RFC 7143 6.2).
static int judge_keys(struct text_exchange *x, const struct iscsi_key_set *keys)
{
	const char *which = keys->value[ISCSI_KEY_SEND_TARGETS];
	if (which)
		return begin_list(x, which);
	return has_unknown_key(x) ? -EPROTO : 0;
}

// The request is complete: prepares the response. -EPROTO, -ENOSPC: reject it.
static int answer_begin(struct text_exchange *x)
{
	struct iscsi_key_set keys;
	struct text_out o;
	struct err e;
	char head[HEAD_MAX];
	text_out_init(&o, head, sizeof head);
	x->head_at = x->head_len = 0;
	free(x->head);
	x->head = NULL;
	target_list_end(&x->list);
	int r = iscsi_keys_collect(x->in, x->in_len, &keys, &o, &e);
	if (!r)
		r = say_other_keys(&keys, &o);
	if (!r)
		r = judge_keys(x, &keys);
	free(x->in);
	x->in = NULL;
	x->in_len = 0;
	if (r || !o.len)
		return r;
	x->head = malloc(o.len);
	if (!x->head)
		return -ENOMEM;
	memcpy(x->head, head, o.len);
	x->head_len = (uint32_t)o.len;
	return 0;
}

static int gather(struct text_exchange *x, const uint8_t *data, uint32_t len, struct err *e)
{
	if (x->in_len + len > REQUEST_MAX)
		return err_set(e, -EPROTO, "Text Request of more than %u bytes", REQUEST_MAX);
	char *grown = realloc(x->in, x->in_len + len + 1);
	if (!grown)
		return err_set(e, -ENOMEM, "no memory for a Text Request");
	if (len)
		memcpy(grown + x->in_len, data, len);
	x->in = grown;
	x->in_len += len;
	return 0;
}

static int request_take(struct text_exchange *x, const struct iscsi_text_req *req,
			const uint8_t *data, uint32_t len, struct err *e)
{
	struct conn *c = x->conn;
	int r = gather(x, data, len, e);
	if (r < 0)
		return r;
	if (req->flags & ISCSI_TEXT_C) {
		respond(x, NULL, 0, false); // an empty response requests the next piece
		return 0;
	}
	r = answer_begin(x);
	if (r == -ENOMEM)
		return err_set(e, r, "no memory for a Text Response");
	if (r < 0) {
		text_drop(c);
		conn_reject(c, ISCSI_REJECT_PROTOCOL, (const uint8_t *)req);
		return 0;
	}
	answer_due(x);
	return 0;
}

int text_request(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		 const uint8_t *data, struct err *e)
{
	const struct iscsi_text_req *req = (const void *)bhs;
	struct text_exchange *x = c->text;
	uint32_t ttt = get_be32(req->ttt);
	// One at a time (RFC 7143 11.10); over TCP a second one is not even received.
	if (c->is_text_busy) {
		conn_reject(c, ISCSI_REJECT_PROTOCOL, bhs);
		return 0;
	}
	if (ttt != ISCSI_TAG_NONE && (!x || ttt != x->ttt)) {
		conn_reject(c, ISCSI_REJECT_INVALID_FIELD, bhs);
		return 0;
	}
	if (ttt == ISCSI_TAG_NONE) {
		text_drop(c); // a new request ends an old one
		x = exchange_new(c);
	}
	if (!x)
		return err_set(e, -ENOMEM, "no memory for a Text Request");
	memcpy(x->lun, req->lun, sizeof x->lun);
	memcpy(x->itt, req->itt, sizeof x->itt);
	x->is_final = req->flags & ISCSI_F;
	if (!x->is_answering)
		return request_take(x, req, data, pdu->data_len, e);
	answer_due(x);
	return 0;
}

void text_tick(struct conn *c, uint64_t now)
{
	const struct text_exchange *x = c->text;
	if (!x || x->state == TEXT_DUE || now < x->since_ns + PEER_NS)
		return;
	if (x->state == TEXT_UNREAD)
		conn_close(c, false, "the peer did not read a Text Response for %u s",
			   (unsigned)(PEER_NS / 1000000000));
	else
		text_drop(c);
}
