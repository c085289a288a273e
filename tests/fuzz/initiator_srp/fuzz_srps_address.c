// SPDX-License-Identifier: BSD-2-Clause
// SRP's URLs and add_target strings: whatever is given, what is accepted lies in its bounds.
#include <stdlib.h>
#include <string.h>

#include "initiator/srp/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct srps_address a;
	struct err e;
	char id[SRPS_PORT_ID_TEXT], *text = malloc(size + 1); // of exactly its size
	uint8_t back[SRP_PORT_ID_LEN];
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (!srps_address_parse(text, &a, &e)) {
		if (!a.portal[0] || strlen(a.portal) > SRPS_HOST_MAX || a.lun > 16383 ||
		    strlen(a.ignored) >= sizeof a.ignored)
			abort();
		if (srps_port_id_parse(srps_port_id_format(a.target, id), back, &e) ||
		    memcmp(back, a.target, sizeof back))
			abort();
	}
	free(text);
	return 0;
}
