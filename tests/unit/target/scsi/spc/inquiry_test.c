// SPDX-License-Identifier: BSD-2-Clause
// INQUIRY: standard data and vital product data pages.
#include "target/scsi/alua/alua.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/scsi_test.h"

static void inquire(uint8_t evpd, uint8_t page, uint16_t alloc)
{
	BENCH_IN(&b, 0, &c, alloc, 0x12, evpd, page, (uint8_t)(alloc >> 8), (uint8_t)alloc, 0);
}

static void standard_data_is_a_direct_access_device_of_spc4(void **state)
{
	start(NULL);
	inquire(0, 0, 512);
	expect_good(c.status);
	assert_int_equal(c.data[0], 0x00);
	assert_int_equal(c.data[2], 0x06);
	assert_int_equal(c.data[3] & 0x0f, 0x02);
	assert_int_equal(c.data_in, c.data[4] + 5);
	assert_int_equal(c.data[7], 0x02);
}

static void the_product_is_the_storage_objects_name(void **state)
{
	start(NULL);
	inquire(0, 0, 96);
	assert_memory_equal(c.data + 8, "FARBLOCKdisk            0001", 28);
}

static void the_product_is_the_attribute_without_model_alias(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_model_alias=0", "product=ARRAY 9", NULL}
	      });
	inquire(0, 0, 96);
	assert_memory_equal(c.data + 16, "ARRAY 9         ", 16);
}

static void version_descriptors_name_sam_transport_spc_and_sbc(void **state)
{
	start(NULL);
	inquire(0, 0, 96);
	assert_int_equal(get_be16(c.data + 58), 0x00a0);
	assert_int_equal(get_be16(c.data + 60), 0x0960);
	assert_int_equal(get_be16(c.data + 62), 0x0460);
	assert_int_equal(get_be16(c.data + 64), 0x04c0);
}

static void the_allocation_length_cuts_but_does_not_overflow(void **state)
{
	start(NULL);
	inquire(0, 0, 5);
	assert_int_equal(c.data_in, 5);
	assert_int_equal(c.wanted, 5);
	assert_int_equal(c.data[4], 91);
}

static void a_page_code_without_evpd_is_refused(void **state)
{
	start(NULL);
	inquire(0, 0x83, 96);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void a_lun_that_is_not_there_has_qualifier_011_and_type_1f(void **state)
{
	start(&(struct bench_options){ .lun = 1 });
	memset(&c, 0, offsetof(struct bench_cmd, data));
	memcpy(c.cdb, (uint8_t[]){ 0x12, 0, 0, 0, 96, 0 }, 6);
	c.cdb_len = 6;
	c.expected_in = 96;
	c.lun = 0;
	bench_start(&b, 0, &c);
	bench_wait(&c);
	expect_good(c.status);
	assert_int_equal(c.data[0], 0x7f);
}

static void inquiry_leaves_a_unit_attention_pending(void **state)
{
	start(&(struct bench_options){ .keeps_ua = true });
	inquire(0, 0, 96);
	expect_good(c.status);
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x29, 0x00));
}

static void removable_media_are_told(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"removable=1", NULL}
	 });
	inquire(0, 0, 96);
	assert_int_equal(c.data[1], 0x80);
}

static void page_list_ascends_and_every_page_can_be_read(void **state)
{
	start(NULL);
	inquire(1, 0, 255);
	uint8_t list[64];
	unsigned n = get_be16(c.data + 2);
	assert_in_range(n, 2, sizeof list);
	memcpy(list, c.data + 4, n);
	for (unsigned i = 0; i < n; i++) {
		if (i)
			assert_true(list[i - 1] < list[i]);
		inquire(1, list[i], 255);
		expect_good(c.status);
		assert_int_equal(c.data[1], list[i]);
		if (c.data_in < 255)
			assert_int_equal(c.data_in, get_be16(c.data + 2) + 4);
	}
}

static void a_volatile_medium_is_told(void **state)
{
	start(NULL);
	inquire(1, 0x86, 255);
	assert_int_equal(c.data[6] & 0x01, 0x01);
}

static void a_medium_that_is_not_volatile_is_told(void **state)
{
	start(&(struct bench_options){ .nullio = true });
	inquire(1, 0x86, 255);
	assert_int_equal(c.data[6] & 0x01, 0);
}

static void an_unknown_page_is_refused(void **state)
{
	start(NULL);
	inquire(1, 0xc7, 255);
	expect_code(SENSE_INVALID_FIELD_CDB);
}

