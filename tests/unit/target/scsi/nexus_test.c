// SPDX-License-Identifier: BSD-2-Clause
// Nexuses: unit attentions, change and loss of the LUN map.
#include "target/scsi/held_store.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/ua.h"

#define UNIT_ATTENTION(asc, ascq) SENSE(SK_UNIT_ATTENTION, asc, ascq)
static struct bench_cmd cmds[2];

static uint32_t tur_lun(uint64_t lun)
{
	memset(&c, 0, offsetof(struct bench_cmd, data));
	c.cdb_len = 6;
	c.lun = lun;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	return c.code;
}

static void a_new_nexus_begins_with_power_on(void **state)
{
	start(&(struct bench_options){ .keeps_ua = true });
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x00));
	assert_int_equal(tur(0), 0);
}

static void a_nexus_that_comes_back_begins_with_nexus_loss(void **state)
{
	start(NULL);
	bench_relogin(&b, 0);
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x07));
}

static void a_power_on_that_was_not_fetched_is_told_to_the_next_nexus(void **state)
{
	start(&(struct bench_options){ .keeps_ua = true });
	bench_relogin(&b, 0);
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x00));
}

static void another_initiator_begins_with_power_on(void **state)
{
	start(&(struct bench_options){ .nexuses = 2, .keeps_ua = true });
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x00));
	bench_relogin(&b, 1);
	assert_int_equal(tur(1), UNIT_ATTENTION(0x29, 0x00));
}

// Of the same name and serial number, but empty: another RAM disk in its place.
static void a_unit_that_was_made_again_begins_with_power_on(void **state)
{
	uint16_t number = 1; // the old one's would be withheld until the next login
	start(NULL);
	struct lu *again = bench_lu(&b, "again", b.lu->unit_serial, &(struct bench_options){ 0 });
	bench_set_map(&b, 0, 0, NULL, NULL);
	bench_set_map(&b, 0, 1, &number, &again);
	assert_int_equal(tur_lun(1), UNIT_ATTENTION(0x29, 0x00));
	lu_put(again);
}

static void unit_attentions_come_one_a_command_by_urgency(void **state)
{
	start(&(struct bench_options){ .keeps_ua = true });
	ua_raise_lu(b.lu, UA_CAPACITY_CHANGED, NULL);
	ua_raise_lu(b.lu, UA_MODE_CHANGED, NULL);
	bench_settle(&b);
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x00));
	assert_int_equal(tur(0), UNIT_ATTENTION(0x2a, 0x01));
	assert_int_equal(tur(0), UNIT_ATTENTION(0x2a, 0x09));
	assert_int_equal(tur(0), 0);
}

static void the_nexus_that_caused_it_is_not_told(void **state)
{
	start(&(struct bench_options){ .workers = 2, .nexuses = 4 });
	ua_raise_lu(b.lu, UA_MODE_CHANGED, b.nexuses[2]);
	bench_settle(&b);
	assert_int_equal(tur(0), UNIT_ATTENTION(0x2a, 0x01));
	assert_int_equal(tur(1), UNIT_ATTENTION(0x2a, 0x01));
	assert_int_equal(tur(2), 0);
	assert_int_equal(tur(3), UNIT_ATTENTION(0x2a, 0x01));
}

static void every_unit_attention_has_a_code_of_its_own(void **state)
{
	for (unsigned i = 0; i < UA_MAX; i++) {
		assert_int_equal(ua_code(i) >> 16, SK_UNIT_ATTENTION);
		for (unsigned j = 0; j < i; j++)
			assert_int_not_equal(ua_code(i), ua_code(j));
	}
}

static void with_interlock_a_unit_attention_stays_until_sense_is_requested(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_ua_intlck_ctrl=1", NULL},
		       .keeps_ua = true
	});
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x00));
	assert_int_equal(tur(0), UNIT_ATTENTION(0x29, 0x00));
	BENCH_IN(&b, 0, &c, 18, 0x03, 0, 0, 0, 18, 0);
	assert_int_equal(tur(0), 0);
}

