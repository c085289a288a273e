// SPDX-License-Identifier: BSD-2-Clause
// Overlays against a model in memory: random operations across reopens, and what a killed process
// and a power failure leave. Here the page cache is there after each; tests/system/power_cut.py
// loses it.
#include <sched.h>

#include "backstores/overlay_util.h"

// --- a model in memory

struct model {
	struct backstore *bs;
	uint8_t *is, *flushed; // content now; content at the last flush
	uint64_t *changed;     // of each 512 bytes: changed since the last flush
	uint64_t random;
};

static uint64_t next_random(struct model *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	return m->random ^= m->random << 17;
}

static void model_init(struct model *m, uint64_t seed)
{
	m->is = calloc(1, DISK_SIZE);
	m->flushed = calloc(1, DISK_SIZE);
	m->changed = calloc(DISK_SIZE / 512, sizeof *m->changed);
	m->random = seed * 0x9e3779b97f4a7c15 + 1;
	for (uint64_t i = 0; i < BASE_SIZE; i++)
		m->is[i] = pattern(i, BASE_SEED);
	memcpy(m->flushed, m->is, DISK_SIZE);
}

static void model_done(struct model *m)
{
	free(m->is);
	free(m->flushed);
	free(m->changed);
}

static void model_flushed(struct model *m)
{
	memcpy(m->flushed, m->is, DISK_SIZE);
	memset(m->changed, 0, DISK_SIZE / 512 * sizeof *m->changed);
}

static void model_range(struct model *m, uint64_t *offset, uint64_t *length)
{
	uint64_t blocks = DISK_SIZE / 512, most = next_random(m) % 4 ? 64 : 600;
	*offset = next_random(m) % blocks;
	*length = 1 + next_random(m) % most;
	if (next_random(m) % 2) {
		*offset -= *offset % 8;
		*length = (*length + 7) / 8 * 8;
	}
	if (*length > blocks - *offset)
		*length = blocks - *offset;
	*offset *= 512;
	*length *= 512;
}

static void model_write(struct model *m, uint32_t flags)
{
	uint64_t offset, length;
	model_range(m, &offset, &length);
	uint32_t seed = (uint32_t)next_random(m);
	struct sg_list l;
	shape_make(&shapes[next_random(m) % 4], (uint32_t)length, &l);
	sg_fill(&l, offset, seed);
	assert_int_equal(io_sg(m->bs, BS_WRITE, offset, length, l.sg, l.n, flags), 0);
	shape_free(&l);
	for (uint64_t i = 0; i < length; i++)
		m->is[offset + i] = pattern(offset + i, seed);
	for (uint64_t i = offset / 512; i < (offset + length) / 512; i++)
		m->changed[i]++;
	if (flags & BS_FUA) {
		memcpy(m->flushed + offset, m->is + offset, length);
		memset(&m->changed[offset / 512], 0, length / 512 * sizeof *m->changed);
	}
}

static void model_zero(struct model *m, enum bs_op op)
{
	uint64_t offset, length;
	model_range(m, &offset, &length);
	assert_int_equal(io_one(m->bs, op, offset, length, NULL), 0);
	memset(m->is + offset, 0, length);
	for (uint64_t i = offset / 512; i < (offset + length) / 512; i++)
		m->changed[i]++;
}

static void model_step(struct model *m)
{
	uint64_t what = next_random(m) % 20;
	if (what < 11)
		model_write(m, 0);
	else if (what < 13)
		model_write(m, BS_FUA);
	else if (what < 16)
		model_zero(m, BS_UNMAP);
	else if (what < 18)
		model_zero(m, BS_WRITE_ZEROES);
	else if (what == 18 && io_one(m->bs, BS_FLUSH, 0, 0, NULL) == 0)
		model_flushed(m);
}

static void expect_model(struct model *m, struct backstore *bs)
{
	for (uint64_t at = 0, n; at < DISK_SIZE; at += n) {
		n = DISK_SIZE - at < ARENA_SIZE ? DISK_SIZE - at : ARENA_SIZE;
		assert_int_equal(io_one(bs, BS_READ, at, n, arena), 0);
		bool is_equal = !memcmp(arena, m->is + at, n); // under TSan much faster than a loop
		for (uint64_t i = 0; !is_equal && i < n; i++)
			if (arena[i] != m->is[at + i])
				fail_msg("byte %llu is wrong", (unsigned long long)(at + i));
	}
}

static void random_operations_read_back_also_after_a_reopen(void **state)
{
	for (size_t i = 0; i < N_MODES; i++) {
		struct bs_config c = new_disk(modes[i]);
		struct model m;
		model_init(&m, i);
		m.bs = must_open("fileio", &c);
		for (unsigned round = 0; round < 6; round++) {
			for (unsigned k = 0; k < 60; k++)
				model_step(&m);
			expect_model(&m, m.bs);
			backstore_close(m.bs);
			c.is_new = false;
			m.bs = must_open("fileio", &c);
			expect_model(&m, m.bs);
		}
		backstore_close(m.bs);
		model_done(&m);
		unlink(path);
	}
}

