// SPDX-License-Identifier: BSD-2-Clause
// A target in a test, on the same worker as the initiator: a loopback listener whose connections
// log in by the target's side of the login engine, or by a script of the test, and pass every later
// PDU to the test.
#pragma once

#include "core/worker_util.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "initiator/iscsi/initiator.h"
#include "transport/iscsi/login.h"
#include "transport/wire/be.h"

#define IQN "iqn.2003-01.org.example:disk"
#define ME  "iqn.1993-08.org.debian:01:abc"

enum { FAKE_IN_MAX = 1 << 20, FAKE_CONNS = 64 };

struct fake;

struct fake_conn {
	struct fake *f;
	struct watch watch;
	int fd, number; // in the order of arrival, from 0
	bool is_logged_in;
	struct login *login;
	uint32_t stat_sn, exp_cmd_sn, max_cmd_sn;
	uint8_t *in;
	size_t in_len;
};

struct fake {
	struct worker *w;
	struct watch listener;
	struct tcp_addr addr;
	struct fake_conn conns[FAKE_CONNS];
	int count;
	struct login_terms terms;
	bool has_terms;
	int status;	 // of admit
	uint32_t window; // commands
	// Instead of the login engine.
	void (*login)(struct fake_conn *c, const uint8_t *bhs, const char *text, uint32_t len);
	// Every PDU after the login.
	void (*pdu)(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data, uint32_t len);
	int seen[64]; // PDUs by opcode, of all connections
	int step;     // for the test
};

static inline void fake_say(struct fake_conn *c, const void *bhs, const void *data, uint32_t len)
{
	static uint8_t pdu[48 + 65536 + 4];
	size_t whole = 48 + ((len + 3) & ~3u);
	memset(pdu, 0, whole);
	memcpy(pdu, bhs, 48);
	put_be24(pdu + 5, len);
	if (len)
		memcpy(pdu + 48, data, len);
	if (c->fd >= 0 && write(c->fd, pdu, whole) < 0)
		assert_true(errno == EPIPE || errno == ECONNRESET);
}

// The header of a response to a PDU of the initiator, with correct serial numbers.
static inline void fake_head(struct fake_conn *c, uint8_t *ret, uint8_t opcode, uint8_t flags,
			     const uint8_t *to)
{
	memset(ret, 0, 48);
	ret[0] = opcode;
	ret[1] = flags;
	if (to)
		memcpy(ret + 16, to + 16, 4);
	else
		put_be32(ret + 16, ISCSI_TAG_NONE);
	put_be32(ret + 24, c->stat_sn);
	put_be32(ret + 28, c->exp_cmd_sn);
	put_be32(ret + 32, c->max_cmd_sn);
}

static inline void fake_status(struct fake_conn *c, const uint8_t *to, uint8_t status,
			       const void *sense, uint32_t len)
{
	uint8_t bhs[48];
	fake_head(c, bhs, ISCSI_OP_SCSI_RSP, ISCSI_F, to);
	bhs[3] = status;
	fake_say(c, bhs, sense, len);
	c->stat_sn++;
}

static inline void fake_close(struct fake_conn *c)
{
	if (c->fd < 0)
		return;
	watch_remove(c->f->w, &c->watch);
	close(c->fd);
	c->fd = -1;
}

// The response of a conforming target to a logout.
static inline void fake_logout(struct fake_conn *c, const uint8_t *to)
{
	uint8_t bhs[48];
	fake_head(c, bhs, ISCSI_OP_LOGOUT_RSP, ISCSI_F, to);
	fake_say(c, bhs, NULL, 0);
}

static inline int fake_admit(void *arg, const struct login_names *names, struct login_terms *ret,
			     struct err *e)
{
	struct fake *f = ((struct fake_conn *)arg)->f;
	if (f->has_terms)
		*ret = f->terms;
	else
		iscsi_offer_init(&ret->offer);
	if (f->status)
		err_set(e, -EACCES, "refused");
	return f->status;
}

static inline int fake_attach(void *arg, const struct login_names *names,
			      const struct iscsi_params *params, struct login_session *ret,
			      struct err *e)
{
	ret->tsih = 1;
	return 0;
}

