// SPDX-License-Identifier: BSD-2-Clause
// Bytes into the target's mover, with a role that does what the commands' CDBs say. Byte 0: what
// was negotiated; byte 1: how the bytes are cut into sends; then PDUs, each a header and as many
// bytes as it tells of (or as are left), with right digests unless byte 3 of a header is 0xff.
// What must hold: one answer to each get_data, one release for each put_data, and no task left.
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/worker.h"
#include "transport/iscsi/digest.h"
#include "transport/iscsi/dm_up.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_DIGEST = 1, DATA_DIGEST = 2, INITIAL_R2T = 4, NO_IMMEDIATE = 8, SMALL = 16 };
enum { FETCH = 0, FETCH_LATER = 1, ANSWER = 2, ABORT = 3 }; // CDB byte 0, two bits
enum { BUFFER = 64 << 10 };

struct cmd {
	struct list link;
	struct dm_result result;
	struct sg sg[2];
	uint8_t *buffer;
	uint32_t len, data_in;
	unsigned plan;
	uint32_t piece; // where the second one of its data-in begins; 0: there is one
	bool wants_fetch, is_fetching, is_sending, is_ended;
	struct dm_task dm; // the mover's room is behind it
};

struct role {
	struct worker *w;
	struct dm *dm;
	struct dm_sns sns;
	struct list cmds;
	int fd;
	uint8_t how;
	sem_t over;
	struct msg free_msg;
};

static struct cmd *cmd_of(struct dm_task *t)
{
	return container_of(t, struct cmd, dm);
}

static void cmd_end(struct role *r, struct cmd *c, bool has_status)
{
	if (c->is_ended || (has_status && c->is_sending))
		return;
	if (has_status && c->piece) {
		c->is_sending = true;
		c->data_in -= c->piece;
		r->dm->ops->put_part(r->dm, &c->dm, c->sg, 2, c->piece);
		return;
	}
	c->is_ended = true;
	c->result = (struct dm_result){ .sg = c->sg, .nsg = 2, .data_len = c->data_in };
	r->dm->ops->put_data(r->dm, &c->dm, has_status ? &c->result : NULL);
}

static void cmd_fetch(struct role *r, struct cmd *c)
{
	c->wants_fetch = false;
	c->is_fetching = true;
	r->dm->ops->get_data(r->dm, &c->dm, c->sg, 2, c->len);
}

// One of the waiting ones continues.
static void go_on(struct role *r)
{
	list_for_each (it, &r->cmds) {
		struct cmd *c = list_entry(it, struct cmd, link);
		if (!c->wants_fetch)
			continue;
		cmd_fetch(r, c);
		return;
	}
}

static struct dm_task *on_command(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
				  const uint8_t *ahs)
{
	struct role *r = dm->role;
	const struct iscsi_scsi_cmd *h = (const void *)bhs;
	struct iscsi_ahs_info info;
	if (iscsi_ahs_parse(ahs, pdu->ahs_len, &info, NULL))
		return NULL;
	struct cmd *c = calloc(1, sizeof *c + dm->task_size);
	c->buffer = malloc(BUFFER);
	memset(c->buffer, 0, BUFFER);
	dm_task_init(&c->dm, bhs);
	list_push_back(&r->cmds, &c->link);
	uint32_t edtl = get_be32(h->edtl);
	c->len = c->dm.expected_out < BUFFER ? c->dm.expected_out : BUFFER;
	c->data_in = h->flags & ISCSI_CMD_R ? (edtl < BUFFER ? edtl : BUFFER) : 0;
	uint32_t first = get_be16(h->cdb + 2);
	c->piece = first < c->data_in ? first : 0;
	c->sg[0] = (struct sg){ .addr = c->buffer, .len = first };
	c->sg[1] = (struct sg){ .addr = c->buffer + first, .len = BUFFER - first };
	c->plan = c->len ? h->cdb[0] & 3 : h->cdb[0] & 3 ? h->cdb[0] & 3 : ANSWER;
	return &c->dm;
}

static void on_begin(struct dm *dm, struct dm_task *t)
{
	struct role *r = dm->role;
	struct cmd *c = cmd_of(t);
	go_on(r);
	switch (c->plan) {
	case FETCH:
		cmd_fetch(r, c);
		break;
	case FETCH_LATER:
		c->wants_fetch = c->len != 0;
		if (!c->len)
			cmd_end(r, c, true);
		break;
	case ANSWER:
		cmd_end(r, c, true);
		break;
	default:
		cmd_end(r, c, false);
	}
}

static int on_control(struct dm *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		      const uint8_t *data, struct err *e)
{
	struct role *r = dm->role;
	uint8_t sum = 0;
	for (uint32_t i = 0; data && i < pdu->data_len; i++)
		sum ^= data[i];
	go_on(r);
	if (pdu->opcode == ISCSI_OP_TMF_REQ)
		list_for_each_safe (it, &r->cmds)
			cmd_end(r, list_entry(it, struct cmd, link), false);
	uint8_t rsp[ISCSI_BHS_LEN] = { ISCSI_OP_NOP_IN, ISCSI_F, sum };
	memcpy(rsp + 16, bhs + 16, 4);
	dm->ops->send(dm, rsp, data, data ? pdu->data_len : 0, DM_ADVANCES | DM_WANTS_SENT);
	if (pdu->opcode != ISCSI_OP_LOGOUT_REQ)
		return 0;
	return err_set(e, -ESHUTDOWN, "logout");
}

