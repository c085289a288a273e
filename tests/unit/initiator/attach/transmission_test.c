// SPDX-License-Identifier: BSD-2-Clause
// NBD's transmission phase over a pair of sockets: this thread is the client, a worker the server,
// and its disk is memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "fake_disk.h"
#include "initiator/attach/nbd_wire.h"
#include "initiator/attach/transmission.h"

#define MIB  (1u << 20)
#define SIZE (8 * MIB)

struct rig {
	struct disk disk;
	struct transmission *transmission;
	int fd, server_fd; // fd: the client's
	uint8_t *memory, *data;
	sem_t ended;
	struct err why;
	uint64_t in_use;
	unsigned writes, patience_ms;
	struct nbd_offer offer;
};

static void has_ended(void *arg, const struct err *why)
{
	struct rig *r = arg;

	r->why = *why;
	sem_post(&r->ended);
}

static void begin(void *arg)
{
	struct rig *r = arg;
	struct transmission_config config = { r->server_fd, has_ended, r, r->patience_ms,
					      r->offer };
	struct err e;

	if (transmission_new(&r->transmission, &r->disk, &config, &e))
		abort();
}

static void finish(void *arg)
{
	struct rig *r = arg;

	transmission_free(r->transmission);
	r->transmission = NULL;
}

static void look(void *arg)
{
	struct rig *r = arg;
	struct buf_pool_stats stats;

	buf_pool_stats(r->disk.worker, &stats);
	r->in_use = stats.bytes_in_use;
	r->writes = r->disk.counts[DISK_WRITE];
}

#define FLAGS                                                                                      \
	(NBD_CAN_FLUSH | NBD_CAN_FUA | NBD_CAN_TRIM | NBD_CAN_WRITE_ZEROES | NBD_CAN_FAST_ZERO)

static int set_up_with(void **state, unsigned patience_ms, struct nbd_offer offer)
{
	struct rig *r = calloc(1, sizeof *r);
	struct worker_options options = { .name = "disk", .cpu = -1 };
	struct worker *w;
	struct err e;
	int pair[2];

	if (worker_new(&w, &options, &e) || worker_start(w, &e) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -1;
	r->patience_ms = patience_ms;
	r->offer = offer;
	r->fd = pair[0];
	r->server_fd = pair[1];
	r->memory = calloc(1, SIZE);
	r->data = malloc(SIZE);
	for (unsigned i = 0; i < SIZE; i++)
		r->data[i] = (uint8_t)(i * 2654435761u >> 13);
	fake_disk_init(&r->disk, w, r->memory, SIZE);
	sem_init(&r->ended, 0, 0);
	worker_call(w, begin, r);
	*state = r;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, 0, (struct nbd_offer){ .flags = FLAGS });
}

static int set_up_hasty(void **state)
{
	return set_up_with(state, 50, (struct nbd_offer){ .flags = FLAGS });
}

static int set_up_structured(void **state)
{
	return set_up_with(state, 0, (struct nbd_offer){ FLAGS | NBD_CAN_DF, true, true });
}

static int tear_down(void **state)
{
	struct rig *r = *state;

	worker_call(r->disk.worker, finish, r);
	worker_call(r->disk.worker, look, r);
	uint64_t left = r->in_use;
	worker_free(r->disk.worker);
	close(r->fd);
	close(r->server_fd);
	sem_destroy(&r->ended);
	free(r->memory);
	free(r->data);
	free(r);
	return left ? -1 : 0; // memory of the pool is lost
}

static void put_all(struct rig *r, const void *from, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(r->fd, (const char *)from + at, len - at, MSG_NOSIGNAL);
		assert_true(n > 0);
		at += (size_t)n;
	}
}

static void get_all(struct rig *r, void *to, size_t len)
{
	assert_int_equal(recv(r->fd, to, len, MSG_WAITALL), len);
}

static void ask(struct rig *r, uint16_t type, uint16_t flags, uint64_t cookie, uint64_t offset,
		uint32_t len)
{
	uint8_t p[NBD_REQUEST_LEN];

	put_be32(p, NBD_REQUEST_MAGIC);
	put_be16(p + 4, flags);
	put_be16(p + 6, type);
	put_be64(p + 8, cookie);
	put_be64(p + 16, offset);
	put_be32(p + 24, len);
	put_all(r, p, sizeof p);
}

