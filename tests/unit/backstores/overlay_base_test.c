// SPDX-License-Identifier: BSD-2-Clause
// Overlays and their bases: sharing, bases that changed or are in use, files that are refused,
// reset.
#include "backstores/overlay_util.h"

#include <sys/mman.h>

// --- the base

static uint32_t checksum_of_base(void)
{
	int fd = open(base_path, O_RDONLY);
	uint8_t *data = mmap(NULL, BASE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(data != MAP_FAILED);
	uint32_t crc = overlay_crc(0, data, (uint32_t)BASE_SIZE);
	munmap(data, BASE_SIZE);
	close(fd);
	return crc;
}

static void several_overlays_share_a_base_that_nobody_writes(void **state)
{
	uint32_t before = checksum_of_base();
	struct bs_config c = new_disk(BS_CACHE_NONE), d = over(copy_path, "f1");
	struct backstore *a = must_open("fileio", &c), *b = must_open("fileio", &d);
	assert_int_equal(b->limits.size, BASE_SIZE / 512 * 512);
	put_pattern(a, 0, MIB, 1);
	put_pattern(b, 512 * KIB, MIB, 2);
	expect_pattern(a, 0, MIB, 1);
	expect_pattern(a, MIB, MIB, BASE_SEED);
	expect_pattern(b, 0, 512 * KIB, BASE_SEED);
	expect_pattern(b, 512 * KIB, MIB, 2);
	struct bs_config writer = config_of("fileio", "golden");
	writer.dev = base_path;
	must_refuse("fileio", &writer, -EBUSY, "is the base of storage object", "readonly=true");
	writer.readonly = true;
	struct backstore *reader = must_open("fileio", &writer);
	expect_pattern(reader, 0, MIB, BASE_SEED);
	backstore_close(reader);
	backstore_close(a);
	backstore_close(b);
	assert_int_equal(checksum_of_base(), before);
}

static void a_base_that_is_served_writable_is_refused(void **state)
{
	struct bs_config writer = config_of("fileio", "golden"), c = new_disk(BS_CACHE_NONE);
	writer.dev = base_path;
	struct backstore *bs = must_open("fileio", &writer);
	must_refuse("fileio", &c, -EBUSY, "base ", "served writable by storage object golden");
	assert_int_equal(access(path, F_OK), -1);
	backstore_close(bs);
}

static void a_changed_base_is_refused_with_the_cure(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct stat st;
	backstore_close(must_open("fileio", &c));
	c.is_new = false;
	assert_int_equal(stat(base_path, &st), 0);
	int fd = open(base_path, O_RDWR);
	write_file(fd, 8 * MIB, 4096, 1);
	char touched[300];
	snprintf(touched, sizeof touched, "base %s: changed, or a copy", base_path);
	must_refuse("fileio", &c, -ESTALE, "changed, or a copy", "touch -d @");
	must_refuse("fileio", &c, -ESTALE, touched,
		    "on it; else run reset, which discards the overlay's data)");
	c.is_new = true; // there is no object to reset
	must_refuse("fileio", &c, -ESTALE, "changed, or a copy", "; else give another file");
	write_file(fd, 0, 4096, 1);
	must_refuse("fileio", &c, -ESTALE, "has changed since", "or give another file");
	c.is_new = false;
	must_refuse("fileio", &c, -ESTALE, "has changed since", "or run reset");
	write_file(fd, 0, 4096, BASE_SEED);
	write_file(fd, 8 * MIB, 4096, BASE_SEED);
	struct timespec times[2] = { st.st_atim, st.st_mtim };
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	backstore_close(must_open("fileio", &c));
}

static void a_size_below_the_base_s_is_refused(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	c.size = 20 * MIB;
	must_refuse("fileio", &c, -EINVAL, "size: 20971520 bytes is less", "base's");
	assert_int_equal(access(path, F_OK), -1);
}

static void files_that_cannot_be_overlays_are_refused(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	c.dev = base_path;
	must_refuse("fileio", &c, -EINVAL, "is the base itself", base_path);
	c = new_disk(BS_CACHE_NONE);
	c.base = folder;
	must_refuse("fileio", &c, -EINVAL, "not a regular file", folder);
	c = new_disk(BS_CACHE_NONE);
	c.overlay = BS_OVERLAY_UNSET;
	backstore_close(must_open("fileio", &c));
	struct bs_config d = over(copy_path, "f1");
	d.base = path;
	must_refuse("fileio", &d, -EINVAL, "is an overlay file itself", path);
	struct bs_config plain = config_of("fileio", "plain");
	plain.dev = path;
	plain.is_new = true;
	must_refuse("fileio", &plain, -EINVAL, "is an overlay file", "base=IMAGE");
	c.sparse = false;
	must_refuse("fileio", &c, -EINVAL, "sparse=false", "an overlay is sparse");
	make_base(BASE_SIZE, false);
	assert_int_equal(rename(base_path, copy_path), 0);
	c = new_disk(BS_CACHE_NONE);
	must_refuse("fileio", &c, -ENOENT, "base ", "No such file");
	assert_int_equal(rename(copy_path, base_path), 0);
}

static void a_file_that_cannot_be_a_clone_is_refused_as_one(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	backstore_close(must_open("fileio", &c));
	c.overlay = BS_OVERLAY_CLONE;
	must_refuse("fileio", &c, -EINVAL, "is an overlay file with a map",
		    "leave out overlay=clone");
	int fd = open(path, O_RDWR | O_TRUNC);
	assert_int_equal(ftruncate(fd, BASE_SIZE - 1), 0);
	must_refuse("fileio", &c, -EINVAL, "shorter than the base", path);
	assert_int_equal(ftruncate(fd, BASE_SIZE), 0);
	close(fd);
	backstore_close(must_open("fileio", &c));
}

static void a_truncated_overlay_is_refused(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	backstore_close(must_open("fileio", &c));
	c.is_new = false;
	assert_int_equal(truncate(path, 20 * MIB), 0);
	must_refuse("fileio", &c, -EINVAL, "shorter than its base", "reset");
	assert_int_equal(truncate(path, 0), 0);
	must_refuse("fileio", &c, -EINVAL, "empty, but was an overlay", "reset");
}

static void a_read_only_overlay_reads_both_and_changes_nothing(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	put_pattern(bs, MIB, 64 * KIB, 4);
	copy_overlay(false);
	backstore_close(bs);
	struct bs_config r = over(copy_path, "r");
	r.is_new = false;
	r.readonly = true;
	bs = must_open("fileio", &r);
	expect_pattern(bs, 0, MIB, BASE_SEED);
	expect_pattern(bs, MIB, 64 * KIB, 4);
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4096, arena), -EROFS);
	backstore_close(bs);
}

