// SPDX-License-Identifier: BSD-2-Clause
// stamps DEVICE BLOCKS MILLISECONDS STOP_FILE: for failover.py. A thread for each of so many blocks
// writes rising numbers to it, one at a time, and reads it so long after each acknowledgement.
// A number that is lower than the one acknowledged is an old write that came back: a line each, as
// has each request that took longer than a second. At the end, once the file STOP_FILE exists,
// the totals.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 4096, APART = 1 << 20, SLOW_SECONDS = 1 };

static int device, hold_ms;
static const char *stop_file;
static atomic_ulong writes, violations, errors;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Tells of a request that was slow.
static void judge(const char *what, long number, double since)
{
	double took = now() - since;
	if (took > SLOW_SECONDS) {
		printf("slow %s %.1f block %ld\n", what, took, number);
		fflush(stdout);
	}
}

static bool read_block(uint64_t *block, long number)
{
	double begin = now();
	bool is_read = pread(device, block, SIZE, number * APART) == SIZE;
	judge("read", number, begin);
	return is_read;
}

static bool write_block(const uint64_t *block, long number)
{
	double begin = now();
	bool is_written = pwrite(device, block, SIZE, number * APART) == SIZE;
	judge("write", number, begin);
	return is_written;
}

static void watch(uint64_t *block, long number, uint64_t acknowledged)
{
	sleep_ms(hold_ms);
	if (!read_block(block, number)) {
		atomic_fetch_add(&errors, 1);
	} else if (*block < acknowledged) {
		atomic_fetch_add(&violations, 1);
		printf("%.1f block %ld: %lu came back, %lu was acknowledged\n", now(), number,
		       (unsigned long)*block, (unsigned long)acknowledged);
		fflush(stdout);
	}
}

static void *write_and_watch(void *argument)
{
	long number = (long)(intptr_t)argument;
	uint64_t *block = aligned_alloc(SIZE, SIZE);
	if (!block)
		abort();
	sleep_ms(number * 37);
	for (uint64_t stamp = 1; access(stop_file, F_OK); stamp++) {
		for (size_t i = 0; i < SIZE / sizeof(*block); i++)
			block[i] = stamp;
		if (!write_block(block, number)) {
			atomic_fetch_add(&errors, 1);
			sleep_ms(1000);
			continue;
		}
		atomic_fetch_add(&writes, 1);
		watch(block, number, stamp);
	}
	free(block);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 5 || (device = open(argv[1], O_RDWR | O_DIRECT)) < 0)
		return 2;
	long blocks = strtol(argv[2], NULL, 10);
	hold_ms = (int)strtol(argv[3], NULL, 10);
	stop_file = argv[4];
	pthread_t threads[64];
	if (blocks < 1 || blocks > 64)
		return 2;
	for (long i = 0; i < blocks; i++)
		if (pthread_create(&threads[i], NULL, write_and_watch, (void *)(intptr_t)i))
			return 2;
	for (long i = 0; i < blocks; i++)
		pthread_join(threads[i], NULL);
	printf("writes %lu violations %lu errors %lu\n", writes, violations, errors);
	return 0;
}