static void expect(struct rig *r, uint32_t error, uint64_t cookie)
{
	uint8_t p[NBD_REPLY_LEN];

	get_all(r, p, sizeof p);
	assert_int_equal(get_be32(p), NBD_REPLY_MAGIC);
	assert_int_equal(get_be32(p + 4), error);
	assert_int_equal(get_be64(p + 8), cookie);
}

static void what_is_written_is_read_back(void **state)
{
	static const uint32_t sizes[] = { 512, 4096, 100 * 512, MIB, 3 * MIB + 512 };
	struct rig *r = *state;
	uint8_t *back = malloc(SIZE);

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		ask(r, NBD_WRITE, 0, i, 1024, sizes[i]);
		put_all(r, r->data, sizes[i]);
		expect(r, 0, i);
		assert_memory_equal(r->memory + 1024, r->data, sizes[i]);
		ask(r, NBD_READ, 0, i + 100, 1024, sizes[i]);
		expect(r, 0, i + 100);
		get_all(r, back, sizes[i]);
		assert_memory_equal(back, r->data, sizes[i]);
	}
	free(back);
}

static void more_requests_than_slots_are_answered_in_turn(void **state)
{
	struct rig *r = *state;

	for (unsigned i = 0; i < 300; i++) {
		ask(r, NBD_WRITE, 0, i, i * 512, 512);
		put_all(r, r->data + i * 512, 512);
	}
	for (unsigned i = 0; i < 300; i++)
		expect(r, 0, i);
	assert_memory_equal(r->memory, r->data, 300 * 512);
}

static void a_request_may_come_in_pieces(void **state)
{
	struct rig *r = *state;
	uint8_t p[NBD_REQUEST_LEN + 1024] = { 0x25, 0x60, 0x95, 0x13, 0, 0, 0, NBD_WRITE };

	put_be32(p + 24, 1024);
	memcpy(p + NBD_REQUEST_LEN, r->data, 1024);
	for (size_t at = 0; at < sizeof p; at += 3)
		put_all(r, p + at, sizeof p - at < 3 ? sizeof p - at : 3);
	expect(r, 0, 0);
	assert_memory_equal(r->memory, r->data, 1024);
}

static void flush_fua_and_no_hole_reach_the_disk(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_WRITE, NBD_FUA, 1, 0, 512);
	put_all(r, r->data, 512);
	expect(r, 0, 1);
	ask(r, NBD_FLUSH, 0, 2, 0, 0);
	expect(r, 0, 2);
	ask(r, NBD_WRITE_ZEROES, NBD_NO_HOLE, 3, 0, 512);
	expect(r, 0, 3);
	assert_int_equal(r->disk.fua, 1);
	assert_int_equal(r->disk.counts[DISK_FLUSH], 1);
	assert_int_equal(r->disk.no_unmap, 1);
	assert_int_equal(r->memory[0], 0);
}

static void a_trim_longer_than_the_disks_limit_is_done_in_pieces(void **state)
{
	struct rig *r = *state;

	memcpy(r->memory, r->data, SIZE);
	ask(r, NBD_TRIM, 0, 7, 512, 3 * MIB);
	expect(r, 0, 7);
	assert_int_equal(r->disk.counts[DISK_UNMAP], 3);
	assert_memory_equal(r->memory, r->data, 512);
	assert_memory_equal(r->memory + 512 + 3 * MIB, r->data + 512 + 3 * MIB, 512);
	for (unsigned i = 0; i < 3 * MIB; i++)
		assert_int_equal(r->memory[512 + i], 0);
}

