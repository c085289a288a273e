// SPDX-License-Identifier: BSD-2-Clause
// block, on loop devices: the contract, and what is its own: who may have the device, what it is.
// Without root or loop devices the program skips (77).
#include "backstores/contract.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "backstores/device.h"
#include "backstores/fdstore.h"
#include "backstores/loop_util.h"

static char folder[200], path[220];
static struct loop loop;

static void make_file(uint64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

static void begin(unsigned block_size, bool is_readonly)
{
	make_folder(NULL, folder);
	snprintf(path, sizeof(path), "%s/image", folder);
	make_file(SUBJECT_SIZE);
	int r = loop_attach(&loop, path, block_size, is_readonly);
	if (r < 0)
		fail_msg("loop device: %s", strerror(-r));
}

static void end(void)
{
	loop_detach(&loop);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

static int loop_setup(void **state)
{
	begin(512, false);
	return 0;
}

static int loop_teardown(void **state)
{
	end();
	return 0;
}

static struct bs_config block_config(void)
{
	struct bs_config c = config_of("block", "b0");
	c.dev = loop.path;
	c.is_new = true;
	return c;
}

static struct backstore *open_block(const struct subject *s, bool is_new)
{
	if (is_new)
		begin(*(const unsigned *)s->arg, false);
	struct bs_config c = block_config();
	return must_open("block", &c);
}

static void clean_block(const struct subject *s)
{
	end();
}

static int run_tool(const char *const argv[])
{
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void make_ext4(void)
{
	const char *const argv[] = { "mkfs.ext4", "-q", "-F", loop.path, NULL };
	if (run_tool(argv) != 0)
		skip();
}

static void it_tells_the_sector_size_and_the_cache(void **state)
{
	struct bs_config c = block_config();
	struct backstore *bs = must_open("block", &c);
	assert_int_equal(bs->limits.block_size, 512);
	assert_int_equal(bs->limits.size, SUBJECT_SIZE);
	assert_true(bs->limits.has_write_cache);
	assert_false(bs->limits.is_readonly);
	assert_string_equal(bs->note, "");
	backstore_close(bs);
}

static void set_queue_cache(const char *text)
{
	char at[120];
	snprintf(at, sizeof at, "/sys/block/%s/queue/write_cache", strrchr(loop.path, '/') + 1);
	int fd = open(at, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

// The setting stays with the device, whatever file it gets next.
static int loop_teardown_cached(void **state)
{
	set_queue_cache("write back");
	return loop_teardown(state);
}

static void the_cache_mode_and_the_devices_cache_decide_on_flushes(void **state)
{
	static const struct {
		const char *device;
		enum bs_cache cache;
		bool has_cache, is_durable;
	} rows[] = {
		{"write back",	BS_CACHE_UNSET,	true,  false},
		{ "write back",	BS_CACHE_NONE,	       true,  false},
		{ "write back",	BS_CACHE_WRITETHROUGH, false, true },
		{ "write back",	BS_CACHE_WRITEBACK,    true,  false},
		{ "write through", BS_CACHE_UNSET,	   false, false},
		{ "write through", BS_CACHE_NONE,	  false, false},
		{ "write through", BS_CACHE_WRITETHROUGH, false, false},
		{ "write through", BS_CACHE_WRITEBACK,    true,  false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		set_queue_cache(rows[i].device);
		struct bs_config c = block_config();
		c.cache = rows[i].cache;
		struct backstore *bs = must_open("block", &c);
		struct fdstore *f = (struct fdstore *)bs;
		assert_int_equal(bs->limits.has_write_cache, rows[i].has_cache);
		assert_int_equal(f->is_durable, rows[i].is_durable);
		assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
		backstore_close(bs);
	}
}

static void a_block_size_may_be_larger_than_the_sectors(void **state)
{
	struct bs_config c = block_config();
	c.block_size = 4096;
	struct backstore *bs = must_open("block", &c);
	assert_int_equal(bs->limits.block_size, 4096);
	backstore_close(bs);
}

static void a_block_size_below_the_sectors_is_refused(void **state)
{
	end();
	begin(4096, false);
	struct bs_config c = block_config();
	c.block_size = 512;
	must_refuse("block", &c, -EINVAL, "sector size 4096", "block_size 512");
}

static void a_write_protected_device_is_read_only(void **state)
{
	end();
	begin(512, true);
	struct bs_config c = block_config();
	struct backstore *bs = must_open("block", &c);
	assert_true(bs->limits.is_readonly);
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4096, arena), -EROFS);
	expect_zeroes(bs, 0, MIB);
	backstore_close(bs);
}

static void another_disk_under_the_same_number_is_told_apart(void **state)
{
	char before[DEVICE_IDENTITY_MAX], same[DEVICE_IDENTITY_MAX], after[DEVICE_IDENTITY_MAX];
	struct stat st;
	end();
	begin(512, true);
	assert_int_equal(stat(loop.path, &st), 0);
	device_identity(st.st_rdev, before);
	device_identity(st.st_rdev, same);
	assert_true(*before);
	assert_string_equal(before, same);
	int other = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(ioctl(loop.fd, LOOP_CHANGE_FD, other), 0);
	close(other);
	device_identity(st.st_rdev, after);
	assert_string_not_equal(before, after);
}

static void readonly_refuses_changes(void **state)
{
	struct bs_config c = block_config();
	c.readonly = true;
	struct backstore *bs = must_open("block", &c);
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4096, arena), -EROFS);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 4096, NULL), -EROFS);
	backstore_close(bs);
}

