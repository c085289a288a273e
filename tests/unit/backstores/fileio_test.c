// SPDX-License-Identifier: BSD-2-Clause
// fileio: the contract on a real filesystem ($TMPDIR) and on tmpfs, direct and through the page
// cache; and what is its own: creation, sizes, sparseness, locks, messages.
#include "backstores/contract.h"

#include "backstores/fdstore.h"

#include <liburing.h>
#include <sys/resource.h>
#include <signal.h>

struct variant {
	const char *base; // NULL for $TMPDIR
	bool write_back, is_thick;
	uint32_t block_size;
};

static char folder[200], path[220];

static void begin(const char *base)
{
	make_folder(base, folder);
	snprintf(path, sizeof(path), "%s/disk", folder);
}

static void end(void)
{
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
}

static int folder_setup(void **state)
{
	begin(NULL);
	return 0;
}

static int folder_teardown(void **state)
{
	end();
	return 0;
}

static struct bs_config file_config(uint64_t size)
{
	struct bs_config c = config_of("fileio", "f0");
	c.dev = path;
	c.size = size;
	return c;
}

static struct backstore *open_variant(const struct subject *s, bool is_new)
{
	const struct variant *v = s->arg;
	if (is_new)
		begin(v->base);
	struct bs_config c = file_config(is_new ? SUBJECT_SIZE : 0);
	c.write_back = v->write_back;
	c.sparse = !v->is_thick;
	c.block_size = v->block_size;
	return must_open("fileio", &c);
}

static void clean_variant(const struct subject *s)
{
	end();
}

static void make_file(const char *at, size_t size)
{
	int fd = open(at, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

static void a_new_file_is_private_sparse_and_of_its_size(void **state)
{
	struct bs_config c = file_config(1ull << 40);
	struct stat st;
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 1ull << 40);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(blocks_of(path) < MIB);
	backstore_close(bs);
}

static void a_new_file_needs_a_size(void **state)
{
	struct bs_config c = file_config(0);
	must_refuse("fileio", &c, -ENOENT, "fileio f0: /", "give a size to create it");
	assert_int_equal(access(path, F_OK), -1);
}

static void an_existing_file_keeps_its_size_and_says_so(void **state)
{
	make_file(path, 3 * MIB);
	struct bs_config c = file_config(8 * MIB);
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, 3 * MIB);
	assert_non_null(strstr(bs->note, "exists, using its size (3145728 bytes) instead"));
	backstore_close(bs);
}

static void an_empty_file_takes_the_size_given(void **state)
{
	make_file(path, 0);
	struct bs_config c = file_config(0);
	must_refuse("fileio", &c, -EINVAL, "empty, smaller", "give a size");
	c = file_config(100);
	must_refuse("fileio", &c, -EINVAL, "size: 100 bytes", "less than a block of 512");
	c = file_config(2 * MIB);
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, 2 * MIB);
	backstore_close(bs);
}

static void a_last_part_of_a_block_is_left_alone(void **state)
{
	make_file(path, 4096 + 100);
	struct bs_config c = file_config(0);
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(bs->limits.size, 4096);
	assert_non_null(strstr(bs->note, "last 100 bytes"));
	backstore_close(bs);
}

static void a_file_that_is_not_sparse_has_its_space(void **state)
{
	struct bs_config c = file_config(16 * MIB);
	c.sparse = false;
	struct backstore *bs = must_open("fileio", &c);
	assert_true(blocks_of(path) >= 16 * MIB);
	struct err e;
	assert_int_equal(backstore_resize(bs, 24 * MIB, &e), 0);
	assert_true(blocks_of(path) >= 24 * MIB);
	assert_int_equal(io_one(bs, BS_WRITE_ZEROES, 0, 24 * MIB, NULL), 0);
	assert_true(blocks_of(path) >= 24 * MIB);
	backstore_close(bs);
}

