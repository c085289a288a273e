// SPDX-License-Identifier: BSD-2-Clause
// Startup frames and FPDU headers against bytes that were made by hand, and what their parsers
// refuse. RFC 5044, RFC 6581, RFC 5041, RFC 5040.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/rdma/iwarp/crc.h"
#include "transport/rdma/iwarp/ddp.h"
#include "transport/rdma/iwarp/mpa.h"
#include "transport/wire/be.h"

static size_t unhex(const char *hex, uint8_t *out)
{
	size_t n = 0;

	for (; *hex; hex++) {
		unsigned v;
		if (*hex == ' ')
			continue;
		assert_int_equal(sscanf(hex, "%2x", &v), 1);
		out[n++] = (uint8_t)v;
		hex++;
	}
	return n;
}

// What ib_iser sends over siw: IRD 128, ORD 1, four bytes of iSER.
static const char request_hex[] = "4d504120494420526571204672616d65 10 02 0008 0080 0001 80000000";
static const char reply_hex[] = "4d504120494420526570204672616d65 10 02 0008 0020 0020 c0000000";

static void linux_request_is_understood(void **state)
{
	uint8_t frame[64];
	struct mpa_frame f;
	struct err e;
	size_t len = unhex(request_hex, frame);

	assert_int_equal(mpa_frame_len(frame, false, &e), len);
	assert_int_equal(mpa_parse(frame, &f, &e), 0);
	assert_false(f.is_reply);
	assert_int_equal(f.flags, MPA_S);
	assert_int_equal(f.revision, 2);
	assert_int_equal(f.ird, 128);
	assert_int_equal(f.ord, 1);
	assert_int_equal(f.private_len, 4);
	assert_memory_equal(f.private_data, "\x80\0\0\0", 4);
}

static void the_answer_is_what_linux_expects(void **state)
{
	uint8_t want[64], out[MPA_STARTUP_LEN + MPA_PRIVATE_MAX];
	struct mpa_frame request = { .flags = MPA_S, .revision = 2, .ird = 128, .ord = 32 }, f;
	size_t len = unhex(reply_hex, want);

	mpa_answer(&f, &request, 64, 32, false);
	f.private_data = (const uint8_t *)"\xc0\0\0\0";
	f.private_len = 4;
	assert_int_equal(mpa_build(&f, out), len);
	assert_memory_equal(out, want, len);
}

static void an_answer_has_no_higher_revision_than_the_request(void **state)
{
	struct mpa_frame request = { .revision = 1, .flags = 0 }, f;

	mpa_answer(&f, &request, 8, 9, false);
	assert_int_equal(f.revision, 1);
	assert_int_equal(f.flags, 0);
	assert_int_equal(f.ird, 8);
	assert_int_equal(f.ord, 9);
}

static void either_side_can_ask_for_a_crc(void **state)
{
	struct mpa_frame request = { .revision = 2, .flags = MPA_C | MPA_S }, f;

	mpa_answer(&f, &request, 8, 8, false);
	assert_true(f.flags & MPA_C);
	request.flags = MPA_S;
	mpa_answer(&f, &request, 8, 8, true);
	assert_true(f.flags & MPA_C);
	mpa_answer(&f, &request, 8, 8, false);
	assert_false(f.flags & MPA_C);
}

static void a_peer_that_does_not_negotiate_gets_our_depths(void **state)
{
	struct mpa_frame request = { .revision = 2,
				     .flags = MPA_S,
				     .ird = MPA_NO_NEGOTIATION,
				     .ord = MPA_NO_NEGOTIATION },
			 f;

	mpa_answer(&f, &request, 8, 9, false);
	assert_int_equal(f.ird, 8);
	assert_int_equal(f.ord, 9);
}

