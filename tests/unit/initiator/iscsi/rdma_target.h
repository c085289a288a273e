// SPDX-License-Identifier: BSD-2-Clause
// A target behind each connection of the fake device: it logs in by the target's side of the login
// engine and answers every command with GOOD.
#pragma once

#include "transport/iser/fake_device.h"

#include "transport/iscsi/login.h"
#include "transport/wire/iscsi.h"

struct far {
	struct login *login;
	bool is_logged_in;
	uint32_t stat_sn, exp_cmd_sn;
};

static bool is_mute;	     // commands and pings are not answered
static int logins, commands; // that came
// What a command does before it is answered; NULL: nothing.
static void (*far_does)(const uint8_t *hdr, const uint8_t *bhs, const uint8_t *data);

static inline int far_admit(void *arg, const struct login_names *names, struct login_terms *ret,
			    struct err *e)
{
	iscsi_offer_init(&ret->offer);
	ret->offer.is_rdma = true;
	return 0;
}

static inline int far_attach(void *arg, const struct login_names *names,
			     const struct iscsi_params *params, struct login_session *ret,
			     struct err *e)
{
	ret->tsih = 1;
	return 0;
}

static inline void far_login(struct fake_qp *q, struct far *t, const uint8_t *bhs,
			     const uint8_t *data, uint32_t len)
{
	static const struct login_target_ops ops = { far_admit, far_attach };
	struct login_reply reply;
	if (!t->login) {
		t->login = calloc(1, sizeof *t->login);
		login_target_init(t->login, &ops, NULL, 1, 32);
	}
	enum login_outcome o = login_target_step(t->login, bhs, data, len, &reply);
	if (o == LOGIN_FULL_FEATURE) {
		t->is_logged_in = true;
		t->exp_cmd_sn = login_session(t->login)->exp_cmd_sn;
		t->stat_sn = login_stat_sn(t->login);
		logins++;
	}
	if (reply.has_pdu)
		rdma_say(q, reply.bhs, reply.text, reply.text_len, NULL);
}

static inline void far_answer(struct fake_qp *q, struct far *t, uint8_t opcode, const uint8_t *to)
{
	uint8_t bhs[48] = { opcode, ISCSI_F };
	memcpy(bhs + 16, to + 16, 4);
	put_be32(bhs + 20, opcode == ISCSI_OP_NOP_IN ? ISCSI_TAG_NONE : 0);
	put_be32(bhs + 24, t->stat_sn++);
	put_be32(bhs + 28, t->exp_cmd_sn);
	put_be32(bhs + 32, t->exp_cmd_sn + 31);
	rdma_say(q, bhs, NULL, 0, NULL);
}

static inline void far_message(struct fake_qp *q, const uint8_t *hdr, const uint8_t *bhs,
			       const uint8_t *data, uint32_t len)
{
	struct far *t = q->state ? q->state : (q->state = calloc(1, sizeof *t));
	uint8_t opcode = bhs[0] & ISCSI_OP_MASK;
	if (!t->is_logged_in) {
		far_login(q, t, bhs, data, len);
		return;
	}
	if (opcode == ISCSI_OP_SCSI_CMD) {
		commands++;
		t->exp_cmd_sn++;
	}
	if (opcode == ISCSI_OP_SCSI_CMD && far_does)
		far_does(hdr, bhs, data);
	if (opcode == ISCSI_OP_LOGOUT_REQ)
		far_answer(q, t, ISCSI_OP_LOGOUT_RSP, bhs);
	else if (!is_mute && opcode == ISCSI_OP_SCSI_CMD)
		far_answer(q, t, ISCSI_OP_SCSI_RSP, bhs);
	else if (!is_mute && opcode == ISCSI_OP_NOP_OUT)
		far_answer(q, t, ISCSI_OP_NOP_IN, bhs);
}

static inline void far_freed(struct fake_qp *q)
{
	struct far *t = q->state;
	if (t && t->login)
		login_done(t->login);
	if (t)
		free(t->login);
	free(t);
}

static inline void far_init(struct fake_rnic *f)
{
	f->message = far_message;
	f->freed = far_freed;
	is_mute = false;
	logins = commands = 0;
	far_does = NULL;
}