static inline void fake_login(struct fake_conn *c, const uint8_t *bhs, const uint8_t *text,
			      uint32_t len)
{
	static const struct login_target_ops ops = { fake_admit, fake_attach };
	struct login_reply r;
	if (!c->login) {
		c->login = calloc(1, sizeof *c->login);
		login_target_init(c->login, &ops, c, 1, c->f->window);
	}
	enum login_outcome o = login_target_step(c->login, bhs, text, len, &r);
	if (r.has_pdu)
		fake_say(c, r.bhs, r.text, r.text_len);
	if (o == LOGIN_FULL_FEATURE) {
		const struct login_session *s = login_session(c->login);
		c->exp_cmd_sn = s->exp_cmd_sn;
		c->max_cmd_sn = s->max_cmd_sn;
		c->stat_sn = login_stat_sn(c->login);
		c->is_logged_in = true;
	} else if (o != LOGIN_CONTINUE) {
		fake_close(c);
	}
}

static inline void fake_take(struct fake_conn *c, const uint8_t *bhs, const uint8_t *data,
			     uint32_t len)
{
	uint8_t opcode = bhs[0] & 0x3f;
	c->f->seen[opcode]++;
	if (c->is_logged_in) {
		if (!(bhs[0] & ISCSI_I) && opcode != ISCSI_OP_DATA_OUT) {
			c->exp_cmd_sn = get_be32(bhs + 24) + 1;
			c->max_cmd_sn = c->exp_cmd_sn + c->f->window - 1;
		}
		c->f->pdu(c, bhs, data, len);
	} else if (c->f->login) {
		c->f->login(c, bhs, (const char *)data, len);
	} else {
		fake_login(c, bhs, data, len);
	}
}

static inline void fake_rx(struct watch *wa, uint32_t events)
{
	struct fake_conn *c = container_of(wa, struct fake_conn, watch);
	ssize_t n = -1;
	while (c->fd >= 0 && (n = read(c->fd, c->in + c->in_len, FAKE_IN_MAX - c->in_len)) > 0) {
		c->in_len += (size_t)n;
		for (;;) {
			uint32_t len = c->in_len >= 48 ? get_be24(c->in + 5) : 0;
			size_t whole = 48 + ((len + 3) & ~3u);
			if (c->in_len < 48 || c->in_len < whole)
				break;
			fake_take(c, c->in, c->in + 48, len);
			if (c->fd < 0)
				return;
			memmove(c->in, c->in + whole, c->in_len - whole);
			c->in_len -= whole;
		}
	}
	if (c->fd >= 0 && n == 0)
		fake_close(c);
}

static inline void fake_accept(struct watch *wa, uint32_t events)
{
	struct fake *f = container_of(wa, struct fake, listener);
	int fd;
	while ((fd = accept4(wa->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		assert_true(f->count < FAKE_CONNS);
		struct fake_conn *c = &f->conns[f->count];
		*c = (struct fake_conn){ .f = f, .fd = fd, .number = f->count++ };
		c->in = malloc(FAKE_IN_MAX);
		c->watch.fn = fake_rx;
		c->watch.fd = -1;
		assert_int_equal(watch_add(f->w, &c->watch, fd, 0), 0);
	}
}

static inline void fake_init(struct fake *f, struct worker *w)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	memset(f, 0, sizeof *f);
	f->w = w;
	f->window = 32;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	f->addr.in4 = a;
	f->listener.fn = fake_accept;
	f->listener.fd = -1;
	assert_int_equal(watch_add(w, &f->listener, fd, 0), 0);
}

static inline void fake_done(struct fake *f)
{
	int fd = f->listener.fd;
	watch_remove(f->w, &f->listener);
	close(fd);
	for (int i = 0; i < f->count; i++) {
		struct fake_conn *c = &f->conns[i];
		fake_close(c);
		if (c->login)
			login_done(c->login);
		free(c->login);
		free(c->in);
	}
}

static inline void fake_config(const struct fake *f, struct ini_config *c)
{
	ini_config_init(c);
	snprintf(c->login.initiator_name, sizeof c->login.initiator_name, "%s", ME);
	snprintf(c->login.target_name, sizeof c->login.target_name, "%s", IQN);
	c->portals[0] = f->addr;
	c->portal_count = 1;
	c->noop_out_interval = 0;
	// A lost session comes back at once.
	c->login.offer.value[ISCSI_KEY_DEFAULT_TIME2WAIT] = 0;
}
