// SPDX-License-Identifier: BSD-2-Clause
// Splits the input of a fuzzer of logins into PDUs, each a header and as many bytes as its
// DataSegmentLength (or the rest).
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transport/wire/be.h"
#include "transport/wire/iscsi.h"

struct login_pdu {
	uint8_t bhs[ISCSI_BHS_LEN];
	char *text; // exact, for AddressSanitizer
	size_t len;
};

// The PDU at *at, which is advanced past it; false at the end. The caller owns the text.
static inline bool login_pdu_next(struct login_pdu *ret, const uint8_t *data, size_t size,
				  size_t *at)
{
	if (size - *at < ISCSI_BHS_LEN)
		return false;
	memcpy(ret->bhs, data + *at, sizeof ret->bhs);
	*at += sizeof ret->bhs;
	size_t len = get_be24(ret->bhs + 5);
	ret->len = len < size - *at ? len : size - *at;
	put_be24(ret->bhs + 5, (uint32_t)ret->len);
	ret->text = malloc(ret->len ? ret->len : 1);
	memcpy(ret->text, data + *at, ret->len);
	*at += ret->len;
	return true;
}