// --- reset

static void a_reset_replaces_the_overlay_by_an_empty_one(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	struct err e;
	put_pattern(bs, 0, MIB, 1);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), 0);
	expect_pattern(bs, 0, MIB, 1);
	assert_int_equal(overlay_replace(path, &e), 0);
	expect_pattern(bs, 0, MIB, 1); // the old file, until it is closed
	backstore_close(bs);
	c.is_new = false;
	bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, DISK_SIZE);
	expect_pattern(bs, 0, MIB, BASE_SEED);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	backstore_close(bs);
}

static void a_reset_that_is_forgotten_leaves_the_overlay(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	struct err e;
	put_pattern(bs, 0, MIB, 1);
	backstore_close(bs);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), 0);
	overlay_forget(path);
	c.is_new = false;
	bs = must_open("fileio", &c);
	expect_pattern(bs, 0, MIB, 1);
	backstore_close(bs);
}

static void a_reset_makes_a_removed_overlay_again(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct err e;
	char here[200], link[220];
	assert_int_equal(overlay_prepare(path, base_path, DISK_SIZE, BS_OVERLAY_MAP, "f0", &e), 0);
	assert_int_equal(overlay_replace(path, &e), 0);
	c.is_new = false;
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, DISK_SIZE);
	expect_pattern(bs, 0, MIB, BASE_SEED);
	backstore_close(bs);
	assert_int_equal(unlink(path), 0);
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(overlay_prepare("disk", base_path, 0, BS_OVERLAY_MAP, "f0", &e), 0);
	assert_int_equal(overlay_replace("disk", &e), 0);
	assert_int_equal(chdir(here), 0);
	assert_int_equal(unlink(path), 0);
	snprintf(link, sizeof link, "%s/nothing", folder);
	assert_int_equal(symlink(link, path), 0);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), -ENOENT);
}

