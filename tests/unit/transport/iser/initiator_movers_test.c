// SPDX-License-Identifier: BSD-2-Clause
// What holds for every mover of the initiator, whatever carries its PDUs: each test runs over each.
#include "transport/iscsi/dmi_tcp_rig.h"
#include "transport/iser/dmi_iser_rig.h"

static struct rig r; // large

static int setup(void **state)
{
	rig_init(&r, *state);
	return 0;
}

static int teardown(void **state)
{
	rig_done(&r);
	return 0;
}

// --- status ---

static void script_sense(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t sense[20] = { 0, 18, 0x70, 0, 5 };
	response(rg, bhs, ISCSI_RSP_UNDERFLOW, 2, 64, sense, sizeof sense);
}

static void sense_comes_with_check_condition(void **state)
{
	const struct dmi_task *t = read_one(&r, script_sense);
	assert_int_equal(t->status, 2);
	assert_int_equal(t->sense_len, 18);
	assert_int_equal(t->sense[2], 5);
	assert_int_equal(t->data_len, 0);
}

static void script_long_sense(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t sense[1002] = { 1000 >> 8, 1000 & 0xff, 0x70, 0, 5 };
	response(rg, bhs, 0, 2, 0, sense, sizeof sense);
}

static void sense_longer_than_spc_allows_is_cut(void **state)
{
	const struct dmi_task *t = read_one(&r, script_long_sense);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(t->sense_len, DMI_SENSE_MAX);
}

static void script_first_alone(struct rig *rg, const uint8_t *bhs, const uint8_t *data,
			       uint32_t len)
{
	if (!rg->step++)
		response(rg, bhs, ISCSI_RSP_UNDERFLOW, 0, 64, NULL, 0);
}

static void drop_and_close(struct rig *rg)
{
	rg->dm->ops->drop(rg->dm, &rg->tasks[1].dm);
	rig_end(rg);
}

static void the_end_of_a_command_may_drop_another_and_close(void **state)
{
	uint8_t mem[3][64];
	struct sg sg[3];
	r.script = script_first_alone;
	r.on_done = drop_and_close;
	for (int i = 0; i < 3; i++) {
		sg[i] = (struct sg){ .addr = mem[i], .len = sizeof mem[i] };
		add(&r, &sg[i], 1, sizeof mem[i], false);
	}
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.res[1], -ECANCELED);
	assert_int_equal(r.res[2], -EPIPE);
}

// --- other PDUs ---

static void script_window(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	static const struct {
		uint32_t exp, max;
	} steps[] = {
	// clang-format off
		{ 2, 80 },	   // forward
		{ 2, 70 },	   // never back
		{ 90, 80 },	   // contradicts itself
		{ 2, 0x90000000 }, // too far is back, modulo 2^32
	// clang-format on
	};
	uint8_t cmd[48];
	memcpy(cmd, bhs, 48);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		uint8_t nop[48] = { ISCSI_OP_NOP_IN, ISCSI_F };
		put_be32(nop + 16, ISCSI_TAG_NONE);
		put_be32(nop + 20, ISCSI_TAG_NONE);
		put_be32(nop + 28, steps[i].exp);
		put_be32(nop + 32, steps[i].max);
		say(rg, nop, NULL, 0);
	}
	response(rg, cmd, 0, 0, 0, NULL, 0);
}

static void the_command_window_only_moves_forward(void **state)
{
	r.script = script_window;
	add(&r, NULL, 0, 0, false)->is_read = false;
	rig_run(&r);
	assert_int_equal(r.controls, 4);
	assert_int_equal(r.windows, 1);
	assert_int_equal(r.sns.max_cmd_sn, 80);
}

static void script_ping(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	uint8_t cmd[48], nop[48];
	memcpy(cmd, bhs, 48);
	answer_head(rg, nop, ISCSI_OP_NOP_IN, ISCSI_F, cmd);
	put_be32(nop + 16, DMI_ROLE_TAG | 1);
	put_be32(nop + 20, ISCSI_TAG_NONE);
	say(rg, nop, "echoed", 6);
	response(rg, cmd, 0, 0, 0, NULL, 0);
}

static void other_pdus_reach_the_role_with_a_nul_behind_their_data(void **state)
{
	read_one(&r, script_ping);
	assert_int_equal(r.controls, 1);
	assert_int_equal(r.last_data_len, 6);
	assert_true(r.has_nul);
}

// --- the end ---

static void script_hang_up(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	if (rg->pdus == 3)
		rg->carrier->hang_up(rg);
}

static void every_command_in_flight_ends_with_the_connection(void **state)
{
	uint8_t mem[3][16];
	struct sg sg[3];
	r.script = script_hang_up;
	for (int i = 0; i < 3; i++) {
		sg[i] = (struct sg){ .addr = mem[i], .len = 16 };
		add(&r, &sg[i], 1, 16, false);
	}
	rig_run(&r);
	for (int i = 0; i < 3; i++)
		assert_int_equal(r.res[i], -EPIPE);
}