static void peer_to_peer_is_answered_with_an_empty_write_if_offered(void **state)
{
	struct mpa_frame request = { .revision = 2,
				     .flags = MPA_S,
				     .peer_to_peer = MPA_A,
				     .rtr = MPA_W | MPA_D },
			 f;

	mpa_answer(&f, &request, 8, 8, false);
	assert_int_equal(f.peer_to_peer, MPA_A);
	assert_int_equal(f.rtr, MPA_W);
	request.rtr = MPA_D;
	mpa_answer(&f, &request, 8, 8, false);
	assert_int_equal(f.rtr, MPA_D);
	request.peer_to_peer = 0;
	mpa_answer(&f, &request, 8, 8, false);
	assert_int_equal(f.rtr | f.peer_to_peer, 0);
}

static void a_frame_with_another_key_is_no_request(void **state)
{
	uint8_t frame[64];
	struct err e;

	unhex(reply_hex, frame);
	assert_int_equal(mpa_frame_len(frame, false, &e), -EPROTO);
	assert_true(mpa_frame_len(frame, true, &e) > 0);
}

static void too_much_private_data_is_refused(void **state)
{
	uint8_t frame[64];
	struct err e;

	unhex(request_hex, frame);
	put_be16(frame + 18, 512);
	assert_int_equal(mpa_frame_len(frame, false, &e), 532);
	put_be16(frame + 18, 513);
	assert_int_equal(mpa_frame_len(frame, false, &e), -EPROTO);
}

static void announced_but_absent_enhanced_data_is_refused(void **state)
{
	uint8_t frame[64];
	struct mpa_frame f;
	struct err e;

	unhex(request_hex, frame);
	put_be16(frame + 18, 3);
	assert_int_equal(mpa_parse(frame, &f, &e), -EPROTO);
	frame[17] = 1; // there is unknown option in revision 1
	assert_int_equal(mpa_parse(frame, &f, &e), 0);
	assert_int_equal(f.private_len, 3);
}

// --- FPDUs: header, payload, pad, CRC ---

static void seal(uint8_t *frame, uint32_t len, const char *want_hex)
{
	uint8_t want[128];
	uint32_t pad = -len & 3;
	size_t n = unhex(want_hex, want);

	memset(frame + len, 0, pad);
	iw_crc_put(iw_crc(IW_CRC_START, frame, len + pad), frame + len + pad);
	assert_int_equal(n, len + pad + 4);
	assert_memory_equal(frame, want, n);
	assert_true(iw_crc_is(iw_crc(IW_CRC_START, want, len + pad), want + len + pad));
}

static void a_send_has_the_known_bytes(void **state)
{
	uint8_t frame[128];
	uint32_t n = ddp_put_untagged(frame, RDMAP_SEND, true, 4, 0, DDP_QN_SEND, 1, 0);

	memcpy(frame + n, "abcd", 4);
	seal(frame, n + 4, "0016 4143 00000000 00000000 00000001 00000000 61626364 71644d92");
	n = ddp_put_untagged(frame, RDMAP_SEND, true, 5, 0, DDP_QN_SEND, 1, 0);
	memcpy(frame + n, "abcde", 5);
	seal(frame, n + 5,
	     "0017 4143 00000000 00000000 00000001 00000000 6162636465 000000 89f65870");
}

static void a_write_has_the_known_bytes(void **state)
{
	uint8_t frame[128];
	uint32_t n = ddp_put_tagged(frame, RDMAP_WRITE, true, 4, 0x11223344, 0x1000);

	memcpy(frame + n, "abcd", 4);
	seal(frame, n + 4, "0012 c140 11223344 0000000000001000 61626364 08272d8c");
}

static const char read_request_hex[] =
	"002e 4141 00000000 00000001 00000001 00000000 aabbccdd 0000000000002000 00001000 11223344 "
	"0000000000001000 9ddf71c2";

static void a_read_request_has_the_known_bytes(void **state)
{
	uint8_t frame[128];
	uint32_t n = ddp_put_read_request(frame, 1, 0xaabbccdd, 0x2000, 4096, 0x11223344, 0x1000);

	seal(frame, n, read_request_hex);
}