static void a_sparse_file_tells_how_full_its_filesystem_is(void **state)
{
	struct bs_config c = file_config(SUBJECT_SIZE);
	struct backstore *bs = must_open("fileio", &c);
	uint64_t used = UINT64_MAX, total = 0;
	assert_int_equal(backstore_space(bs, &used, &total), 0);
	assert_in_range(used, 0, total);
	assert_in_range(total, SUBJECT_SIZE, UINT64_MAX);
	backstore_close(bs);
}

static void a_file_with_its_space_has_no_pool_to_run_out_of(void **state)
{
	struct bs_config c = file_config(SUBJECT_SIZE);
	c.sparse = false;
	struct backstore *bs = must_open("fileio", &c);
	uint64_t used, total;
	assert_int_equal(backstore_space(bs, &used, &total), -EOPNOTSUPP);
	backstore_close(bs);
}

static void unmap_gives_space_back_to_the_filesystem(void **state)
{
	struct bs_config c = file_config(16 * MIB);
	struct backstore *bs = must_open("fileio", &c);
	put_pattern(bs, 0, 4 * MIB, 1);
	assert_true(blocks_of(path) >= 4 * MIB);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 4 * MIB, NULL), 0);
	assert_true(blocks_of(path) < MIB);
	backstore_close(bs);
}

static void space_that_is_not_there_is_refused_and_nothing_stays(void **state)
{
	struct bs_config c = file_config(1ull << 42);
	c.sparse = false;
	struct backstore *bs;
	struct err e;
	int r = backstore_open(&bs, backstore_type_find("fileio"), &c, &e);
	assert_true(r == -ENOSPC || r == -EFBIG);
	assert_int_equal(access(path, F_OK), -1);
}

// Each operation goes through worker_sqe(): what the last one was can be seen when it is over.
static struct io_uring_sqe *last_sqe;
struct io_uring_sqe *__real_worker_sqe(struct worker *w, struct uring_op *op);
struct io_uring_sqe *__wrap_worker_sqe(struct worker *w, struct uring_op *op);
struct io_uring_sqe *__wrap_worker_sqe(struct worker *w, struct uring_op *op)
{
	return last_sqe = __real_worker_sqe(w, op);
}

static bool is_direct(struct backstore *bs)
{
	return fcntl(((struct fdstore *)bs)->fd, F_GETFL) & O_DIRECT;
}

static bool write_is_synced(struct backstore *bs, uint32_t flags)
{
	struct sg sg = { .addr = arena, .len = 64 * KIB };
	assert_int_equal(io_sg(bs, BS_WRITE, 0, 64 * KIB, &sg, 1, flags), 0);
	return last_sqe->rw_flags & RWF_DSYNC;
}

static void each_cache_mode_makes_writes_durable_in_its_way(void **state)
{
	static const struct {
		bool write_back;
		enum bs_cache cache, is;
		bool is_direct, has_cache, is_synced;
	} rows[] = {
		{false,	 BS_CACHE_UNSET,	 BS_CACHE_WRITETHROUGH, true,  false, true },
		{ true,	BS_CACHE_UNSET,	BS_CACHE_WRITEBACK,    false, true,	 false},
		{ false, BS_CACHE_NONE,		BS_CACHE_NONE,	       true,  true,  false},
		{ false, BS_CACHE_WRITETHROUGH, BS_CACHE_WRITETHROUGH, true,  false, true },
		{ false, BS_CACHE_WRITEBACK,    BS_CACHE_WRITEBACK,	 false, true,  false},
		{ true,	BS_CACHE_WRITEBACK,    BS_CACHE_WRITEBACK,	false, true,  false},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct bs_config c = file_config(MIB);
		c.write_back = rows[i].write_back;
		c.cache = rows[i].cache;
		struct backstore *bs = must_open("fileio", &c);
		assert_int_equal(bs->limits.cache, rows[i].is);
		assert_int_equal(is_direct(bs), rows[i].is_direct);
		assert_int_equal(bs->limits.has_write_cache, rows[i].has_cache);
		assert_int_equal(write_is_synced(bs, 0), rows[i].is_synced);
		assert_true(write_is_synced(bs, BS_FUA));
		backstore_close(bs);
	}
}

