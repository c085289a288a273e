// SPDX-License-Identifier: BSD-2-Clause
// Bench of the tests of block commands: two workers with a nexus each, one thin logical unit
// over a store made for tests. Every test runs three times: on the store's memory, through
// the store with completion at once, and with completion in a later round of the loop.
#pragma once

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "backstores/backstore.h"
#include "core/buf.h"
#include "core/offload.h"
#include "core/worker.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_ops.h"
#include "target/scsi/server/device_server.h"
#include "target/scsi/task.h"
#include "transport/wire/be.h"

#define ST_BLOCK   512u
#define ST_BLOCKS  32768u
#define ST_PAGE	   4096u // granularity of holes
#define ST_NEXUSES 2u
// Mapped, not allocated: what a test does not touch costs nothing.
#define ST_MEMORY_SIZE ((size_t)ST_BLOCKS * ST_BLOCK)

#define BE32(v)                                                                                    \
	(uint8_t)((uint32_t)(v) >> 24), (uint8_t)((v) >> 16), (uint8_t)((v) >> 8), (uint8_t)(v)
#define BE64(v) BE32((uint64_t)(v) >> 32), BE32((uint32_t)(uint64_t)(v))

enum st_mode { ST_MEMORY, ST_INLINE, ST_LATER };

struct st_cmd {
	struct task task;
	struct msg msg;
	struct nexus *nexus;
	uint8_t cdb[32];
	const uint8_t *out;
	uint8_t *in;
	sem_t done;
	uint8_t status, sense[SENSE_MAX];
	bool is_aborted;
};

static struct {
	struct worker *workers[ST_NEXUSES];
	struct nexus *nexuses[ST_NEXUSES];
	struct lun_map *map;
	struct lu *lu;
	struct st_cmd cmd;  // of the synchronous calls
	struct st_cmd slow; // of st_start()
	enum st_mode mode;
	bool is_shut, is_broken; // atomic: writes wait; writes fail
	uint64_t used;		 // of 1,000 bytes of pool, as the store tells
	unsigned held;		 // atomic: writes that found the gate shut
} st;

// --- The store ------------------------------------------------------------------------

struct st_store {
	struct backstore bs;
	uint8_t *memory;
	uint8_t mapped[ST_BLOCKS * ST_BLOCK / ST_PAGE]; // atomic: two workers write
};

static inline void st_map(struct st_store *s, uint64_t offset, uint64_t length, uint8_t value)
{
	for (uint64_t p = offset / ST_PAGE; p <= (offset + length - 1) / ST_PAGE; p++)
		__atomic_store_n(&s->mapped[p], value, __ATOMIC_RELAXED);
}

static inline int st_transfer(struct st_store *s, struct bs_io *io)
{
	uint8_t *at = s->memory + io->offset;
	for (uint32_t i = 0; i < io->nsg; at += io->sg[i++].len) {
		if (io->op == BS_READ)
			memcpy(io->sg[i].addr, at, io->sg[i].len);
		else
			memcpy(at, io->sg[i].addr, io->sg[i].len);
	}
	if (io->op == BS_WRITE)
		st_map(s, io->offset, io->length, 1);
	return 0;
}

static inline int st_zero(struct st_store *s, struct bs_io *io)
{
	memset(s->memory + io->offset, 0, io->length);
	uint64_t first = (io->offset + ST_PAGE - 1) / ST_PAGE * ST_PAGE;
	uint64_t end = (io->offset + io->length) / ST_PAGE * ST_PAGE;
	if (io->op == BS_UNMAP && end > first)
		st_map(s, first, end - first, 0);
	return 0;
}

// A RAM disk's memory may be written behind our back: a page that is not zero is mapped.
static inline bool st_is_mapped(const struct st_store *s, uint64_t page)
{
	static const uint8_t zeroes[ST_PAGE];
	return __atomic_load_n(&s->mapped[page], __ATOMIC_RELAXED) ||
	       memcmp(s->memory + page * ST_PAGE, zeroes, ST_PAGE) != 0;
}

static inline int st_extent(struct st_store *s, struct bs_io *io)
{
	uint64_t end = io->offset + io->length, at = io->offset;
	io->ret_is_mapped = st_is_mapped(s, at / ST_PAGE);
	while (at < end && st_is_mapped(s, at / ST_PAGE) == io->ret_is_mapped)
		at = (at / ST_PAGE + 1) * ST_PAGE;
	io->ret_extent_length = (at < end ? at : end) - io->offset;
	return 0;
}

