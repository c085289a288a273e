// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE IN and OUT: registrations, reservations, who is told what. Four nexuses
// on two workers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "target/scsi/reservations/pr_bench.h"
#include "target/scsi/reservations/table.h"

static int setup(void **state)
{
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = 4 });
	return 0;
}

static int setup_with(const char *attr)
{
	const char *attrs[] = { attr, NULL };
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = 4, .attrs = attrs });
	return 0;
}

static int setup_without_tas(void **state)
{
	return setup_with("emulate_tas=0");
}

static int setup_without_pr(void **state)
{
	return setup_with("emulate_pr=0");
}

static int teardown(void **state)
{
	bench_done(&b);
	return 0;
}

static void a_registered_key_is_read_back(void **state)
{
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 0, 0xabcd, 0), 0);
	assert_int_equal(pr_in(1, 0, 64), 0);
	assert_int_equal(get_be32(c.data), 1);
	assert_int_equal(get_be32(c.data + 4), 8);
	assert_int_equal(get_be64(c.data + 8), 0xabcd);
}

static void register_needs_the_present_key(void **state)
{
	pr_register(0);
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 0, 5, 0), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, key_of(0), 5, 0), 0);
	pr_in(0, 0, 16);
	assert_int_equal(get_be64(c.data + 8), 5);
}

static void an_unregistered_nexus_registers_with_key_zero_only(void **state)
{
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 1, 5, 0), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(pr_keys(0), 0);
}

static void zero_keys_of_an_unregistered_nexus_change_nothing(void **state)
{
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 0, 0, 0), 0);
	assert_int_equal(pr_keys(0), 0);
}

static void reserve_and_release_do_not_count_generations(void **state)
{
	pr_register(0);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	pr_out(0, OUT_RELEASE, PR_WE, key_of(0), 0, 0);
	assert_int_equal(pr_generation(0), 1);
}

static void a_refused_command_does_not_count_a_generation(void **state)
{
	pr_register(0);
	pr_out(0, OUT_CLEAR, 0, 0x999, 0, 0);
	assert_int_equal(pr_generation(0), 1);
}

static void truncation_keeps_the_full_additional_length(void **state)
{
	for (unsigned i = 0; i < 4; i++)
		pr_register(i);
	assert_int_equal(pr_in(0, 0, 8), 0);
	assert_int_equal(c.data_in, 8);
	assert_int_equal(get_be32(c.data + 4), 32);
}

static void service_actions_past_the_last_are_invalid(void **state)
{
	for (unsigned sa = 4; sa < 32; sa++) {
		pr_in(0, sa, 16);
		assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
	}
}

static void capabilities_name_all_six_types(void **state)
{
	assert_int_equal(pr_in(0, 2, 64), 0);
	assert_int_equal(c.data_in, 8);
	assert_int_equal(get_be16(c.data), 8);
	assert_int_equal(c.data[2], 0x1c); // no place to persist
	assert_int_equal(get_be16(c.data + 4), 0xea01);
}

static void every_type_is_reserved_reported_and_released(void **state)
{
	static const uint8_t types[] = { PR_WE, PR_EA, PR_WE_RO, PR_EA_RO, PR_WE_AR, PR_EA_AR };
	pr_register(0);
	for (unsigned i = 0; i < sizeof types; i++) {
		uint64_t key = 99;
		assert_int_equal(pr_out(0, OUT_RESERVE, types[i], key_of(0), 0, 0), 0);
		assert_int_equal(pr_reserved(1, &key), types[i]);
		assert_int_equal(key, pr_type_is_all_registrants(types[i]) ? 0 : key_of(0));
		assert_int_equal(pr_out(0, OUT_RELEASE, types[i], key_of(0), 0, 0), 0);
		assert_int_equal(pr_reserved(1, NULL), PR_NONE);
	}
}

