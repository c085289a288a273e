// SPDX-License-Identifier: BSD-2-Clause
// Target port groups: what is reported, what a state refuses, who may change it, who is told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "target/scsi/alua/alua.h"
#include "target/scsi/reservations/pr_bench.h"

static char dir[64];

static int setup(void **state)
{
	strcpy(dir, "/tmp/alua_XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = 2, .state_dir = dir });
	return 0;
}

static int teardown(void **state)
{
	char cmd[96] = "rm -rf ";
	bench_done(&b);
	return system(strcat(cmd, dir));
}

// A call of alua/alua.h on the control thread.
struct call {
	const char *group, *row, *text;
	uint32_t id;
	int result, done;
	sem_t finished;
};

static void call_new(void *arg)
{
	struct call *k = arg;
	k->result = alua_group_new(b.lu, k->group, k->id, NULL);
}

static int group_new(const char *name, uint32_t id)
{
	struct call k = { .group = name, .id = id };
	bench_on_control(&b, call_new, &k);
	return k.result;
}

static void call_free(void *arg)
{
	struct call *k = arg;
	k->result = alua_group_free(b.lu, k->group, NULL);
}

static int group_free(const char *name)
{
	struct call k = { .group = name };
	bench_on_control(&b, call_free, &k);
	return k.result;
}

static void set_done(void *arg, int result)
{
	struct call *k = arg;
	k->done = result;
	sem_post(&k->finished);
}

static void call_set(void *arg)
{
	struct call *k = arg;
	k->result = alua_group_set(b.lu, k->group, attr_find(alua_group_rows, k->row), k->text,
				   set_done, k, NULL);
	if (k->result)
		sem_post(&k->finished);
}

static int group_set(const char *name, const char *row, const char *text)
{
	struct call k = { .group = name, .row = row, .text = text };
	sem_init(&k.finished, 0, 0);
	bench_on_control(&b, call_set, &k);
	sem_wait(&k.finished);
	bench_settle(&b);
	return k.result ? k.result : k.done;
}

static void call_port(void *arg)
{
	struct call *k = arg;
	k->result = alua_port_set(b.lu, (uint16_t)k->id, (uint16_t)atoi(k->text),
				  SCSI_PROTOCOL_ISCSI, k->row, NULL);
}

static int port_set(uint16_t port, const char *group)
{
	struct call k = { .id = port, .text = group, .row = "iqn.2026-01.test:t,t,0x0001" };
	bench_on_control(&b, call_port, &k);
	return k.result;
}

static int rtpg(uint32_t alloc, unsigned format)
{
	uint8_t cdb[12] = { 0xa3, (uint8_t)(0x0a | format << 5) };
	put_be32(cdb + 6, alloc);
	return bench_run(&b, 0, &c, cdb, 12, NULL, 0, alloc);
}

static int stpg(unsigned state, uint16_t group)
{
	uint8_t cdb[12] = { 0xa4, 0x0a }, list[8] = { 0 };
	put_be32(cdb + 6, 8);
	list[4] = (uint8_t)state;
	put_be16(list + 6, group);
	return bench_run(&b, 0, &c, cdb, 12, list, 8, 0);
}

static void the_default_group_holds_this_port(void **state)
{
	assert_int_equal(rtpg(128, 0), 0);
	assert_int_equal(get_be32(c.data), 12);
	assert_int_equal(c.data[4], 0);
	assert_int_equal(c.data[5], 0xcf);
	assert_int_equal(get_be16(c.data + 6), 0);
	assert_int_equal(c.data[11], 1);
	assert_int_equal(get_be16(c.data + 14), 1);
}

static void the_extended_header_tells_the_transition_time(void **state)
{
	group_set(ALUA_DEFAULT_GROUP, "implicit_trans_secs", "7");
	assert_int_equal(rtpg(128, 1), 0);
	assert_int_equal(get_be32(c.data), 16);
	assert_int_equal(c.data[4], 0x10);
	assert_int_equal(c.data[5], 7);
}

static void truncation_is_exact_and_keeps_the_length(void **state)
{
	for (uint32_t n = 0; n <= 16; n++) {
		assert_int_equal(rtpg(n, 0), 0);
		assert_int_equal(c.data_in, n);
		if (n >= 4)
			assert_int_equal(get_be32(c.data), 12);
	}
}

static void groups_and_their_ports_are_reported(void **state)
{
	assert_int_equal(group_new("second", 16), 0);
	assert_int_equal(port_set(1, "0"), 0);
	assert_int_equal(port_set(2, "16"), 0);
	assert_int_equal(port_set(3, "16"), 0);
	assert_int_equal(rtpg(128, 0), 0);
	assert_int_equal(get_be32(c.data), 12 + 16);
	assert_int_equal(get_be16(c.data + 18), 16);
	assert_int_equal(c.data[23], 2);
	assert_int_equal(get_be16(c.data + 26), 2);
	assert_int_equal(get_be16(c.data + 30), 3);
}

static void names_and_ids_are_taken_once(void **state)
{
	assert_int_equal(group_new("a", 1), 0);
	assert_int_equal(group_new("a", 2), -EEXIST);
	assert_int_equal(group_new("b", 1), -EEXIST);
	assert_int_equal(group_new("b", 0), -EINVAL);
	assert_int_equal(group_new("../b", 3), -EINVAL);
}

static void groups_with_ports_and_the_default_stay(void **state)
{
	group_new("a", 1);
	port_set(9, "1");
	assert_int_equal(group_free("a"), -EBUSY);
	assert_int_equal(group_free(ALUA_DEFAULT_GROUP), -EPERM);
	assert_int_equal(group_free("nobody"), -ENOENT);
	port_set(9, "0");
	assert_int_equal(group_free("a"), 0);
}

static void each_state_refuses_in_its_words(void **state)
{
	static const struct {
		const char *state;
		uint32_t code;
		bool senses_mode;
	} rows[] = {
		{"1",   0,		  true     },
		{ "2",  SENSE(SK_NOT_READY, 0x04,	 0x0b), true },
		{ "3", SENSE(SK_NOT_READY,		   0x04,			 0x0c), false },
		{ "14", SENSE(SK_NOT_READY,0x04,0x12), false },
		{ "0", 0, true	       },
	};
	group_set(ALUA_DEFAULT_GROUP, "nonop_delay_msecs", "0");
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(group_set(ALUA_DEFAULT_GROUP, "alua_access_state", rows[i].state),
				 0);
		assert_int_equal(pending_ua(0), ua_sense(UA_ALUA_CHANGED));
		read_one(0);
		assert_int_equal(c.code, rows[i].code);
		BENCH_NONE(&b, 0, &c, 0, 0, 0, 0, 0, 0);
		assert_int_equal(c.code, rows[i].code);
		int status = BENCH_IN(&b, 0, &c, 255, 0x1a, 0, 0x3f, 0, 255, 0);
		assert_int_equal(status == STATUS_GOOD, rows[i].senses_mode);
		assert_int_equal(BENCH_IN(&b, 0, &c, 96, 0x12, 0, 0, 0, 96, 0), 0);
		assert_int_equal(rtpg(16, 0), 0);
	}
}

