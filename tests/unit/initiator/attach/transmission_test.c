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
	struct transmission_config config = { r->server_fd, has_ended, r, r->patience_ms };
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

static int set_up_with(void **state, unsigned patience_ms)
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
	return set_up_with(state, 0);
}

static int set_up_hasty(void **state)
{
	return set_up_with(state, 50);
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
		{99,	      0,		 512,		      NBD_ENOTSUP},
		{ 5,	     0,		512,		     NBD_ENOTSUP},
		{ NBD_READ,  0,		       0,		  NBD_EINVAL },
		{ NBD_READ,  SIZE,		  512,		       NBD_EINVAL },
		{ NBD_READ,  UINT64_MAX - 511, 512,		   NBD_EINVAL },
		{ NBD_READ,  0,		       NBD_DATA_MAX + 512, NBD_EINVAL },
		{ NBD_TRIM,  SIZE - 512,	1024,		      NBD_EINVAL },
		{ NBD_WRITE, 0,		0,		   NBD_EINVAL },
	};
	struct rig *r = *state;

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		ask(r, cases[i].type, 0, i, cases[i].offset, cases[i].len);
		expect(r, cases[i].error, i);
	}
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
#define TEST(fn)  cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
#define HASTY(fn) cmocka_unit_test_setup_teardown(fn, set_up_hasty, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read_back),
		TEST(more_requests_than_slots_are_answered_in_turn),
		TEST(a_request_may_come_in_pieces),
		TEST(flush_fua_and_no_hole_reach_the_disk),
		TEST(a_trim_longer_than_the_disks_limit_is_done_in_pieces),
		TEST(what_cannot_be_done_is_refused),
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
