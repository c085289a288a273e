// SPDX-License-Identifier: BSD-2-Clause
// The lowest of the machine's memory and the limits of the cgroups of this process; huge pages.
#include "backstores/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#define HUGE_PAGES "/sys/kernel/mm/hugepages/hugepages-2048kB"

// A file with a number or "max"; an unreadable file means no limit.
static uint64_t limit_in(const char *root, const char *path, const char *name)
{
	char file[PATH_MAX];
	uint64_t limit;
	snprintf(file, sizeof file, "%s%s/%s", root, path, name);
	FILE *f = fopen(file, "re");
	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%" SCNu64, &limit) != 1)
		limit = UINT64_MAX;
	fclose(f);
	return limit;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t memory_of_cgroup(const char *root, const char *path, uint64_t swap)
{
	char at[PATH_MAX];
	uint64_t least = UINT64_MAX;
	snprintf(at, sizeof at, "%s", path);
	for (;;) {
		uint64_t swapped = limit_in(root, at, "memory.swap.max");
		uint64_t limit =
			sum(limit_in(root, at, "memory.max"), swapped < swap ? swapped : swap);
		least = limit < least ? limit : least;
		char *slash = strrchr(at, '/');
		if (!slash)
			return least;
		*slash = 0;
	}
}

uint64_t memory_free_huge_pages(void)
{
	uint64_t free = limit_in(HUGE_PAGES, "", "free_hugepages");
	uint64_t reserved = limit_in(HUGE_PAGES, "", "resv_hugepages");
	return free == UINT64_MAX || reserved > free ? 0 : free - reserved;
}

// "0::/system.slice/farblockd.service"
static void find_cgroup(char path[PATH_MAX])
{
	char line[PATH_MAX];
	FILE *f = fopen("/proc/self/cgroup", "re");
	*path = 0;
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::/", 4))
			snprintf(path, PATH_MAX, "%s", line[4] ? line + 3 : "");
	}
	if (f)
		fclose(f);
}

uint64_t memory_most(void)
{
	char path[PATH_MAX];
	struct sysinfo s;
	if (sysinfo(&s) < 0)
		return UINT64_MAX;
	uint64_t swap = (uint64_t)s.totalswap * s.mem_unit;
	uint64_t machine = (uint64_t)s.totalram * s.mem_unit + swap;
	find_cgroup(path);
	uint64_t cgroup = memory_of_cgroup("/sys/fs/cgroup", path, swap);
	return cgroup < machine ? cgroup : machine;
}
