// SPDX-License-Identifier: BSD-2-Clause
// Durable writes and flushes that are in flight together share syncs.
#include "backstores/io_util.h"

#include <liburing.h>

#include "backstores/fdstore.h"

#define MANY 16

static char folder[200], path[220];
static struct waited_io ios[MANY];
static struct sg sgs[MANY];

// What was submitted to the ring.
static struct io_uring_sqe *sqes[4 * MANY];
static unsigned n_sqes;
struct io_uring_sqe *__real_worker_sqe(struct worker *w, struct uring_op *op);
struct io_uring_sqe *__wrap_worker_sqe(struct worker *w, struct uring_op *op);
struct io_uring_sqe *__wrap_worker_sqe(struct worker *w, struct uring_op *op)
{
	struct io_uring_sqe *sqe = __real_worker_sqe(w, op);
	if (n_sqes < 4 * MANY)
		sqes[n_sqes] = sqe;
	n_sqes++;
	return sqe;
}

static unsigned count_syncs(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_sqes; i++)
		n += sqes[i]->opcode == IORING_OP_FSYNC;
	return n;
}

static unsigned count_durable_writes(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_sqes; i++)
		n += sqes[i]->opcode != IORING_OP_FSYNC && sqes[i]->rw_flags & RWF_DSYNC;
	return n;
}

static struct backstore *open_file(enum bs_cache cache)
{
	struct bs_config c = config_of("fileio", "f0");
	c.dev = path;
	c.size = MIB;
	c.cache = cache;
	struct backstore *bs = must_open("fileio", &c);
	((struct fdstore *)bs)->has_fua = false;
	n_sqes = 0;
	return bs;
}

static struct backstore *to;

static void submit_all(void *arg)
{
	for (unsigned i = 0; i < MANY; i++)
		backstore_submit(to, &ios[i].io);
}

// Submits MANY at once, and checks that each ends with res.
static void run_all(struct backstore *bs, enum bs_op op, uint32_t flags, int res)
{
	for (unsigned i = 0; i < MANY; i++) {
		sgs[i] = (struct sg){ .addr = arena + i * BUF_PAGE, .len = BUF_PAGE };
		ios[i] = (struct waited_io){
			.io = {.op = op,
				.flags = flags,
				.offset = i * BUF_PAGE,
				.length = op == BS_FLUSH ? 0 : BUF_PAGE,
				.sg = op == BS_FLUSH ? NULL : &sgs[i],
				.nsg = op != BS_FLUSH,
				.done = waited_done}
		};
		sem_init(&ios[i].sem, 0, 0);
	}
	to = bs;
	worker_call(worker, submit_all, NULL);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(waited_result(&ios[i]), res);
}

static void a_write_that_is_alone_needs_no_sync(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITETHROUGH);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(io_one(bs, BS_WRITE, 0, 4 * KIB, arena), 0);
	assert_int_equal(count_durable_writes(), 3);
	assert_int_equal(n_sqes, 3);
	backstore_close(bs);
}

static void a_write_that_the_device_splits_is_synced_once(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITETHROUGH);
	struct fdstore *f = (struct fdstore *)bs;
	f->dsync_max = 4 * KIB;
	assert_int_equal(io_one(bs, BS_WRITE, 0, 8 * KIB, arena), 0);
	assert_int_equal(count_durable_writes(), 0);
	assert_int_equal(count_syncs(), 1);
	n_sqes = 0;
	f->has_fua = true;
	assert_int_equal(io_one(bs, BS_WRITE, 0, 8 * KIB, arena), 0);
	assert_int_equal(count_durable_writes(), 1);
	assert_int_equal(n_sqes, 1);
	backstore_close(bs);
}

static void writes_that_are_in_flight_together_share_a_sync(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITETHROUGH);
	for (unsigned i = 0; i < MANY * BUF_PAGE; i++)
		arena[i] = pattern(i, 1);
	run_all(bs, BS_WRITE, 0, 0);
	assert_int_equal(count_durable_writes(), 1); // the first, which was alone
	assert_in_range(count_syncs(), 1, MANY / 2);
	assert_int_equal(sqes[n_sqes - 1]->opcode, IORING_OP_FSYNC);
	expect_pattern(bs, 0, MANY * BUF_PAGE, 1);
	backstore_close(bs);
}

static void so_do_writes_with_fua(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_NONE);
	run_all(bs, BS_WRITE, BS_FUA, 0);
	assert_in_range(count_syncs(), 1, MANY / 2);
	n_sqes = 0;
	run_all(bs, BS_WRITE, 0, 0);
	assert_int_equal(count_syncs() + count_durable_writes(), 0);
	backstore_close(bs);
}

static void a_device_with_fua_needs_no_sync(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITETHROUGH);
	((struct fdstore *)bs)->has_fua = true;
	run_all(bs, BS_WRITE, 0, 0);
	assert_int_equal(count_durable_writes(), MANY);
	assert_int_equal(n_sqes, MANY);
	backstore_close(bs);
}

static void flushes_that_come_together_share_a_sync(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITEBACK);
	run_all(bs, BS_FLUSH, 0, 0);
	assert_int_equal(n_sqes, 1);
	backstore_close(bs);
}