static void it_learns_how_long_operations_of_a_size_take(void **state)
{
	struct bs_config c = file_config(MIB);
	struct backstore *bs = must_open("fileio", &c);
	const struct fdstore *f = (const struct fdstore *)bs;
	// One that takes no longer than the worker needs to wake up tells nothing.
	while (!f->pace[1][4].mean)
		assert_int_equal(io_one(bs, BS_WRITE, 0, 64 * KIB, arena), 0);
	while (!f->pace[0][0].mean)
		assert_int_equal(io_one(bs, BS_READ, 0, 4 * KIB, arena), 0);
	for (unsigned i = 0; i < FDSTORE_PACES; i++) {
		assert_int_equal(f->pace[0][i].mean > 0, i == 0);
		assert_int_equal(f->pace[1][i].mean > 0, i == 4);
	}
	backstore_close(bs);
}

static void iopoll_is_refused_with_a_note_where_it_is_not_possible(void **state)
{
	struct bs_config c = file_config(MIB);
	c.iopoll = true;
	struct backstore *bs = must_open("fileio", &c);
	if (!((struct fdstore *)bs)->is_polling)
		assert_non_null(strstr(bs->note, "iopoll has no effect: the device has no poll"));
	backstore_close(bs);
	c.write_back = true;
	bs = must_open("fileio", &c);
	assert_false(((struct fdstore *)bs)->is_polling);
	assert_non_null(strstr(bs->note, "iopoll has no effect: it needs direct I/O"));
	backstore_close(bs);
}

// A device that has no poll queues, or loses them, is served by interrupts.
static void a_device_that_cannot_be_polled_is_served(void **state)
{
	struct bs_config c = file_config(MIB);
	struct backstore *bs = must_open("fileio", &c);
	((struct fdstore *)bs)->is_polling = true;
	put_pattern(bs, 0, MIB, 1);
	expect_pattern(bs, 0, MIB, 1);
	expect_pattern(bs, 4 * KIB, 4 * KIB, 1);
	backstore_close(bs);
}

static void cache_and_write_back_may_not_contradict_each_other(void **state)
{
	struct bs_config c = file_config(MIB);
	c.write_back = true;
	c.cache = BS_CACHE_NONE;
	must_refuse("fileio", &c, -EINVAL, "write_back=true and cache=none", "leave out");
}

static bool ends_with_a_sync(struct backstore *bs, enum bs_op op, uint32_t flags)
{
	assert_int_equal(io_sg(bs, op, 0, 64 * KIB, NULL, 0, flags), 0);
	return last_sqe->opcode == IORING_OP_FSYNC;
}

static void zeroes_and_holes_that_must_be_durable_are_synced(void **state)
{
	struct bs_config c = file_config(MIB);
	struct backstore *bs = must_open("fileio", &c);
	put_pattern(bs, 0, 64 * KIB, 1);
	assert_true(ends_with_a_sync(bs, BS_WRITE_ZEROES, 0));
	assert_true(ends_with_a_sync(bs, BS_UNMAP, BS_FUA));
	backstore_close(bs);
	c.write_back = true;
	bs = must_open("fileio", &c);
	assert_false(ends_with_a_sync(bs, BS_WRITE_ZEROES, 0));
	assert_true(ends_with_a_sync(bs, BS_WRITE_ZEROES, BS_FUA));
	assert_false(ends_with_a_sync(bs, BS_UNMAP, 0));
	assert_true(ends_with_a_sync(bs, BS_UNMAP, BS_FUA));
	backstore_close(bs);
}

static unsigned syncs;
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	syncs++;
	return __real_fdatasync(fd);
}

