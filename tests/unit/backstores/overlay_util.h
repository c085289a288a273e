// SPDX-License-Identifier: BSD-2-Clause
// For the tests of overlays: a folder with a base of a known pattern, configurations of overlays
// with a map, and the overlay as a crash leaves it.
#pragma once

#include "backstores/io_util.h"

#include "backstores/overlay.h"

#define BASE_SIZE (24 * MIB + 1000) // ends inside of a block
#define DISK_SIZE (25 * MIB)
#define BASE_SEED 77

static char folder[200], path[220], base_path[220], copy_path[220];

static inline void write_file(int fd, uint64_t offset, uint64_t length, uint32_t seed)
{
	struct sg_list l = { .sg = { { .addr = arena, .len = (uint32_t)length } }, .n = 1 };
	sg_fill(&l, offset, seed);
	assert_int_equal(pwrite(fd, arena, length, (off_t)offset), length);
}

// The base: a pattern, or zeroes for the contract.
static inline void make_base(uint64_t size, bool is_empty)
{
	int fd = open(base_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	for (uint64_t at = 0, n; !is_empty && at < size; at += n) {
		n = size - at < MIB ? size - at : MIB;
		write_file(fd, at, n, BASE_SEED);
	}
	close(fd);
}

static inline void begin(const char *below)
{
	make_folder(below, folder);
	snprintf(path, sizeof path, "%s/disk", folder);
	snprintf(base_path, sizeof base_path, "%s/base", folder);
	snprintf(copy_path, sizeof copy_path, "%s/copy", folder);
}

static inline void end(void)
{
	unlink(path);
	unlink(base_path);
	unlink(copy_path);
	assert_int_equal(rmdir(folder), 0);
}

static inline int folder_setup(void **state)
{
	begin(NULL);
	make_base(BASE_SIZE, false);
	return 0;
}

static inline int folder_teardown(void **state)
{
	end();
	return 0;
}

static inline struct bs_config over(const char *dev, const char *name)
{
	struct bs_config c = config_of("fileio", name);
	c.dev = dev;
	c.base = base_path;
	c.overlay = BS_OVERLAY_MAP;
	c.is_new = true;
	return c;
}

static inline struct bs_config new_disk(enum bs_cache cache)
{
	struct bs_config c = over(path, "f0");
	c.size = DISK_SIZE;
	c.cache = cache;
	return c;
}

// The overlay as another process finds it now: after a kill -9, or, without what was noted, after a
// power failure.
static inline void copy_overlay(bool has_lost_power)
{
	uint8_t header[OVERLAY_HEADER];
	struct overlay_header h;
	struct err e;
	char command[500];
	snprintf(command, sizeof command, "cp --sparse=always '%s' '%s'", path, copy_path);
	assert_int_equal(system(command), 0);
	if (!has_lost_power)
		return;
	int fd = open(copy_path, O_RDWR);
	assert_int_equal(pread(fd, header, sizeof header, 0), sizeof header);
	assert_int_equal(overlay_header_read(header, sizeof header, &h, &e), 0);
	h.boot_id[0] ^= 0xff;
	overlay_header_write(&h, header);
	assert_int_equal(pwrite(fd, header, sizeof header, 0), sizeof header);
	close(fd);
}

static inline struct backstore *open_copy(void)
{
	struct bs_config c = over(copy_path, "copy");
	c.is_new = false;
	return must_open("fileio", &c);
}

static const enum bs_cache modes[] = { BS_CACHE_NONE, BS_CACHE_WRITETHROUGH, BS_CACHE_WRITEBACK };
#define N_MODES (sizeof modes / sizeof modes[0])

#define FOLDER_TEST(fn) cmocka_unit_test_setup_teardown(fn, folder_setup, folder_teardown)
