// SPDX-License-Identifier: BSD-2-Clause
// Private data of SRP's connects, both ways: what is accepted comes out again as it went in. The
// first byte says what the rest is, and which connection manager has brought it.
#include <errno.h>

#include "exact.h"
#include "transport/srp/iu.h"
#include "transport/srp/login.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_same(const struct srp_login *a, const struct srp_login *b)
{
	must(a->tag == b->tag && a->it_iu_len == b->it_iu_len && a->formats == b->formats);
	must(a->flags == b->flags && a->imm_offset == b->imm_offset);
	must(!memcmp(a->initiator, b->initiator, SRP_PORT_ID_LEN));
	must(!memcmp(a->target, b->target, SRP_PORT_ID_LEN));
}

static void request(const uint8_t *data, uint32_t len, bool is_ib)
{
	struct srp_login l, again;
	struct err e;
	uint8_t ib[SRP_LOGIN_REQ_LEN], cm[SRP_LOGIN_REQ_CM_LEN];
	if (srp_login_parse(&l, data, len, is_ib, &e)) {
		must(e.code == -EPROTO);
		return;
	}
	must(len >= SRP_LOGIN_REQ_CM_LEN);
	srp_login_put(ib, &l);
	must(!srp_login_parse(&again, ib, sizeof ib, true, &e));
	must_be_same(&l, &again);
	srp_login_put_cm(cm, &l);
	must(!srp_login_parse(&again, cm, sizeof cm, true, &e));
	must_be_same(&l, &again);
	must(!srp_login_parse(&again, cm, sizeof cm, false, &e));
	must_be_same(&l, &again);
}

static void response(const uint8_t *data, uint32_t len)
{
	struct srp_accept a, again;
	struct err e;
	uint8_t out[SRP_LOGIN_RSP_LEN];
	if (srp_accept_parse(&a, data, len, &e)) {
		must(e.code == -EPROTO);
		return;
	}
	must(a.credits && a.credits <= INT32_MAX);
	must(a.it_iu_len >= SRP_IU_MIN && a.ti_iu_len >= SRP_RSP_LEN + SRP_RSP_DATA_LEN);
	srp_accept_put(out, &a);
	must(!srp_accept_parse(&again, out, sizeof out, &e));
	must(a.tag == again.tag && a.credits == again.credits && a.it_iu_len == again.it_iu_len);
	must(a.ti_iu_len == again.ti_iu_len && a.formats == again.formats &&
	     a.flags == again.flags);
}

static void rejection(const uint8_t *data, uint32_t len)
{
	enum srp_rej_reason reason, again;
	struct err e;
	uint8_t out[SRP_LOGIN_REJ_LEN];
	if (srp_reject_parse(&reason, data, len, &e)) {
		must(e.code == -EPROTO);
		return;
	}
	srp_reject_text(reason);
	srp_reject_put(out, 1, reason);
	must(!srp_reject_parse(&again, out, sizeof out, &e) && again == reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	uint32_t len = (uint32_t)size - 1;
	uint8_t *p = exact_copy(data + 1, len);
	switch (data[0] & 3) {
	case 0:
	case 1:
		request(p, len, data[0] & 1);
		break;
	case 2:
		response(p, len);
		break;
	default:
		rejection(p, len);
	}
	free(p);
	return 0;
}