static void a_flush_of_the_control_thread_syncs_the_file(void **state)
{
	struct bs_config c = file_config(MIB);
	struct err e;
	c.write_back = true;
	struct backstore *bs = must_open("fileio", &c);
	syncs = 0;
	assert_int_equal(backstore_flush(bs, &e), 0);
	assert_int_equal(syncs, 1);
	backstore_close(bs);
}

// Initiators may find none at the next open, and cannot flush then.
static void closing_a_volatile_cache_syncs_the_file(void **state)
{
	static const struct {
		enum bs_cache cache;
		unsigned syncs;
	} rows[] = {
		{BS_CACHE_NONE,		 1},
		      { BS_CACHE_WRITETHROUGH, 0},
		    { BS_CACHE_WRITEBACK,	  1}
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct bs_config c = file_config(MIB);
		c.cache = rows[i].cache;
		syncs = 0;
		backstore_close(must_open("fileio", &c));
		assert_int_equal(syncs, rows[i].syncs);
	}
}

static void zeroes_that_were_written_keep_their_space(void **state)
{
	static const char *const bases[] = { NULL, "/dev/shm" };
	for (unsigned i = 0; i < 2; i++) {
		uint64_t length;
		bool is_mapped;
		begin(bases[i]);
		struct bs_config c = file_config(MIB);
		struct backstore *bs = must_open("fileio", &c);
		assert_int_equal(io_one(bs, BS_WRITE_ZEROES, 64 * KIB, 64 * KIB, NULL), 0);
		assert_int_equal(io_extent(bs, 64 * KIB, MIB - 64 * KIB, &length, &is_mapped), 0);
		assert_true(is_mapped);
		assert_int_equal(length, 64 * KIB);
		assert_int_equal(blocks_of(path), 64 * KIB);
		backstore_close(bs);
		end();
	}
}

static void two_storage_objects_cannot_have_one_file(void **state)
{
	struct bs_config c = file_config(MIB);
	char other[230];
	struct backstore *bs = must_open("fileio", &c);
	c.name = "f1";
	must_refuse("fileio", &c, -EBUSY, "fileio f1", "in use by storage object f0");
	snprintf(other, sizeof(other), "%s.link", path);
	assert_int_equal(link(path, other), 0);
	c.dev = other;
	must_refuse("fileio", &c, -EBUSY, "fileio f1", "in use by storage object f0");
	unlink(other);
	c.dev = path;
	backstore_close(bs);
	backstore_close(must_open("fileio", &c));
}

static void a_file_that_another_program_locked_is_refused(void **state)
{
	make_file(path, MIB);
	int fd = open(path, O_RDWR);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
	struct bs_config c = file_config(0);
	must_refuse("fileio", &c, -EBUSY, path, "locked by another program");
	close(fd);
	backstore_close(must_open("fileio", &c));
}

static void a_file_in_use_is_locked_against_other_programs(void **state)
{
	struct bs_config c = file_config(MIB);
	struct backstore *bs = must_open("fileio", &c);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), -1);
	close(fd);
	backstore_close(bs);
}

static void a_read_only_store_refuses_changes(void **state)
{
	make_file(path, MIB);
	struct bs_config c = file_config(0);
	struct err e;
	c.readonly = true;
	struct backstore *bs = must_open("fileio", &c);
	assert_true(bs->limits.is_readonly);
	expect_zeroes(bs, 0, MIB);
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4096, arena), -EROFS);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 4096, NULL), -EROFS);
	assert_int_equal(io_one(bs, BS_WRITE_ZEROES, 0, 4096, NULL), -EROFS);
	assert_int_equal(backstore_resize(bs, 2 * MIB, &e), -EROFS);
	assert_non_null(strstr(e.text, "fileio f0: resize: read-only"));
	backstore_close(bs);
}