static inline void st_serve(struct bs_io *io)
{
	struct st_store *s = (struct st_store *)io->bs;
	bool writes = io->op != BS_READ && io->op != BS_EXTENT && io->op != BS_FLUSH;
	if (writes && __atomic_load_n(&st.is_shut, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&st.held, 1, __ATOMIC_RELEASE);
		timer_arm(worker_self(), &io->timer, 200);
		return;
	}
	int res = 0;
	if (writes && __atomic_load_n(&st.is_broken, __ATOMIC_ACQUIRE))
		res = -EIO;
	else if (io->op == BS_READ || io->op == BS_WRITE)
		res = st_transfer(s, io);
	else if (io->op == BS_EXTENT)
		res = st_extent(s, io);
	else if (io->op != BS_FLUSH)
		res = st_zero(s, io);
	io->done(io, res);
}

static inline void st_serve_later(struct timer *t)
{
	st_serve(container_of(t, struct bs_io, timer));
}

static inline void st_submit(struct backstore *bs, struct bs_io *io)
{
	io->bs = bs;
	timer_init(&io->timer, st_serve_later);
	if (st.mode == ST_LATER)
		timer_arm(worker_self(), &io->timer, 1);
	else
		st_serve(io);
}

static inline int st_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	struct st_store *s = (struct st_store *)bs;
	s->memory = mmap(NULL, ST_MEMORY_SIZE + ST_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED)
		return -ENOMEM;
	mprotect(s->memory + ST_MEMORY_SIZE, ST_PAGE, PROT_NONE);
	bs->memory = st.mode == ST_MEMORY ? s->memory : NULL;
	bs->limits = (struct bs_limits){
		.size = ST_BLOCKS * ST_BLOCK,
		.block_size = ST_BLOCK,
		.physical_block = ST_BLOCK,
		.unmap_granularity = ST_PAGE,
		.can_unmap = true,
		.unmap_zeroes = true,
		.can_write_zeroes = st.mode != ST_INLINE, // so that all ways are gone
		.can_extent = true,
		.has_write_cache = true,
	};
	return 0;
}

static inline int st_space(struct backstore *bs, uint64_t *ret_used, uint64_t *ret_total)
{
	*ret_used = st.used;
	*ret_total = 1000;
	return 0;
}

static inline void st_close(struct backstore *bs)
{
	munmap(((struct st_store *)bs)->memory, ST_MEMORY_SIZE + ST_PAGE);
}

static const struct bs_option st_options[] = { { .name = NULL } };
static const struct backstore_type st_type = {
	.name = "ramdisk",
	.help = "for tests",
	.options = st_options,
	.size = sizeof(struct st_store),
	.open = st_open,
	.close = st_close,
	.space = st_space,
	.submit = st_submit,
};

// --- Commands -------------------------------------------------------------------------

static inline void st_get_data(struct task *t)
{
	struct st_cmd *c = container_of(t, struct st_cmd, task);
	const uint8_t *from = c->out;
	for (uint32_t i = 0; i < t->nsg; from += t->sg[i++].len)
		memcpy(t->sg[i].addr, from, t->sg[i].len);
	task_data_ready(t, 0);
}

static inline void st_done(struct task *t)
{
	struct st_cmd *c = container_of(t, struct st_cmd, task);
	uint8_t *to = c->in;
	uint32_t left = t->data_in;
	for (uint32_t i = 0; i < t->nsg && left; i++) {
		uint32_t n = t->sg[i].len < left ? t->sg[i].len : left;
		memcpy(to, t->sg[i].addr, n);
		to += n;
		left -= n;
	}
	c->status = t->status;
	c->is_aborted = t->is_aborted;
	memset(c->sense, 0, sizeof c->sense);
	memcpy(c->sense, t->sense, t->sense_len);
	task_release(t);
	sem_post(&c->done);
}

static const struct task_ops st_ops = { .get_data = st_get_data, .done = st_done };

static inline void st_submit_cmd(struct msg *m)
{
	task_submit(&container_of(m, struct st_cmd, msg)->task);
}

static inline void st_cmd_start(struct st_cmd *c, unsigned nexus, const void *cdb, unsigned cdb_len,
				const void *out, uint32_t out_len, void *in, uint32_t in_len)
{
	memset(c->cdb, 0, sizeof c->cdb);
	memcpy(c->cdb, cdb, cdb_len);
	c->out = out;
	c->in = in;
	c->nexus = st.nexuses[nexus];
	task_init(&c->task, &st_ops, c->nexus);
	c->task.lun = 0;
	c->task.cdb = c->cdb;
	c->task.cdb_len = (uint16_t)(cdb_len < 16 ? 16 : cdb_len);
	c->task.attr = TASK_SIMPLE;
	c->task.expected_out = out_len;
	c->task.expected_in = in_len;
	c->msg.fn = st_submit_cmd;
	worker_post(st.workers[nexus], &c->msg);
}

