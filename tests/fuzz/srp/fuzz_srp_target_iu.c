// SPDX-License-Identifier: BSD-2-Clause
// IUs that an initiator receives: sense data lies inside the IU, and what is accepted comes out
// again as it went in. The first byte is the room for a written one.
#include <errno.h>

#include "exact.h"
#include "transport/srp/iu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void response(const uint8_t *iu, uint32_t len, uint32_t room)
{
	struct srp_response r, again;
	struct err e;
	if (srp_response_parse(&r, iu, len, &e)) {
		must(e.code == -EPROTO);
		return;
	}
	must(!r.sense_len || is_inside(r.sense, r.sense_len, iu, len));
	must(r.has_code == !!(r.flags & SRP_RSPVALID));
	uint32_t size = SRP_RSP_LEN + SRP_RSP_DATA_LEN + room;
	uint8_t *out = malloc(size);
	must(out);
	uint32_t put = srp_response_put(out, size, &r);
	must(put <= size && !srp_response_parse(&again, out, put, &e));
	must(again.tag == r.tag && again.credits == r.credits && again.status == r.status);
	must(again.has_code == r.has_code && again.code == r.code);
	must(again.out_residual == r.out_residual && again.in_residual == r.in_residual);
	must(again.sense_len <= r.sense_len &&
	     (!again.sense_len || !memcmp(again.sense, r.sense, again.sense_len)));
	must(again.sense_len == r.sense_len || put == size);
	free(out);
}

static void event(const uint8_t *iu, uint32_t len, uint32_t room)
{
	struct srp_event v, again;
	struct err e;
	if (srp_event_parse(&v, iu, len, &e)) {
		must(e.code == -EPROTO);
		return;
	}
	must(v.lun == iu + 20 && (!v.sense_len || is_inside(v.sense, v.sense_len, iu, len)));
	uint32_t size = SRP_AER_REQ_LEN + room;
	uint8_t *out = malloc(size);
	must(out);
	uint32_t put = srp_event_put(out, size, &v);
	must(put <= size && !srp_event_parse(&again, out, put, &e));
	must(again.tag == v.tag && again.credits == v.credits && !memcmp(again.lun, v.lun, 8));
	must(again.sense_len == (v.sense_len < room ? v.sense_len : room));
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t tag;
	uint32_t value;
	if (!size)
		return 0;
	uint32_t len = (uint32_t)size - 1;
	uint8_t *iu = exact_copy(data + 1, len);
	response(iu, len, data[0]);
	event(iu, len, data[0]);
	if (!srp_short_parse(&tag, &value, iu, len, NULL)) {
		uint8_t out[SRP_SHORT_LEN];
		uint64_t tag_again;
		uint32_t value_again;
		srp_short_put(out, (enum srp_opcode)iu[0], tag, value);
		must(!srp_short_parse(&tag_again, &value_again, out, sizeof out, NULL));
		must(out[0] == iu[0] && tag_again == tag && value_again == value);
	}
	free(iu);
	return 0;
}