static void readonly_creates_no_file(void **state)
{
	struct bs_config c = file_config(MIB);
	c.readonly = true;
	must_refuse("fileio", &c, -ENOENT, "readonly", path);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_folder_a_fifo_and_a_missing_folder_are_refused(void **state)
{
	char at[240];
	struct bs_config c = file_config(MIB);
	c.dev = folder;
	must_refuse("fileio", &c, -EISDIR, folder, "");
	c.dev = path;
	assert_int_equal(mkfifo(path, 0600), 0);
	must_refuse("fileio", &c, -EINVAL, path, "not a regular file or block device");
	snprintf(at, sizeof(at), "%s/none/disk", folder);
	c.dev = at;
	must_refuse("fileio", &c, -ENOENT, at, "No such file");
}

static void growth_from_outside_is_seen_by_refresh(void **state)
{
	struct bs_config c = file_config(MIB);
	struct err e;
	bool is_changed;
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(truncate(path, 2 * MIB), 0);
	assert_int_equal(backstore_refresh(bs, &is_changed, &e), 0);
	assert_true(is_changed);
	assert_int_equal(backstore_size(bs), 2 * MIB);
	put_pattern(bs, MIB, MIB, 1);
	expect_pattern(bs, MIB, MIB, 1);
	backstore_close(bs);
}

static void a_file_cut_short_from_outside_gives_io_errors(void **state)
{
	static const bool modes[] = { false, true };
	for (int i = 0; i < 2; i++) {
		struct bs_config c = file_config(MIB);
		c.write_back = modes[i];
		struct backstore *bs = must_open("fileio", &c);
		assert_int_equal(truncate(path, 64 * KIB), 0);
		assert_int_equal(io_one(bs, BS_READ, 512 * KIB, 64 * KIB, arena), -EIO);
		assert_int_equal(io_one(bs, BS_READ, 32 * KIB, 64 * KIB, arena), -EIO);
		assert_int_equal(io_one(bs, BS_READ, 0, 64 * KIB, arena), 0);
		backstore_close(bs);
		unlink(path);
	}
}

// The file size limit stands in for a full filesystem: past it the kernel says EFBIG.
static void a_full_store_says_enospc(void **state)
{
	struct bs_config c = file_config(0);
	struct rlimit old, low = { .rlim_cur = 512 * KIB };
	make_file(path, MIB);
	struct backstore *bs = must_open("fileio", &c);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	int r = io_one(bs, BS_WRITE, 768 * KIB, 64 * KIB, arena);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(r, -ENOSPC);
	backstore_close(bs);
}

// 4 MiB of odd addresses while the pool is empty: the bounce buffers then come from the heap.
static void unaligned_writes_need_no_free_pool_buffer(void **state)
{
	static struct buf *held[1024];
	uint32_t n = 0;
	struct bs_config c = file_config(8 * MIB);
	struct backstore *bs = must_open("fileio", &c);
	for (; n < 1024; n++) {
		struct pool_call p = { .length = BUF_MAX };
		worker_call(worker, pool_get, &p);
		if (!p.buf)
			break;
		held[n] = p.buf;
	}
	assert_true(n < 1024);
	struct sg_list l = { .sg = { { .addr = arena + 1, .len = 3 * MIB } }, .n = 1 };
	sg_fill(&l, 512, 5);
	int r = io_sg(bs, BS_WRITE, 512, 3 * MIB, l.sg, 1, 0);
	while (n)
		pool_buf_free(held[--n]);
	assert_int_equal(r, 0);
	expect_pattern(bs, 512, 3 * MIB, 5);
	backstore_close(bs);
}

static void aligned_io_is_not_copied(void **state)
{
	struct bs_config c = file_config(8 * MIB);
	struct backstore *bs = must_open("fileio", &c);
	uint64_t before = worker_counters(worker)->payload_copies;
	put_pattern(bs, 0, 4 * MIB, 1);
	expect_pattern(bs, 0, 4 * MIB, 1);
	assert_int_equal(worker_counters(worker)->payload_copies, before);
	backstore_close(bs);
}

#define FOLDER_TEST(fn) cmocka_unit_test_setup_teardown(fn, folder_setup, folder_teardown)

int main(void)
{
	static const struct variant direct = { NULL, false, false, 0 },
				    direct_4k = { NULL, false, false, 4096 },
				    cached = { NULL, true, false, 0 },
				    thick = { NULL, false, true, 0 },
				    tmpfs = { "/dev/shm", false, false, 0 },
				    tmpfs_cached = { "/dev/shm", true, false, 0 };
	enum { FIXED = IS_STORE | IS_LASTING | IS_GROWING };
	enum { THIN = FIXED | IS_THIN | IS_EXPLAINED };
	static const struct subject subjects[] = {
		{"fileio",			    THIN,  open_variant, clean_variant, &direct   },
		{ "fileio of 4096-byte blocks",	THIN,  open_variant, clean_variant, &direct_4k},
		{ "fileio with write_back",	    THIN,  open_variant, clean_variant, &cached   },
		{ "fileio with reserved space",	FIXED, open_variant, clean_variant, &thick	   },
		{ "fileio on tmpfs",		     THIN,  open_variant, clean_variant, &tmpfs    },
		{ "fileio on tmpfs with write_back", THIN,  open_variant, clean_variant,
		  &tmpfs_cached								     },
	};
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(a_new_file_is_private_sparse_and_of_its_size),
		FOLDER_TEST(a_new_file_needs_a_size),
		FOLDER_TEST(an_existing_file_keeps_its_size_and_says_so),
		FOLDER_TEST(an_empty_file_takes_the_size_given),
		FOLDER_TEST(a_last_part_of_a_block_is_left_alone),
		FOLDER_TEST(a_file_that_is_not_sparse_has_its_space),
		FOLDER_TEST(a_sparse_file_tells_how_full_its_filesystem_is),
		FOLDER_TEST(a_file_with_its_space_has_no_pool_to_run_out_of),
		FOLDER_TEST(unmap_gives_space_back_to_the_filesystem),
		FOLDER_TEST(space_that_is_not_there_is_refused_and_nothing_stays),
		FOLDER_TEST(closing_a_volatile_cache_syncs_the_file),
		FOLDER_TEST(each_cache_mode_makes_writes_durable_in_its_way),
		FOLDER_TEST(it_learns_how_long_operations_of_a_size_take),
		FOLDER_TEST(iopoll_is_refused_with_a_note_where_it_is_not_possible),
		FOLDER_TEST(a_device_that_cannot_be_polled_is_served),
		FOLDER_TEST(cache_and_write_back_may_not_contradict_each_other),
		FOLDER_TEST(zeroes_and_holes_that_must_be_durable_are_synced),
		FOLDER_TEST(a_flush_of_the_control_thread_syncs_the_file),
		cmocka_unit_test(zeroes_that_were_written_keep_their_space),
		FOLDER_TEST(two_storage_objects_cannot_have_one_file),
		FOLDER_TEST(a_file_that_another_program_locked_is_refused),
		FOLDER_TEST(a_file_in_use_is_locked_against_other_programs),
		FOLDER_TEST(a_read_only_store_refuses_changes),
		FOLDER_TEST(readonly_creates_no_file),
		FOLDER_TEST(a_folder_a_fifo_and_a_missing_folder_are_refused),
		FOLDER_TEST(growth_from_outside_is_seen_by_refresh),
		FOLDER_TEST(a_file_cut_short_from_outside_gives_io_errors),
		FOLDER_TEST(a_full_store_says_enospc),
		FOLDER_TEST(unaligned_writes_need_no_free_pool_buffer),
		FOLDER_TEST(aligned_io_is_not_copied),
	};
	int failed = cmocka_run_group_tests(tests, start_worker, stop_worker);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		failed += contract_run(&subjects[i]);
	return failed;
}
