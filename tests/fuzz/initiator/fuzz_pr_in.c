// SPDX-License-Identifier: BSD-2-Clause
// Answers of PERSISTENT RESERVE IN: whatever a target sends, what is taken lies within it.
#include <stdlib.h>
#include <string.h>

#include "initiator/pr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void registrations(const struct pr_list *l)
{
	struct pr_registration r;
	uint32_t at = 0, before = 0;
	while (pr_registration_next(l, &at, &r)) {
		if (at <= before || at > l->len || strlen(r.port) >= sizeof r.port)
			abort();
		for (const char *p = r.port; *p; p++)
			if (*p < 0x20 || *p > 0x7e)
				abort();
		before = at;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pr_list l;
	struct pr_reservation held;
	struct pr_capabilities c;
	uint64_t key;
	uint32_t keys = 0;
	uint8_t *copy = calloc(1, size + !size); // of exactly its size
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	if (pr_list_parse(&l, copy, (uint32_t)size)) {
		if (l.len > size - 8)
			abort();
		while (pr_key_at(&l, keys, &key))
			keys++;
		if (keys != l.len / 8)
			abort();
		registrations(&l);
		if (pr_reservation_parse(&l, &held) && held.type > 15)
			abort();
	}
	if (pr_capabilities_parse(&c, copy, (uint32_t)size) && c.types & 1)
		abort();
	free(copy);
	return 0;
}
