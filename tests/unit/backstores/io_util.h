// SPDX-License-Identifier: BSD-2-Clause
// For the tests of backstores: a real worker, I/O that the test thread waits for, scatter lists
// of many shapes, temporary files. The test thread plays the control thread.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backstores/backstore.h"

#define ARENA_SIZE (4u << 20)
#define KIB	   1024ull
#define MIB	   (1024ull * KIB)
#define GIB	   (1024ull * MIB)

static struct worker *worker;
static uint8_t *arena; // page-aligned, for scatter lists and expected content

static inline int start_worker(void **state)
{
	struct worker_options o = { .name = "bs-test", .cpu = -1 };
	struct err e;
	if (worker_new(&worker, &o, &e) < 0 || worker_start(worker, &e) < 0) {
		print_error("%s\n", e.text);
		return -1;
	}
	arena = aligned_alloc(BUF_PAGE, ARENA_SIZE);
	return arena ? 0 : -1;
}

static inline int stop_worker(void **state)
{
	offload_shutdown();
	worker_free(worker);
	worker = NULL;
	free(arena);
	return 0;
}

struct waited_io {
	struct msg msg;
	struct bs_io io;
	struct backstore *bs;
	sem_t sem;
	int res, calls;
	bool is_on_worker;
};

static inline void waited_done(struct bs_io *io, int res)
{
	struct waited_io *w = container_of(io, struct waited_io, io);
	w->res = res;
	w->calls++;
	w->is_on_worker = worker_self() == worker;
	sem_post(&w->sem);
}

static inline void waited_submit(struct msg *m)
{
	struct waited_io *w = container_of(m, struct waited_io, msg);
	backstore_submit(w->bs, &w->io);
}

// Submits w->io on the worker; waited_result() then waits for it.
static inline void waited_start(struct waited_io *w, struct backstore *bs)
{
	w->bs = bs;
	w->calls = 0;
	w->io.done = waited_done;
	sem_init(&w->sem, 0, 0);
	w->msg.fn = waited_submit;
	worker_post(worker, &w->msg);
}

static inline int waited_result(struct waited_io *w)
{
	while (sem_wait(&w->sem) < 0 && errno == EINTR)
		;
	sem_destroy(&w->sem);
	assert_int_equal(w->calls, 1);
	assert_true(w->is_on_worker);
	return w->res;
}

static inline int io_sg(struct backstore *bs, enum bs_op op, uint64_t offset, uint64_t length,
			struct sg *sg, uint32_t nsg, uint32_t flags)
{
	struct waited_io w = {
		.io = {.op = op,
			.flags = flags,
			.offset = offset,
			.length = length,
			.sg = sg,
			.nsg = nsg}
	};
	waited_start(&w, bs);
	return waited_result(&w);
}

// READ or WRITE with one piece, or an operation without data (data NULL).
static inline int io_one(struct backstore *bs, enum bs_op op, uint64_t offset, uint64_t length,
			 void *data)
{
	struct sg sg = { .addr = data, .len = (uint32_t)length };
	return io_sg(bs, op, offset, length, &sg, data ? 1 : 0, 0);
}

static inline int io_extent(struct backstore *bs, uint64_t offset, uint64_t length,
			    uint64_t *ret_length, bool *ret_is_mapped)
{
	struct waited_io w = {
		.io = {.op = BS_EXTENT, .offset = offset, .length = length}
	};
	waited_start(&w, bs);
	int r = waited_result(&w);
	*ret_length = w.io.ret_extent_length;
	*ret_is_mapped = w.io.ret_is_mapped;
	return r;
}

struct pool_call {
	uint32_t length;
	struct buf *buf;
};

static inline void pool_get(void *arg)
{
	struct pool_call *c = arg;
	c->buf = buf_get(worker, c->length);
}

static inline void pool_put(void *arg)
{
	buf_put(arg);
}

static inline struct buf *pool_buf(uint32_t length)
{
	struct pool_call c = { .length = length };
	worker_call(worker, pool_get, &c);
	assert_non_null(c.buf);
	return c.buf;
}

static inline void pool_buf_free(struct buf *b)
{
	worker_call(worker, pool_put, b);
}

// How a transfer is split into pieces. Memory comes from the arena unless is_pool.
struct shape {
	const char *name;
	bool is_pool;
	uint32_t first, piece, gap; // length of the first and of the other pieces, bytes between
	uint32_t skew;		    // of the first address from a page
};

static const struct shape shapes[] = {
	{"one registered buffer",		   true,	 0,   0,	       0,	  0 },
	{ "one aligned piece",		       false, 0,	 0,	    0,    0 },
	{ "one piece at an odd address",	 false, 0,   0,	      0,	 13},
	{ "pages, more than one round of them", false, 0,	  4096,	4096, 0 },
	{ "pieces of 512",			   false, 0,   512,	  512,  0 },
	{ "pieces of odd length",		  false, 7,   1001,	  3,    1 },
	{ "a long piece behind a short one",    false, 100, 1u << 20, 0,    0 },
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))
#define MAX_SG	 1024

