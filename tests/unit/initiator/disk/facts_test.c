// SPDX-License-Identifier: BSD-2-Clause
// What a unit says of itself, and access states: good responses, and those that lie.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/disk/alua.h"
#include "initiator/disk/facts.h"
#include "transport/wire/be.h"

static struct facts f;

// Gives the step for this VPD page (0: that of op) its response.
static void give(enum scsi_op op, uint8_t page, const void *data, uint32_t len)
{
	for (unsigned i = 0; i < facts_step_count; i++) {
		const struct facts_step *s = &facts_steps[i];
		if (s->op == op && (op == SCSI_MODE_SENSE_6 || s->args.page == page)) {
			s->take(&f, data, len);
			return;
		}
	}
	fail_msg("no such step");
}

static void give_capacity(uint64_t last, uint32_t block_size, uint8_t exponent)
{
	uint8_t b[32] = { 0 };
	put_be64(b, last);
	put_be32(b + 8, block_size);
	b[13] = exponent;
	b[14] = 0x80;
	give(SCSI_READ_CAPACITY_16, 0, b, sizeof b);
}

static int good(void **state)
{
	static const uint8_t inquiry[36] = "\0\0\6\2\37\20\1\2FARBLOCKdisk            0001";
	static const uint8_t names[] = { 0, 0x83, 0, 20, 1, 3,	  0, 8, 0x60, 1, 2, 3,
					 4, 5,	  6, 7,	 1, 0x15, 0, 4, 0,    0, 0, 9 };
	uint8_t limits[64] = { 0, 0xb0, 0, 60 };
	f = (struct facts){ 0 };
	give(SCSI_INQUIRY, 0, inquiry, sizeof inquiry);
	give(SCSI_INQUIRY, 0x83, names, sizeof names);
	give(SCSI_INQUIRY, 0x80, "\0\x80\0\4AB  ", 8);
	put_be32(limits + 8, 1024);
	put_be32(limits + 20, 2048);
	put_be32(limits + 24, 8);
	put_be32(limits + 28, 8);
	give(SCSI_INQUIRY, 0xb0, limits, sizeof limits);
	give(SCSI_INQUIRY, 0xb2, "\0\xb2\0\4\0\xc0\0\0", 8);
	give(SCSI_MODE_SENSE_6, 8, "\23\0\20\0\10\12\4\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	give_capacity(999, 512, 3);
	return 0;
}

static void a_disk_is_described(void **state)
{
	struct err e;
	assert_int_equal(facts_evaluate(&f, &e), 0);
	assert_string_equal(f.disk.vendor, "FARBLOCK");
	assert_string_equal(f.disk.product, "disk");
	assert_string_equal(f.disk.serial, "AB");
	assert_string_equal(f.disk.identity, "naa.6001020304050607");
	assert_int_equal(f.port_group, 9);
	assert_int_equal(f.disk.blocks, 1000);
	assert_int_equal(f.disk.physical_block_size, 4096);
	assert_int_equal(f.disk.transfer_max, 512 * 1024);
	assert_int_equal(f.disk.unmap_max, 1 << 20);
	assert_int_equal(f.disk.unmap_granularity, 4096);
	assert_int_equal(f.disk.zeroes_max, 65536 * 512);
	assert_true(f.disk.has_write_cache && f.disk.has_fua && f.disk.is_thin);
	assert_false(f.disk.is_read_only || f.disk.is_rotational);
}

static void sizes_that_no_disk_has_are_refused(void **state)
{
	static const struct {
		uint64_t last;
		uint32_t block_size;
	} rows[] = {
		{9,	     0     },
		  { 9,	       513   },
		      { 9,	   131072},
		     { UINT64_MAX, 512   },
		  { INT64_MAX,  512   }
	};
	struct err e;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		good(state);
		give_capacity(rows[i].last, rows[i].block_size, 0);
		assert_int_equal(facts_evaluate(&f, &e), -EPROTO);
	}
}

static void other_devices_are_refused(void **state)
{
	struct err e;
	f.identity.type = 0x7f;
	assert_int_equal(facts_evaluate(&f, &e), -ENXIO);
	f.identity.type = 5;
	assert_int_equal(facts_evaluate(&f, &e), -EMEDIUMTYPE);
}

