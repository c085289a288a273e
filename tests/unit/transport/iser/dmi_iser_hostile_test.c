// SPDX-License-Identifier: BSD-2-Clause
// The initiator's iSER mover against targets that say what fits no command in flight; what can be
// said over any transport is in initiator_movers_test.c.
#include "transport/iser/dmi_iser_rig.h"

static struct rig r; // large
static const uint8_t *hostile_cmd;

static void h_slot_beyond_the_last(struct rig *rg)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[18] ^= 3;
	response(rg, cmd, 0, 0, 0, NULL, 0);
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
// A response with more or less data behind it than its header tells of.
static void miscount(struct rig *rg, uint32_t len, uint32_t told)
{
	uint8_t msg[28 + 48 + 16] = { ISER_CONTROL };
	answer_head(rg, msg + 28, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	put_be24(msg + 28 + 5, told);
	say_raw(rg, msg, 28 + 48 + len, NULL);
}
static void h_segment_longer_than_message(struct rig *rg)
{
	miscount(rg, 16, 17);
}
static void h_segment_of_16_mib(struct rig *rg)
{
	miscount(rg, 0, 0xffffff);
}
static void h_message_longer_than_segment(struct rig *rg)
{
	miscount(rg, 16, 11);
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
	uint32_t rkey = get_be32(rg->hdr + 16) ^ 1;
	response_inv(rg, hostile_cmd, &rkey);
}
static void h_invalidates_in_a_ping(struct rig *rg)
{
	uint8_t bhs[48];
	uint32_t rkey = get_be32(rg->hdr + 16);
	answer_head(rg, bhs, ISCSI_OP_NOP_IN, ISCSI_F, hostile_cmd);
	put_be32(bhs + 16, ISCSI_TAG_NONE);
	say_inv(rg, bhs, &rkey);
}
static void h_invalidates_without_leave(struct rig *rg)
{
	uint32_t rkey = get_be32(rg->hdr + 16);
	response_inv(rg, hostile_cmd, &rkey);
}
static void h_invalidates_for_immediate_data(struct rig *rg)
{
	uint32_t rkey = 0;
	response_inv(rg, hostile_cmd, &rkey);
}

static const struct hostile {
	const char *name;
	void (*say)(struct rig *r);
	bool is_write, no_leave;
	const char *text; // in the reason
} hostiles[] = {
	// clang-format off
	{"tag beyond the last slot", h_slot_beyond_the_last, .text = "no command in flight"},
	{"Data-In", h_data_in, .text = "Data-In over iSER"},
	{"R2T", h_r2t, .is_write = true, .text = "R2T over iSER"},
	{"segment longer than its message", h_segment_longer_than_message, .text = "message of 92"},
	{"segment of 16 MiB", h_segment_of_16_mib, .text = "message of 76"},
	{"message longer than its segment", h_message_longer_than_segment, .text = "message of 92"},
	{"segment beyond the agreed", h_segment_beyond_the_agreed, .text = "at most 8192"},
	{"empty message", h_empty, .text = "message of 0"},
	{"message of 75 bytes", h_short, .text = "too short"},
	{"header alone", h_header_alone, .text = "too short"},
	{"unknown opcode of the header", h_header_opcode, .text = "unknown opcode"},
	{"Hello", h_hello, .text = "iSER Hello"},
	{"HelloReply", h_hello_reply, .text = "iSER HelloReply"},
	{"another's STag invalidated", h_invalidates_another, .text = "not the command's"},
	{"STag invalidated by a ping", h_invalidates_in_a_ping, .text = "not the command's"},
	{"STag invalidated without leave", h_invalidates_without_leave, .no_leave = true,
	 .text = "not the command's"},
	{"STag invalidated where there is none", h_invalidates_for_immediate_data, .is_write = true,
	 .text = "not the command's"},
	// clang-format on
};

static const struct hostile *hostile;

static void script_hostile(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	hostile_cmd = bhs;
	hostile->say(rg);
}

static void what_fits_no_command_in_flight_ends_the_connection(void **state)
{
	uint8_t *mem = calloc(1, 1000); // exact, for AddressSanitizer
	for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++) {
		struct sg sg = { .addr = mem, .len = 1000 };
		hostile = &hostiles[i];
		rig_init(&r, &iser_carrier);
		device(&r)->provider.takes_invalidation = !hostile->no_leave;
		r.script = script_hostile;
		add(&r, &sg, 1, 1000, hostile->is_write);
		rig_run(&r);
		assert_ended(&r, hostile->name, -EPIPE, hostile->text);
		rig_done(&r);
	}
	free(mem);
}

// The longest message that a device lets through fills its buffer.
static void script_fills_the_buffer(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
				    uint32_t len)
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
	rig_init(&r, &iser_carrier);
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
