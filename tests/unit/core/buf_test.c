// SPDX-License-Identifier: BSD-2-Clause
// Buffer pool: sizes, the buddy system against a model, exhaustion and waiters, registration.
#include "core/worker_util.h"

#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/buf.h"
#include "core/buf_priv.h"
#include "core/log.h"

static struct worker *make_with_pool(uint64_t bytes)
{
	struct worker_options o = {
		.name = "buf", .cpu = -1, .is_control = true, .pool_bytes = bytes
	};
	struct worker *w;
	struct err e;

	if (worker_new(&w, &o, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

static struct buf_pool_stats stats_of(struct worker *w)
{
	struct buf_pool_stats s;

	buf_pool_stats(w, &s);
	return s;
}

static void a_buffer_has_the_next_power_of_two(void **state)
{
	static const struct {
		uint32_t asked, got;
	} cases[] = {
		{1,	     4096	  },
		   { 4096,	   4096	},
		{ 4097,	8192   },
		{ 8192,	8192   },
		   { 8193,	   16384	 },
		{ 65536,	 65536  },
		{ 65537,	 131072 },
		   { 524289,  1048576},
		{ 1048576, 1048576},
	};
	struct worker *w = make_with_pool(0);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf *b = buf_get(w, cases[i].asked);
		assert_int_equal(b->size, cases[i].got);
		assert_int_equal((uintptr_t)b->addr % BUF_PAGE, 0);
		assert_int_equal(stats_of(w).bytes_in_use, cases[i].got);
		buf_put(b);
	}
	assert_int_equal(stats_of(w).bytes_in_use, 0);
	worker_free(w);
}

static void more_than_the_largest_size_is_refused(void **state)
{
	struct worker *w = make_with_pool(0);

	assert_null(buf_get(w, BUF_MAX + 1));
	assert_null(buf_get(w, UINT32_MAX));
	worker_free(w);
}

static void no_memory_is_taken_before_the_first_get(void **state)
{
	struct worker *w = make_with_pool(0);

	assert_int_equal(stats_of(w).bytes_reserved, 0);
	buf_put(buf_get(w, 1));
	buf_put(NULL);
	assert_int_equal(stats_of(w).bytes_reserved, EXTENT_SIZE);
	worker_free(w);
}

static void the_limit_is_the_number_of_extents(void **state)
{
	struct worker *w = make_with_pool(2 * EXTENT_SIZE);
	unsigned n = 0;

	while (buf_get(w, BUF_MAX))
		n++;
	assert_int_equal(n, 16);
	assert_int_equal(stats_of(w).bytes_reserved, 2 * EXTENT_SIZE);
	assert_int_equal(stats_of(w).bytes_limit, 2 * EXTENT_SIZE);
	assert_int_equal(stats_of(w).exhausted, 1);
	worker_free(w);
}

// The quick lists must not keep small pieces from merging when a large one is wanted.
static void small_buffers_merge_when_a_large_one_is_wanted(void **state)
{
	struct worker *w = make_with_pool(1);
	struct buf *b[EXTENT_PAGES];

	for (unsigned i = 0; i < EXTENT_PAGES; i++)
		assert_non_null(b[i] = buf_get(w, 4096));
	assert_null(buf_get(w, 4096));
	for (unsigned i = 0; i < EXTENT_PAGES; i++)
		buf_put(b[(i * 1031) % EXTENT_PAGES]);
	for (unsigned i = 0; i < 8; i++)
		assert_non_null(b[i] = buf_get(w, BUF_MAX));
	assert_null(buf_get(w, 4096));
	worker_free(w);
}

// --- against a model: a map of which page belongs to whom ---

#define MODEL_EXTENTS 3
#define MODEL_BUFS    4096
#define MODEL_STEPS   100000

struct model {
	struct worker *w;
	struct buf *held[MODEL_BUFS];
	uint32_t stamp[MODEL_BUFS];
	unsigned count;
	uint64_t bytes;
	unsigned refused;
};

static void model_get(struct model *m)
{
	uint32_t len = 1 + (uint32_t)random() % (BUF_MIN << (random() % BUF_ORDERS));
	struct buf *b = buf_get(m->w, len);

	if (!b) {
		m->refused++;
		// An empty pool must serve any size.
		assert_true(m->count > 0);
		return;
	}
	assert_true(b->size >= len);
	uint32_t stamp = (uint32_t)random();
	for (uint32_t at = 0; at < b->size; at += BUF_PAGE)
		memcpy(b->addr + at, &stamp, sizeof stamp);
	m->held[m->count] = b;
	m->stamp[m->count++] = stamp;
	m->bytes += b->size;
}

// Another owner of one of the pages would have overwritten its stamp.
static void model_put(struct model *m)
{
	unsigned i = (unsigned)random() % m->count;
	struct buf *b = m->held[i];

	for (uint32_t at = 0; at < b->size; at += BUF_PAGE)
		assert_memory_equal(b->addr + at, &m->stamp[i], sizeof m->stamp[i]);
	m->bytes -= b->size;
	m->count--;
	m->held[i] = m->held[m->count];
	m->stamp[i] = m->stamp[m->count];
	buf_put(b);
}

static void random_gets_and_puts_never_overlap(void **state)
{
	struct model *m = calloc(1, sizeof *m);

	m->w = make_with_pool(MODEL_EXTENTS * EXTENT_SIZE);
	srandom(3);
	for (unsigned i = 0; i < MODEL_STEPS; i++) {
		bool is_filling = (i / 2000) % 2; // waves, so that it runs full and empty
		bool get =
			!m->count || (m->count < MODEL_BUFS && random() % 8 < (is_filling ? 6 : 2));
		if (get)
			model_get(m);
		else
			model_put(m);
		assert_int_equal(stats_of(m->w).bytes_in_use, m->bytes);
	}
	assert_true(m->refused > 0);
	while (m->count)
		model_put(m);
	for (unsigned i = 0; i < 8 * MODEL_EXTENTS; i++)
		assert_non_null(buf_get(m->w, BUF_MAX)); // all of it has merged again
	assert_null(buf_get(m->w, 1));
	worker_free(m->w);
	free(m);
}

// --- waiters ---

struct waiter {
	struct buf_wait wait;
	struct buf *buf;
	uint32_t want;
	unsigned runs, order;
};

static unsigned served;

static void waiter_tries(struct buf_wait *wait)
{
	struct waiter *x = container_of(wait, struct waiter, wait);

	x->runs++;
	x->buf = buf_get(worker_self(), x->want);
	if (x->buf)
		x->order = ++served;
	else
		buf_wait_add(worker_self(), wait, waiter_tries);
}

struct script {
	struct msg msg;
	struct buf *full[8], *pages[256];
	struct waiter a, b, c;
	unsigned step;
};

static void fill_pool(struct script *s)
{
	for (unsigned i = 0; i < 7; i++)
		assert_non_null(s->full[i] = buf_get(worker_self(), BUF_MAX));
	for (unsigned i = 0; i < 256; i++)
		assert_non_null(s->pages[i] = buf_get(worker_self(), BUF_MIN));
	assert_null(buf_get(worker_self(), 1));
	served = 0;
}

// One step a round; the defers between them run the waiters.
static void next_step(struct script *s)
{
	s->step++;
	worker_post(worker_self(), &s->msg);
}

static void fifo_steps(struct msg *m)
{
	struct script *s = container_of(m, struct script, msg);
	struct worker *w = worker_self();

	switch (s->step) {
	case 0:
		fill_pool(s);
		s->a.want = s->b.want = s->c.want = 4096;
		buf_wait_add(w, &s->a.wait, waiter_tries);
		buf_wait_add(w, &s->b.wait, waiter_tries);
		buf_wait_add(w, &s->c.wait, waiter_tries);
		buf_wait_add(w, &s->a.wait, waiter_tries); // no-op: keeps its place
		break;
	case 1:
		assert_int_equal(s->a.runs, 0);
		buf_put(s->pages[0]);
		break;
	case 2:
		assert_int_equal(s->a.order, 1);
		assert_null(s->b.buf);
		buf_put(s->pages[1]);
		break;
	case 3:
		assert_int_equal(s->b.order, 2);
		assert_null(s->c.buf);
		buf_put(s->pages[2]);
		break;
	default:
		assert_int_equal(s->c.order, 3);
		worker_stop(w);
		return;
	}
	next_step(s);
}

static void run_script(void (*fn)(struct msg *m))
{
	struct worker *w = make_with_pool(EXTENT_SIZE);
	struct script *s = calloc(1, sizeof *s);

	s->msg.fn = fn;
	worker_post(w, &s->msg);
	run_guarded(w);
	worker_free(w);
	free(s);
}

static void waiters_are_served_first_in_first_out(void **state)
{
	run_script(fifo_steps);
}

static void mixed_steps(struct msg *m)
{
	struct script *s = container_of(m, struct script, msg);
	struct worker *w = worker_self();

	switch (s->step) {
	case 0:
		fill_pool(s);
		s->a.want = BUF_MAX;
		s->b.want = 4096;
		buf_wait_add(w, &s->a.wait, waiter_tries);
		buf_wait_add(w, &s->b.wait, waiter_tries);
		break;
	case 1:
		buf_put(s->pages[0]); // too small for a: b gets it
		break;
	case 2:
		assert_int_equal(s->a.runs, 1);
		assert_int_equal(s->b.order, 1);
		buf_put(s->full[0]);
		break;
	default:
		assert_int_equal(s->a.order, 2);
		worker_stop(w);
		return;
	}
	next_step(s);
}

static void a_large_wish_does_not_block_the_small_ones_behind_it(void **state)
{
	run_script(mixed_steps);
}

static void cancel_steps(struct msg *m)
{
	struct script *s = container_of(m, struct script, msg);

	switch (s->step) {
	case 0:
		fill_pool(s);
		s->a.want = s->b.want = 4096;
		buf_wait_cancel(&s->a.wait); // not queued: no-op
		buf_wait_add(worker_self(), &s->a.wait, waiter_tries);
		buf_wait_add(worker_self(), &s->b.wait, waiter_tries);
		buf_put(s->pages[0]);
		buf_wait_cancel(&s->a.wait); // the wake-up is deferred already
		break;
	default:
		assert_int_equal(s->a.runs, 0);
		assert_int_equal(s->b.order, 1);
		worker_stop(worker_self());
		return;
	}
	next_step(s);
}

static void a_cancelled_wait_is_not_called(void **state)
{
	run_script(cancel_steps);
}

// --- idle memory ---

static void fire_trim(struct worker *w)
{
	struct timer *t = &worker_pool(w)->trim;

	timer_cancel(w, t);
	t->fn(t);
}

static void idle_extents_but_the_first_go_back(void **state)
{
	struct worker *w = make_with_pool(4 * EXTENT_SIZE);
	struct buf *b[32];

	for (unsigned i = 0; i < 32; i++)
		b[i] = buf_get(w, BUF_MAX);
	for (unsigned i = 0; i < 32; i++)
		buf_put(b[i]);
	assert_true(timer_is_armed(&worker_pool(w)->trim));
	fire_trim(w); // all of it was in use of late
	assert_int_equal(stats_of(w).bytes_reserved, 4 * EXTENT_SIZE);
	fire_trim(w);
	assert_int_equal(stats_of(w).bytes_reserved, EXTENT_SIZE);
	assert_false(timer_is_armed(&worker_pool(w)->trim));
	for (unsigned i = 0; i < 32; i++)
		assert_non_null(b[i] = buf_get(w, BUF_MAX)); // they come again
	timer_cancel(w, &worker_pool(w)->trim);
	worker_free(w);
}

static void reserved_memory_is_there_at_once_and_stays_while_idle(void **state)
{
	struct worker *w = make_with_pool(4 * EXTENT_SIZE);

	assert_int_equal(buf_reserve(w, 2 * EXTENT_SIZE + 1), 0);
	assert_int_equal(stats_of(w).bytes_reserved, 3 * EXTENT_SIZE);
	fire_trim(w);
	fire_trim(w);
	assert_int_equal(stats_of(w).bytes_reserved, 3 * EXTENT_SIZE);
	timer_cancel(w, &worker_pool(w)->trim);
	worker_free(w);
}

static void more_than_the_limit_is_not_reserved(void **state)
{
	struct worker *w = make_with_pool(2 * EXTENT_SIZE);

	assert_int_equal(buf_reserve(w, 2 * EXTENT_SIZE + 1), -ENOMEM);
	assert_int_equal(stats_of(w).bytes_reserved, 0);
	worker_free(w);
}

// --- registration ---

struct fixed {
	struct uring_op op;
	int res;
};

static void fixed_done(struct uring_op *op, int res)
{
	container_of(op, struct fixed, op)->res = res;
	worker_stop(worker_self());
}

struct fixed_read {
	struct msg msg;
	struct fixed f;
	struct buf *b;
	int fd;
};

static void fixed_read_start(struct msg *m)
{
	struct fixed_read *r = container_of(m, struct fixed_read, msg);
	struct worker *w = worker_self();

	struct buf *other = buf_get(w, 4096);
	r->b = buf_get(w, 4096);
	buf_put(other);
	if (r->b->fixed_index < 0) {
		worker_stop(w);
		return;
	}
	io_uring_prep_read_fixed(worker_sqe(w, &r->f.op), r->fd, r->b->addr, 4096, 0,
				 r->b->fixed_index);
}

static bool is_registrable(void)
{
	struct rlimit r;

	getrlimit(RLIMIT_MEMLOCK, &r);
	return geteuid() == 0 || r.rlim_cur >= 4 * EXTENT_SIZE;
}

static void a_pool_buffer_works_as_a_fixed_buffer(void **state)
{
	struct worker *w = make_with_pool(0);
	struct fixed_read r = { .msg.fn = fixed_read_start, .f.op.done = fixed_done };
	int p[2];

	if (!is_registrable())
		skip();
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "fixed", 5), 5);
	r.fd = p[0];
	worker_post(w, &r.msg);
	run_guarded(w);
	assert_true(r.b->fixed_index >= 0);
	assert_int_equal(r.f.res, 5);
	assert_memory_equal(r.b->addr, "fixed", 5);
	close_pair(p);
	worker_free(w);
}

