// SPDX-License-Identifier: BSD-2-Clause
// Overlays of fileio with a map: the contract of backstores over a base, writes of several workers
// into one block, space and extents.
#include "backstores/contract.h"
#include "backstores/overlay_util.h"

// --- the contract

struct variant {
	const char *below;
	enum bs_cache cache;
	uint32_t block_size;
	uint64_t base_size;
};

static struct backstore *open_variant(const struct subject *s, bool is_new)
{
	const struct variant *v = s->arg;
	if (is_new) {
		begin(v->below);
		make_base(v->base_size, true);
	}
	struct bs_config c = over(path, "f0");
	c.size = SUBJECT_SIZE;
	c.cache = v->cache;
	c.block_size = v->block_size;
	c.is_new = is_new;
	return must_open("fileio", &c);
}

static void clean_variant(const struct subject *s)
{
	end();
}

// --- concurrency

static struct worker *other;

static void part_done(struct bs_io *io, int res)
{
	struct waited_io *w = container_of(io, struct waited_io, io);
	w->res = res;
	sem_post(&w->sem);
}

static void start_on(struct worker *at, struct waited_io *w, struct backstore *bs)
{
	w->bs = bs;
	w->io.done = part_done;
	sem_init(&w->sem, 0, 0);
	w->msg.fn = waited_submit;
	worker_post(at, &w->msg);
}

static int result_of(struct waited_io *w)
{
	while (sem_wait(&w->sem) < 0 && errno == EINTR)
		;
	sem_destroy(&w->sem);
	return w->res;
}

// Each block is written in eight parts at once, by two workers.
static void writes_into_one_block_keep_each_other(void **state)
{
	enum { BLOCKS = 64, PARTS = 8, N = BLOCKS * PARTS };
	static struct waited_io w[N];
	static struct sg sg[N];
	struct worker_options o = { .name = "bs-other", .cpu = -1 };
	struct err e;
	assert_int_equal(worker_new(&other, &o, &e), 0);
	assert_int_equal(worker_start(other, &e), 0);
	for (size_t mode = 0; mode < N_MODES; mode++) {
		struct bs_config c = new_disk(modes[mode]);
		struct backstore *bs = must_open("fileio", &c);
		struct sg_list l = { .sg = { { .addr = arena, .len = N * 512 } }, .n = 1 };
		sg_fill(&l, 0, 5);
		for (unsigned i = 0; i < N; i++) {
			sg[i] = (struct sg){ .addr = arena + i * 512, .len = 512 };
			w[i] = (struct waited_io){
				.io = {.op = BS_WRITE,
					.offset = i * 512,
					.length = 512,
					.sg = &sg[i],
					.nsg = 1}
			};
			start_on(i % 2 ? other : worker, &w[i], bs);
		}
		for (unsigned i = 0; i < N; i++)
			assert_int_equal(result_of(&w[i]), 0);
		expect_pattern(bs, 0, N * 512, 5);
		backstore_close(bs);
		c.is_new = false;
		bs = must_open("fileio", &c);
		expect_pattern(bs, 0, N * 512, 5);
		backstore_close(bs);
		unlink(path);
	}
	worker_free(other);
}

// --- space and extents

static void only_what_was_written_takes_space(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	assert_true(blocks_of(path) <= 64 * KIB);
	put_pattern(bs, 8 * MIB, MIB, 1);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
	assert_in_range(blocks_of(path), MIB, MIB + 128 * KIB);
	backstore_close(bs);
}

static void what_the_base_alone_has_is_mapped(void **state)
{
	uint64_t length;
	bool is_mapped;
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	assert_int_equal(io_one(bs, BS_UNMAP, MIB, MIB, NULL), 0);
	assert_int_equal(io_extent(bs, 0, DISK_SIZE, &length, &is_mapped), 0);
	assert_true(is_mapped);
	assert_int_equal(length, MIB);
	assert_int_equal(io_extent(bs, MIB, DISK_SIZE - MIB, &length, &is_mapped), 0);
	assert_false(is_mapped);
	assert_int_equal(length, MIB);
	assert_int_equal(io_extent(bs, 2 * MIB, DISK_SIZE - 2 * MIB, &length, &is_mapped), 0);
	assert_true(is_mapped);
	assert_int_equal(length, BASE_SIZE / 4096 * 4096 - 2 * MIB);
	assert_int_equal(io_extent(bs, 24 * MIB + 4096, MIB - 4096, &length, &is_mapped), 0);
	assert_false(is_mapped);
	backstore_close(bs);
}

static void aligned_io_is_not_copied(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	struct buf *b = pool_buf(64 * KIB);
	struct sg sg = { .addr = b->addr, .len = 64 * KIB, .buf = b };
	uint64_t before = worker_counters(worker)->payload_copies;
	assert_int_equal(io_sg(bs, BS_WRITE, 0, 64 * KIB, &sg, 1, 0), 0);
	assert_int_equal(io_sg(bs, BS_READ, 32 * KIB, 64 * KIB, &sg, 1, 0), 0);
	assert_int_equal(worker_counters(worker)->payload_copies, before);
	pool_buf_free(b);
	backstore_close(bs);
}

int main(void)
{
	static const struct variant direct = { NULL, BS_CACHE_NONE, 0, SUBJECT_SIZE },
				    short_base = { NULL, BS_CACHE_NONE, 0, 5 * MIB + 700 },
				    direct_4k = { NULL, BS_CACHE_WRITETHROUGH, 4096, SUBJECT_SIZE },
				    cached = { NULL, BS_CACHE_WRITEBACK, 0, SUBJECT_SIZE },
				    tmpfs = { "/dev/shm", BS_CACHE_WRITETHROUGH, 0, SUBJECT_SIZE };
	enum { FLAGS = IS_STORE | IS_LASTING | IS_GROWING | IS_THIN };
	static const struct subject subjects[] = {
		{"overlay",			     FLAGS, open_variant, clean_variant, &direct	 },
		{ "overlay of a short base",     FLAGS, open_variant, clean_variant, &short_base},
		{ "overlay of 4096-byte blocks", FLAGS, open_variant, clean_variant, &direct_4k },
		{ "overlay with writeback",	    FLAGS, open_variant, clean_variant, &cached	},
		{ "overlay on tmpfs",	      FLAGS, open_variant, clean_variant, &tmpfs	 },
	};
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(writes_into_one_block_keep_each_other),
		FOLDER_TEST(only_what_was_written_takes_space),
		FOLDER_TEST(what_the_base_alone_has_is_mapped),
		FOLDER_TEST(aligned_io_is_not_copied),
	};
	int failed = cmocka_run_group_tests(tests, start_worker, stop_worker);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		failed += contract_run(&subjects[i]);
	return failed;
}