static void a_read_request_is_understood(void **state)
{
	uint8_t frame[128];
	struct ddp_segment s;

	unhex(read_request_hex, frame);
	assert_int_equal(ddp_begin(frame, &s), 0);
	assert_int_equal(s.header_len, 48);
	assert_int_equal(ddp_decode(frame, &s), 0);
	assert_int_equal(s.opcode, RDMAP_READ_REQUEST);
	assert_true(s.is_last);
	assert_int_equal(s.len, 0);
	assert_int_equal(s.tail_len, 4);
	assert_int_equal(s.qn, 1);
	assert_int_equal(s.msn, 1);
	assert_int_equal(s.sink_stag, 0xaabbccdd);
	assert_int_equal(s.sink_to, 0x2000);
	assert_int_equal(s.read_len, 4096);
	assert_int_equal(s.source_stag, 0x11223344);
	assert_int_equal(s.source_to, 0x1000);
}

static void every_opcode_comes_back_as_it_was_put(void **state)
{
	for (unsigned op = RDMAP_SEND; op <= RDMAP_SEND_SE_INVALIDATE; op++) {
		uint8_t frame[64];
		struct ddp_segment s;
		ddp_put_untagged(frame, op, op & 1, 1001, 0xcafe, DDP_QN_SEND, 7, 9);
		assert_int_equal(ddp_begin(frame, &s), 0);
		assert_int_equal(ddp_decode(frame, &s), 0);
		assert_int_equal(s.opcode, op);
		assert_int_equal(s.is_last, op & 1);
		assert_int_equal(s.len, 1001);
		assert_int_equal(s.tail_len, 3 + 4); // 20 + 1001 + 3 is a multiple of four
		assert_int_equal(s.invalidate, 0xcafe);
		assert_int_equal(s.msn, 7);
		assert_int_equal(s.mo, 9);
	}
}

static unsigned code_of(const char *hex)
{
	uint8_t frame[64] = { 0 };
	struct ddp_segment s;

	unhex(hex, frame);
	unsigned code = ddp_begin(frame, &s);
	return code ? code : ddp_decode(frame, &s);
}

static void headers_that_break_a_rule_have_their_code(void **state)
{
	assert_int_equal(code_of("0012 c040"), TERM_DDP_TAGGED_VERSION);
	assert_int_equal(code_of("0016 4243"), TERM_DDP_UNTAGGED_VERSION);
	assert_int_equal(code_of("0016 4103"), TERM_RDMAP_VERSION);
	assert_int_equal(code_of("0016 4183"), TERM_RDMAP_VERSION);
	assert_int_equal(code_of("0016 4148"), TERM_RDMAP_OPCODE);
	assert_int_equal(code_of("0016 c143"), TERM_RDMAP_OPCODE); // a tagged send
	assert_int_equal(code_of("0016 4140"), TERM_RDMAP_OPCODE); // an untagged write
	assert_int_equal(code_of("0011 4143"), TERM_MPA_LENGTH);
	assert_int_equal(code_of("000d c140"), TERM_MPA_LENGTH);
	assert_int_equal(code_of("002d 4141"), TERM_MPA_LENGTH);
	assert_int_equal(code_of("0000 4143"), TERM_MPA_LENGTH);
	assert_int_equal(code_of("0012 4143 00000000 00000001"), TERM_DDP_QN);
	assert_int_equal(code_of("002e 4141 00000000 00000000"), TERM_DDP_QN);
	assert_int_equal(code_of("0016 4147 00000000 00000000"), TERM_DDP_QN);
	assert_int_equal(code_of("002f 4141 00000000 00000001"), TERM_DDP_TOO_LONG);
}

static void the_longest_segment_is_legal(void **state)
{
	uint8_t frame[4] = { 0xff, 0xff, 0xc1, 0x40 };
	struct ddp_segment s;

	assert_int_equal(ddp_begin(frame, &s), 0);
	assert_int_equal(s.len, 65535 - 14);
}

