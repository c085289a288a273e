// SPDX-License-Identifier: BSD-2-Clause
// The target's login under any sequence of PDUs. First byte: the role's decisions; then PDUs,
// each a header and as many bytes as its DataSegmentLength says (or as are left).
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "login_pdus.h"
#include "transport/iscsi/login.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	WANT_CHAP = 1,
	HAS_MUTUAL = 2,
	IS_RDMA = 4,
	WAITS = 8,
	REDIRECTS = 16,
	REFUSES = 32,
};

static unsigned admits, attaches;

static int admit(void *arg, const struct login_names *names, struct login_terms *ret, struct err *e)
{
	uint8_t how = *(const uint8_t *)arg;
	admits++;
	if (!names->initiator_name[0] || (!names->is_discovery && !names->target_name[0]))
		abort();
	ret->offer.is_rdma = how & IS_RDMA;
	ret->is_auth_required = how & WANT_CHAP;
	if (how & WANT_CHAP)
		chap_creds_set(&ret->initiator, "alice", "0123456789abcdef", NULL);
	if (how & HAS_MUTUAL)
		chap_creds_set(&ret->target, "target", "fedcba9876543210", NULL);
	if (how & REDIRECTS)
		strcpy(ret->redirect, "10.0.0.1");
	return how & REFUSES ? ISCSI_LOGIN_FORBIDDEN : 0;
}

static int attach(void *arg, const struct login_names *names, const struct iscsi_params *params,
		  struct login_session *ret, struct err *e)
{
	uint8_t how = *(const uint8_t *)arg;
	attaches++;
	// Nobody guesses the answer to a fresh challenge.
	if (how & (WANT_CHAP | REDIRECTS | REFUSES) || params->first_burst > params->max_burst)
		abort();
	ret->tsih = 1;
	return how & WAITS ? -EINPROGRESS : 0;
}

static void judge(enum login_outcome outcome, const struct login_reply *r)
{
	if (admits > 1 || attaches > 1 || r->text_len > ISCSI_LOGIN_DATA_MAX ||
	    (outcome == LOGIN_FULL_FEATURE && attaches != 1) ||
	    (r->has_pdu && get_be24(r->bhs + 5) != r->text_len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct login_target_ops ops = { admit, attach };
	static struct login l;
	struct login_reply reply;
	if (!size)
		return 0;
	uint8_t how = data[0];
	admits = attaches = 0;
	login_target_init(&l, &ops, &how, 1, 32);
	struct login_pdu pdu;
	for (size_t at = 1; login_pdu_next(&pdu, data, size, &at);) {
		enum login_outcome outcome =
			login_target_step(&l, pdu.bhs, pdu.text, pdu.len, &reply);
		free(pdu.text);
		judge(outcome, &reply);
		if (outcome == LOGIN_WAIT && data[at - 1] & 1) {
			struct login_session s = { .tsih = 1 };
			judge(login_target_resume(&l, 0, &s, NULL, &reply), &reply);
		}
	}
	login_done(&l);
	return 0;
}
