// SPDX-License-Identifier: BSD-2-Clause
// The APTPL file, with and without its checksum, and the file of ALUA states. What is taken
// must come back the same from its own file.
#include <stdlib.h>
#include <string.h>

#include "target/scsi/alua/saved.h"
#include "target/scsi/reservations/aptpl.h"
#include "target/scsi/state_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pr_view *v, *back;
	struct alua_saved saved[ALUA_GROUPS_MAX];
	uint32_t n;
	size_t len;
	(void)!state_file_verify((const char *)data, size);
	if (alua_saved_parse(saved, &n, (const char *)data, size) == 0 && n > ALUA_GROUPS_MAX)
		abort();
	if (pr_store_parse(&v, (const char *)data, size))
		return 0;
	char *text = pr_store_format(v, &len);
	if (!text || pr_store_parse(&back, text, len) || back->count != v->count ||
	    back->holder != v->holder || memcmp(back->regs, v->regs, v->count * sizeof v->regs[0]))
		abort();
	pr_view_put(v);
	pr_view_put(back);
	free(text);
	return 0;
}