static void the_serial_page_holds_the_unit_serial(void **state)
{
	start(NULL);
	inquire(1, 0x80, 255);
	assert_memory_equal(c.data + 4, "8d4ca6c4-55b6-4b7c-9f3f-0a1b2c3d4e5f", 36);
	assert_int_equal(c.data_in, 40);
}

// The designator with this association and type, or NULL.
static const uint8_t *designator(uint8_t kind)
{
	unsigned end = get_be16(c.data + 2) + 4u;
	for (unsigned at = 4; at + 4 <= end; at += c.data[at + 3] + 4u) {
		if ((c.data[at + 1] & 0x3f) == kind)
			return c.data + at;
	}
	return NULL;
}

static void the_unit_has_an_naa_6_name(void **state)
{
	start(NULL);
	inquire(1, 0x83, 255);
	const uint8_t *d = designator(0x03);
	assert_non_null(d);
	assert_int_equal(d[0], 0x01);
	assert_int_equal(d[3], 16);
	assert_int_equal(d[4] >> 4, 6);
}

static void the_naa_name_depends_on_the_serial_alone(void **state)
{
	uint8_t first[16];
	start(NULL);
	memcpy(first, b.lu->naa, 16);
	struct lu *same = bench_lu(&b, "other", b.lu->unit_serial, &(struct bench_options){ 0 });
	struct lu *other = bench_lu(&b, "disk", "another", &(struct bench_options){ 0 });
	assert_memory_equal(same->naa, first, 16);
	assert_memory_not_equal(other->naa, first, 16);
	lu_put(same);
	lu_put(other);
}

static void the_t10_name_joins_vendor_product_and_serial(void **state)
{
	start(NULL);
	inquire(1, 0x83, 255);
	const uint8_t *d = designator(0x01);
	assert_non_null(d);
	assert_memory_equal(d + 4, "FARBLOCKdisk            8d4ca6c4", 32);
	assert_int_equal(d[3], 24 + 36);
}

static void port_and_group_numbers_carry_protocol_and_association(void **state)
{
	start(NULL);
	inquire(1, 0x83, 255);
	const uint8_t *port = designator(0x14), *group = designator(0x15);
	assert_non_null(port);
	assert_non_null(group);
	assert_int_equal(port[0], 0x51);
	assert_int_equal(port[1], 0x94);
	assert_int_equal(get_be32(port + 4), 1);
	assert_int_equal(group[1], 0x95);
	assert_int_equal(get_be32(group + 4), 0);
}

static void names_of_port_and_target_are_padded_to_four(void **state)
{
	start(NULL);
	inquire(1, 0x83, 255);
	const uint8_t *port = designator(0x18), *target = designator(0x28);
	assert_non_null(port);
	assert_non_null(target);
	assert_int_equal(port[0], 0x53);
	assert_int_equal(port[3] % 4, 0);
	assert_string_equal((const char *)port + 4, "iqn.2026-01.test:target,t,0x0001");
	assert_int_equal(target[3], 24);
	assert_string_equal((const char *)target + 4, "iqn.2026-01.test:target");
}

static void block_limits_are_as_long_as_sbc3_says(void **state)
{
	start(NULL);
	inquire(1, 0xb0, 255);
	assert_int_equal(c.data_in, 64);
	assert_int_equal(get_be32(c.data + 8), 8192 * 2);
}

static void a_thick_unit_has_no_unmap_limits(void **state)
{
	start(NULL);
	inquire(1, 0xb0, 255);
	assert_int_equal(get_be32(c.data + 20), 0);
	assert_int_equal(get_be32(c.data + 24), 0);
	inquire(1, 0xb2, 255);
	assert_int_equal(c.data[5] & 0xe0, 0);
	assert_int_equal(c.data[6], 0);
}

static void a_thin_unit_says_so_in_all_places(void **state)
{
	start(&(struct bench_options){
		.attrs = (const char *[]){"emulate_tpu=1", "emulate_tpws=1", NULL}
	     });
	inquire(1, 0xb0, 255);
	assert_int_not_equal(get_be32(c.data + 20), 0);
	assert_int_not_equal(get_be32(c.data + 24), 0);
	inquire(1, 0xb2, 255);
	assert_int_equal(c.data[5] & 0xe0, 0xe0);
	assert_int_equal(c.data[6], 2);
	BENCH_IN(&b, 0, &c, 32, 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0);
	assert_int_equal(c.data[14] & 0x80, 0x80);
}

