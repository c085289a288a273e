// SPDX-License-Identifier: BSD-2-Clause
// An initiator's channel at work: data by direct descriptors, tables and immediate data, responses,
// credits, task management, what the target asks for.
#include "transport/srp/initiator_rig.h"

#include "transport/srp/initiator_priv.h"

static struct rig r; // large
static uint8_t kept[RNIC_RX_SIZE];
static uint32_t kept_len;
static uint8_t data[RIG_ROOM];
static struct srp_response response;
static struct rnic_provider one_key; // takes one piece a key

static int setup(void **state)
{
	rig_init(&r);
	for (unsigned i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	memset(rig_memory[0], 0xee, RIG_ROOM);
	response = (struct srp_response){ .credits = 1 };
	return 0;
}

static int teardown(void **state)
{
	rig_done(&r);
	return 0;
}

static void respond(struct st_conn *c)
{
	response.tag = c->tag;
	st_respond(c, &response);
}

static void keep_and_respond(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] != SRP_CMD)
		return;
	memcpy(kept, iu, len);
	kept_len = len;
	respond(c);
}

// --- data ---

static void up_read_1000(struct rig *rg)
{
	rig_send(rg, 1000, false, 1);
}

static void write_and_respond(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct srp_desc d;
	if (iu[0] != SRP_CMD)
		return;
	assert_int_equal(len, SRP_CMD_LEN + SRP_DIRECT_LEN);
	assert_int_equal(iu[5], SRP_DIRECT);
	assert_int_equal(iu[21], 3);
	assert_int_equal(iu[32], 0xab);
	st_desc(&d, iu, len, true);
	assert_int_equal(d.len, 1000);
	st_write(c, &d, data, 900);
	respond(c);
}

static void a_read_gets_what_the_target_wrote(void **state)
{
	r.target.iu = write_and_respond;
	r.on_up = up_read_1000;
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_memory_equal(rig_memory[0], data, 900);
	// 100 bytes are missing, although the target says nothing of that.
	assert_int_equal(r.tasks[0].data_len, 900);
	assert_true(r.tasks[0].is_under);
	assert_int_equal(r.tasks[0].residual, 100);
}

static void up_without_data(struct rig *rg)
{
	for (int i = 0; i < 2; i++)
		srpi_send(rg->ch, &rg->tasks[rg->sent++]);
}

static void respond_over(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct srp_response s = { .credits = 1, .tag = c->tag };
	static int seen;
	if (iu[0] != SRP_CMD)
		return;
	s.flags = seen++ % 2 ? SRP_DIOVER : SRP_DOOVER;
	*(s.flags == SRP_DIOVER ? &s.in_residual : &s.out_residual) = 512;
	st_respond(c, &s);
}

static void a_command_without_data_learns_what_either_way_would_have_had(void **state)
{
	r.target.iu = respond_over;
	r.on_up = up_without_data;
	rig_run(&r);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r.res[i], 0);
		assert_true(r.tasks[i].is_over);
		assert_int_equal(r.tasks[i].residual, 512);
	}
}

static void up_write_8192(struct rig *rg)
{
	memcpy(rig_memory[0], data, 2048);
	memcpy(rig_memory[0] + RIG_ROOM / 4, data + 2048, 2048);
	memcpy(rig_memory[0] + RIG_ROOM / 2, data + 4096, 4096);
	struct srpi_task *t = &rg->tasks[rg->sent];
	struct sg *sg = rg->sg[0];
	sg[0] = (struct sg){ rig_memory[0], 2048 };
	sg[1] = (struct sg){ rig_memory[0] + RIG_ROOM / 4, 2048 };
	sg[2] = (struct sg){ rig_memory[0] + RIG_ROOM / 2, 4096 };
	*t = (struct srpi_task){ .is_write = true, .sg = sg, .nsg = 3, .len = 8192 };
	rg->sent++;
	srpi_send(rg->ch, t);
}