static void unknown_types_are_invalid(void **state)
{
	static const uint8_t types[] = { 0, 2, 4, 9, 15 };
	pr_register(0);
	for (unsigned i = 0; i < sizeof types; i++) {
		pr_out(0, OUT_RESERVE, types[i], key_of(0), 0, 0);
		assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
	}
}

static void reserve_needs_a_registration(void **state)
{
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_WE, 0, 0, 0), STATUS_RESERVATION_CONFLICT);
}

static void reserving_again_with_another_type_conflicts(void **state)
{
	pr_register(0);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0), 0);
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_EA, key_of(0), 0, 0),
			 STATUS_RESERVATION_CONFLICT);
}

static void release_with_another_type_is_invalid(void **state)
{
	pr_register(0);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	pr_out(0, OUT_RELEASE, PR_EA, key_of(0), 0, 0);
	assert_int_equal(c.code, SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x04));
}

static void release_by_another_registrant_changes_nothing(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	assert_int_equal(pr_out(1, OUT_RELEASE, PR_WE, key_of(1), 0, 0), 0);
	assert_int_equal(pr_reserved(0, NULL), PR_WE);
}

static void a_holder_that_unregisters_releases(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, key_of(0), 0, 0), 0);
	assert_int_equal(pr_reserved(1, NULL), PR_NONE);
	assert_int_equal(pending_ua(1), 0);
}

static void registrants_learn_of_the_end_of_a_shared_reservation(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_EA_RO, key_of(0), 0, 0);
	pr_out(0, OUT_REGISTER, 0, key_of(0), 0, 0);
	assert_int_equal(pending_ua(1), ua_sense(UA_RESERVATIONS_RELEASED));
	assert_int_equal(pending_ua(0), 0);
	assert_int_equal(pending_ua(2), 0);
}

static void all_registrants_hold_until_the_last_one_leaves(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_WE_AR, key_of(0), 0, 0);
	pr_out(0, OUT_REGISTER, 0, key_of(0), 0, 0);
	assert_int_equal(pr_reserved(0, NULL), PR_WE_AR);
	pr_out(1, OUT_REGISTER, 0, key_of(1), 0, 0);
	assert_int_equal(pr_reserved(0, NULL), PR_NONE);
}

static void release_tells_the_other_registrants(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		pr_register(i);
	pr_out(0, OUT_RESERVE, PR_WE_RO, key_of(0), 0, 0);
	pr_out(0, OUT_RELEASE, PR_WE_RO, key_of(0), 0, 0);
	assert_int_equal(pending_ua(0), 0);
	assert_int_equal(pending_ua(1), ua_sense(UA_RESERVATIONS_RELEASED));
	assert_int_equal(pending_ua(2), ua_sense(UA_RESERVATIONS_RELEASED));
	assert_int_equal(pending_ua(3), 0);
}

static void clear_removes_all_and_tells_the_others(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(1, OUT_RESERVE, PR_EA, key_of(1), 0, 0);
	assert_int_equal(pr_out(0, OUT_CLEAR, 0, key_of(0), 0, 0), 0);
	assert_int_equal(pr_keys(0), 0);
	assert_int_equal(pr_reserved(0, NULL), PR_NONE);
	assert_int_equal(pr_generation(0), 3);
	assert_int_equal(pending_ua(1), ua_sense(UA_RESERVATIONS_PREEMPTED));
	assert_int_equal(pending_ua(0), 0);
}

static void preempt_takes_the_reservation_over(void **state)
{
	uint64_t key;
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	assert_int_equal(pr_out(1, OUT_PREEMPT, PR_EA, key_of(1), key_of(0), 0), 0);
	assert_int_equal(pr_reserved(1, &key), PR_EA);
	assert_int_equal(key, key_of(1));
	assert_int_equal(pr_keys(1), 1);
	assert_int_equal(pending_ua(0), ua_sense(UA_REGISTRATIONS_PREEMPTED));
}