struct sg_list {
	struct sg sg[MAX_SG];
	uint32_t n;
	struct buf *buf;
};

static inline void shape_make(const struct shape *s, uint32_t length, struct sg_list *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (s->is_pool) {
		ret->buf = pool_buf(length);
		ret->sg[0] = (struct sg){ ret->buf->addr, length, ret->buf };
		ret->n = 1;
		return;
	}
	uint8_t *at = arena + s->skew;
	for (uint32_t left = length; left;) {
		uint32_t n = ret->n == 0 && s->first ? s->first : s->piece;
		if (!n || n > left)
			n = left;
		assert_true(ret->n < MAX_SG && at + n <= arena + ARENA_SIZE);
		ret->sg[ret->n++] = (struct sg){ .addr = at, .len = n };
		at += n + s->gap;
		left -= n;
	}
}

static inline void shape_free(struct sg_list *l)
{
	if (l->buf)
		pool_buf_free(l->buf);
}

// A byte that depends on its offset and on seed.
static inline uint8_t pattern(uint64_t offset, uint32_t seed)
{
	return (uint8_t)((offset * 2654435761u >> 7) + offset + seed * 31 + 1);
}

static inline void sg_fill(struct sg_list *l, uint64_t offset, uint32_t seed)
{
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->sg[i].len; k++)
			l->sg[i].addr[k] = pattern(offset++, seed);
}

static inline void sg_expect(const struct sg_list *l, uint64_t offset, uint32_t seed)
{
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t k = 0; k < l->sg[i].len; k++, offset++)
			if (l->sg[i].addr[k] != pattern(offset, seed))
				fail_msg("byte %llu is wrong", (unsigned long long)offset);
}

// Writes the pattern over [offset, offset + length), at most 1 MiB a piece.
static inline void put_pattern(struct backstore *bs, uint64_t offset, uint64_t length,
			       uint32_t seed)
{
	struct sg_list l = { .sg = { { .addr = arena, .len = (uint32_t)length } }, .n = 1 };
	assert_true(length <= ARENA_SIZE);
	sg_fill(&l, offset, seed);
	assert_int_equal(io_sg(bs, BS_WRITE, offset, length, l.sg, 1, 0), 0);
}

static inline void expect_pattern(struct backstore *bs, uint64_t offset, uint64_t length,
				  uint32_t seed)
{
	struct sg_list l = { .sg = { { .addr = arena, .len = (uint32_t)length } }, .n = 1 };
	memset(arena, 0x5a, length);
	assert_int_equal(io_sg(bs, BS_READ, offset, length, l.sg, 1, 0), 0);
	sg_expect(&l, offset, seed);
}

static inline void expect_zeroes(struct backstore *bs, uint64_t offset, uint64_t length)
{
	memset(arena, 0x5a, length);
	assert_int_equal(io_one(bs, BS_READ, offset, length, arena), 0);
	for (uint64_t i = 0; i < length; i++)
		if (arena[i])
			fail_msg("byte %llu is not zero", (unsigned long long)(offset + i));
}

static inline struct backstore *must_open(const char *type, const struct bs_config *config)
{
	struct backstore *bs;
	struct err e = { 0 };
	if (backstore_open(&bs, backstore_type_find(type), config, &e) < 0)
		fail_msg("%s", e.text);
	return bs;
}

// The open must fail with this code and a text that holds all the words.
static inline void must_refuse(const char *type, const struct bs_config *config, int code,
			       const char *word, const char *word2)
{
	struct backstore *bs;
	struct err e = { 0 };
	int r = backstore_open(&bs, backstore_type_find(type), config, &e);
	if (r != code || e.code != code || !strstr(e.text, word) || !strstr(e.text, word2))
		fail_msg("%d, \"%s\": not %d with \"%s\" and \"%s\"", r, e.text, code, word, word2);
}

static inline struct bs_config config_of(const char *type, const char *name)
{
	struct bs_config c;
	backstore_config_init(&c, backstore_type_find(type));
	c.name = name;
	return c;
}

// A new folder below $TMPDIR or /tmp (or below base), whose path goes to ret.
static inline void make_folder(const char *base, char ret[200])
{
	const char *tmp = getenv("TMPDIR");
	if (!base)
		base = tmp ? tmp : "/tmp";
	snprintf(ret, 200, "%s/farblock-test-XXXXXX", base);
	assert_non_null(mkdtemp(ret));
}

static inline uint64_t blocks_of(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}
