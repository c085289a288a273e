// SPDX-License-Identifier: BSD-2-Clause
// The rows: order, lookup, usage bits.
#include "target/scsi/scsi_test.h"
#include "target/scsi/server/dispatch.h"

static unsigned count;
static const struct opcode_row *const rows = opcode_rows;

static uint32_t key(const struct opcode_row *r)
{
	return (uint32_t)r->opcode << 16 | r->sa;
}

static void rows_ascend_by_opcode_and_service_action(void **state)
{
	for (unsigned i = 1; i < count; i++)
		assert_true(key(&rows[i - 1]) < key(&rows[i]));
}

static void every_usage_map_begins_with_the_opcode(void **state)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(rows[i].usage[0], rows[i].opcode);
}

static void every_usage_map_holds_the_service_action(void **state)
{
	for (unsigned i = 0; i < count; i++) {
		if (!rows[i].has_sa)
			continue;
		assert_int_equal(rows[i].usage[1] & 0x1f, rows[i].sa);
	}
}

static void no_usage_bit_lies_past_the_cdb(void **state)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = rows[i].cdb_len; j < CDB_MAX; j++)
			assert_int_equal(rows[i].usage[j], 0);
	}
}

static void cdb_length_is_the_opcode_groups(void **state)
{
	static const uint8_t of_group[8] = { 6, 10, 10, 0, 16, 12, 0, 0 };
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(rows[i].cdb_len, of_group[rows[i].opcode >> 5]);
}

static void dpo_and_fua_flags_have_their_usage_bits(void **state)
{
	for (unsigned i = 0; i < count; i++) {
		if (rows[i].flags & OP_DPO)
			assert_true(rows[i].usage[1] & 0x10);
		if (rows[i].flags & OP_FUA)
			assert_true(rows[i].usage[1] & 0x08);
	}
}

static void every_row_has_name_and_handler(void **state)
{
	for (unsigned i = 0; i < count; i++) {
		assert_non_null(rows[i].name);
		assert_non_null(rows[i].run);
	}
}

static void every_row_is_found_by_its_cdb(void **state)
{
	for (unsigned i = 0; i < count; i++) {
		uint8_t cdb[CDB_MAX] = { rows[i].opcode, rows[i].usage[1] };
		assert_ptr_equal(dispatch_find(cdb, rows[i].cdb_len), &rows[i]);
	}
}

static void an_unknown_opcode_is_told_from_an_unknown_service_action(void **state)
{
	start(NULL);
	assert_null(dispatch_find((uint8_t[16]){ 0xd0 }, 16));
	assert_false(dispatch_has_opcode(b.lu, 0xd0));
	assert_null(dispatch_find((uint8_t[16]){ 0x9e, 0x1f }, 16));
	assert_true(dispatch_has_opcode(b.lu, 0x9e));
}

static void a_cdb_shorter_than_its_opcode_is_not_found(void **state)
{
	uint8_t cdb[16] = { 0x88 };
	assert_null(dispatch_find(cdb, 10));
	assert_non_null(dispatch_find(cdb, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rows_ascend_by_opcode_and_service_action),
		T(every_usage_map_begins_with_the_opcode),
		T(every_usage_map_holds_the_service_action),
		T(no_usage_bit_lies_past_the_cdb),
		T(cdb_length_is_the_opcode_groups),
		T(dpo_and_fua_flags_have_their_usage_bits),
		T(every_row_has_name_and_handler),
		T(every_row_is_found_by_its_cdb),
		T(an_unknown_opcode_is_told_from_an_unknown_service_action),
		T(a_cdb_shorter_than_its_opcode_is_not_found),
	};
	while (rows[count].name || rows[count].run)
		count++;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