static void a_new_size_is_told_and_reported(void **state)
{
	start(&(struct bench_options){ .nullio = true });
	lu_set_size(b.lu, 1 << 19);
	bench_settle(&b);
	assert_int_equal(tur(0), UNIT_ATTENTION(0x2a, 0x09));
	BENCH_IN(&b, 0, &c, 8, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(get_be32(c.data), 1023);
}

static void a_new_map_is_told_on_the_units_that_stay(void **state)
{
	start(NULL);
	struct lu *second = bench_lu(&b, "second", "2", &(struct bench_options){ 0 });
	bench_set_map(&b, 0, 2, (const uint16_t[]){ 0, 1 }, (struct lu *const[]){ b.lu, second });
	assert_int_equal(tur_lun(0), UNIT_ATTENTION(0x3f, 0x0e));
	assert_int_equal(tur_lun(0), 0);
	lu_put(second);
}

static void a_map_that_is_alike_is_no_news(void **state)
{
	start(NULL);
	tur_lun(0);
	bench_set_map(&b, 0, 1, (const uint16_t[]){ 0 }, (struct lu *const[]){ b.lu });
	assert_int_equal(tur_lun(0), 0);
}

static void a_new_lun_begins_with_power_on(void **state)
{
	start(NULL);
	struct lu *second = bench_lu(&b, "second", "2", &(struct bench_options){ 0 });
	bench_set_map(&b, 0, 2, (const uint16_t[]){ 0, 1 }, (struct lu *const[]){ b.lu, second });
	assert_int_equal(tur_lun(1), UNIT_ATTENTION(0x29, 0x00));
	lu_put(second);
}

static void a_lun_taken_away_is_not_supported(void **state)
{
	start(NULL);
	bench_set_map(&b, 0, 0, NULL, NULL);
	assert_int_equal(tur_lun(0), SENSE_LUN_NOT_SUPPORTED);
}

// Commands on their way were meant for the old one.
static void a_lun_that_changes_its_unit_does_not_serve_the_new_one(void **state)
{
	start(NULL);
	struct lu *second = bench_lu(&b, "second", "2", &(struct bench_options){ .size = 4096 });
	bench_set_map(&b, 0, 1, (const uint16_t[]){ 0 }, (struct lu *const[]){ second });
	assert_int_equal(tur(0), SENSE_LUN_NOT_SUPPORTED);
	lu_put(second);
}

static void tasks_on_a_lun_taken_away_end_with_task_aborted(void **state)
{
	start(NULL);
	struct bench_cmd *k = &cmds[0];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->out_len = 512;
	k->holds_data = true;
	bench_start(&b, 0, k);
	bench_wait_asked(k);
	bench_set_map(&b, 0, 0, NULL, NULL);
	assert_true(k->is_aborted);
	assert_true(k->sends_aborted);
}

static sem_t map_is_set;

static void map_finished(void *arg)
{
	sem_post(&map_is_set);
}

static void map_clear(void *arg)
{
	struct lun_map *m = lun_map_new(0);
	nexus_set_map(b.nexuses[0], m, map_finished, NULL);
	lun_map_put(m);
}

static void a_change_of_map_waits_for_memory_in_the_protocols_hands(void **state)
{
	int value;
	start(NULL);
	struct bench_cmd *k = &cmds[0];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->expected_in = 512;
	k->holds_release = true;
	bench_start(&b, 0, k);
	bench_wait(k);
	sem_init(&map_is_set, 0, 0);
	bench_on_nexus(&b, 0, map_clear, NULL);
	sem_getvalue(&map_is_set, &value);
	assert_int_equal(value, 0);
	bench_release(k);
	sem_wait(&map_is_set);
}

static void a_task_outlives_its_lun_until_the_backstore_lets_go(void **state)
{
	held_start(&(struct bench_options){ 0 });
	struct bench_cmd *k = &cmds[0];
	held_read(k);
	sem_init(&map_is_set, 0, 0);
	bench_on_nexus(&b, 0, map_clear, NULL);
	assert_false(k->is_done);
	held_go(0);
	bench_wait(k);
	sem_wait(&map_is_set);
	assert_true(k->is_aborted);
}

static unsigned notices;
static uint32_t noticed;

static void count_notice(struct nexus *n, uint16_t lun, uint32_t sense_code)
{
	notices++;
	noticed = sense_code;
}

static void watch_notices(void *arg)
{
	static const struct nexus_ops ops = { .notice = count_notice };
	b.nexuses[0]->ops = &ops;
}

static void the_protocol_is_told_once_of_a_new_map(void **state)
{
	start(NULL);
	bench_on_nexus(&b, 0, watch_notices, NULL);
	notices = 0;
	bench_set_map(&b, 0, 0, NULL, NULL);
	assert_int_equal(notices, 1);
	assert_int_equal(noticed, UNIT_ATTENTION(0x3f, 0x0e));
}

static void one_unit_can_have_two_luns(void **state)
{
	start(NULL);
	bench_set_map(&b, 0, 2, (const uint16_t[]){ 0, 1 }, (struct lu *const[]){ b.lu, b.lu });
	struct bench_cmd *k = &cmds[0];
	memset(k, 0, offsetof(struct bench_cmd, data));
	memcpy(k->cdb, (uint8_t[]){ 0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0 }, 10);
	k->cdb_len = 10;
	k->out = "x";
	k->out_len = 512;
	k->holds_data = true;
	tur_lun(0);
	bench_start(&b, 0, k);
	bench_wait_asked(k);
	bench_set_map(&b, 0, 1, (const uint16_t[]){ 0 }, (struct lu *const[]){ b.lu });
	assert_false(k->is_done); // it came by LUN 0
	bench_abort(k, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_new_nexus_begins_with_power_on),
		T(a_nexus_that_comes_back_begins_with_nexus_loss),
		T(a_power_on_that_was_not_fetched_is_told_to_the_next_nexus),
		T(another_initiator_begins_with_power_on),
		T(a_unit_that_was_made_again_begins_with_power_on),
		T(unit_attentions_come_one_a_command_by_urgency),
		T(the_nexus_that_caused_it_is_not_told),
		T(every_unit_attention_has_a_code_of_its_own),
		T(with_interlock_a_unit_attention_stays_until_sense_is_requested),
		T(a_new_size_is_told_and_reported),
		T(a_new_map_is_told_on_the_units_that_stay),
		T(a_map_that_is_alike_is_no_news),
		T(a_new_lun_begins_with_power_on),
		T(a_lun_taken_away_is_not_supported),
		T(a_lun_that_changes_its_unit_does_not_serve_the_new_one),
		T(tasks_on_a_lun_taken_away_end_with_task_aborted),
		T(a_change_of_map_waits_for_memory_in_the_protocols_hands),
		T(a_task_outlives_its_lun_until_the_backstore_lets_go),
		T(the_protocol_is_told_once_of_a_new_map),
		T(one_unit_can_have_two_luns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