static void a_preempt_that_changes_the_type_tells_those_who_stay(void **state)
{
	for (unsigned i = 0; i < 3; i++)
		pr_register(i);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	pr_out(1, OUT_PREEMPT, PR_EA, key_of(1), key_of(0), 0);
	assert_int_equal(pending_ua(2), ua_sense(UA_RESERVATIONS_RELEASED));
	assert_int_equal(pending_ua(1), 0);
}

static void preempting_a_registration_keeps_the_reservation(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	assert_int_equal(pr_out(0, OUT_PREEMPT, PR_EA, key_of(0), key_of(1), 0), 0);
	assert_int_equal(pr_reserved(0, NULL), PR_WE);
	assert_int_equal(pr_keys(0), 1);
	assert_int_equal(pending_ua(1), ua_sense(UA_REGISTRATIONS_PREEMPTED));
}

static void preempting_an_unknown_key_conflicts(void **state)
{
	pr_register(0);
	assert_int_equal(pr_out(0, OUT_PREEMPT, PR_WE, key_of(0), 0x777, 0),
			 STATUS_RESERVATION_CONFLICT);
	assert_int_equal(pr_generation(0), 1);
}

static void preempting_key_zero_is_invalid_but_for_all_registrants(void **state)
{
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_PREEMPT, PR_WE, key_of(0), 0, 0);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	pr_out(1, OUT_RESERVE, PR_EA_AR, key_of(1), 0, 0);
	assert_int_equal(pr_out(0, OUT_PREEMPT, PR_WE, key_of(0), 0, 0), 0);
	assert_int_equal(pr_reserved(0, NULL), PR_WE);
	assert_int_equal(pr_keys(0), 1);
}