// FFFFFFFFh refers to READ CAPACITY(16), which this unit does not have.
static void a_capacity_that_refers_to_another_command_is_no_size(void **state)
{
	struct err e;
	good(state);
	give(SCSI_READ_CAPACITY_10, 0, "\xff\xff\xff\xff\0\0\2\0", 8);
	assert_int_equal(facts_evaluate(&f, &e), -EPROTO);
	assert_string_equal(e.text, "READ CAPACITY: no number of blocks");
}

static void a_unit_that_says_nothing_is_no_disk(void **state)
{
	struct err e;
	f = (struct facts){ 0 };
	give(SCSI_INQUIRY, 0, "", 0);
	give_capacity(999, 512, 3);
	assert_int_equal(facts_evaluate(&f, &e), -EPROTO);
	assert_string_equal(e.text, "INQUIRY: short answer: less than 32 bytes");
}

static void a_group_without_a_reported_state_is_the_last_choice(void **state)
{
	assert_true(alua_rank(ALUA_UNREPORTED, false) > alua_rank(ALUA_NON_OPTIMIZED, false));
	assert_true(alua_rank(ALUA_UNREPORTED, false) < ALUA_USELESS);
}

static void limits_do_not_overflow(void **state)
{
	uint8_t limits[64] = { 0, 0xb0, 0, 60 };
	struct err e;
	memset(limits + 4, 0xff, 60);
	give(SCSI_INQUIRY, 0xb0, limits, sizeof limits);
	give_capacity(999, 65536, 15);
	assert_int_equal(facts_evaluate(&f, &e), 0);
	assert_int_equal(f.disk.transfer_max, 1 << 20);
	assert_true(f.disk.unmap_max && f.disk.unmap_max % 65536 == 0);
	assert_true(f.disk.unmap_max / 65536 <= UINT32_MAX);
	assert_true(f.disk.zeroes_max && f.disk.zeroes_max % 65536 == 0);
	assert_int_equal(f.disk.physical_block_size, 1 << 20);
}

static void short_responses_say_nothing(void **state)
{
	uint8_t b[64] = { 0, 0xb0, 0xff, 0xff, [4] = 0xff };
	for (unsigned i = 1; i < facts_step_count; i++)
		for (uint32_t len = 0; len < 4; len++) {
			f = (struct facts){ 0 };
			b[1] = facts_steps[i].args.page;
			facts_steps[i].take(&f, b, len);
			assert_int_equal(f.disk.blocks, 0);
			assert_string_equal(f.disk.identity, "");
			assert_false(f.has_limits || f.has_unmap || f.has_port_group);
		}
}

// A unit that ignores EVPD sends its standard data, another one designators without bytes.
static void data_of_another_page_says_nothing(void **state)
{
	static const uint8_t inquiry[36] = "\0\0\6\2\37\20\0\2FARBLOCKdisk            0001";
	f = (struct facts){ 0 };
	for (unsigned i = 2; i < 5; i++)
		facts_steps[i].take(&f, inquiry, sizeof inquiry);
	assert_false(f.identity.has_volatile);
	assert_int_equal(f.identity.serial_len, 0);
	assert_int_equal(f.identity.designators_len, 0);
	give(SCSI_INQUIRY, 0x83, "\0\x83\0\4\1\3\0\0", 8);
	assert_string_equal(f.disk.identity, "");
}

static void the_state_of_a_port_group_is_found(void **state)
{
	static const uint8_t groups[] = { 0, 0, 0, 20, 0x81, 0, 0, 1, 0, 0, 0, 1,
					  0, 0, 0, 1,  2,    0, 0, 7, 0, 0, 0, 0 };
	enum alua_state s;
	bool is_preferred;
	assert_true(alua_find(groups, sizeof groups, false, 1, &s, &is_preferred));
	assert_int_equal(s, ALUA_NON_OPTIMIZED);
	assert_true(is_preferred);
	assert_true(alua_find(groups, sizeof groups, false, 7, &s, &is_preferred));
	assert_int_equal(s, ALUA_STANDBY);
	assert_int_equal(alua_rank(s, false), ALUA_USELESS);
	assert_false(alua_find(groups, sizeof groups, false, 2, &s, &is_preferred));
	// Its length, or the number of its ports, lies.
	assert_false(alua_find(groups, 20, false, 7, &s, &is_preferred));
	uint8_t lie[sizeof groups];
	memcpy(lie, groups, sizeof groups);
	memset(lie, 0xff, 4);
	lie[11] = 0xff;
	assert_false(alua_find(lie, sizeof lie, false, 7, &s, &is_preferred));
	assert_false(alua_find(lie, 3, false, 1, &s, &is_preferred));
}

