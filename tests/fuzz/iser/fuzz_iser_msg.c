// SPDX-License-Identifier: BSD-2-Clause
// A received iSER message: whatever comes, the parts that are found lie inside it, in order.
#include <stdlib.h>
#include <string.h>

#include "transport/iser/iser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct iser_msg m;
	struct err e;
	// A copy of exactly this size, so that a byte too far is seen.
	uint8_t *msg = malloc(size ? size : 1);
	if (!msg)
		return 0;
	memcpy(msg, data, size);
	if (iser_msg_parse(&m, msg, (uint32_t)size, &e) == 0 && m.opcode == ISER_CONTROL) {
		const uint8_t *end = msg + size;
		if (m.bhs + ISCSI_BHS_LEN > end)
			abort();
		if (m.ahs && (m.ahs < m.bhs || m.pdu.ahs_len > (size_t)(end - m.ahs)))
			abort();
		if (m.data && (m.data < m.bhs || m.pdu.data_len > (size_t)(end - m.data)))
			abort();
	}
	iser_cm_can_invalidate(msg, (uint32_t)size);
	free(msg);
	return 0;
}
