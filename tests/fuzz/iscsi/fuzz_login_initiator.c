// SPDX-License-Identifier: BSD-2-Clause
// The initiator's login against any target. First byte: the configuration; then responses,
// each a header and as many bytes as its DataSegmentLength says (or as are left).
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "login_pdus.h"
#include "transport/iscsi/login.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	HAS_CHAP = 1,
	IS_MUTUAL = 2,
	IS_DISCOVERY = 4,
	IS_RDMA = 8,
};

static void configure(struct login *l, uint8_t how)
{
	struct login_config c = { .itt = 1, .cmd_sn = 1, .chap_algs = CHAP_ALGS_ALL };
	strcpy(c.initiator_name, "iqn.1993-08.org.debian:01:abc");
	strcpy(c.target_name, how & IS_DISCOVERY ? "" : "iqn.2003-01.org.example:disk");
	c.is_discovery = how & IS_DISCOVERY;
	iscsi_offer_init(&c.offer);
	c.offer.is_rdma = how & IS_RDMA;
	if (how & (HAS_CHAP | IS_MUTUAL))
		chap_creds_set(&c.initiator, "alice", "0123456789abcdef", NULL);
	if (how & IS_MUTUAL)
		chap_creds_set(&c.target, "target", "fedcba9876543210", NULL);
	if (login_initiator_init(l, &c, NULL))
		abort();
}

static void judge(uint8_t how, const struct login *l, const struct login_reply *r)
{
	const struct iscsi_params *p = login_params(l);
	if (r->text_len > ISCSI_LOGIN_DATA_MAX ||
	    (r->has_pdu && get_be24(r->bhs + 5) != r->text_len))
		abort();
	if (r->outcome == LOGIN_REDIRECT && !login_redirect(l)[0])
		abort();
	if (r->outcome != LOGIN_FULL_FEATURE)
		return;
	// A peer cannot guess the response to a new challenge, nor get more than was offered.
	if (how & IS_MUTUAL || p->first_burst > p->max_burst || p->max_burst > 1048576 ||
	    p->max_send_data < 512 || p->max_connections != 1 || p->erl)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct login l;
	struct login_reply reply;
	if (!size)
		return 0;
	configure(&l, data[0]);
	login_initiator_start(&l, &reply);
	struct login_pdu pdu;
	for (size_t at = 1; login_pdu_next(&pdu, data, size, &at);) {
		login_initiator_step(&l, pdu.bhs, pdu.text, pdu.len, &reply);
		free(pdu.text);
		judge(data[0], &l, &reply);
		if (reply.outcome != LOGIN_CONTINUE)
			break;
	}
	login_done(&l);
	return 0;
}
