// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into a target (fences.py): each write to the file FARBLOCK_SLOW_FILE first waits
// FARBLOCK_SLOW_MS milliseconds, as slow storage would. The bytes are in the file only then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void wait_if_slow(int fd)
{
	const char *slow = getenv("FARBLOCK_SLOW_FILE"), *ms = getenv("FARBLOCK_SLOW_MS");
	char link[32], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t size = readlink(link, path, sizeof(path) - 1);
	if (!slow || !ms || size < 0)
		return;
	path[size] = '\0';
	if (strcmp(path, slow))
		return;
	long wait = strtol(ms, NULL, 10);
	struct timespec t = { .tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000 };
	while (nanosleep(&t, &t))
		;
}

// The C library's function of that name.
static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);
	if (!function)
		abort();
	return function;
}

ssize_t write(int fd, const void *data, size_t size)
{
	static ssize_t (*real)(int, const void *, size_t);
	if (!real)
		real = next("write");
	wait_if_slow(fd);
	return real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);
	if (!real)
		real = next("pwrite64");
	wait_if_slow(fd);
	return real(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return pwrite64(fd, data, size, at);
}
