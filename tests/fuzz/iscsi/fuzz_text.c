// SPDX-License-Identifier: BSD-2-Clause
// Text iteration, lists, numbers, binary values and names over any bytes.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/name.h"
#include "transport/iscsi/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_value(const struct text_pair *p)
{
	const char *at = p->value, *item;
	char name[ISCSI_NAME_MAX + 1];
	uint8_t binary[64];
	size_t len, total = 0;
	uint64_t n;
	if (strlen(p->value) != p->value_len)
		abort();
	while (text_list_next(&at, &item, &len))
		total += len + 1;
	if (total != p->value_len + 1)
		abort();
	text_number(p->value, 0, UINT32_MAX, &n);
	if (!text_binary_decode(p->value, binary, sizeof binary, &len)) {
		// What decodes must come back through the encoders.
		char buf[256];
		uint8_t again[64];
		size_t again_len;
		struct text_out o;
		text_out_init(&o, buf, sizeof buf);
		if (text_append_base64(&o, "K", binary, len) ||
		    text_binary_decode(buf + 2, again, sizeof again, &again_len) ||
		    again_len != len || memcmp(again, binary, len))
			abort();
	}
	if (!iscsi_name_normalize(p->value, p->value_len, name, NULL))
		iscsi_name_check(name, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_iter it;
	struct text_pair p;
	char buf[512];
	struct text_out o;
	text_out_init(&o, buf, sizeof buf);
	text_iter_init(&it, data, size);
	while (text_next(&it, &p) > 0) {
		try_value(&p);
		text_append_len(&o, p.key, p.key_len, p.value);
	}
	if (o.len > sizeof buf || (o.len && buf[o.len - 1]))
		abort();
	return 0;
}