// The extended header has four more bytes, which its length counts.
static void the_state_of_a_port_group_behind_an_extended_header_is_found(void **state)
{
	static const uint8_t groups[] = { 0, 0, 0, 24, 0x10, 60, 0, 0, 0x80, 0, 0, 1, 0, 0,
					  0, 1, 0, 0,  0,    1,	 2, 0, 0,    7, 0, 0, 0, 0 };
	enum alua_state s = ALUA_OFFLINE;
	bool is_preferred = false;
	assert_true(alua_find(groups, sizeof groups, true, 1, &s, &is_preferred));
	assert_int_equal(s, ALUA_OPTIMIZED);
	assert_true(is_preferred);
	assert_true(alua_find(groups, sizeof groups, true, 7, &s, &is_preferred));
	assert_int_equal(s, ALUA_STANDBY);
	assert_false(is_preferred);
	assert_false(alua_find(groups, sizeof groups, true, 2, &s, &is_preferred));
}

static void lengths_of_an_extended_header_that_lie_find_nothing_beyond(void **state)
{
	uint8_t groups[] = { 0, 0, 0, 24, 0x10, 60, 0, 0, 0x80, 0, 0, 1, 0, 0,
			     0, 1, 0, 0,  0,	1,  2, 0, 0,	7, 0, 0, 0, 0 };
	enum alua_state s;
	bool is_preferred;
	for (uint32_t len = 0; len < sizeof groups; len++)
		assert_false(alua_find(groups, len, true, 7, &s, &is_preferred));
	for (uint8_t claimed = 0; claimed < 24; claimed++) {
		groups[3] = claimed;
		assert_false(alua_find(groups, sizeof groups, true, 7, &s, &is_preferred));
	}
	memset(groups, 0xff, 4); // more than was received
	assert_true(alua_find(groups, sizeof groups, true, 7, &s, &is_preferred));
	groups[15] = 0xff; // the ports of the first group reach past the end
	assert_false(alua_find(groups, sizeof groups, true, 7, &s, &is_preferred));
	// The header alone.
	assert_false(
		alua_find((const uint8_t *)"\0\0\0\4\20\0\0\0", 8, true, 0, &s, &is_preferred));
}

static void designators_that_lie_about_their_length_say_nothing(void **state)
{
	// A good NAA name first, then one that is longer than the page, or than what was received.
	uint8_t page[28] = { 0, 0x83, 0, 24, 1, 3, 0, 8, 0x60, 1, 2, 3, 4, 5,
			     6, 7,    1, 3,  0, 8, 9, 9, 9,    9, 9, 9, 9, 9 };
	for (unsigned claimed = 9; claimed < 256; claimed++) {
		f = (struct facts){ 0 };
		page[19] = (uint8_t)claimed;
		give(SCSI_INQUIRY, 0x83, page, sizeof page);
		assert_string_equal(f.disk.identity, "naa.6001020304050607");
		assert_int_equal(f.identity.designators_len, 12);
	}
	page[19] = 8;
	for (uint32_t len = 0; len < sizeof page; len++) {
		f = (struct facts){ 0 };
		give(SCSI_INQUIRY, 0x83, page, len);
		assert_true(!f.disk.identity[0] ||
			    !strcmp(f.disk.identity, "naa.6001020304050607"));
	}
	f = (struct facts){ 0 };
	memset(page + 2, 0xff, 2); // the page's own length
	give(SCSI_INQUIRY, 0x83, page, sizeof page);
	assert_string_equal(f.disk.identity, "naa.6001020304050607");
	assert_int_equal(f.identity.designators_len, 24);
}

