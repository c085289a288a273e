// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover against every way in which a hostile target may try to leave a
// command's memory by Data-Ins and R2Ts; what can be said over any transport is in
// transport/iser/initiator_movers_test.c.
#include "transport/iscsi/dmi_tcp_rig.h"

// --- hostile targets: each script sends something that must end the connection ---

static const uint8_t *hostile_cmd;
static void h_unknown_data_in(struct rig *r)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[17] ^= 1;
	data_in(r, cmd, ISCSI_F, 0, 0, cmd, 4);
}
static void h_data_sn_gap(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 1, 0, hostile_cmd, 4);
}
static void h_data_sn_again(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0, hostile_cmd, 4);
	data_in(r, hostile_cmd, 0, 0, 4, hostile_cmd, 4);
}
static void h_offset_gap(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 4, hostile_cmd, 4);
}
static void h_offset_back(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0, hostile_cmd, 8);
	data_in(r, hostile_cmd, 0, 1, 4, hostile_cmd, 8);
}
static void h_offset_wraps(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0xfffffffc, hostile_cmd, 8);
}
static void h_beyond_edtl(struct rig *r)
{
	uint8_t much[1004] = { 0 };
	data_in(r, hostile_cmd, ISCSI_F, 0, 0, much, sizeof much);
}
static void h_one_beyond(struct rig *r)
{
	uint8_t much[1000] = { 0 };
	data_in(r, hostile_cmd, 0, 0, 0, much, sizeof much);
	data_in(r, hostile_cmd, ISCSI_F, 1, 1000, much, 1);
}
static void h_empty_data_in(struct rig *r)
{
	data_in(r, hostile_cmd, 0, 0, 0, NULL, 0);
}
static void h_wants_ack(struct rig *r)
{
	data_in(r, hostile_cmd, ISCSI_F | ISCSI_DATA_A, 0, 0, hostile_cmd, 4);
}
static void h_r2t_for_read(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 0, 4);
}
static void h_sense_segment(struct rig *r)
{
	uint8_t sense[8196] = { 0, 18, 0x70 };
	response(r, hostile_cmd, 0, 2, 0, sense, sizeof sense);
}
static void h_segment_beyond_mrdsl(struct rig *r)
{
	uint8_t bhs[48];
	answer_head(r, bhs, ISCSI_OP_DATA_IN, ISCSI_F, hostile_cmd);
	put_be24(bhs + 5, 65537);
	r->carrier->say(r, bhs, 48);
}
static void h_nop_in_with_much_data(struct rig *r)
{
	uint8_t bhs[48], much[8196] = { 0 };
	answer_head(r, bhs, ISCSI_OP_NOP_IN, ISCSI_F, hostile_cmd);
	say(r, bhs, much, sizeof much);
}
static void h_data_in_for_write(struct rig *r)
{
	data_in(r, hostile_cmd, ISCSI_F, 0, 0, hostile_cmd, 4);
}
static void h_r2t_beyond_edtl(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 489);
}
static void h_r2t_wraps(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 0xffffffff);
}
static void h_r2t_offset(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 0, 100);
}
static void h_r2t_sn(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 1, 512, 100);
}
static void h_r2t_without_length(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 0);
}
static void h_r2t_without_tag(struct rig *r)
{
	r2t(r, hostile_cmd, ISCSI_TAG_NONE, 0, 512, 4);
}
static void h_r2t_burst(struct rig *r)
{
	r2t(r, hostile_cmd, 1, 0, 512, 488); // with a MaxBurstLength of 480
}
static void h_r2t_unknown(struct rig *r)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[18] ^= 1;
	r2t(r, cmd, 1, 0, 512, 4);
}