static void on_data(struct dm *dm, struct dm_task *t, int res)
{
	struct cmd *c = cmd_of(t);
	if (!c->is_fetching || c->is_ended)
		abort();
	c->is_fetching = false;
	cmd_end(dm->role, c, true);
}

static void on_part(struct dm *dm, struct dm_task *t, int res)
{
	struct cmd *c = cmd_of(t);
	if (!c->is_sending || c->is_ended)
		abort();
	c->is_sending = false;
	c->piece = 0;
	cmd_end(dm->role, c, !res);
}

static void on_released(struct dm *dm, struct dm_task *t)
{
	struct cmd *c = cmd_of(t);
	if (!c->is_ended)
		abort();
	list_remove(&c->link);
	free(c->buffer);
	free(c);
}

static void on_sent(struct dm *dm)
{
}

static void on_free(struct msg *m)
{
	struct role *r = container_of(m, struct role, free_msg);
	if (!list_empty(&r->cmds))
		abort();
	r->dm->ops->free(r->dm);
	sem_post(&r->over);
}

static void on_closed(struct dm *dm, const struct err *e)
{
	struct role *r = dm->role;
	if (!e->code)
		abort();
	for (struct list *l; (l = list_first(&r->cmds));) {
		struct cmd *c = list_entry(l, struct cmd, link);
		c->is_ended = true;
		dm->ops->put_data(dm, &c->dm, NULL); // also what has an answer that did not leave
	}
	worker_post(r->w, &r->free_msg);
}

static void begin(void *arg)
{
	struct role *r = arg;
	struct iscsi_params p;
	struct err e;
	if (dm_tcp_new(&r->dm, r->w, r->fd, &up, r, &e) < 0)
		abort();
	r->dm->sns = &r->sns;
	iscsi_params_init(&p);
	p.header_digest = r->how & HEADER_DIGEST;
	p.data_digest = r->how & DATA_DIGEST;
	p.initial_r2t = r->how & INITIAL_R2T;
	p.immediate_data = !(r->how & NO_IMMEDIATE);
	p.max_recv_data = 8192;
	p.max_outstanding_r2t = 4;
	p.max_burst = r->how & SMALL ? 512 : 16384;
	p.first_burst = r->how & SMALL ? 512 : 8192;
	p.max_send_data = r->how & SMALL ? 512 : 8192;
	r->dm->ops->full_feature(r->dm, &p);
}

static size_t put(uint8_t *to, const uint8_t *from, size_t len)
{
	memcpy(to, from, len);
	return len;
}

// The PDUs of the input as they would travel.
static size_t seal(uint8_t how, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t n = 0;
	while (size >= ISCSI_BHS_LEN) {
		size_t header = ISCSI_BHS_LEN + in[4] * 4u, data = get_be24(in + 5);
		uint8_t spoil = in[3] == 0xff;
		header = header < size ? header : size;
		data = data < size - header ? data : size - header;
		n += put(out + n, in, header);
		if (how & HEADER_DIGEST) {
			digest_header(in, header, out + n);
			out[n] ^= spoil && !(how & DATA_DIGEST);
			n += ISCSI_DIGEST_LEN;
		}
		n += put(out + n, in + header, data);
		memset(out + n, 0, 3);
		n += -data & 3;
		if (how & DATA_DIGEST && data) {
			uint32_t crc = digest_update(ISCSI_CRC_START, in + header, data);
			digest_put(digest_update_pad(crc, data), out + n);
			out[n] ^= spoil;
			n += ISCSI_DIGEST_LEN;
		}
		in += header + data;
		size -= header + data;
	}
	return n + put(out + n, in, size);
}

static void drain(int fd, int flags)
{
	char bin[4096];
	while (recv(fd, bin, sizeof bin, flags) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct worker *w;
	struct worker_options o = { .name = "fuzz", .cpu = -1 };
	struct err e;
	if (!w && (worker_new(&w, &o, &e) < 0 || worker_start(w, &e) < 0))
		abort();
	if (size < 2 || size > 65536)
		return 0;
	int fds[2];
	struct role r = { .w = w, .how = data[0], .free_msg.fn = on_free };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		abort();
	list_init(&r.cmds);
	sem_init(&r.over, 0, 0);
	r.fd = fds[0];
	worker_call(w, begin, &r);
	uint8_t *wire = malloc(size * 2 + 64);
	size_t left = seal(r.how, data + 2, size - 2, wire), step = data[1] ? data[1] * 16u : left;
	for (uint8_t *at = wire; left; at += step, left -= step) {
		step = step < left ? step : left;
		if (send(fds[1], at, step, MSG_NOSIGNAL) < 0)
			break;
		drain(fds[1], MSG_DONTWAIT);
	}
	shutdown(fds[1], SHUT_WR);
	drain(fds[1], 0);
	while (sem_wait(&r.over) < 0)
		; // EINTR: a fuzzer's alarm
	sem_destroy(&r.over);
	close(fds[1]);
	free(wire);
	return 0;
}