static void a_short_write_is_immediate_data(void **state)
{
	r.target.iu = keep_and_respond;
	r.on_up = up_write_8192;
	rig_run(&r);
	assert_int_equal(kept_len, 68 + 8192);
	assert_int_equal(kept[5], SRP_IMMEDIATE << 4);
	assert_int_equal(get_be32(kept + 48), 8192);
	assert_memory_equal(kept + 68, data, 8192);
}

static void without_consent_there_is_no_immediate_data(void **state)
{
	r.target.accept.flags = 0;
	r.target.iu = keep_and_respond;
	r.on_up = up_write_8192;
	rig_run(&r);
	assert_int_equal(kept_len, SRP_CMD_LEN + SRP_DIRECT_LEN);
	assert_int_equal(kept[5], SRP_DIRECT << 4);
}

static void up_write_9000(struct rig *rg)
{
	rig_send(rg, 9000, true, 1);
}

static void a_longer_write_has_a_direct_descriptor(void **state)
{
	r.target.iu = keep_and_respond;
	r.on_up = up_write_9000;
	rig_run(&r);
	assert_int_equal(kept_len, SRP_CMD_LEN + SRP_DIRECT_LEN);
	assert_int_equal(kept[5], SRP_DIRECT << 4);
	assert_int_equal(get_be32(kept + 60), 9000);
}

static void immediate_data_fits_the_targets_ius(void **state)
{
	r.target.accept.it_iu_len = 68 + 8191;
	r.target.iu = keep_and_respond;
	r.on_up = up_write_8192;
	rig_run(&r);
	assert_int_equal(kept[5], SRP_DIRECT << 4);
}

static int expose_one(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg,
		      uint32_t nsg, uint64_t len, unsigned access)
{
	return sg[0].len < len ? -EOPNOTSUPP : rnic_iwarp.expose(qp, ret, sg, nsg, len, access);
}

static void take_one_key(struct rig *rg)
{
	one_key = rnic_iwarp;
	one_key.expose = expose_one;
	rg->ch->qp->provider = &one_key;
}

static void up_read_pieces(struct rig *rg)
{
	take_one_key(rg);
	rig_send(rg, 4000, false, 4);
}

// The target says GOOD, but has read nothing.
static void a_write_is_as_long_as_the_device_saw_requested(void **state)
{
	r.target.iu = keep_and_respond;
	r.on_up = up_write_9000;
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_true(r.tasks[0].is_under);
	assert_int_equal(r.tasks[0].residual, 9000);
}

static void write_by_table(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct srp_command cmd;
	struct err e;
	if (iu[0] != SRP_CMD)
		return;
	assert_int_equal(srp_command_parse(&cmd, iu, len, 68, &e), 0);
	assert_int_equal(cmd.in.format, SRP_INDIRECT);
	assert_int_equal(cmd.in.len, 4000);
	assert_int_equal(cmd.in.count, 4);
	assert_int_equal(cmd.in.table.len, 4 * SRP_DIRECT_LEN);
	for (unsigned i = 0; i < 4; i++) {
		struct srp_desc d;
		srp_desc_parse(&d, cmd.in.descs + i * SRP_DIRECT_LEN);
		assert_int_equal(d.len, 1000);
		st_write(c, &d, data + i * 1000, 1000);
	}
	respond(c);
}

static void pieces_with_a_key_each_are_a_table(void **state)
{
	r.target.iu = write_by_table;
	r.on_up = up_read_pieces;
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].data_len, 4000);
	assert_false(r.tasks[0].is_under);
	for (unsigned i = 0; i < 4; i++)
		assert_memory_equal(rig_memory[0] + i * (RIG_ROOM / 4), data + i * 1000, 1000);
}

static void up_read_1000_in_pieces(struct rig *rg)
{
	take_one_key(rg);
	rig_send(rg, 1000, false, 4);
}