static void preempt_and_abort_waits_for_what_it_aborts(void **state)
{
	static struct bench_cmd victim;
	static const uint8_t block[512];
	pr_register(0);
	pr_register(1);
	memcpy(victim.cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	victim.cdb_len = 10;
	victim.out = block;
	victim.out_len = 512;
	victim.holds_data = true;
	bench_start(&b, 1, &victim);
	bench_wait_asked(&victim);
	assert_int_equal(pr_out(0, OUT_PREEMPT_ABORT, PR_WE, key_of(0), key_of(1), 0), 0);
	uint64_t order = c.order;
	bench_wait(&victim);
	assert_true(victim.is_aborted);
	assert_true(victim.order < order);
}

static void without_tas_the_victims_hear_of_cleared_commands(void **state)
{
	static struct bench_cmd victim;
	pr_register(0);
	pr_register(1);
	memset(&victim, 0, offsetof(struct bench_cmd, data));
	memcpy(victim.cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	victim.cdb_len = 10;
	victim.out_len = 512;
	victim.holds_data = true;
	bench_start(&b, 1, &victim);
	bench_wait_asked(&victim);
	pr_out(0, OUT_PREEMPT_ABORT, PR_WE, key_of(0), key_of(1), 0);
	bench_wait(&victim);
	assert_false(victim.sends_aborted);
	assert_int_equal(pending_ua(1), ua_sense(UA_REGISTRATIONS_PREEMPTED));
	assert_int_equal(pending_ua(1), ua_sense(UA_COMMANDS_CLEARED));
}

static void start_preempt_abort(struct bench_cmd *cmd, uint8_t *list, unsigned self, unsigned other)
{
	memset(cmd, 0, offsetof(struct bench_cmd, data));
	memset(list, 0, 24);
	put_be64(list, key_of(self));
	put_be64(list + 8, key_of(other));
	memcpy(cmd->cdb, (uint8_t[]){ 0x5f, OUT_PREEMPT_ABORT, PR_WE, 0, 0, 0, 0, 0, 24, 0 }, 10);
	cmd->cdb_len = 10;
	cmd->out = list;
	cmd->out_len = 24;
	bench_start(&b, self, cmd);
}

// Each aborts the other's tasks, the other's PREEMPT AND ABORT among them; whichever comes
// second has no registration any more.
static void two_that_preempt_and_abort_each_other_both_end(void **state)
{
	static struct bench_cmd one, two;
	uint8_t lists[2][24];
	for (unsigned i = 0; i < 200; i++) {
		for (unsigned n = 0; n < 2; n++) {
			while (pending_ua(n))
				;
			pr_register(n);
		}
		start_preempt_abort(&one, lists[0], 0, 1);
		start_preempt_abort(&two, lists[1], 1, 0);
		bench_wait(&one);
		bench_wait(&two);
		assert_int_equal((one.status == STATUS_GOOD) + (two.status == STATUS_GOOD), 1);
		assert_int_equal(pr_keys(2), 1);
	}
}

static void full_status_names_the_holder_and_its_port(void **state)
{
	uint8_t tid[256];
	pr_register(0);
	pr_register(1);
	pr_out(1, OUT_RESERVE, PR_EA_RO, key_of(1), 0, 0);
	assert_int_equal(pr_in(0, 3, 1024), 0);
	uint32_t len = tid_of(0, tid);
	assert_int_equal(get_be32(c.data + 4), 2 * (24 + len));
	assert_int_equal(c.data[8 + 12], 0);
	assert_int_equal(get_be16(c.data + 8 + 18), 1);
	assert_memory_equal(c.data + 8 + 24, tid, len);
	const uint8_t *second = c.data + 8 + 24 + len;
	assert_int_equal(get_be64(second), key_of(1));
	assert_int_equal(second[12], 1);
	assert_int_equal(second[13], PR_EA_RO);
}

static void a_registration_survives_a_new_session(void **state)
{
	pr_register(0);
	pr_out(0, OUT_RESERVE, PR_EA, key_of(0), 0, 0);
	bench_relogin(&b, 0);
	pending_ua(0);
	assert_int_equal(write_one(0), 0);
	assert_int_equal(write_one(1), STATUS_RESERVATION_CONFLICT);
}

static void an_extra_byte_is_a_length_error(void **state)
{
	uint8_t list[25] = { 0 };
	pr_out_list(0, OUT_REGISTER, 0, list, 25);
	assert_int_equal(c.code, SENSE_PARAM_LIST_LENGTH);
	pr_out_list(0, OUT_REGISTER, 0, list, 20);
	assert_int_equal(c.code, SENSE_PARAM_LIST_LENGTH);
}

static void spec_i_pt_registers_others(void **state)
{
	uint8_t list[512] = { 0 };
	put_be64(list + 8, 0x55);
	list[20] = SPEC_I_PT;
	uint32_t len = tid_of(2, list + 28);
	put_be32(list + 24, len);
	assert_int_equal(pr_out_list(0, OUT_REGISTER, 0, list, 28 + len), 0);
	assert_int_equal(pr_keys(0), 2);
	assert_int_equal(pr_out(2, OUT_RESERVE, PR_EA, 0x55, 0, 0), 0);
}

static void spec_i_pt_naming_itself_is_invalid(void **state)
{
	uint8_t list[512] = { 0 };
	put_be64(list + 8, 0x55);
	list[20] = SPEC_I_PT;
	uint32_t len = tid_of(0, list + 28);
	put_be32(list + 24, len);
	pr_out_list(0, OUT_REGISTER, 0, list, 28 + len);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	assert_int_equal(pr_keys(0), 0);
}

static void all_tg_pt_is_reported(void **state)
{
	pr_out(0, OUT_REGISTER, 0, 0, 7, ALL_TG_PT);
	pr_in(0, 3, 256);
	assert_int_equal(c.data[8 + 12], 0x02);
}

static void aptpl_without_a_place_is_invalid(void **state)
{
	pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	assert_int_equal(pr_keys(0), 0);
}

static uint32_t move_list(uint8_t *list, unsigned from, unsigned to, uint64_t key, uint8_t flags)
{
	memset(list, 0, 24);
	put_be64(list, key_of(from));
	put_be64(list + 8, key);
	list[17] = flags;
	put_be16(list + 18, 1);
	uint32_t len = tid_of(to, list + 24);
	put_be32(list + 20, len);
	return 24 + len;
}

static void register_and_move_hands_the_reservation_on(void **state)
{
	uint8_t list[512];
	uint64_t key;
	pr_register(0);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	uint32_t len = move_list(list, 0, 1, 0x42, 0x02);
	assert_int_equal(pr_out_list(0, OUT_REGISTER_MOVE, 0, list, len), 0);
	assert_int_equal(pr_reserved(1, &key), PR_WE);
	assert_int_equal(key, 0x42);
	assert_int_equal(pr_keys(1), 1);
	assert_int_equal(write_one(0), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(write_one(1), 0);
}

static void register_and_move_to_an_unknown_port_is_invalid(void **state)
{
	uint8_t list[512];
	pr_register(0);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	uint32_t len = move_list(list, 0, 1, 0x42, 0);
	put_be16(list + 18, 77);
	pr_out_list(0, OUT_REGISTER_MOVE, 0, list, len);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
}

static void only_the_holder_moves(void **state)
{
	uint8_t list[512];
	pr_register(0);
	pr_register(1);
	pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0);
	uint32_t len = move_list(list, 1, 2, 0x42, 0);
	assert_int_equal(pr_out_list(1, OUT_REGISTER_MOVE, 0, list, len),
			 STATUS_RESERVATION_CONFLICT);
}

static void without_emulate_pr_there_are_no_such_commands(void **state)
{
	pr_in(0, 0, 8);
	assert_int_equal(c.code, SENSE_INVALID_OPCODE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_registered_key_is_read_back),
		T(register_needs_the_present_key),
		T(an_unregistered_nexus_registers_with_key_zero_only),
		T(zero_keys_of_an_unregistered_nexus_change_nothing),
		T(reserve_and_release_do_not_count_generations),
		T(a_refused_command_does_not_count_a_generation),
		T(truncation_keeps_the_full_additional_length),
		T(service_actions_past_the_last_are_invalid),
		T(capabilities_name_all_six_types),
		T(every_type_is_reserved_reported_and_released),
		T(unknown_types_are_invalid),
		T(reserve_needs_a_registration),
		T(reserving_again_with_another_type_conflicts),
		T(release_with_another_type_is_invalid),
		T(release_by_another_registrant_changes_nothing),
		T(a_holder_that_unregisters_releases),
		T(registrants_learn_of_the_end_of_a_shared_reservation),
		T(all_registrants_hold_until_the_last_one_leaves),
		T(release_tells_the_other_registrants),
		T(clear_removes_all_and_tells_the_others),
		T(preempt_takes_the_reservation_over),
		T(a_preempt_that_changes_the_type_tells_those_who_stay),
		T(preempting_a_registration_keeps_the_reservation),
		T(preempting_an_unknown_key_conflicts),
		T(preempting_key_zero_is_invalid_but_for_all_registrants),
		T(preempt_and_abort_waits_for_what_it_aborts),
		cmocka_unit_test_setup_teardown(without_tas_the_victims_hear_of_cleared_commands,
						setup_without_tas, teardown),
		T(two_that_preempt_and_abort_each_other_both_end),
		T(full_status_names_the_holder_and_its_port),
		T(a_registration_survives_a_new_session),
		T(an_extra_byte_is_a_length_error),
		T(spec_i_pt_registers_others),
		T(spec_i_pt_naming_itself_is_invalid),
		T(all_tg_pt_is_reported),
		T(aptpl_without_a_place_is_invalid),
		T(register_and_move_hands_the_reservation_on),
		T(register_and_move_to_an_unknown_port_is_invalid),
		T(only_the_holder_moves),
		cmocka_unit_test_setup_teardown(without_emulate_pr_there_are_no_such_commands,
						setup_without_pr, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