static const struct hostile {
	const char *name;
	void (*say)(struct rig *r);
	bool is_write;
	const char *text; // in the reason
} hostiles[] = {
	// clang-format off
	{ "Data-In with an unknown tag", h_unknown_data_in, false, "no command in flight" },
	{ "DataSN gap", h_data_sn_gap, false, "DataSN 1, expected 0" },
	{ "DataSN repeated", h_data_sn_again, false, "DataSN 0, expected 1" },
	{ "offset gap", h_offset_gap, false, "Data-In: 4 bytes at offset 4" },
	{ "offset going back", h_offset_back, false, "Data-In: 8 bytes at offset 4" },
	{ "offset that wraps", h_offset_wraps, false, "Data-In: 8 bytes at offset 4294967292" },
	{ "Data-In beyond EDTL", h_beyond_edtl, false, "of 1000 are received" },
	{ "one byte beyond EDTL", h_one_beyond, false, "Data-In: 1 bytes at offset 1000" },
	{ "Data-In without data", h_empty_data_in, false, "no data, and not the last PDU" },
	{ "Data-In that asks for an ack", h_wants_ack, false, "A is set" },
	{ "R2T for a read", h_r2t_for_read, false, "does not write" },
	{ "sense segment beyond 8192", h_sense_segment, false, "unexpected data segment of 8196" },
	{ "segment beyond MRDSL", h_segment_beyond_mrdsl, false, "at most 65536" },
	{ "NOP-In of 8196 bytes", h_nop_in_with_much_data, false, "NOP-In: unexpected data segment of 8196" },
	{ "Data-In for a write", h_data_in_for_write, true, "does not read" },
	{ "R2T beyond EDTL", h_r2t_beyond_edtl, true, "R2T: 489 bytes at offset 512" },
	{ "R2T that wraps", h_r2t_wraps, true, "R2T: 4294967295 bytes at offset 512" },
	{ "R2T for data that was sent", h_r2t_offset, true, "R2T: 100 bytes at offset 0" },
	{ "R2TSN gap", h_r2t_sn, true, "R2TSN 1, expected 0" },
	{ "R2T for nothing", h_r2t_without_length, true, "requests no data" },
	{ "R2T without a tag", h_r2t_without_tag, true, "no target tag" },
	{ "R2T above MaxBurstLength", h_r2t_burst, true, "exceed MaxBurstLength 480" },
	{ "R2T with an unknown tag", h_r2t_unknown, true, "no command in flight" },
	// clang-format on
};

static const struct hostile *hostile;

static void script_hostile(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	if ((bhs[0] & 0x3f) != ISCSI_OP_SCSI_CMD)
		return;
	memcpy(cmd, bhs, 48);
	hostile_cmd = cmd;
	hostile->say(r);
}

static void what_does_not_fit_a_command_in_flight_ends_the_connection(void **state)
{
	struct rig r;
	uint8_t *mem = malloc(1000); // exact, for AddressSanitizer
	for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++) {
		struct sg sg = { .addr = mem, .len = 1000 };
		hostile = &hostiles[i];
		memset(mem, 0, 1000);
		rig_init(&r, &tcp_carrier);
		r.params.max_burst = 480;
		r.script = script_hostile;
		add(&r, &sg, 1, 1000, hostile->is_write);
		rig_run(&r);
		assert_ended(&r, hostile->name, -EPIPE, hostile->text);
		rig_done(&r);
	}
	free(mem);
}

// The peer reads nothing, so no Data-Out leaves: the third R2T is one too many.
static void script_many_r2ts(struct rig *r, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	tcp_peer(r)->is_deaf = true;
	r2t(r, cmd, 1, 0, 0, 1 << 20);
	r2t(r, cmd, 2, 1, 1 << 20, 1 << 20);
	r2t(r, cmd, 3, 2, 2 << 20, 1 << 20);
}

static void more_r2ts_than_agreed_end_the_connection(void **state)
{
	struct rig r;
	uint8_t *mem = calloc(1, 3 << 20);
	struct sg sg = { .addr = mem, .len = 3 << 20 };
	rig_init(&r, &tcp_carrier);
	r.params.immediate_data = false;
	r.params.max_send_data = 65536;
	r.params.max_burst = 1 << 20;
	r.script = script_many_r2ts;
	add(&r, &sg, 1, 3 << 20, true);
	rig_run(&r);
	assert_int_equal(r.res[0], -EPIPE);
	assert_non_null(strstr(r.why.text, "MaxOutstandingR2T"));
	rig_done(&r);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_a_command_in_flight_ends_the_connection),
		cmocka_unit_test(more_r2ts_than_agreed_end_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