static void without_tables_memory_is_copied(void **state)
{
	r.target.accept.formats = SRP_FMT_DIRECT;
	r.target.iu = write_and_respond;
	r.on_up = up_read_1000_in_pieces;
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].data_len, 900);
	for (unsigned i = 0; i < 4; i++)
		assert_memory_equal(rig_memory[0] + i * (RIG_ROOM / 4), data + i * 250,
				    i < 3 ? 250 : 150);
	assert_int_equal(rig_memory[0][3 * (RIG_ROOM / 4) + 150], 0xee);
}

// --- responses ---

static void up_one(struct rig *rg)
{
	rig_send(rg, 0, false, 1);
}

static void sense_data_and_status_arrive(void **state)
{
	static const uint8_t sense[300] = { 0x72, 5, 0x24 };
	response.status = 2;
	response.sense = sense;
	response.sense_len = sizeof sense;
	r.target.iu = keep_and_respond;
	r.on_up = up_one;
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
	assert_int_equal(r.tasks[0].status, 2);
	assert_int_equal(r.tasks[0].sense_len, SRPI_SENSE_MAX);
	assert_memory_equal(r.tasks[0].sense, sense, SRPI_SENSE_MAX);
}

static void a_refused_iu_is_an_error_of_its_command(void **state)
{
	response.has_code = true;
	response.code = SRP_RSP_INVALID_FIELDS;
	r.target.iu = keep_and_respond;
	r.on_up = up_one;
	rig_run(&r);
	assert_int_equal(r.res[0], -EREMOTEIO);
	assert_int_equal(r.tasks[0].code, SRP_RSP_INVALID_FIELDS);
	assert_int_equal(r.why.code, 0);
}

static void a_failed_read_has_no_data(void **state)
{
	response.status = 2;
	r.target.iu = write_and_respond;
	r.on_up = up_read_1000;
	rig_run(&r);
	assert_int_equal(r.tasks[0].data_len, 0);
}

// --- credits ---

static unsigned room_at_first, room_later;

static void up_fill(struct rig *rg)
{
	room_at_first = srpi_room(rg->ch);
	while (srpi_room(rg->ch))
		rig_send(rg, 0, false, 1);
}

static void one_credit_is_kept_for_task_management(void **state)
{
	r.target.accept.credits = 5;
	r.on_up = up_fill;
	rig_run(&r);
	assert_int_equal(room_at_first, 4);
	assert_int_equal(r.sent, 4);
}

static void many_credits_are_many_tasks(void **state)
{
	r.target.accept.credits = INT32_MAX;
	r.on_up = up_fill;
	rig_run(&r);
	assert_int_equal(r.sent, SRPI_TASKS_MAX);
}

// Takes the fourth command, then grants three more by CRED_REQ, then answers all.
static void grant(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	static uint64_t tags[8];
	if (iu[0] == SRP_CMD)
		memcpy(&tags[c->ius - 1], iu + 8, 8);
	if (c->ius == 4)
		st_short(c, SRP_CRED_REQ, 99, 3);
	if (iu[0] != SRP_CRED_RSP)
		return;
	assert_int_equal(c->tag, 99);
	assert_int_equal(len, SRP_SHORT_LEN);
	room_later = srpi_room(r.ch);
	for (unsigned i = 0; i < 4; i++) {
		response.tag = tags[i];
		st_respond(c, &response);
	}
}

static void a_credit_request_is_answered_and_makes_room(void **state)
{
	r.target.accept.credits = 5;
	r.target.iu = grant;
	r.on_up = up_fill;
	rig_run(&r);
	assert_int_equal(room_later, 3);
	assert_int_equal(r.rooms, 1);
}

static void a_response_may_keep_its_credit(void **state)
{
	response.credits = -1;
	r.target.accept.credits = 5;
	r.target.iu = keep_and_respond;
	r.on_up = up_one;
	rig_run(&r);
	assert_int_equal(r.res[0], 0);
}

// --- task management and events ---

static struct srp_task_mgmt asked;