static void what_is_no_block_device_is_refused(void **state)
{
	struct bs_config c = block_config();
	c.dev = path;
	must_refuse("block", &c, -ENOTBLK, path, "use fileio");
	c.dev = "/dev/null";
	must_refuse("block", &c, -ENOTBLK, "/dev/null", "not a block device");
	c.dev = "/dev/there-is-none";
	must_refuse("block", &c, -ENOENT, "block b0: /dev/there-is-none", "No such file");
}

static void a_second_storage_object_is_refused_by_name(void **state)
{
	struct bs_config c = block_config();
	struct backstore *bs = must_open("block", &c);
	c.name = "b1";
	c.force = true;
	must_refuse("block", &c, -EBUSY, "block b1", "in use by storage object b0");
	struct bs_config f = config_of("fileio", "f0");
	f.dev = loop.path;
	must_refuse("fileio", &f, -EBUSY, "fileio f0", loop.path);
	backstore_close(bs);
}

static void a_signature_is_named_and_refused_for_a_new_object(void **state)
{
	make_ext4();
	struct bs_config c = block_config();
	must_refuse("block", &c, -EBUSY, "not empty: ext4 filesystem", "force=true");
	c.is_new = false;
	backstore_close(must_open("block", &c));
	c.is_new = true;
	c.force = true;
	backstore_close(must_open("block", &c));
}

static void fileio_asks_a_device_the_same(void **state)
{
	make_ext4();
	struct bs_config c = config_of("fileio", "f0");
	c.dev = loop.path;
	c.is_new = true;
	must_refuse("fileio", &c, -EBUSY, "not empty: ext4 filesystem", "force=true");
	c.force = true;
	int fd = open(loop.path, O_RDWR | O_EXCL);
	assert_true(fd >= 0);
	backstore_close(must_open("fileio", &c));
	close(fd);
}

static void a_shared_device_is_served_unless_it_has_content(void **state)
{
	int fd = open(loop.path, O_RDWR | O_EXCL);
	assert_true(fd >= 0);
	struct bs_config c = block_config();
	c.exclusive = false;
	backstore_close(must_open("block", &c));
	make_ext4();
	must_refuse("block", &c, -EBUSY, "not empty: ext4 filesystem", "force=true");
	close(fd);
}

static void a_partition_table_is_named_and_refused(void **state)
{
	// An MBR with one partition: type 0x83 at sector 2048, 1000 sectors.
	uint8_t mbr[512] = { 0 };
	static const uint8_t entry[16] = { [4] = 0x83, [9] = 8, [12] = 0xe8, [13] = 3 };
	memcpy(mbr + 446, entry, sizeof(entry));
	mbr[510] = 0x55;
	mbr[511] = 0xaa;
	assert_int_equal(pwrite(loop.fd, mbr, sizeof(mbr), 0), sizeof(mbr));
	struct bs_config c = block_config();
	must_refuse("block", &c, -EBUSY, "dos partition table", "force=true");
}

static void a_mounted_device_is_refused_with_its_mount_point(void **state)
{
	char point[260];
	make_ext4();
	snprintf(point, sizeof(point), "%s/mnt", folder);
	assert_int_equal(mkdir(point, 0700), 0);
	if (mount(loop.path, point, "ext4", 0, NULL) < 0) {
		rmdir(point);
		skip();
	}
	struct bs_config c = block_config(), f = config_of("fileio", "f0");
	struct backstore *bs;
	struct err e, e2;
	int r = backstore_open(&bs, backstore_type_find("block"), &c, &e);
	f.dev = loop.path;
	int r2 = backstore_open(&bs, backstore_type_find("fileio"), &f, &e2);
	umount(point);
	rmdir(point);
	assert_int_equal(r, -EBUSY);
	assert_non_null(strstr(e.text, "mounted at"));
	assert_non_null(strstr(e.text, point));
	assert_int_equal(r2, -EBUSY);
	assert_non_null(strstr(e2.text, point));
}

static void a_device_held_by_another_program_needs_force(void **state)
{
	int fd = open(loop.path, O_RDWR | O_EXCL);
	assert_true(fd >= 0);
	struct bs_config c = block_config();
	must_refuse("block", &c, -EBUSY, loop.path, "in use by another program");
	c.force = true;
	backstore_close(must_open("block", &c));
	close(fd);
}

