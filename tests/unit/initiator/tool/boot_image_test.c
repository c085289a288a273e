// SPDX-License-Identifier: BSD-2-Clause
// What boot-check makes of a disk's first blocks and of FAT file systems, also of ones that lie
// about their sizes or run in circles.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/tool/boot_image.h"

enum { BLOCK = 512, BLOCKS = 64, ESP = 4, ESP_BLOCKS = 40, MBR_TABLE = 446 };
enum { TABLE = 1, ROOT = 2, DATA = 3 }; // sectors of the FAT file system: a boot sector before

static struct disk {
	uint8_t bytes[BLOCKS * BLOCK];
	unsigned reads;
	int fails_at; // number of the read that fails, 0: none
} disk;

static int read_disk(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e)
{
	assert_true(len && len <= 4096 && offset + len <= sizeof disk.bytes);
	if ((int)++disk.reads == disk.fails_at)
		return -5;
	memcpy(buf, disk.bytes + offset, len);
	return 0;
}

static struct boot_image look(void)
{
	struct boot_source s = { read_disk, NULL, sizeof disk.bytes, BLOCK };
	struct boot_image ret;
	struct err e;
	disk.reads = 0;
	assert_int_equal(boot_image_look(&s, &ret, &e), 0);
	return ret;
}

static uint8_t *at(unsigned block)
{
	return disk.bytes + block * BLOCK;
}

static void partition(unsigned i, uint8_t type, uint8_t first, uint8_t blocks)
{
	uint8_t *p = at(0) + MBR_TABLE + 16 * i;
	p[4] = type;
	p[8] = first;
	p[12] = blocks;
	at(0)[510] = 0x55;
	at(0)[511] = 0xaa;
}

static void entry(unsigned cluster, const char *name, uint8_t attributes, uint8_t to)
{
	uint8_t *p = cluster ? at(ESP + DATA + cluster - 2) : at(ESP + ROOT);
	while (*p)
		p += 32;
	memcpy(p, name, 11);
	p[11] = attributes;
	p[26] = to;
}

// FAT12, clusters of a sector: the root, EFI in 2, BOOT in 3 and then 5, its loader in 4.
static void make_fat(void)
{
	uint8_t *b = at(ESP);
	memset(&disk, 0, sizeof disk);
	partition(0, 0xef, ESP, ESP_BLOCKS);
	b[12] = BLOCK >> 8;
	b[13] = 1;  // sectors of a cluster
	b[14] = 1;  // reserved
	b[16] = 1;  // tables
	b[17] = 16; // entries of the root
	b[19] = ESP_BLOCKS;
	b[22] = 1;
	b[510] = 0x55;
	b[511] = 0xaa;
	// Clusters 2 and 4 end a file, 3 goes on in 5, which ends it.
	static const uint8_t table[] = { 0xf8, 0xff, 0xff, 0xff, 0x5f, 0x00, 0xff, 0xff, 0xff };
	memcpy(at(ESP + TABLE), table, sizeof table);
	entry(0, "EFI        ", 0x10, 2);
	entry(2, "BOOT       ", 0x10, 3);
	for (int i = 0; i < BLOCK / 32; i++)
		entry(3, "OTHER   EFI", 0, 4);
	entry(5, "BOOTX64 EFI", 0, 4);
}

static void a_loader_is_found_in_a_directory_of_two_clusters(void **state)
{
	make_fat();
	struct boot_image i = look();
	assert_true(i.is_fat);
	assert_int_equal(i.esp, 1);
	assert_string_equal(i.efi, "BOOTX64.EFI");
}

static void a_directory_of_that_name_is_no_loader(void **state)
{
	make_fat();
	at(ESP + DATA + 3)[11] = 0x10;
	assert_string_equal(look().efi, "");
}

static void a_chain_in_a_circle_ends(void **state)
{
	make_fat();
	at(ESP + TABLE)[4] = 0x3f; // 3 goes on in 3
	assert_string_equal(look().efi, "");
	assert_true(disk.reads < 5000);
}

static void a_cluster_outside_of_the_file_system_ends_it(void **state)
{
	make_fat();
	at(ESP + DATA)[26] = 200;
	assert_string_equal(look().efi, "");
}

static void a_file_system_larger_than_its_partition_is_none(void **state)
{
	make_fat();
	at(ESP)[19] = ESP_BLOCKS + 1;
	assert_false(look().is_fat);
	make_fat();
	at(ESP)[22] = 0; // the table's size of FAT32, also 0
	assert_false(look().is_fat);
}

static void a_partition_beyond_the_disk_is_left_out(void **state)
{
	make_fat();
	partition(0, 0xef, ESP, BLOCKS);
	partition(1, 0xef, BLOCKS, 1);
	assert_int_equal(look().esp, 0);
	partition(2, 0xef, ESP, ESP_BLOCKS);
	assert_int_equal(look().esp, 3);
}

static void a_protective_mbr_alone_is_damage(void **state)
{
	make_fat();
	partition(0, 0xee, 1, BLOCKS - 1);
	assert_true(look().is_damaged);
	memcpy(at(1), "EFI PART", 8);
	assert_true(look().is_damaged);
}

static void flags_that_are_none_are_no_partitions(void **state)
{
	make_fat();
	memset(at(0) + MBR_TABLE, 0x41, 64);
	struct boot_image i = look();
	assert_int_equal(i.table, BOOT_TABLE_NONE);
	assert_false(i.has_code);
}

static void boot_code_is_known_by_its_texts(void **state)
{
	make_fat();
	at(0)[0] = 0xfa;
	assert_null(look().loader);
	memcpy(at(0) + 0x180, "GRUB ", 5);
	assert_string_equal(look().loader, "GRUB");
}

static void a_failed_read_is_the_error(void **state)
{
	struct boot_source s = { read_disk, NULL, sizeof disk.bytes, BLOCK };
	struct boot_image ret;
	struct err e;
	make_fat();
	for (int i = 1; i <= 7; i++) {
		disk.reads = 0;
		disk.fails_at = i;
		assert_int_equal(boot_image_look(&s, &ret, &e), -5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loader_is_found_in_a_directory_of_two_clusters),
		cmocka_unit_test(a_directory_of_that_name_is_no_loader),
		cmocka_unit_test(a_chain_in_a_circle_ends),
		cmocka_unit_test(a_cluster_outside_of_the_file_system_ends_it),
		cmocka_unit_test(a_file_system_larger_than_its_partition_is_none),
		cmocka_unit_test(a_partition_beyond_the_disk_is_left_out),
		cmocka_unit_test(a_protective_mbr_alone_is_damage),
		cmocka_unit_test(flags_that_are_none_are_no_partitions),
		cmocka_unit_test(boot_code_is_known_by_its_texts),
		cmocka_unit_test(a_failed_read_is_the_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
