// SPDX-License-Identifier: BSD-2-Clause
// Headers of FPDUs: lengths add up, a header that is accepted comes out again as it went in, and a
// Terminate that quotes it stays within its bounds.
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/iwarp/ddp.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static uint32_t put_again(const struct ddp_segment *s, uint8_t *out)
{
	if (s->is_tagged)
		return ddp_put_tagged(out, s->opcode, s->is_last, s->len, s->stag, s->to);
	if (s->opcode != RDMAP_READ_REQUEST)
		return ddp_put_untagged(out, s->opcode, s->is_last, s->len, s->invalidate, s->qn,
					s->msn, s->mo);
	return ddp_put_read_request(out, s->msn, s->sink_stag, s->sink_to, s->read_len,
				    s->source_stag, s->source_to);
}

// But for what is reserved.
static void check_again(const uint8_t *header, const struct ddp_segment *s)
{
	uint8_t out[DDP_HEADER_MAX], want[DDP_HEADER_MAX];

	must(put_again(s, out) == s->header_len);
	memcpy(want, header, s->header_len);
	want[2] &= DDP_T | DDP_L | DDP_VERSION_MASK;
	want[3] &= RDMAP_VERSION_MASK | RDMAP_OPCODE_MASK;
	if (s->opcode == RDMAP_READ_REQUEST) {
		memset(want + 4, 0, 4);	 // no STag to invalidate
		memset(want + 16, 0, 4); // the offset, which only the queue's rules look at
		want[2] |= DDP_L;
	}
	must(!memcmp(out, want, s->header_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t frame[TERM_FRAME_MAX];
	struct ddp_segment s;

	if (size < 4)
		return 0;
	unsigned code = ddp_begin(data, &s);
	must(*term_text(code) != 0);
	if (code)
		return 0;
	must(s.header_len <= DDP_HEADER_MAX);
	must(s.header_len + s.len == get_be16(data) + 2u);
	must((s.header_len + s.len + s.tail_len) % 4 == 0 && s.tail_len >= 4 && s.tail_len <= 7);
	if (size < s.header_len)
		return 0;
	uint8_t *exact = malloc(s.header_len);
	memcpy(exact, data, s.header_len);
	code = ddp_decode(exact, &s);
	must(*term_text(code) != 0);
	if (!code)
		check_again(exact, &s);
	uint32_t n = ddp_put_terminate(frame, code, exact, &s);
	must(n <= TERM_FRAME_MAX && n >= 24 && get_be16(frame) + 2u == n);
	free(exact);
	return 0;
}