// --- what a crash leaves

static void a_killed_process_loses_no_acknowledged_write(void **state)
{
	for (size_t i = 0; i < N_MODES; i++) {
		struct bs_config c = new_disk(modes[i]);
		struct model m;
		model_init(&m, 10 + i);
		m.bs = must_open("fileio", &c);
		for (unsigned round = 0; round < 4; round++) {
			for (unsigned k = 0; k < 40; k++)
				model_step(&m);
			copy_overlay(false);
			struct backstore *copy = open_copy();
			expect_model(&m, copy);
			backstore_close(copy);
			copy = open_copy();
			expect_model(&m, copy);
			backstore_close(copy);
		}
		backstore_close(m.bs);
		model_done(&m);
		unlink(path);
	}
}

// Without what was noted each 512 bytes are as at the last flush, if nothing has changed them
// since; a block of the base that was changed without a flush is there as the base has it, or
// changed.
static void expect_flushed(struct model *m, struct backstore *bs)
{
	for (uint64_t at = 0; at < DISK_SIZE; at += 512) {
		if (at % ARENA_SIZE == 0) {
			uint64_t n = DISK_SIZE - at < ARENA_SIZE ? DISK_SIZE - at : ARENA_SIZE;
			assert_int_equal(io_one(bs, BS_READ, at, n, arena), 0);
		}
		const uint8_t *found = arena + at % ARENA_SIZE;
		if (!memcmp(found, m->flushed + at, 512))
			continue;
		if (!m->changed[at / 512])
			fail_msg("bytes at %llu: what was flushed is not there",
				 (unsigned long long)at);
		if (m->changed[at / 512] == 1 && memcmp(found, m->is + at, 512))
			fail_msg("bytes at %llu: neither old nor new", (unsigned long long)at);
	}
}

static void a_power_failure_leaves_what_was_flushed(void **state)
{
	for (size_t i = 0; i < N_MODES; i++) {
		struct bs_config c = new_disk(modes[i]);
		struct model m;
		model_init(&m, 20 + i);
		m.bs = must_open("fileio", &c);
		for (unsigned round = 0; round < 8; round++) {
			for (unsigned k = 0; k < 30; k++)
				model_step(&m);
			copy_overlay(true);
			struct backstore *copy = open_copy();
			expect_flushed(&m, copy);
			backstore_close(copy);
		}
		backstore_close(m.bs);
		model_done(&m);
		unlink(path);
	}
}

static void writes_that_were_not_flushed_are_gone_after_a_power_failure(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	put_pattern(bs, 0, 64 * KIB, 1);
	copy_overlay(true);
	struct backstore *copy = open_copy();
	expect_pattern(copy, 0, 64 * KIB, BASE_SEED);
	backstore_close(copy);
	assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
	copy_overlay(true);
	copy = open_copy();
	expect_pattern(copy, 0, 64 * KIB, 1);
	backstore_close(copy);
	backstore_close(bs);
}

// Old notes do not come back with the next restart of the process.
static void notes_of_an_earlier_boot_are_forgotten(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	put_pattern(bs, 0, 64 * KIB, 1);
	copy_overlay(true);
	backstore_close(open_copy());
	struct backstore *copy = open_copy();
	expect_pattern(copy, 0, 64 * KIB, BASE_SEED);
	backstore_close(copy);
	backstore_close(bs);
}

static void a_durable_write_is_there_after_a_power_failure(void **state)
{
	static const struct {
		enum bs_cache cache;
		uint32_t flags;
	} rows[] = {
		{BS_CACHE_WRITETHROUGH, 0	   },
		{ BS_CACHE_NONE,	 BS_FUA},
		{ BS_CACHE_WRITEBACK,   BS_FUA}
	};
	for (size_t i = 0; i < 3; i++) {
		struct bs_config c = new_disk(rows[i].cache);
		struct backstore *bs = must_open("fileio", &c);
		struct sg_list l = { .sg = { { .addr = arena, .len = 6 * 512 } }, .n = 1 };
		sg_fill(&l, 512 * 5, 3);
		assert_int_equal(io_sg(bs, BS_WRITE, 512 * 5, 6 * 512, l.sg, 1, rows[i].flags), 0);
		copy_overlay(true);
		struct backstore *copy = open_copy();
		expect_pattern(copy, 0, 512 * 5, BASE_SEED);
		expect_pattern(copy, 512 * 5, 512 * 6, 3);
		expect_pattern(copy, 512 * 11, 512 * 20, BASE_SEED);
		backstore_close(copy);
		backstore_close(bs);
		unlink(path);
	}
}

// --- writes of a block that the file has, but does not say so yet

static struct sg sector = { .len = 512 };