// As scsi_id(8) chooses it, whatever their order is.
static void the_best_designator_names_the_disk(void **state)
{
#define NAA(naa, n) "\1\3\0\2" naa n
#define EUI	    "\1\2\0\2\7\7"
#define OF_PORT	    "\1\23\0\2\x60\5"
	static const struct {
		const char *designators, *name;
		uint8_t len;
	} rows[] = {
#define ROW(d, name) { d, name, sizeof d - 1 }
		ROW(NAA("\x60", "\1") NAA("\x50", "\1"), "naa.6001"),
		ROW(NAA("\x50", "\1") NAA("\x60", "\1"), "naa.6001"),
		ROW(NAA("\x20", "\1") NAA("\x50", "\1"), "naa.5001"),
		ROW(NAA("\x30", "\1") NAA("\x20", "\1"), "naa.2001"),
		ROW(NAA("\x20", "\1") NAA("\x30", "\1"), "naa.2001"),
		ROW(NAA("\x60", "\1") NAA("\x60", "\2"), "naa.6001"),
		ROW(NAA("\x30", "\1") NAA("\x30", "\2"), "naa.3001"),
		ROW(EUI NAA("\x30", "\1"), "naa.3001"),
		ROW(NAA("\x30", "\1") EUI, "naa.3001"),
		ROW(OF_PORT EUI, "eui.0707"),
		ROW(OF_PORT NAA("\x20", "\1"), "naa.2001"),
	};
	uint8_t page[64] = { 0, 0x83 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		page[3] = rows[i].len;
		memcpy(page + 4, rows[i].designators, rows[i].len);
		give(SCSI_INQUIRY, 0x83, page, 4u + rows[i].len);
		assert_string_equal(f.disk.identity, rows[i].name);
	}
}

static void a_designator_of_another_kind_is_no_name_and_no_port_group(void **state)
{
	static const uint8_t page[] = {
		0, 0x83, 0, 30,		    //
		1, 0x13, 0, 4,	1, 2, 3, 4, // the port's NAA name
		1, 0x15, 0, 2,	0, 9,	    // a port group without its number
		1, 0x05, 0, 4,	0, 0, 0, 9, // a port group of the unit
		1, 3,	 0, 0,		    // a name of no bytes
		1, 2,	 0, 0,		    //
	};
	f = (struct facts){ 0 };
	give(SCSI_INQUIRY, 0x83, page, sizeof page);
	assert_string_equal(f.disk.identity, "");
	assert_false(f.has_port_group);
}

static void the_longest_name_is_cut_to_its_room(void **state)
{
	uint8_t page[4 + 4 + 255] = { 0, 0x83, 1, 3, 1, 3, 0, 255 };
	memset(page + 8, 0xab, 255);
	f = (struct facts){ 0 };
	give(SCSI_INQUIRY, 0x83, page, sizeof page);
	assert_true(strlen(f.disk.identity) < sizeof f.disk.identity);
	assert_true(strlen(f.disk.identity) > sizeof f.disk.identity - 4);
	assert_string_equal(f.disk.vendor, "");
}

static void put_descriptor(uint8_t *data, unsigned i, uint64_t lba, uint32_t blocks, uint8_t status)
{
	put_be32(data, 4 + 16 * (i + 1));
	put_be64(data + 8 + 16 * i, lba);
	put_be32(data + 16 + 16 * i, blocks);
	data[20 + 16 * i] = status;
}

// Provisioning status: mapped, deallocated, anchored, and one of later standards.
static void extents_tell_holes_of_a_disk_that_reads_them_as_zeroes(void **state)
{
	static const struct disk_facts disks[] = {
		{.block_size = 512, .reads_zeroes = true },
		{ .block_size = 512		    },
	};
	for (int zero = 1; zero >= 0; zero--) {
		_Alignas(8) uint8_t data[8 + 16 * 5] = { 0 };
		struct disk_extent *e = (void *)data;
		put_descriptor(data, 0, 10, 8, 0);
		put_descriptor(data, 1, 18, 8, 1);
		put_descriptor(data, 2, 26, 8, 1);
		put_descriptor(data, 3, 34, 8, 2);
		put_descriptor(data, 4, 42, 8, 3);
		unsigned n = facts_extents(&disks[!zero], data, sizeof data, 5120, 64 * 512);
		assert_int_equal(n, zero ? 4 : 3);
		assert_true(e[0].len == 4096 && !e[0].is_hole && !e[0].is_zero);
		assert_true(e[1].len == 8192 && e[1].is_hole && e[1].is_zero == zero);
		assert_true(!e[2].is_hole && e[2].is_zero == zero);
		assert_true(e[2].len == (zero ? 4096 : 8192));
	}
}