static struct defer later;

static void submit_second(struct defer *d)
{
	backstore_submit(to, &ios[1].io);
}

// The defer runs after the one that starts the sync of the first.
static void submit_two(void *arg)
{
	backstore_submit(to, &ios[0].io);
	worker_defer(worker, &later, submit_second);
}

static void a_flush_that_comes_while_one_runs_has_its_own(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITEBACK);
	for (unsigned i = 0; i < 2; i++) {
		ios[i] = (struct waited_io){
			.io = {.op = BS_FLUSH, .done = waited_done}
		};
		sem_init(&ios[i].sem, 0, 0);
	}
	to = bs;
	worker_call(worker, submit_two, NULL);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(waited_result(&ios[i]), 0);
	assert_int_equal(n_sqes, 2);
	backstore_close(bs);
}

static void a_sync_that_fails_fails_all_that_wait_for_it(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITEBACK);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], ((struct fdstore *)bs)->fd) >= 0); // a pipe cannot be synced
	run_all(bs, BS_FLUSH, 0, -EIO);
	close(ends[0]);
	close(ends[1]);
	backstore_close(bs);
}

// Each writes its own blocks; a sync writes all that others have left in the page cache.
static void writes_with_fua_over_the_page_cache_share_no_sync(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITEBACK);
	run_all(bs, BS_WRITE, BS_FUA, 0);
	assert_int_equal(count_durable_writes(), MANY);
	assert_int_equal(n_sqes, MANY);
	backstore_close(bs);
}

static void what_the_page_cache_has_lost_fails_all_that_must_be_durable(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITEBACK);
	int fd = ((struct fdstore *)bs)->fd, file = dup(fd), ends[2];
	struct sg sg = { .addr = arena, .len = BUF_PAGE };
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], fd) >= 0);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), -EIO);
	assert_true(dup2(file, fd) >= 0); // it can be synced again
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), -EIO);
	assert_int_equal(io_sg(bs, BS_WRITE, 0, BUF_PAGE, &sg, 1, BS_FUA), -EIO);
	assert_int_equal(io_sg(bs, BS_WRITE, 0, BUF_PAGE, &sg, 1, 0), 0);
	assert_int_equal(io_sg(bs, BS_READ, 0, BUF_PAGE, &sg, 1, 0), 0);
	close(ends[0]);
	close(ends[1]);
	close(file);
	backstore_close(bs);
}

static void durable_writes_over_the_page_cache_end_with_a_sync(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITETHROUGH);
	((struct fdstore *)bs)->is_direct = false; // as on a filesystem without direct I/O
	assert_int_equal(io_one(bs, BS_WRITE, 0, 4 * KIB, arena), 0);
	assert_int_equal(count_durable_writes(), 0);
	assert_int_equal(count_syncs(), 1);
	backstore_close(bs);
}

static void a_write_with_fua_that_fails_loses_nothing_of_others(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_WRITEBACK);
	int fd = ((struct fdstore *)bs)->fd, file = dup(fd), readonly = open(path, O_RDONLY);
	struct sg sg = { .addr = arena, .len = BUF_PAGE };
	assert_true(readonly >= 0 && dup2(readonly, fd) >= 0);
	assert_int_equal(io_sg(bs, BS_WRITE, 0, BUF_PAGE, &sg, 1, BS_FUA), -EIO);
	assert_true(dup2(file, fd) >= 0);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
	close(readonly);
	close(file);
	backstore_close(bs);
}

// Those of a device without poll queues.
static void all_that_is_in_flight_when_polling_ends_is_served(void **state)
{
	struct backstore *bs = open_file(BS_CACHE_NONE);
	put_pattern(bs, 0, MANY * BUF_PAGE, 1);
	((struct fdstore *)bs)->is_polling = true;
	run_all(bs, BS_READ, 0, 0);
	backstore_close(bs);
}

static int setup(void **state)
{
	make_folder(NULL, folder);
	snprintf(path, sizeof(path), "%s/disk", folder);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(folder);
}

#define FOLDER_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(a_write_that_is_alone_needs_no_sync),
		FOLDER_TEST(a_write_that_the_device_splits_is_synced_once),
		FOLDER_TEST(writes_that_are_in_flight_together_share_a_sync),
		FOLDER_TEST(so_do_writes_with_fua),
		FOLDER_TEST(a_device_with_fua_needs_no_sync),
		FOLDER_TEST(flushes_that_come_together_share_a_sync),
		FOLDER_TEST(a_flush_that_comes_while_one_runs_has_its_own),
		FOLDER_TEST(writes_with_fua_over_the_page_cache_share_no_sync),
		FOLDER_TEST(what_the_page_cache_has_lost_fails_all_that_must_be_durable),
		FOLDER_TEST(durable_writes_over_the_page_cache_end_with_a_sync),
		FOLDER_TEST(a_write_with_fua_that_fails_loses_nothing_of_others),
		FOLDER_TEST(all_that_is_in_flight_when_polling_ends_is_served),
		FOLDER_TEST(a_sync_that_fails_fails_all_that_wait_for_it),
	};
	return cmocka_run_group_tests(tests, start_worker, stop_worker);
}