struct port {
	uint16_t number;
	uint8_t protocol;
	char name[300];
};

static void tell_port(void *arg)
{
	const struct port *p = arg;
	assert_int_equal(alua_port_set(b.lu, p->number, 0, p->protocol, p->name, NULL), 0);
}

static void scsi_ports_lists_every_port_with_its_name(void **state)
{
	struct port third = { 3, SCSI_PROTOCOL_ISCSI, "iqn.2026-01.test:target,t,0x0003" };
	struct port second = { 2, SCSI_PROTOCOL_ISCSI, "iqn.2026-01.test:other,t,0x0001" };
	start(NULL);
	bench_on_control(&b, tell_port, &third);
	bench_on_control(&b, tell_port, &second);
	BENCH_IN(&b, 0, &c, 512, 0x12, 1, 0x88, 2, 0, 0);
	const uint8_t *d = c.data + 4, *end = c.data + c.data_in;
	const char *const names[] = { "iqn.2026-01.test:target,t,0x0001", second.name, third.name };
	for (uint16_t port = 1; port <= 3; port++) {
		assert_true(d + 12 < end);
		assert_int_equal(get_be16(d + 2), port);
		assert_int_equal(d[13], 0x98);
		assert_string_equal((const char *)d + 16, names[port - 1]);
		d += 12 + get_be16(d + 10);
	}
	assert_ptr_equal(d, end);
}

static void scsi_ports_has_the_protocol_of_each_port(void **state)
{
	struct port second = { 2, SCSI_PROTOCOL_SRP, "ib.fe800000000000000002c903000a1b2c" };
	start(NULL);
	bench_on_control(&b, tell_port, &second);
	BENCH_IN(&b, 0, &c, 512, 0x12, 1, 0x88, 2, 0, 0);
	const uint8_t *first = c.data + 4 + 12, *next = first + get_be16(first - 2) + 12;
	assert_int_equal(first[0], SCSI_PROTOCOL_ISCSI << 4 | 3);
	assert_int_equal(next[0], SCSI_PROTOCOL_SRP << 4 | 3);
}

static void scsi_ports_has_room_for_many(void **state)
{
	start(NULL);
	for (uint16_t i = 2; i < 400; i++) {
		struct port p = { .number = i };
		memset(p.name, 'x', 240);
		bench_on_control(&b, tell_port, &p);
	}
	BENCH_IN(&b, 0, &c, 65535, 0x12, 1, 0x88, 0xff, 0xff, 0);
	expect_good(c.status);
	assert_true(c.data_in > 65000);
	assert_int_equal(c.data_in, get_be16(c.data + 2) + 4);
}

static void scsi_ports_lists_the_port_of_the_command(void **state)
{
	start(NULL);
	inquire(1, 0x88, 255);
	assert_int_equal(get_be16(c.data + 6), 1);
	assert_int_equal(get_be16(c.data + 14), c.data_in - 16);
	assert_string_equal((const char *)c.data + 20, "iqn.2026-01.test:target,t,0x0001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(standard_data_is_a_direct_access_device_of_spc4),
		T(the_product_is_the_storage_objects_name),
		T(the_product_is_the_attribute_without_model_alias),
		T(version_descriptors_name_sam_transport_spc_and_sbc),
		T(the_allocation_length_cuts_but_does_not_overflow),
		T(a_page_code_without_evpd_is_refused),
		T(a_lun_that_is_not_there_has_qualifier_011_and_type_1f),
		T(inquiry_leaves_a_unit_attention_pending),
		T(removable_media_are_told),
		T(page_list_ascends_and_every_page_can_be_read),
		T(a_volatile_medium_is_told),
		T(a_medium_that_is_not_volatile_is_told),
		T(an_unknown_page_is_refused),
		T(the_serial_page_holds_the_unit_serial),
		T(the_unit_has_an_naa_6_name),
		T(the_naa_name_depends_on_the_serial_alone),
		T(the_t10_name_joins_vendor_product_and_serial),
		T(port_and_group_numbers_carry_protocol_and_association),
		T(names_of_port_and_target_are_padded_to_four),
		T(block_limits_are_as_long_as_sbc3_says),
		T(a_thick_unit_has_no_unmap_limits),
		T(a_thin_unit_says_so_in_all_places),
		T(scsi_ports_lists_every_port_with_its_name),
		T(scsi_ports_has_the_protocol_of_each_port),
		T(scsi_ports_has_room_for_many),
		T(scsi_ports_lists_the_port_of_the_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