static void what_cannot_be_done_is_refused(void **state)
{
	static const struct {
		uint16_t type;
		uint64_t offset;
		uint32_t len, error;
	} cases[] = {
		{99,		      0,		 512,		      NBD_EINVAL},
		{ 5,		     0,		512,		     NBD_EINVAL},
		{ NBD_BLOCK_STATUS, 0,		       512,		    NBD_EINVAL},
		{ NBD_READ,	    0,		       0,		  NBD_EINVAL},
		{ NBD_READ,	    SIZE,		  512,		       NBD_EINVAL},
		{ NBD_READ,	    UINT64_MAX - 511, 512,		   NBD_EINVAL},
		{ NBD_READ,	    0,		       NBD_DATA_MAX + 512, NBD_EINVAL},
		{ NBD_TRIM,	    SIZE - 512,	1024,		      NBD_EINVAL},
		{ NBD_WRITE,	     0,		0,		   NBD_EINVAL},
	};
	struct rig *r = *state;

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		ask(r, cases[i].type, 0, i, cases[i].offset, cases[i].len);
		expect(r, cases[i].error, i);
	}
}

static void a_refused_write_takes_its_data_along(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_WRITE, 0, 1, SIZE, 3 * MIB);
	put_all(r, r->data, 3 * MIB);
	expect(r, NBD_ENOSPC, 1);
	ask(r, NBD_WRITE, NBD_DF, 2, 0, 512);
	put_all(r, r->data, 512);
	expect(r, NBD_EINVAL, 2);
	assert_int_equal(r->disk.counts[DISK_WRITE], 0);
	ask(r, NBD_FLUSH, 0, 3, 0, 0);
	expect(r, 0, 3);
}

// The only chunk of an answer, up to its payload, of which it returns the bytes.
static uint32_t expect_chunk(struct rig *r, uint16_t type, uint64_t cookie)
{
	uint8_t p[NBD_CHUNK_LEN];

	get_all(r, p, sizeof p);
	assert_int_equal(get_be32(p), NBD_CHUNK_MAGIC);
	assert_int_equal(get_be16(p + 4), 1); // the last one
	assert_int_equal(get_be16(p + 6), type);
	assert_int_equal(get_be64(p + 8), cookie);
	return get_be32(p + 16);
}

static void expect_failure(struct rig *r, uint32_t error, uint64_t cookie)
{
	uint8_t p[256];
	uint32_t len = expect_chunk(r, 0x8001, cookie);

	assert_in_range(len, 7, sizeof p);
	get_all(r, p, len);
	assert_int_equal(get_be32(p), error);
	assert_int_equal(get_be16(p + 4), len - 6); // of the text
}

static void a_structured_read_is_one_chunk(void **state)
{
	struct rig *r = *state;
	uint8_t *back = malloc(SIZE);

	memcpy(r->memory, r->data, SIZE);
	for (uint16_t flags = 0; flags <= NBD_DF; flags += NBD_DF) {
		ask(r, NBD_READ, flags, 7, 1024, 3 * MIB);
		assert_int_equal(expect_chunk(r, 1, 7), 8 + 3 * MIB);
		get_all(r, back, 8 + 3 * MIB);
		assert_int_equal(get_be64(back), 1024);
		assert_memory_equal(back + 8, r->data + 1024, 3 * MIB);
	}
	free(back);
}

static void structured_errors_are_chunks(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_READ, 0, 1, SIZE, 512);
	expect_failure(r, NBD_EINVAL, 1);
	ask(r, NBD_BLOCK_STATUS, 0, 2, SIZE - 512, 1024);
	expect_failure(r, NBD_EINVAL, 2);
	ask(r, NBD_WRITE, 0, 3, SIZE, 512);
	put_all(r, r->data, 512);
	expect_failure(r, NBD_ENOSPC, 3);
	ask(r, NBD_FLUSH, 0, 4, 0, 0);
	expect(r, 0, 4); // success without data stays a simple reply
}

static void expect_extents(struct rig *r, uint64_t cookie, const uint32_t *pairs, unsigned count)
{
	uint8_t p[4 + 8 * 255];

	assert_int_equal(expect_chunk(r, 5, cookie), 4 + 8 * count);
	get_all(r, p, 4 + 8 * count);
	assert_int_equal(get_be32(p), 1); // base:allocation
	for (unsigned i = 0; i < 2 * count; i++)
		assert_int_equal(get_be32(p + 4 + 4 * i), pairs[i]);
}