static void a_terminate_quotes_the_read_request_it_is_about(void **state)
{
	uint8_t request[64], frame[TERM_FRAME_MAX], want[128];
	struct ddp_segment s;

	unhex(read_request_hex, request);
	assert_int_equal(ddp_begin(request, &s), 0);
	uint32_t n = ddp_put_terminate(frame, TERM_RDMAP_BOUNDS, request, &s);
	size_t len = unhex("0046 4147 00000000 00000002 00000001 00000000 0101 e000 002e 4141 "
			   "00000000 00000001 00000001 00000000 aabbccdd 0000000000002000 00001000 "
			   "11223344 0000000000001000",
			   want);
	assert_int_equal(n, len);
	assert_memory_equal(frame, want, len);
}

static void a_terminate_without_a_quote_is_short(void **state)
{
	uint8_t frame[TERM_FRAME_MAX], want[64];
	uint32_t n = ddp_put_terminate(frame, TERM_MPA_CRC, NULL, NULL);
	size_t len = unhex("0016 4147 00000000 00000002 00000001 00000000 2002 0000", want);

	assert_int_equal(n, len);
	assert_memory_equal(frame, want, len);
}

static unsigned told(const char *hex, bool is_read)
{
	uint8_t control[4];
	bool is;

	unhex(hex, control);
	unsigned code = term_decode(control, &is);
	assert_int_equal(is, is_read);
	return code;
}

static void a_terminate_is_understood_as_the_rfc_and_as_siw_writes_it(void **state)
{
	assert_int_equal(told("0101 e000", true), TERM_RDMAP_BOUNDS);
	assert_int_equal(told("1102 c000", false), TERM_DDP_STREAM);
	assert_int_equal(told("1202 0000", false), TERM_DDP_NO_BUFFER);
	assert_int_equal(told("2002 0000", false), TERM_MPA_CRC);
	assert_int_equal(told("0206 0000", false), TERM_RDMAP_OPCODE);
	assert_int_equal(told("1001 0700", true), TERM_RDMAP_BOUNDS);
	assert_int_equal(told("2102 0300", false), TERM_DDP_NO_BUFFER);
	assert_int_equal(told("2102 0000", false), TERM_DDP_NO_BUFFER);
	assert_int_equal(told("0202 0000", false), TERM_MPA_CRC);
	assert_int_equal(told("2006 0300", false), TERM_RDMAP_OPCODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_request_is_understood),
		cmocka_unit_test(the_answer_is_what_linux_expects),
		cmocka_unit_test(an_answer_has_no_higher_revision_than_the_request),
		cmocka_unit_test(either_side_can_ask_for_a_crc),
		cmocka_unit_test(a_peer_that_does_not_negotiate_gets_our_depths),
		cmocka_unit_test(peer_to_peer_is_answered_with_an_empty_write_if_offered),
		cmocka_unit_test(a_frame_with_another_key_is_no_request),
		cmocka_unit_test(too_much_private_data_is_refused),
		cmocka_unit_test(announced_but_absent_enhanced_data_is_refused),
		cmocka_unit_test(a_send_has_the_known_bytes),
		cmocka_unit_test(a_write_has_the_known_bytes),
		cmocka_unit_test(a_read_request_has_the_known_bytes),
		cmocka_unit_test(a_read_request_is_understood),
		cmocka_unit_test(every_opcode_comes_back_as_it_was_put),
		cmocka_unit_test(headers_that_break_a_rule_have_their_code),
		cmocka_unit_test(the_longest_segment_is_legal),
		cmocka_unit_test(a_terminate_quotes_the_read_request_it_is_about),
		cmocka_unit_test(a_terminate_without_a_quote_is_short),
		cmocka_unit_test(a_terminate_is_understood_as_the_rfc_and_as_siw_writes_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
