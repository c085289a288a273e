// SPDX-License-Identifier: BSD-2-Clause
// SendTargets answers as an initiator reads them.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iscsi/sendtargets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sendtargets_iter it;
	struct sendtargets_record r;
	struct err e;
	sendtargets_iter_init(&it, data, size);
	while (sendtargets_next(&it, &r, &e) > 0) {
		char text[ISCSI_HOST_MAX + 20];
		struct iscsi_address again;
		if (!r.target_name[0])
			abort();
		if (!r.has_address)
			continue;
		// What was read can be written and read again.
		if (!r.address.host[0] || !r.address.port ||
		    iscsi_address_format(&r.address, text, sizeof text) ||
		    iscsi_address_parse(text, &again, &e) || strcmp(again.host, r.address.host) ||
		    again.port != r.address.port || again.tpgt != r.address.tpgt)
			abort();
	}
	return 0;
}
