// SPDX-License-Identifier: BSD-2-Clause
// stamps DEVICE BLOCKS MILLISECONDS STOP_FILE: for failover.py. A thread for each of so many blocks
// writes rising numbers to it, one at a time, and reads it for so long after each acknowledgement.
// A number that is lower than the one acknowledged is an old write that came back: a line each, and
// at the end, once the file STOP_FILE exists, the totals.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 4096, APART = 1 << 20, READ_EVERY_MS = 100 };

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

static void watch(uint64_t *block, long number, uint64_t acknowledged)
{
	for (int waited = 0; waited < hold_ms; waited += READ_EVERY_MS) {
		if (pread(device, block, SIZE, number * APART) != SIZE) {
			atomic_fetch_add(&errors, 1);
		} else if (*block < acknowledged) {
			atomic_fetch_add(&violations, 1);
			printf("%.1f block %ld: %lu came back, %lu was acknowledged\n", now(),
			       number, (unsigned long)*block, (unsigned long)acknowledged);
			fflush(stdout);
			return;
		}
		sleep_ms(READ_EVERY_MS);
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
		if (pwrite(device, block, SIZE, number * APART) != SIZE) {
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
