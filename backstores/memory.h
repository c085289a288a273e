// SPDX-License-Identifier: BSD-2-Clause
// How much memory RAM disks can use. Control thread; reads files of /proc, /sys and cgroups.
#pragma once

#include <stdint.h>

// Bytes of memory and swap that this process may fill: those of the machine, or fewer by its
// cgroups.
uint64_t memory_most(void);

// Pages of 2 MiB of the machine's pool that nobody has allocated or reserved; 0: none, or unknown.
uint64_t memory_free_huge_pages(void);

// The limit of cgroups (version 2) below root for a process in path, "/a/b", in bytes of memory and
// swap; swap: of the machine. UINT64_MAX: no limit.
uint64_t memory_of_cgroup(const char *root, const char *path, uint64_t swap);
