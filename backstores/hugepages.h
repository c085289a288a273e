// SPDX-License-Identifier: BSD-2-Clause
// Huge pages for the memory of RAM disks, without taking more of it: 2 MiB that are written
// whole become one page, wherever shmem_enabled stands (MADV_COLLAPSE, Linux 6.1). A copy out of
// 4 KiB pages all over a large disk waits for the translation of each address.
#pragma once

#include <stdint.h>

#include "core/err.h"

#define HUGE_PAGE (2ull << 20)

struct hugepages;

// Looks after the mapping of fd from its offset 0 at memory, aligned to HUGE_PAGE and growing to
// at most reserved bytes, of which size are there. A thread of its own does, one for all. NULL
// when memory or threads are short: then the pages stay small. Control thread.
struct hugepages *hugepages_new(uint8_t *memory, int fd, uint64_t reserved, uint64_t size);
// The mapping has grown. Control thread.
void hugepages_grow(struct hugepages *h, uint64_t size);
// A hole was punched into these bytes; what is written there again can be collapsed again. Any
// thread. NULL is fine, here and below.
void hugepages_punched(struct hugepages *h, uint64_t offset, uint64_t length);
// Waits for the thread to let go of the mapping. Control thread; blocks for milliseconds.
void hugepages_free(struct hugepages *h);