// Its name is PATH.reset.
static void a_reset_removes_only_what_a_reset_has_left(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE), other = config_of("fileio", "other");
	struct err e;
	char next[256];
	snprintf(next, sizeof next, "%s.reset", path);
	backstore_close(must_open("fileio", &c));
	int fd = open(next, O_RDWR | O_CREAT, 0600);
	write_file(fd, 0, MIB, 3);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), -EEXIST);
	assert_non_null(strstr(e.text, "no reset has left it"));
	other.dev = next;
	struct backstore *bs = must_open("fileio", &other);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_CLONE, "f0", &e), -EBUSY);
	assert_int_equal(access(next, F_OK), 0);
	backstore_close(bs);
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), 0);
	// Its own, whole: by a process that was killed before the commit.
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), 0);
	overlay_forget(path);
}

static void a_reset_keeps_the_size_of_a_damaged_overlay(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct err e;
	backstore_close(must_open("fileio", &c));
	int fd = open(path, O_RDWR);
	write_file(fd, 0, 4096, 5);
	close(fd);
	assert_int_equal(overlay_prepare(path, base_path, DISK_SIZE, BS_OVERLAY_MAP, "f0", &e), 0);
	assert_int_equal(overlay_replace(path, &e), 0);
	c.is_new = false;
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, DISK_SIZE);
	backstore_close(bs);
}

static void a_reset_follows_a_base_that_has_changed(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct err e;
	backstore_close(must_open("fileio", &c));
	int fd = open(base_path, O_RDWR);
	write_file(fd, 0, MIB, 9);
	close(fd);
	assert_int_equal(overlay_prepare(path, base_path, 0, BS_OVERLAY_MAP, "f0", &e), 0);
	assert_int_equal(overlay_replace(path, &e), 0);
	c.is_new = false;
	struct backstore *bs = must_open("fileio", &c);
	expect_pattern(bs, 0, MIB, 9);
	backstore_close(bs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(several_overlays_share_a_base_that_nobody_writes),
		FOLDER_TEST(a_base_that_is_served_writable_is_refused),
		FOLDER_TEST(a_changed_base_is_refused_with_the_cure),
		FOLDER_TEST(a_size_below_the_base_s_is_refused),
		FOLDER_TEST(files_that_cannot_be_overlays_are_refused),
		FOLDER_TEST(a_file_that_cannot_be_a_clone_is_refused_as_one),
		FOLDER_TEST(a_truncated_overlay_is_refused),
		FOLDER_TEST(a_read_only_overlay_reads_both_and_changes_nothing),
		FOLDER_TEST(a_reset_replaces_the_overlay_by_an_empty_one),
		FOLDER_TEST(a_reset_that_is_forgotten_leaves_the_overlay),
		FOLDER_TEST(a_reset_makes_a_removed_overlay_again),
		FOLDER_TEST(a_reset_removes_only_what_a_reset_has_left),
		FOLDER_TEST(a_reset_keeps_the_size_of_a_damaged_overlay),
		FOLDER_TEST(a_reset_follows_a_base_that_has_changed),
	};
	return cmocka_run_group_tests(tests, start_worker, stop_worker);
}