static void start_sector(struct waited_io *w, struct backstore *bs, uint64_t at, uint32_t flags)
{
	struct sg_list l = { .sg = { { .addr = arena + at, .len = 512 } }, .n = 1 };
	sg_fill(&l, at, 6);
	sector.addr = arena + at;
	*w = (struct waited_io){
		.io = {.op = BS_WRITE,
			.flags = flags,
			.offset = at,
			.length = 512,
			.sg = &sector,
			.nsg = 1}
	};
	waited_start(w, bs);
}

static int write_sector(struct backstore *bs, uint64_t at)
{
	struct waited_io w;
	start_sector(&w, bs, at, 0);
	return waited_result(&w);
}

static void expect_killed(uint64_t at)
{
	copy_overlay(false);
	struct backstore *copy = open_copy();
	expect_pattern(copy, at, 512, 6);
	backstore_close(copy);
}

static struct overlay *overlay_of(struct backstore *bs)
{
	return ((struct fdstore *)bs)->overlay;
}

// Commits wait, as behind a slow one.
static void hold_commits(struct overlay *o, bool is_held)
{
	pthread_mutex_lock(&o->sync.lock);
	o->sync.is_running = is_held;
	pthread_mutex_unlock(&o->sync.lock);
}

static bool has_waiting(struct overlay *o)
{
	pthread_mutex_lock(&o->sync.lock);
	bool has = !list_empty(&o->sync.waiting);
	pthread_mutex_unlock(&o->sync.lock);
	return has;
}

static void a_killed_process_loses_no_write_beside_one_that_is_being_committed(void **state)
{
	struct waited_io durable;
	for (size_t i = 0; i < N_MODES; i++) {
		struct bs_config c = new_disk(modes[i]);
		struct backstore *bs = must_open("fileio", &c);
		struct overlay *o = overlay_of(bs);
		((struct fdstore *)bs)->is_durable = false;
		hold_commits(o, true);
		start_sector(&durable, bs, 0, BS_FUA);
		while (!has_waiting(o))
			sched_yield();
		assert_int_equal(write_sector(bs, 512), 0);
		expect_killed(512);
		hold_commits(o, false);
		assert_int_equal(io_one(bs, BS_FLUSH, 0, 0, NULL), 0);
		assert_int_equal(waited_result(&durable), 0);
		backstore_close(bs);
		unlink(path);
	}
}

static void nothing(void *arg)
{
}

// A pipe that is full takes no note until it is read.
static void fill_pipe(int ends[2])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	while (write(ends[1], arena, 4096) > 0 || write(ends[1], arena, 1) > 0)
		;
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
}

static void a_killed_process_loses_no_write_beside_one_that_is_being_noted(void **state)
{
	struct waited_io first;
	int ends[2];
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	struct overlay *o = overlay_of(bs);
	int map_fd = o->map_fd;
	fill_pipe(ends);
	o->map_fd = ends[1];
	start_sector(&first, bs, 0, 0);
	while (!overlay_map_owns(&o->map, 0, 1))
		sched_yield();
	worker_call(worker, nothing, NULL); // it has left the callback that submits the note
	o->map_fd = map_fd;
	assert_int_equal(write_sector(bs, 512), 0);
	expect_killed(512);
	while (read(ends[0], arena, 4096) > 0)
		;
	assert_int_equal(waited_result(&first), 0);
	close(ends[0]);
	close(ends[1]);
	backstore_close(bs);
}

static void a_write_behind_one_that_was_not_noted_is_noted_or_fails(void **state)
{
	struct bs_config c = new_disk(BS_CACHE_NONE);
	struct backstore *bs = must_open("fileio", &c);
	struct overlay *o = overlay_of(bs);
	int map_fd = o->map_fd;
	o->map_fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	assert_int_equal(write_sector(bs, 0), -ENOSPC);
	assert_int_equal(write_sector(bs, 512), -ENOSPC);
	close(o->map_fd);
	o->map_fd = map_fd;
	assert_int_equal(write_sector(bs, 1024), 0);
	expect_killed(1024);
	backstore_close(bs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOLDER_TEST(random_operations_read_back_also_after_a_reopen),
		FOLDER_TEST(a_killed_process_loses_no_acknowledged_write),
		FOLDER_TEST(a_power_failure_leaves_what_was_flushed),
		FOLDER_TEST(writes_that_were_not_flushed_are_gone_after_a_power_failure),
		FOLDER_TEST(notes_of_an_earlier_boot_are_forgotten),
		FOLDER_TEST(a_durable_write_is_there_after_a_power_failure),
		FOLDER_TEST(a_killed_process_loses_no_write_beside_one_that_is_being_committed),
		FOLDER_TEST(a_killed_process_loses_no_write_beside_one_that_is_being_noted),
		FOLDER_TEST(a_write_behind_one_that_was_not_noted_is_noted_or_fails),
	};
	return cmocka_run_group_tests(tests, start_worker, stop_worker);
}