static void up_abort(struct rig *rg)
{
	struct srpi_task *t = rig_send(rg, 1000, false, 1);
	assert_int_equal(srpi_task_mgmt(rg->ch, SRP_TMF_ABORT_TASK, t->lun, t), 0);
	assert_int_equal(srpi_task_mgmt(rg->ch, SRP_TMF_ABORT_TASK, t->lun, t), -EBUSY);
}

static void answer_abort(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct err e;
	if (iu[0] == SRP_CMD)
		memcpy(kept, iu, len);
	if (iu[0] != SRP_TSK_MGMT)
		return;
	assert_int_equal(srp_task_mgmt_parse(&asked, iu, len, &e), 0);
	assert_memory_equal(&asked.task_tag, kept + 8, 8);
	assert_int_equal(asked.function, SRP_TMF_ABORT_TASK);
	assert_int_equal(asked.lun[1], 3);
	st_answer(c, iu);
}

static void tmf_drop(struct rig *rg)
{
	srpi_drop(rg->ch, &rg->tasks[0], -ECANCELED);
}

static void an_aborted_command_is_dropped(void **state)
{
	r.target.iu = answer_abort;
	r.on_up = up_abort;
	r.on_tmf = tmf_drop;
	rig_run(&r);
	assert_int_equal(r.tmfs, 1);
	assert_int_equal(r.tmf_code, SRP_RSP_COMPLETE);
	assert_int_equal(r.res[0], -ECANCELED);
	assert_int_equal(r.why.code, 0);
}

static void hang_up_at_abort(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	if (iu[0] == SRP_TSK_MGMT)
		st_hang_up(c);
}

static void task_management_ends_with_its_connection(void **state)
{
	r.target.iu = hang_up_at_abort;
	r.on_up = up_abort;
	rig_run(&r);
	assert_int_equal(r.tmf_code, -EPIPE);
	assert_int_equal(r.res[0], -EPIPE);
}

static void raise(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	static const uint8_t sense[18] = { 0x70, 0, 6 }, lun[8] = { 0, 9 };
	const struct srp_event v = {
		.tag = 77, .credits = 0, .lun = lun, .sense = sense, .sense_len = sizeof sense
	};
	uint8_t out[100];
	if (iu[0] == SRP_CMD) {
		memcpy(&response.tag, iu + 8, 8);
		st_say(c, out, srp_event_put(out, sizeof out, &v));
	}
	if (iu[0] != SRP_AER_RSP)
		return;
	assert_int_equal(c->tag, 77);
	st_respond(c, &response);
}

static void an_event_is_answered_and_told(void **state)
{
	r.target.iu = raise;
	r.on_up = up_one;
	rig_run(&r);
	assert_int_equal(r.events, 1);
	assert_int_equal(r.event_lun[1], 9);
	assert_int_equal(r.res[0], 0);
}

static bool was_logout;

static void hear_logout(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	was_logout |= iu[0] == SRP_I_LOGOUT;
}

static void a_close_logs_out(void **state)
{
	was_logout = false;
	r.target.iu = hear_logout;
	rig_run(&r);
	assert_true(was_logout);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_read_gets_what_the_target_wrote),
		T(a_command_without_data_learns_what_either_way_would_have_had),
		T(a_short_write_is_immediate_data),
		T(without_consent_there_is_no_immediate_data),
		T(a_longer_write_has_a_direct_descriptor),
		T(a_write_is_as_long_as_the_device_saw_requested),
		T(immediate_data_fits_the_targets_ius),
		T(pieces_with_a_key_each_are_a_table),
		T(without_tables_memory_is_copied),
		T(sense_data_and_status_arrive),
		T(a_refused_iu_is_an_error_of_its_command),
		T(a_failed_read_has_no_data),
		T(one_credit_is_kept_for_task_management),
		T(many_credits_are_many_tasks),
		T(a_credit_request_is_answered_and_makes_room),
		T(a_response_may_keep_its_credit),
		T(an_aborted_command_is_dropped),
		T(task_management_ends_with_its_connection),
		T(an_event_is_answered_and_told),
		T(a_close_logs_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