static void an_initiator_changes_the_state_and_the_others_are_told(void **state)
{
	assert_int_equal(stpg(ALUA_NONOPTIMIZED, 0), 0);
	rtpg(128, 0);
	assert_int_equal(c.data[4] & 15, ALUA_NONOPTIMIZED);
	assert_int_equal(c.data[9], 1);
	bench_settle(&b);
	assert_int_equal(pending_ua(1), ua_sense(UA_ALUA_CHANGED));
	assert_int_equal(pending_ua(0), 0);
}

static void an_implicit_group_takes_no_orders(void **state)
{
	group_set(ALUA_DEFAULT_GROUP, "alua_access_type", "1");
	stpg(ALUA_NONOPTIMIZED, 0);
	// Of MAINTENANCE OUT another service action is valid: REMOVE I_T NEXUS.
	assert_int_equal(c.code, SENSE_INVALID_FIELD_CDB);
}

static void bad_descriptors_change_nothing(void **state)
{
	stpg(ALUA_NONOPTIMIZED, 99);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	stpg(7, 0);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	stpg(ALUA_TRANSITIONING, 0);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	rtpg(16, 0);
	assert_int_equal(c.data[4] & 15, ALUA_OPTIMIZED);
}

static void unsupported_states_are_refused(void **state)
{
	group_set(ALUA_DEFAULT_GROUP, "alua_support_standby", "0");
	assert_int_equal(group_set(ALUA_DEFAULT_GROUP, "alua_access_state", "2"), -EINVAL);
	stpg(ALUA_IN_STANDBY, 0);
	assert_int_equal(c.code, SENSE_INVALID_FIELD_PARAM);
	rtpg(16, 0);
	assert_int_equal(c.data[5], 0xcb);
}

static void a_delayed_change_goes_through_transitioning(void **state)
{
	static struct bench_cmd change;
	static const uint8_t list[8] = { 0, 0, 0, 0, ALUA_NONOPTIMIZED };
	group_set(ALUA_DEFAULT_GROUP, "trans_delay_msecs", "200");
	memset(&change, 0, offsetof(struct bench_cmd, data));
	memcpy(change.cdb, (uint8_t[]){ 0xa4, 0x0a, 0, 0, 0, 0, 0, 0, 0, 8 }, 10);
	change.cdb_len = 12;
	change.out = list;
	change.out_len = 8;
	bench_start(&b, 0, &change);
	do // until the change has begun
		read_one(1);
	while (!c.code);
	assert_int_equal(c.code, SENSE(SK_NOT_READY, 0x04, 0x0a));
	bench_wait(&change);
	assert_int_equal(change.status, 0);
	rtpg(16, 0);
	assert_int_equal(c.data[4] & 15, ALUA_NONOPTIMIZED);
}