static void block_status_tells_holes(void **state)
{
	static const uint32_t all[] = { 4096, 0, MIB - 4096, 3, 4096, 0 };
	struct rig *r = *state;

	r->memory[0] = r->memory[MIB] = 1;
	ask(r, NBD_BLOCK_STATUS, 0, 1, 0, MIB + 4096);
	expect_extents(r, 1, all, 3);
	ask(r, NBD_BLOCK_STATUS, NBD_REQ_ONE, 2, 4096, SIZE - 4096);
	expect_extents(r, 2, all + 2, 1);
	ask(r, NBD_BLOCK_STATUS, 0, 3, 512, 1024);
	expect_extents(r, 3, (const uint32_t[]){ 1024, 3 }, 1);
}

static void extents_have_a_limit(void **state)
{
	struct rig *r = *state;
	uint8_t p[4 + 8 * 255];

	for (unsigned i = 0; i < SIZE; i += 8192)
		r->memory[i] = 1;
	ask(r, NBD_BLOCK_STATUS, 0, 1, 0, SIZE);
	assert_int_equal(expect_chunk(r, 5, 1), sizeof p);
	get_all(r, p, sizeof p);
	for (unsigned i = 0; i < 255; i++) {
		assert_int_equal(get_be32(p + 4 + 8 * i), 4096);
		assert_int_equal(get_be32(p + 8 + 8 * i), i % 2 ? 3 : 0);
	}
}

static void fast_zeroes_are_refused_where_they_are_slow(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_WRITE_ZEROES, NBD_FAST_ZERO, 1, 0, 4096);
	expect(r, 0, 1);
	ask(r, NBD_WRITE_ZEROES, NBD_FAST_ZERO | NBD_NO_HOLE, 2, 0, 4096);
	expect(r, NBD_ENOTSUP, 2);
	r->disk.facts.zeroes_fast = false; // the worker sleeps
	ask(r, NBD_WRITE_ZEROES, NBD_FAST_ZERO, 3, 0, 4096);
	expect(r, NBD_ENOTSUP, 3);
	ask(r, NBD_WRITE_ZEROES, 0, 4, 0, 4096);
	expect(r, 0, 4);
}

// A full thin pool is told as such; the protocol has no word for a reservation conflict.
static void errors_of_the_disk_are_those_of_the_protocol(void **state)
{
	static const struct {
		int res;
		uint32_t error;
	} cases[] = {
		{-ENOSPC,	   NBD_ENOSPC   },
		 { -EBADE,	   NBD_EIO	   },
		 { -EROFS,	   NBD_EPERM    },
		{ -ENODATA,   NBD_EIO	    },
		 { -ENOTCONN,  NBD_EIO      },
		 { -ESHUTDOWN, NBD_ESHUTDOWN},
	};
	struct rig *r = *state;

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		r->disk.fails = cases[i].res; // the worker sleeps
		ask(r, NBD_WRITE, 0, i, 0, 512);
		put_all(r, r->data, 512);
		expect(r, cases[i].error, i);
	}
	r->disk.fails = 0;
}

static void expect_end(struct rig *r, int code)
{
	sem_wait(&r->ended);
	assert_int_equal(r->why.code, code);
}

static void what_is_not_a_request_ends_it(void **state)
{
	static const uint8_t junk[NBD_REQUEST_LEN] = "GET / HTTP/1.1";

	put_all(*state, junk, sizeof junk);
	expect_end(*state, -EPROTO);
}

static void a_write_that_is_too_long_ends_it(void **state)
{
	ask(*state, NBD_WRITE, 0, 1, 0, NBD_DATA_MAX + 512);
	expect_end(*state, -EMSGSIZE);
}

static void a_client_that_says_so_leaves_without_a_fault(void **state)
{
	ask(*state, NBD_DISCONNECT, 0, 1, 0, 0);
	expect_end(*state, 0);
}

static void a_client_that_is_gone_leaves_without_a_fault(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_WRITE, 0, 1, 0, 4096);
	put_all(r, r->data, 100);
	shutdown(r->fd, SHUT_RDWR);
	expect_end(r, 0);
}

static void half_a_request_has_a_limit_in_time(void **state)
{
	static const uint8_t half[10] = { 0x25, 0x60, 0x95, 0x13 };

	put_all(*state, half, sizeof half);
	expect_end(*state, -ETIMEDOUT);
}

static void half_a_writes_data_has_a_limit_in_time(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_WRITE, 0, 1, 0, 2 * MIB);
	put_all(r, r->data, MIB);
	expect_end(r, -ETIMEDOUT);
}

