// SPDX-License-Identifier: BSD-2-Clause
// URLs: what is taken has a host, a normalised target and a logical unit in range.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/iscsi/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ini_url u;
	struct err e;
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = 0;
	if (!ini_url_parse(text, &u, &e) && (!u.portal.host[0] || !u.portal.port || u.lun > 16383))
		abort();
	free(text);
	return 0;
}