static char warning[1024];
static unsigned warnings;

static void keep_line(void *arg, enum log_level level, const char *line)
{
	warnings++;
	snprintf(warning, sizeof warning, "%s", line);
}

// Registration fails here because the ring's table exists already with another size.
static void without_registration_buffers_still_work_and_it_is_said_once(void **state)
{
	struct worker *w = make_with_pool(2 * EXTENT_SIZE);

	assert_int_equal(io_uring_register_buffers_sparse(worker_ring(w), 1), 0);
	log_set_sink(keep_line, NULL);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(buf_get(w, BUF_MAX)->fixed_index, -1);
	log_set_sink(NULL, NULL);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warning, "memlock"));
	timer_cancel(w, &worker_pool(w)->trim);
	worker_free(w);
}

static void copies_are_counted(void **state)
{
	struct worker *w = make_with_pool(0);
	char to[8];

	buf_copy(w, to, "abcdefg", 8);
	buf_copy(w, to, "xyz", 3);
	assert_string_equal(to, "xyzdefg");
	assert_int_equal(worker_counters(w)->payload_copies, 2);
	assert_int_equal(worker_counters(w)->payload_copy_bytes, 11);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		// first, because the warning is said once in a process
		cmocka_unit_test(without_registration_buffers_still_work_and_it_is_said_once),
		cmocka_unit_test(a_buffer_has_the_next_power_of_two),
		cmocka_unit_test(more_than_the_largest_size_is_refused),
		cmocka_unit_test(no_memory_is_taken_before_the_first_get),
		cmocka_unit_test(the_limit_is_the_number_of_extents),
		cmocka_unit_test(small_buffers_merge_when_a_large_one_is_wanted),
		cmocka_unit_test(random_gets_and_puts_never_overlap),
		cmocka_unit_test(waiters_are_served_first_in_first_out),
		cmocka_unit_test(a_large_wish_does_not_block_the_small_ones_behind_it),
		cmocka_unit_test(a_cancelled_wait_is_not_called),
		cmocka_unit_test(idle_extents_but_the_first_go_back),
		cmocka_unit_test(reserved_memory_is_there_at_once_and_stays_while_idle),
		cmocka_unit_test(more_than_the_limit_is_not_reserved),
		cmocka_unit_test(a_pool_buffer_works_as_a_fixed_buffer),
		cmocka_unit_test(copies_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
