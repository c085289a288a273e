// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: memory for the data of commands, announced to devices, so that an adapter
// registers it once and not for each command. The program's thread.
#include <errno.h>
#include <stdlib.h>

#include "core/region.h"
#include "initiator/tool/tool.h"

#define PAGE 4096u // registered memory is pinned in pages

struct tool_memory {
	struct region region;
};

int tool_memory_new(struct tool_memory **ret, size_t len, struct err *e)
{
	struct tool_memory *m = calloc(1, sizeof *m);
	size_t size = (len + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (m)
		m->region.addr = aligned_alloc(PAGE, size);
	if (!m || !m->region.addr) {
		free(m);
		return err_set(e, -ENOMEM, "out of memory: %zu bytes", len);
	}
	m->region.len = size;
	region_add(&m->region);
	*ret = m;
	return 0;
}

uint8_t *tool_memory_at(const struct tool_memory *m, size_t offset)
{
	return m->region.addr + offset;
}

void tool_memory_free(struct tool_memory *m)
{
	if (!m)
		return;
	region_remove(&m->region);
	free(m->region.addr);
	free(m);
}
