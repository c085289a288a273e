// SPDX-License-Identifier: BSD-2-Clause
// Huge pages for RAM disks without using more memory: each completely written 2 MiB become one
// page, whatever shmem_enabled is (MADV_COLLAPSE, Linux 6.1). Copying from 4 KiB pages spread over
// a large disk is slowed by TLB misses.
#pragma once

#include <stdint.h>

#include "core/err.h"

#define HUGE_PAGE (2ull << 20)

struct hugepages;

// Manages the mapping of fd from offset 0 at memory, which is aligned to HUGE_PAGE and may grow to
// reserved bytes, of which size are mapped. One thread serves all mappings. NULL: no memory or
// thread; the pages then stay small. Control thread.
struct hugepages *hugepages_new(uint8_t *memory, int fd, uint64_t reserved, uint64_t size);
// The mapping has grown. Control thread.
void hugepages_grow(struct hugepages *h, uint64_t size);
// A hole was punched into these bytes; they may be collapsed again after a write. Any thread. NULL
// is fine, here and below.
void hugepages_punched(struct hugepages *h, uint64_t offset, uint64_t length);
// Waits until the thread no longer uses the mapping. Control thread; blocks for milliseconds.
void hugepages_free(struct hugepages *h);