static inline void st_cmd_wait(struct st_cmd *c)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	while (sem_timedwait(&c->done, &until) != 0)
		assert_int_equal(errno, EINTR);
}

static inline uint8_t st_on(unsigned nexus, const void *cdb, unsigned cdb_len, const void *out,
			    uint32_t out_len, void *in, uint32_t in_len)
{
	st_cmd_start(&st.cmd, nexus, cdb, cdb_len, out, out_len, in, in_len);
	st_cmd_wait(&st.cmd);
	return st.cmd.status;
}

static inline uint8_t st_out(const void *cdb, unsigned cdb_len, const void *out, uint32_t len)
{
	return st_on(0, cdb, cdb_len, out, len, NULL, 0);
}

static inline uint8_t st_in(const void *cdb, unsigned cdb_len, void *in, uint32_t len)
{
	return st_on(0, cdb, cdb_len, NULL, 0, in, len);
}

static inline struct lu *st_lu(void)
{
	return st.lu;
}

// Sense of the last command, fixed format.
static inline uint32_t st_code(void)
{
	return SENSE(st.cmd.sense[2] & 0xf, st.cmd.sense[12], st.cmd.sense[13]);
}

static inline uint32_t st_information(void)
{
	assert_int_equal(st.cmd.sense[0] & 0x80, 0x80);
	return get_be32(st.cmd.sense + 3);
}

static inline void st_refused(uint8_t status, uint32_t code)
{
	assert_int_equal(status, STATUS_CHECK_CONDITION);
	assert_int_equal(st_code(), code);
}

static inline void st_write(uint64_t lba, uint32_t blocks, const void *data)
{
	uint8_t cdb[16] = { 0x8a, 0, BE64(lba), BE32(blocks) };
	assert_int_equal(st_out(cdb, 16, data, blocks * ST_BLOCK), STATUS_GOOD);
}

static inline void st_fill(uint64_t lba, uint32_t blocks, uint8_t byte)
{
	uint8_t *data = malloc((size_t)blocks * ST_BLOCK);
	memset(data, byte, (size_t)blocks * ST_BLOCK);
	st_write(lba, blocks, data);
	free(data);
}

static inline void st_read(uint64_t lba, uint32_t blocks, void *data)
{
	uint8_t cdb[16] = { 0x88, 0, BE64(lba), BE32(blocks) };
	assert_int_equal(st_in(cdb, 16, data, blocks * ST_BLOCK), STATUS_GOOD);
}

static inline void st_expect(uint64_t lba, uint32_t blocks, uint8_t byte)
{
	uint8_t *data = malloc((size_t)blocks * ST_BLOCK);
	st_read(lba, blocks, data);
	for (size_t i = 0; i < (size_t)blocks * ST_BLOCK; i++)
		assert_int_equal(data[i], byte);
	free(data);
}

// --- A slow command, and the store's faults -----------------------------------------------

static inline void st_gate(bool is_shut)
{
	__atomic_store_n(&st.is_shut, is_shut, __ATOMIC_RELEASE);
}

static inline void st_break(bool is_broken)
{
	__atomic_store_n(&st.is_broken, is_broken, __ATOMIC_RELEASE);
}

static inline void st_start(const void *cdb, unsigned cdb_len, const void *out, uint32_t out_len)
{
	st_cmd_start(&st.slow, 0, cdb, cdb_len, out, out_len, NULL, 0);
}

