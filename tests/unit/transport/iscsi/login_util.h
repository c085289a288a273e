// SPDX-License-Identifier: BSD-2-Clause
// A login target in a test: its role's decisions are fields, requests are one line each.
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "transport/iscsi/login.h"
#include "transport/wire/be.h"

#define TEXT(s) (s), sizeof(s) // the literal's own NUL ends the last pair
#define IQN	"iqn.2003-01.org.example:disk"
#define ME	"iqn.1993-08.org.debian:01:abc"
#define SECRET	"0123456789abcdef"
#define MUTUAL	"fedcba9876543210"

enum { // byte 1 of requests and responses
	SEC = 0x00,
	SEC_TO_OP = 0x81,
	SEC_TO_FFP = 0x83,
	OP = 0x04,
	OP_TO_FFP = 0x87,
	MORE = 0x40,
};

struct role {
	int admit_status, attach_status;
	struct login_terms terms; // taken over where admit_status is 0
	uint16_t tsih;
	unsigned admits, attaches;
	struct login_names names;
	struct iscsi_params params;
};

static struct role role;
static struct login target;
static struct login_reply reply;
static uint8_t request[ISCSI_BHS_LEN];

static int role_admit(void *arg, const struct login_names *names, struct login_terms *ret,
		      struct err *e)
{
	struct role *r = arg;
	r->admits++;
	r->names = *names;
	*ret = r->terms;
	if (r->admit_status)
		err_set(e, -EACCES, "the role refuses");
	return r->admit_status;
}

static int role_attach(void *arg, const struct login_names *names,
		       const struct iscsi_params *params, struct login_session *ret, struct err *e)
{
	struct role *r = arg;
	r->attaches++;
	r->params = *params;
	ret->tsih = r->tsih;
	if (r->attach_status)
		err_set(e, -EACCES, "no session");
	return r->attach_status;
}

static const struct login_target_ops role_ops = { role_admit, role_attach };

static inline int target_setup(void **state)
{
	memset(&role, 0, sizeof role);
	iscsi_offer_init(&role.terms.offer);
	role.terms.chap_algs = CHAP_ALGS_ALL;
	role.terms.tpgt = 1;
	role.tsih = 0x1234;
	login_target_init(&target, &role_ops, &role, 1000, 64);
	memset(request, 0, sizeof request);
	request[0] = 0x43;
	memcpy(request + 8, "\x00\x02\x3d\x01\x02\x03", 6);
	put_be32(request + 16, 0xabcd0001);
	put_be32(request + 24, 77);
	return 0;
}

static inline void demand_chap(void)
{
	role.terms.is_auth_required = true;
	chap_creds_set(&role.terms.initiator, "alice", SECRET, NULL);
}

// One request. The text is an exact heap copy, so that AddressSanitizer detects reads beyond it.
static inline enum login_outcome say(uint8_t flags, const char *text, size_t len)
{
	char *copy = calloc(1, len ? len : 1);
	if (len)
		memcpy(copy, text, len);
	request[1] = flags;
	put_be24(request + 5, (uint32_t)len);
	enum login_outcome outcome = login_target_step(&target, request, copy, len, &reply);
	free(copy);
	return outcome;
}

static inline void expect_text(const char *text, size_t len)
{
	assert_int_equal(reply.text_len, len);
	assert_memory_equal(reply.text, text, len);
}

// The last reply: outcome, flags, text.
static inline void expect(enum login_outcome outcome, uint8_t flags, const char *text, size_t len)
{
	if (reply.outcome != outcome)
		print_message("%s\n", reply.err.text);
	assert_int_equal(reply.outcome, outcome);
	assert_true(reply.has_pdu);
	assert_int_equal(reply.bhs[0], ISCSI_OP_LOGIN_RSP);
	assert_int_equal(reply.bhs[1], flags);
	assert_int_equal(get_be16(reply.bhs + 36), 0);
	assert_int_equal(get_be24(reply.bhs + 5), len);
	expect_text(text, len);
}

static inline void expect_refused(uint16_t status, const char *hint)
{
	assert_int_equal(reply.outcome, LOGIN_REFUSED);
	assert_true(reply.has_pdu);
	assert_int_equal(reply.status, status);
	assert_int_equal(get_be16(reply.bhs + 36), status);
	assert_int_equal(reply.bhs[1] & ISCSI_LOGIN_T, 0);
	if (!strstr(reply.err.text, hint))
		print_message("%s\n", reply.err.text);
	assert_non_null(strstr(reply.err.text, hint));
}

// The initiator's CHAP_R for the challenge in the last reply, into a static text.
static inline size_t chap_reply(unsigned alg, const char *user, const char *secret, char *ret,
				size_t size)
{
	struct text_pair i, c;
	struct chap_challenge challenge;
	struct chap_creds creds;
	struct text_out o;
	assert_int_equal(text_find(reply.text, reply.text_len, "CHAP_I", &i), 1);
	assert_int_equal(text_find(reply.text, reply.text_len, "CHAP_C", &c), 1);
	assert_int_equal(chap_challenge_parse(i.value, c.value, &challenge, NULL), 0);
	assert_int_equal(chap_creds_set(&creds, user, secret, NULL), 0);
	text_out_init(&o, ret, size);
	assert_int_equal(chap_answer_append(alg, &challenge, &creds, &o), 0);
	return o.len;
}
