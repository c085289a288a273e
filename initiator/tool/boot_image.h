// SPDX-License-Identifier: BSD-2-Clause
// What firmware finds on a disk: boot code and partitions in its first blocks (UEFI 2.10 5), and
// the loader of an EFI system partition (3.5.1.1), a FAT file system. Pure functions over a source
// of bytes, all of which are hostile: reads are within the disk, and limited in number. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"

struct boot_source {
	// Reads len bytes, at most 4096, at an offset, both within the disk. 0 or a negative errno
	// with text. May block.
	int (*read)(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e);
	void *arg;
	uint64_t bytes;	     // of the disk
	uint32_t block_size; // 512 to 65536, a power of two
};

enum boot_table { BOOT_TABLE_NONE, BOOT_TABLE_DOS, BOOT_TABLE_GPT };
enum { BOOT_EFI_NAME_SIZE = 16 };

struct boot_image {
	bool has_signature; // 55AA at the end of the first 512 bytes
	bool has_code;	    // bytes before the partition table that are not zero
	const char *loader; // whose boot code it is, NULL: unknown
	enum boot_table table;
	bool is_damaged; // a protective MBR, and no valid GPT behind it
	unsigned partitions;
	bool has_active;    // DOS: a partition has the flag
	bool has_bios_boot; // GPT: a BIOS boot partition, which GRUB needs
	unsigned esp;	    // number of the EFI system partition, from 1; 0: none
	uint64_t esp_at, esp_bytes;
	bool is_fat;		      // the EFI system partition has a FAT file system
	char efi[BOOT_EFI_NAME_SIZE]; // the file in its \EFI\BOOT, "": none
};

// Fills ret. 0, or the error of a read.
int boot_image_look(const struct boot_source *s, struct boot_image *ret, struct err *e);

// boot_fat.c: *ret_is_fat: a FAT file system of bytes bytes begins at at; ret: the loader in its
// \EFI\BOOT, such as BOOTX64.EFI, "": none. 0, or the error of a read.
int boot_fat_find(const struct boot_source *s, uint64_t at, uint64_t bytes, bool *ret_is_fat,
		  char ret[BOOT_EFI_NAME_SIZE], struct err *e);
