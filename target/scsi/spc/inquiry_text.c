// SPDX-License-Identifier: BSD-2-Clause
// Vendor, product and revision as INQUIRY reports them (SPC-4 6.6.2, 4.3.1). Task's worker.
#include <string.h>

#include "target/scsi/lu_state.h"
#include "target/scsi/spc/inquiry.h"

void inquiry_text(uint8_t *out, const char *text, size_t size)
{
	memset(out, ' ', size);
	for (size_t i = 0; i < size; i++) {
		char c = __atomic_load_n(&text[i], __ATOMIC_RELAXED);
		if (!c)
			break;
		out[i] = c >= 0x20 && c < 0x7f ? (uint8_t)c : '?';
	}
}

void inquiry_product(uint8_t out[16], const struct lu *lu)
{
	inquiry_text(out, lu_setting(&lu->attr.emulate_model_alias) ? lu->name : lu->attr.product,
		     16);
}