static void answers_that_are_not_taken_have_a_limit_in_time(void **state)
{
	struct rig *r = *state;

	for (unsigned i = 0; i < 4; i++)
		ask(r, NBD_READ, 0, i, 0, 4 * MIB);
	expect_end(r, -ETIMEDOUT);
}

static void a_client_that_is_late_after_whole_requests_is_ended(void **state)
{
	static const uint8_t half[10] = { 0x25, 0x60, 0x95, 0x13 };
	struct rig *r = *state;

	for (unsigned i = 0; i < 3; i++) {
		ask(r, NBD_WRITE, 0, i, 0, 512);
		put_all(r, r->data, 512);
		expect(r, 0, i);
	}
	put_all(r, half, sizeof half);
	expect_end(r, -ETIMEDOUT);
}

static void hold(void *arg)
{
	((struct rig *)arg)->disk.holds = true;
}

static void memory_of_what_the_disk_has_outlives_the_transmission(void **state)
{
	struct rig *r = *state;

	ask(r, NBD_FLUSH, 0, 1, 0, 0);
	expect(r, 0, 1);
	worker_call(r->disk.worker, hold, r);
	ask(r, NBD_WRITE, 0, 2, 0, MIB);
	put_all(r, r->data, MIB);
	do
		worker_call(r->disk.worker, look, r);
	while (!r->writes);
	worker_call(r->disk.worker, finish, r);
	worker_call(r->disk.worker, look, r);
	assert_int_equal(r->in_use, MIB);
	worker_call(r->disk.worker, fake_disk_release, &r->disk);
	do
		worker_call(r->disk.worker, look, r);
	while (r->in_use);
	assert_memory_equal(r->memory, r->data, MIB);
}

// Another client with the same limit, which is late, measures the time.
static void a_client_that_waits_has_no_limit_in_time(void **state)
{
	struct rig *r = *state;
	void *late;

	ask(r, NBD_WRITE, 0, 1, 0, 512);
	put_all(r, r->data, 512);
	expect(r, 0, 1);
	worker_call(r->disk.worker, hold, r);
	ask(r, NBD_FLUSH, 0, 2, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(set_up_hasty(&late), 0);
		half_a_request_has_a_limit_in_time(&late);
		assert_int_equal(tear_down(&late), 0);
	}
	assert_int_equal(sem_trywait(&r->ended), -1);
	worker_call(r->disk.worker, fake_disk_release, &r->disk);
	expect(r, 0, 2);
}

int main(void)
{
#define TEST(fn)       cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
#define STRUCTURED(fn) cmocka_unit_test_setup_teardown(fn, set_up_structured, tear_down)
#define HASTY(fn)      cmocka_unit_test_setup_teardown(fn, set_up_hasty, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read_back),
		TEST(more_requests_than_slots_are_answered_in_turn),
		TEST(a_request_may_come_in_pieces),
		TEST(flush_fua_and_no_hole_reach_the_disk),
		TEST(a_trim_longer_than_the_disks_limit_is_done_in_pieces),
		TEST(what_cannot_be_done_is_refused),
		TEST(a_refused_write_takes_its_data_along),
		STRUCTURED(a_structured_read_is_one_chunk),
		STRUCTURED(structured_errors_are_chunks),
		STRUCTURED(block_status_tells_holes),
		STRUCTURED(extents_have_a_limit),
		TEST(fast_zeroes_are_refused_where_they_are_slow),
		TEST(errors_of_the_disk_are_those_of_the_protocol),
		TEST(what_is_not_a_request_ends_it),
		TEST(a_write_that_is_too_long_ends_it),
		TEST(a_client_that_says_so_leaves_without_a_fault),
		TEST(a_client_that_is_gone_leaves_without_a_fault),
		HASTY(half_a_request_has_a_limit_in_time),
		HASTY(half_a_writes_data_has_a_limit_in_time),
		HASTY(answers_that_are_not_taken_have_a_limit_in_time),
		HASTY(a_client_that_is_late_after_whole_requests_is_ended),
		HASTY(a_client_that_waits_has_no_limit_in_time),
		TEST(memory_of_what_the_disk_has_outlives_the_transmission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