static void growth_of_the_device_is_seen_by_refresh(void **state)
{
	struct bs_config c = block_config();
	struct backstore *bs = must_open("block", &c);
	struct err e;
	bool is_changed;
	assert_int_equal(truncate(path, SUBJECT_SIZE + 8 * MIB), 0);
	assert_int_equal(ioctl(loop.fd, LOOP_SET_CAPACITY, 0), 0);
	assert_int_equal(backstore_refresh(bs, &is_changed, &e), 0);
	assert_true(is_changed);
	assert_int_equal(backstore_size(bs), SUBJECT_SIZE + 8 * MIB);
	put_pattern(bs, SUBJECT_SIZE + 4 * MIB, MIB, 3);
	expect_pattern(bs, SUBJECT_SIZE + 4 * MIB, MIB, 3);
	backstore_close(bs);
}

static void it_cannot_grow_the_device_itself(void **state)
{
	struct bs_config c = block_config();
	struct backstore *bs = must_open("block", &c);
	struct err e;
	assert_int_equal(backstore_resize(bs, 2 * SUBJECT_SIZE, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.text, "run resize without a size"));
	backstore_close(bs);
}

static void unmap_frees_the_space_below(void **state)
{
	struct bs_config c = block_config();
	struct backstore *bs = must_open("block", &c);
	if (!bs->limits.can_unmap) {
		backstore_close(bs);
		skip();
	}
	put_pattern(bs, 0, 4 * MIB, 1);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
	assert_true(blocks_of(path) >= 4 * MIB);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 4 * MIB, NULL), 0);
	assert_true(blocks_of(path) < MIB);
	backstore_close(bs);
}

static void fileio_takes_a_block_device_and_says_what_is_better(void **state)
{
	struct bs_config c = config_of("fileio", "f0");
	c.dev = loop.path;
	c.size = MIB;
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, SUBJECT_SIZE);
	assert_non_null(strstr(bs->note, "block backstore preferred"));
	assert_non_null(strstr(bs->note, "size parameter ignored"));
	put_pattern(bs, 0, MIB, 2);
	expect_pattern(bs, 0, MIB, 2);
	backstore_close(bs);
}

static void pscsi_refuses_a_disk_that_is_not_scsi(void **state)
{
	struct bs_config c = config_of("pscsi", "p0");
	c.dev = loop.path;
	must_refuse("pscsi", &c, -EINVAL, loop.path, "no response to SCSI commands");
}

// Whether this machine lets us have a loop device at all.
static bool can_loop(void)
{
	make_folder(NULL, folder);
	snprintf(path, sizeof(path), "%s/image", folder);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	int r = fd < 0 || ftruncate(fd, MIB) < 0 ? -errno : loop_attach(&loop, path, 512, false);
	if (r == 0)
		loop_detach(&loop);
	if (fd >= 0)
		close(fd);
	unlink(path);
	rmdir(folder);
	if (r < 0)
		print_message("skipped: no loop device: %s (needs root)\n", strerror(-r));
	return r == 0;
}

#define LOOP_TEST(fn) cmocka_unit_test_setup_teardown(fn, loop_setup, loop_teardown)

int main(void)
{
	static const unsigned small = 512, large = 4096;
	enum { FLAGS = IS_STORE | IS_LASTING | IS_THIN };
	static const struct subject subjects[] = {
		{"block",			   FLAGS, open_block, clean_block, &small},
		{ "block of 4096-byte sectors", FLAGS, open_block, clean_block, &large},
	};
	const struct CMUnitTest tests[] = {
		LOOP_TEST(it_tells_the_sector_size_and_the_cache),
		cmocka_unit_test_setup_teardown(
			the_cache_mode_and_the_devices_cache_decide_on_flushes, loop_setup,
			loop_teardown_cached),
		LOOP_TEST(a_block_size_may_be_larger_than_the_sectors),
		LOOP_TEST(a_block_size_below_the_sectors_is_refused),
		LOOP_TEST(a_write_protected_device_is_read_only),
		LOOP_TEST(another_disk_under_the_same_number_is_told_apart),
		LOOP_TEST(readonly_refuses_changes),
		LOOP_TEST(what_is_no_block_device_is_refused),
		LOOP_TEST(a_second_storage_object_is_refused_by_name),
		LOOP_TEST(a_signature_is_named_and_refused_for_a_new_object),
		LOOP_TEST(fileio_asks_a_device_the_same),
		LOOP_TEST(a_shared_device_is_served_unless_it_has_content),
		LOOP_TEST(a_partition_table_is_named_and_refused),
		LOOP_TEST(a_mounted_device_is_refused_with_its_mount_point),
		LOOP_TEST(a_device_held_by_another_program_needs_force),
		LOOP_TEST(growth_of_the_device_is_seen_by_refresh),
		LOOP_TEST(it_cannot_grow_the_device_itself),
		LOOP_TEST(unmap_frees_the_space_below),
		LOOP_TEST(fileio_takes_a_block_device_and_says_what_is_better),
		LOOP_TEST(pscsi_refuses_a_disk_that_is_not_scsi),
	};
	if (!can_loop())
		return 77;
	int failed = cmocka_run_group_tests(tests, start_worker, stop_worker);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		failed += contract_run(&subjects[i]);
	return failed;
}