static void a_nonoptimized_path_is_slow_but_works(void **state)
{
	group_set(ALUA_DEFAULT_GROUP, "nonop_delay_msecs", "30");
	group_set(ALUA_DEFAULT_GROUP, "alua_access_state", "1");
	pending_ua(0);
	uint64_t before = clock_ns();
	assert_int_equal(read_one(0), 0);
	assert_true(clock_ns() - before >= 30000000);
}

static void call_configure(void *arg)
{
	struct call *k = arg;
	struct alua_attr attr;
	attr_defaults(alua_group_rows, &attr);
	attr.alua_write_metadata = k->id;
	attr.alua_access_state = ALUA_NONOPTIMIZED;
	k->result = alua_group_configure(b.lu, k->group, &attr, NULL);
}

// As after a start: the state that was configured is active/non-optimized.
static int configure(const char *name, bool writes_metadata)
{
	struct call k = { .group = name, .id = writes_metadata };
	bench_on_control(&b, call_configure, &k);
	return k.result;
}

static void restart(void)
{
	bench_done(&b);
	bench_init(&b, &(struct bench_options){ .workers = 2, .nexuses = 2, .state_dir = dir });
	assert_int_equal(group_new("kept", 5), 0);
	port_set(1, "5");
}

static void expect_state(unsigned state)
{
	do
		rtpg(128, 0);
	while (c.code >> 16 == SK_UNIT_ATTENTION);
	assert_int_equal(c.data[4] & 15, state);
}

static void a_state_is_kept_only_where_metadata_is_written(void **state)
{
	assert_int_equal(group_new("kept", 5), 0);
	port_set(1, "5");
	group_set("kept", "alua_write_metadata", "1");
	stpg(ALUA_IN_STANDBY, 5);
	restart();
	assert_int_equal(configure("kept", false), 0);
	expect_state(ALUA_NONOPTIMIZED);
}

static void what_is_no_longer_kept_does_not_come_back(void **state)
{
	assert_int_equal(group_new("kept", 5), 0);
	port_set(1, "5");
	group_set("kept", "alua_write_metadata", "1");
	stpg(ALUA_IN_STANDBY, 5);
	group_set("kept", "alua_write_metadata", "0");
	stpg(ALUA_OPTIMIZED, 5);
	group_set("kept", "alua_write_metadata", "1");
	restart();
	assert_int_equal(configure("kept", true), 0);
	expect_state(ALUA_OPTIMIZED);
}

static void kept_states_come_back_after_a_restart(void **state)
{
	assert_int_equal(group_new("kept", 5), 0);
	group_set("kept", "alua_write_metadata", "1");
	assert_int_equal(group_set("kept", "alua_access_state", "2"), 0);
	restart();
	assert_int_equal(configure("kept", true), 0);
	rtpg(128, 0);
	assert_int_equal(get_be16(c.data + 6), 5);
	assert_int_equal(c.data[4] & 15, ALUA_IN_STANDBY);
}

static void a_group_without_ports_is_not_reported(void **state)
{
	assert_int_equal(group_new("empty", 5), 0);
	assert_int_equal(rtpg(128, 0), 0);
	assert_int_equal(get_be32(c.data), 12);
	assert_int_equal(port_set(2, "5"), 0);
	assert_int_equal(rtpg(128, 0), 0);
	assert_int_equal(get_be32(c.data), 24);
	assert_int_equal(get_be16(c.data + 18), 5);
	assert_int_equal(port_set(2, "0"), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_default_group_holds_this_port),
		T(the_extended_header_tells_the_transition_time),
		T(truncation_is_exact_and_keeps_the_length),
		T(groups_and_their_ports_are_reported),
		T(names_and_ids_are_taken_once),
		T(groups_with_ports_and_the_default_stay),
		T(each_state_refuses_in_its_words),
		T(an_initiator_changes_the_state_and_the_others_are_told),
		T(an_implicit_group_takes_no_orders),
		T(bad_descriptors_change_nothing),
		T(unsupported_states_are_refused),
		T(a_delayed_change_goes_through_transitioning),
		T(a_nonoptimized_path_is_slow_but_works),
		T(kept_states_come_back_after_a_restart),
		T(a_state_is_kept_only_where_metadata_is_written),
		T(what_is_no_longer_kept_does_not_come_back),
		T(a_group_without_ports_is_not_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