static void extents_stay_in_their_range(void **state)
{
	static const struct disk_facts d = { .block_size = 512, .reads_zeroes = true };
	_Alignas(8) uint8_t data[24] = { 0 };
	struct disk_extent *e = (void *)data;
	put_descriptor(data, 0, 8, UINT32_MAX, 1); // begins before it, and goes beyond
	assert_int_equal(facts_extents(&d, data, sizeof data, 5120, 4096), 1);
	assert_true(e[0].len == 4096 && e[0].is_hole);
}

static void descriptors_that_lie_are_data(void **state)
{
	static const struct disk_facts d = { .block_size = 512, .reads_zeroes = true };
	static const struct {
		uint64_t lba;
		uint32_t blocks, list, len;
	} rows[] = {
		{11,	      8, 20,	     24}, // begins later
		{ 10,	      0, 20,	     24}, // no blocks
		{ 2,	     8, 20,	    24}, // ends before it
		{ UINT64_MAX, 8, 20,	     24}, // wraps
		{ 10,	      8, 19,	     24}, // a list that is too short
		{ 10,	      8, 20,	     23}, // cut off
		{ 10,	      8, UINT32_MAX, 7 }, // no header
		{ 10,	      8, 0,	    24},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_Alignas(8) uint8_t data[24] = { 0 };
		struct disk_extent *e = (void *)data;
		put_descriptor(data, 0, rows[i].lba, rows[i].blocks, 1);
		put_be32(data, rows[i].list);
		assert_int_equal(facts_extents(&d, data, rows[i].len, 5120, 4096), 1);
		assert_true(e[0].len == 4096 && !e[0].is_hole && !e[0].is_zero);
	}
}

static void only_a_disk_that_unmaps_zeroes_fast(void **state)
{
	struct err e;
	assert_int_equal(facts_evaluate(&f, &e), 0);
	assert_false(f.disk.reads_zeroes || f.disk.zeroes_fast); // LBPRZ=0
	uint8_t b[32] = { 0 };
	put_be64(b, 999);
	put_be32(b + 8, 512);
	b[14] = 0xc0;
	give(SCSI_READ_CAPACITY_16, 0, b, sizeof b);
	assert_int_equal(facts_evaluate(&f, &e), 0);
	assert_true(f.disk.reads_zeroes && f.disk.zeroes_fast);
	give(SCSI_INQUIRY, 0xb2, "\0\xb2\0\4\0\x80\0\0", 8); // UNMAP alone
	assert_int_equal(facts_evaluate(&f, &e), 0);
	assert_false(f.disk.zeroes_fast);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, good)
	const struct CMUnitTest tests[] = {
		T(a_disk_is_described),
		T(sizes_that_no_disk_has_are_refused),
		T(other_devices_are_refused),
		T(a_capacity_that_refers_to_another_command_is_no_size),
		T(a_unit_that_says_nothing_is_no_disk),
		T(a_group_without_a_reported_state_is_the_last_choice),
		T(limits_do_not_overflow),
		T(short_responses_say_nothing),
		T(data_of_another_page_says_nothing),
		T(the_state_of_a_port_group_is_found),
		T(the_state_of_a_port_group_behind_an_extended_header_is_found),
		T(lengths_of_an_extended_header_that_lie_find_nothing_beyond),
		T(designators_that_lie_about_their_length_say_nothing),
		T(the_best_designator_names_the_disk),
		T(a_designator_of_another_kind_is_no_name_and_no_port_group),
		T(the_longest_name_is_cut_to_its_room),
		T(extents_tell_holes_of_a_disk_that_reads_them_as_zeroes),
		T(extents_stay_in_their_range),
		T(descriptors_that_lie_are_data),
		T(only_a_disk_that_unmaps_zeroes_fast),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
