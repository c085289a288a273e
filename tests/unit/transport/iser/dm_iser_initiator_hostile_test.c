// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover against targets that say what fits no command in flight.
#include "transport/iser/dm_iser_initiator_rig.h"

static struct rig r; // large
static const uint8_t *hostile_hdr, *hostile_cmd;

static void other_tag(uint8_t *ret, unsigned byte, uint8_t bits)
{
	memcpy(ret, hostile_cmd, 48);
	ret[byte] ^= bits;
}

static void h_unknown_response(struct rig *rg)
{
	uint8_t cmd[48];
	other_tag(cmd, 19, 1);
	response(rg, cmd, 0, 0, 0, NULL, 0);
}
static void h_slot_beyond_the_last(struct rig *rg)
{
	uint8_t cmd[48];
	other_tag(cmd, 18, 3);
	response(rg, cmd, 0, 0, 0, NULL, 0);
}
static void h_role_tag_response(struct rig *rg)
{
	uint8_t cmd[48];
	other_tag(cmd, 16, 0x40);
	response(rg, cmd, 0, 0, 0, NULL, 0);
}
static void h_response_twice(struct rig *rg)
{
	rg->ends_when_done = false;
	response(rg, hostile_cmd, 0, 0, 0, NULL, 0);
	response(rg, hostile_cmd, 0, 0, 0, NULL, 0);
}
static void h_data_in(struct rig *rg)
{
	uint8_t bhs[48];
	answer_head(rg, bhs, ISCSI_OP_DATA_IN, ISCSI_F, hostile_cmd);
	put_be32(bhs + 20, ISCSI_TAG_NONE);
	say(rg, bhs, "data", 4);
}
static void h_r2t(struct rig *rg)
{
	uint8_t bhs[48];
	answer_head(rg, bhs, ISCSI_OP_R2T, ISCSI_F, hostile_cmd);
	put_be32(bhs + 20, 1);
	put_be32(bhs + 44, 4);
	say(rg, bhs, NULL, 0);
}
static void h_sense_too_long(struct rig *rg)
{
	uint8_t sense[20] = { 0, 19, 0x70 };
	response(rg, hostile_cmd, 0, 2, 0, sense, sizeof sense);
}
static void h_sense_huge(struct rig *rg)
{
	uint8_t sense[20] = { 0xff, 0xff, 0x70 };
	response(rg, hostile_cmd, 0, 2, 0, sense, sizeof sense);
}
static void h_sense_one_byte(struct rig *rg)
{
	response(rg, hostile_cmd, 0, 2, 0, "", 1);
}
static void h_underflow_too_large(struct rig *rg)
{
	response(rg, hostile_cmd, ISCSI_RSP_UNDERFLOW, 0, 1001, NULL, 0);
}
static void h_underflow_and_overflow(struct rig *rg)
{
	response(rg, hostile_cmd, ISCSI_RSP_UNDERFLOW | ISCSI_RSP_OVERFLOW, 0, 1, NULL, 0);
}
static void h_opcode(struct rig *rg)
{
	uint8_t bhs[48];
	answer_head(rg, bhs, 0x3a, ISCSI_F, hostile_cmd);
	say(rg, bhs, NULL, 0);
}
static void h_from_an_initiator(struct rig *rg)
{
	uint8_t bhs[48];
	answer_head(rg, bhs, ISCSI_OP_SCSI_CMD, ISCSI_F, hostile_cmd);
	say(rg, bhs, NULL, 0);
}
static void h_no_final(struct rig *rg)
{
	uint8_t bhs[48];
	answer_head(rg, bhs, ISCSI_OP_SCSI_RSP, 0, hostile_cmd);
	say(rg, bhs, NULL, 0);
}
static void h_ahs(struct rig *rg)
{
	uint8_t msg[28 + 48 + 8] = { ISER_CONTROL };
	answer_head(rg, msg + 28, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	msg[28 + 4] = 2;
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_segment_longer_than_message(struct rig *rg)
{
	uint8_t msg[28 + 48 + 16] = { ISER_CONTROL };
	answer_head(rg, msg + 28, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	put_be24(msg + 28 + 5, 17);
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_segment_of_16_mib(struct rig *rg)
{
	uint8_t msg[28 + 48] = { ISER_CONTROL };
	answer_head(rg, msg + 28, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	put_be24(msg + 28 + 5, 0xffffff);
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_message_longer_than_segment(struct rig *rg)
{
	uint8_t msg[28 + 48 + 16] = { ISER_CONTROL };
	answer_head(rg, msg + 28, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	put_be24(msg + 28 + 5, 11);
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_segment_beyond_the_agreed(struct rig *rg)
{
	static uint8_t much[8196];
	uint8_t bhs[48];
	answer_head(rg, bhs, ISCSI_OP_NOP_IN, ISCSI_F, hostile_cmd);
	say(rg, bhs, much, sizeof much);
}
static void h_empty(struct rig *rg)
{
	say_raw(rg, "", 0, NULL);
}
static void h_short(struct rig *rg)
{
	uint8_t msg[75] = { ISER_CONTROL };
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_header_alone(struct rig *rg)
{
	uint8_t msg[28] = { ISER_CONTROL };
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_header_opcode(struct rig *rg)
{
	uint8_t msg[76] = { 0x70 };
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_hello(struct rig *rg)
{
	uint8_t msg[28] = { ISER_HELLO, 0xaa };
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_hello_reply(struct rig *rg)
{
	uint8_t msg[28] = { ISER_HELLO_REPLY, 0xaa };
	say_raw(rg, msg, sizeof msg, NULL);
}
static void h_invalidates_another(struct rig *rg)
{
	uint32_t rkey = get_be32(hostile_hdr + 16) ^ 1;
	response_inv(rg, hostile_cmd, 0, 0, 0, NULL, 0, &rkey);
}
static void h_invalidates_in_a_ping(struct rig *rg)
{
	uint8_t bhs[48];
	uint32_t rkey = get_be32(hostile_hdr + 16);
	answer_head(rg, bhs, ISCSI_OP_NOP_IN, ISCSI_F, hostile_cmd);
	put_be32(bhs + 16, ISCSI_TAG_NONE);
	say_inv(rg, bhs, NULL, 0, &rkey);
}
static void h_invalidates_without_leave(struct rig *rg)
{
	uint32_t rkey = get_be32(hostile_hdr + 16);
	response_inv(rg, hostile_cmd, 0, 0, 0, NULL, 0, &rkey);
}
static void h_invalidates_for_immediate_data(struct rig *rg)
{
	uint32_t rkey = 0;
	response_inv(rg, hostile_cmd, 0, 0, 0, NULL, 0, &rkey);
}

static const struct hostile {
	const char *name;
	void (*say)(struct rig *r);
	bool is_write, no_leave;
	const char *text; // in the reason
	int res;	  // of the command
} hostiles[] = {
	// clang-format off
	{"response with an unknown tag", h_unknown_response, .text = "no such command", .res = -EPIPE},
	{"tag beyond the last slot", h_slot_beyond_the_last, .text = "no such command", .res = -EPIPE},
	{"tag of the role", h_role_tag_response, .text = "no such command", .res = -EPIPE},
	{"second response", h_response_twice, .text = "no such command", .res = 0},
	{"Data-In", h_data_in, .text = "Data-In over iSER", .res = -EPIPE},
	{"R2T", h_r2t, .is_write = true, .text = "R2T over iSER", .res = -EPIPE},
	{"sense longer than its segment", h_sense_too_long, .text = "19 bytes of sense", .res = -EPIPE},
	{"sense of 65535 bytes", h_sense_huge, .text = "65535 bytes of sense", .res = -EPIPE},
	{"sense segment of one byte", h_sense_one_byte, .text = "in a data segment of 1", .res = -EPIPE},
	{"underflow above EDTL", h_underflow_too_large, .text = "underflow of 1001", .res = -EPIPE},
	{"underflow and overflow", h_underflow_and_overflow, .text = "at once", .res = -EPIPE},
	{"unknown opcode", h_opcode, .text = "not known", .res = -EPIPE},
	{"initiator's PDU", h_from_an_initiator, .text = "the other way", .res = -EPIPE},
	{"response that is not final", h_no_final, .text = "F is not set", .res = -EPIPE},
	{"AHS in a response", h_ahs, .text = "no AHS", .res = -EPIPE},
	{"segment longer than its message", h_segment_longer_than_message, .text = "message of 92", .res = -EPIPE},
	{"segment of 16 MiB", h_segment_of_16_mib, .text = "message of 76", .res = -EPIPE},
	{"message longer than its segment", h_message_longer_than_segment, .text = "message of 92", .res = -EPIPE},
	{"segment beyond the agreed", h_segment_beyond_the_agreed, .text = "at most 8192", .res = -EPIPE},
	{"empty message", h_empty, .text = "message of 0", .res = -EPIPE},
	{"message of 75 bytes", h_short, .text = "too short", .res = -EPIPE},
	{"header alone", h_header_alone, .text = "too short", .res = -EPIPE},
	{"unknown opcode of the header", h_header_opcode, .text = "unknown opcode", .res = -EPIPE},
	{"Hello", h_hello, .text = "iSER Hello", .res = -EPIPE},
	{"HelloReply", h_hello_reply, .text = "iSER HelloReply", .res = -EPIPE},
	{"another's STag invalidated", h_invalidates_another, .text = "not its command's", .res = -EPIPE},
	{"STag invalidated by a ping", h_invalidates_in_a_ping, .text = "not its command's", .res = -EPIPE},
	{"STag invalidated without leave", h_invalidates_without_leave, .no_leave = true,
	 .text = "not its command's", .res = -EPIPE},
	{"STag invalidated where there is none", h_invalidates_for_immediate_data, .is_write = true,
	 .text = "not its command's", .res = -EPIPE},
	// clang-format on
};

static const struct hostile *hostile;

static void script_hostile(struct rig *rg, const uint8_t *hdr, const uint8_t *bhs,
			   const uint8_t *data, uint32_t len)
{
	hostile_hdr = hdr;
	hostile_cmd = bhs;
	hostile->say(rg);
}

static void what_fits_no_command_in_flight_ends_the_connection(void **state)
{
	uint8_t *mem = calloc(1, 1000); // exact, for AddressSanitizer
	for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++) {
		struct sg sg = { .addr = mem, .len = 1000 };
		hostile = &hostiles[i];
		rig_init(&r);
		r.f.provider.takes_invalidation = !hostile->no_leave;
		r.script = script_hostile;
		add(&r, &sg, 1, 1000, hostile->is_write);
		rig_run(&r);
		if (r.res[0] != hostile->res || !strstr(r.why.text, hostile->text))
			fail_msg("%s: res %d, closed with: %s", hostile->name, r.res[0],
				 r.why.text);
		rig_done(&r);
	}
	free(mem);
}

// The longest message that a device lets through fills its buffer.
static void script_fills_the_buffer(struct rig *rg, const uint8_t *hdr, const uint8_t *bhs,
				    const uint8_t *data, uint32_t len)
{
	static uint8_t msg[RNIC_RX_SIZE] = { ISER_CONTROL };
	answer_head(rg, msg + 28, ISCSI_OP_NOP_IN, ISCSI_F, bhs);
	put_be24(msg + 28 + 5, RNIC_RX_SIZE - 76);
	say_raw(rg, msg, RNIC_RX_SIZE, NULL);
}

static void a_message_that_fills_its_buffer_is_refused(void **state)
{
	uint8_t mem[8];
	struct sg sg = { .addr = mem, .len = sizeof mem };
	rig_init(&r);
	r.params.max_recv_data = 1 << 20; // a role that agrees to more than it can take
	r.script = script_fills_the_buffer;
	add(&r, &sg, 1, sizeof mem, false);
	rig_run(&r);
	assert_non_null(strstr(r.why.text, "at most 8192"));
	rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_no_command_in_flight_ends_the_connection),
		cmocka_unit_test(a_message_that_fills_its_buffer_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