static inline void st_until_held(void)
{
	while (!__atomic_load_n(&st.held, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline bool st_is_done(struct st_cmd *c)
{
	int n;
	sem_getvalue(&c->done, &n);
	return n > 0;
}

static inline void st_abort_slow(void *arg)
{
	task_abort(&st.slow.task, false);
}

// Aborts what st_start() started.
static inline void st_abort_start(void)
{
	worker_call(st.workers[0], st_abort_slow, NULL);
}

// True if it ended as aborted.
static inline bool st_abort_wait(void)
{
	st_cmd_wait(&st.slow);
	return st.slow.is_aborted;
}

static inline bool st_abort(void)
{
	st_abort_start();
	return st_abort_wait();
}

static inline void st_until(bool (*is_so)(uint32_t state))
{
	while (!is_so(__atomic_load_n(&st.lu->sanitize, __ATOMIC_ACQUIRE)))
		sched_yield();
}

static inline bool st_is_idle(uint32_t state)
{
	return state == 0;
}

static inline bool st_is_sanitizing(uint32_t state)
{
	return state != 0;
}

static inline bool st_is_not_sanitizing(uint32_t state)
{
	return state == 0 || state == UINT32_MAX;
}

static inline void st_until_idle(void)
{
	st_until(st_is_idle);
}

static inline void st_until_sanitizing(void)
{
	st_until(st_is_sanitizing);
}

static inline void st_until_not_sanitizing(void)
{
	st_until(st_is_not_sanitizing);
}

// --- Set-up ---------------------------------------------------------------------------

static inline void st_nexus_make(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_ISCSI,
		.initiator_port = "iqn.2026-01.test:i,i,0x000000000000",
		.initiator_name = "iqn.2026-01.test:i",
		.target_name = "iqn.2026-01.test:t",
		.target_port = "iqn.2026-01.test:t,t,0x0001",
		.relative_port = 1,
	};
	static const struct nexus_ops no_ops;
	assert_int_equal(nexus_new(&st.nexuses[i], &info, &no_ops, NULL, st.map), 0);
}

static inline void st_nexus_drop(void *arg)
{
	nexus_free(st.nexuses[(uintptr_t)arg]);
}

static inline void st_lu_make(void)
{
	struct err e = { 0 };
	struct backstore *bs;
	struct bs_config config = { .name = "test", .block_size = ST_BLOCK };
	assert_int_equal(backstore_open(&bs, &st_type, &config, &e), 0);
	struct lu_attr attr = { 0 };
	attr_defaults(lu_attr_rows, &attr);
	attr.block_size = ST_BLOCK;
	attr.emulate_tpu = attr.emulate_tpws = attr.emulate_caw = 1;
	attr.max_unmap_lba_count = attr.max_unmap_block_desc_count = 0;
	attr.max_write_same_len = attr.max_caw_blocks = 0;
	attr.atomic_write_kib = 1024;
	int r = lu_new(&st.lu, &device_server, "test", bs, "11111111-2222-3333-4444-555555555555",
		       &attr, NULL, &e);
	if (r < 0)
		fail_msg("%s", e.text);
}

static inline int st_setup(void **state)
{
	st.mode = (enum st_mode)(uintptr_t)*state;
	st.is_shut = st.is_broken = false;
	st.held = 0;
	st.used = 0;
	sem_init(&st.cmd.done, 0, 0);
	sem_init(&st.slow.done, 0, 0);
	st_lu_make();
	st.map = lun_map_new(1);
	st.map->entries[0] = (struct lun_entry){ .lu = lu_get(st.lu) };
	static const uint8_t ready[6];
	for (uintptr_t i = 0; i < ST_NEXUSES; i++) {
		worker_call(st.workers[i], st_nexus_make, (void *)i);
		while (st_on((unsigned)i, ready, 6, NULL, 0, NULL, 0) != STATUS_GOOD)
			;
	}
	return 0;
}

static inline int st_teardown(void **state)
{
	st_gate(false);
	st_break(false);
	for (uintptr_t i = 0; i < ST_NEXUSES; i++)
		worker_call(st.workers[i], st_nexus_drop, (void *)i);
	lun_map_put(st.map);
	lu_put(st.lu);
	return 0;
}

#define ST_MODE(f, mode, text)                                                                     \
	{                                                                                          \
#f " (" text ")", f, st_setup, st_teardown, (void *)(uintptr_t)(mode)              \
	}
#define ST_TEST(f)                                                                                 \
	ST_MODE(f, ST_MEMORY, "memory"), ST_MODE(f, ST_INLINE, "at once"),                         \
		ST_MODE(f, ST_LATER, "later")

static inline int st_workers_make(void **state)
{
	struct err e;
	for (unsigned i = 0; i < ST_NEXUSES; i++) {
		struct worker_options options = { .name = "test", .cpu = -1 };
		if (worker_new(&st.workers[i], &options, &e) < 0 ||
		    worker_start(st.workers[i], &e) < 0)
			return -1;
	}
	return 0;
}

static inline int st_workers_drop(void **state)
{
	offload_shutdown();
	for (unsigned i = 0; i < ST_NEXUSES; i++)
		worker_free(st.workers[i]);
	return 0;
}

#define st_main(tests) cmocka_run_group_tests(tests, st_workers_make, st_workers_drop)