// --- hostile targets: each says something that must end the connection ---

static uint8_t hostile_cmd[48];

static void respond_to(struct rig *rg, unsigned byte, uint8_t flipped)
{
	uint8_t cmd[48];
	memcpy(cmd, hostile_cmd, 48);
	cmd[byte] ^= flipped;
	response(rg, cmd, 0, 0, 0, NULL, 0);
}
static void h_unknown_response(struct rig *rg)
{
	respond_to(rg, 19, 1);
}
static void h_role_tag_response(struct rig *rg)
{
	respond_to(rg, 16, 0x40);
}
static void h_response_twice(struct rig *rg)
{
	rg->ends_when_done = false;
	respond_to(rg, 0, 0);
	respond_to(rg, 0, 0);
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
static void say_head(struct rig *rg, uint8_t opcode, uint8_t flags)
{
	uint8_t bhs[48];
	answer_head(rg, bhs, opcode, flags, hostile_cmd);
	say(rg, bhs, NULL, 0);
}
static void h_opcode(struct rig *rg)
{
	say_head(rg, 0x3a, ISCSI_F);
}
static void h_from_an_initiator(struct rig *rg)
{
	say_head(rg, ISCSI_OP_SCSI_CMD, ISCSI_F);
}
static void h_no_final(struct rig *rg)
{
	say_head(rg, ISCSI_OP_SCSI_RSP, 0);
}
static void h_ahs(struct rig *rg)
{
	uint8_t pdu[48 + 8];
	memset(pdu, 0, sizeof pdu);
	answer_head(rg, pdu, ISCSI_OP_SCSI_RSP, ISCSI_F, hostile_cmd);
	pdu[4] = 2;
	rg->carrier->say(rg, pdu, sizeof pdu);
}
static void h_segment_beyond_the_agreed(struct rig *rg)
{
	static uint8_t much[4100];
	uint8_t bhs[48];
	answer_head(rg, bhs, ISCSI_OP_NOP_IN, ISCSI_F, hostile_cmd);
	say(rg, bhs, much, sizeof much);
}

static const struct hostile {
	const char *name;
	void (*say)(struct rig *r);
	const char *text; // in the reason
	int res;	  // of the command
} hostiles[] = {
	// clang-format off
	{ "response with an unknown tag", h_unknown_response, "no command in flight", -EPIPE },
	{ "response with a tag of the role", h_role_tag_response, "no command in flight", -EPIPE },
	{ "second response", h_response_twice, "no command in flight", 0 },
	{ "sense longer than its segment", h_sense_too_long, "sense: 19 bytes", -EPIPE },
	{ "sense of 65535 bytes", h_sense_huge, "sense: 65535 bytes", -EPIPE },
	{ "sense segment of one byte", h_sense_one_byte, "in a data segment of 1", -EPIPE },
	{ "underflow above EDTL", h_underflow_too_large, "underflow of 1001", -EPIPE },
	{ "underflow and overflow", h_underflow_and_overflow, "both set", -EPIPE },
	{ "unknown opcode", h_opcode, "unknown opcode", -EPIPE },
	{ "initiator's PDU", h_from_an_initiator, "wrong direction", -EPIPE },
	{ "response that is not final", h_no_final, "F is not set", -EPIPE },
	{ "AHS in a response", h_ahs, "AHS not allowed", -EPIPE },
	{ "segment beyond the agreed", h_segment_beyond_the_agreed, "at most 4096", -EPIPE },
	// clang-format on
};

static const struct hostile *hostile;

static void script_hostile(struct rig *rg, const uint8_t *bhs, const uint8_t *data, uint32_t len)
{
	memcpy(hostile_cmd, bhs, 48);
	hostile->say(rg);
}

static void what_fits_no_command_in_flight_ends_the_connection(void **state)
{
	const struct carrier *carrier = r.carrier;
	uint8_t *mem = calloc(1, 1000); // exact, for AddressSanitizer
	for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++) {
		struct sg sg = { .addr = mem, .len = 1000 };
		hostile = &hostiles[i];
		if (i) {
			rig_done(&r);
			rig_init(&r, carrier);
		}
		r.params.max_recv_data = 4096;
		r.script = script_hostile;
		add(&r, &sg, 1, 1000, false);
		rig_run(&r);
		assert_ended(&r, hostile->name, hostile->res, hostile->text);
	}
	free(mem);
}

#define OVER(carrier, name)                                                                        \
	{                                                                                          \
#name " over " #carrier, name, setup, teardown, (void *)&carrier                   \
	}
#define T(name) OVER(tcp_carrier, name), OVER(iser_carrier, name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sense_comes_with_check_condition),
		T(sense_longer_than_spc_allows_is_cut),
		T(the_end_of_a_command_may_drop_another_and_close),
		T(the_command_window_only_moves_forward),
		T(other_pdus_reach_the_role_with_a_nul_behind_their_data),
		T(every_command_in_flight_ends_with_the_connection),
		T(what_fits_no_command_in_flight_ends_the_connection),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
