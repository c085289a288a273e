// SPDX-License-Identifier: BSD-2-Clause
// What a unit says of its identity, and its sense data. Pieces of 2 bytes of length and so many
// bytes: one for each response, then the sense data of a command. A unit is the same as itself, and
// what is printed can be printed.
#include <stdlib.h>
#include <string.h>

#include "initiator/identity.h"
#include "initiator/scsi_cdb.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void (*const readers[])(struct identity *i, const uint8_t *data, uint32_t len) = {
	identity_inquiry, identity_designators, identity_serial,      identity_extended,
	identity_caching, identity_capacity_10, identity_capacity_16,
};
enum { READERS = sizeof readers / sizeof *readers };

static void check_identity(const struct identity *i, const struct identity *zero)
{
	struct err why = { 0 };
	if (i->designators_len > sizeof i->designators || i->serial_len > sizeof i->serial)
		abort();
	if (identity_compare(i, i, 0, &why) != SCSI_LU_SAME || why.code)
		abort();
	if (identity_compare(i, zero, 0, &why) != SCSI_LU_SAME && !why.code)
		abort();
	for (const char *p = why.text; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			abort();
}

static void check_sense(const uint8_t *data, uint32_t len)
{
	struct scsi_cmd c = { .status = SCSI_CHECK_CONDITION };
	char text[240];
	c.sense_len = (uint16_t)(len < sizeof c.sense ? len : sizeof c.sense);
	memcpy(c.sense, data, c.sense_len);
	for (uint32_t size = 1; size <= sizeof text; size += 239) {
		scsi_cmd_text(&c, text, size);
		if (strlen(text) >= size)
			abort();
	}
	struct scsi_sense s;
	if (scsi_sense_parse(data, len, &s) && s.key > 15)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct identity i = { 0 };
	const struct identity zero = { 0 };
	for (unsigned n = 0; n <= READERS && size >= 2; n++) {
		uint32_t len = get_be16(data) % (IDENTITY_DATA_MAX + 1);
		len = len < size - 2 ? len : (uint32_t)(size - 2);
		uint8_t *response = malloc(len ? len : 1); // its end is the sanitizer's
		if (!response)
			abort();
		memcpy(response, data + 2, len);
		if (n < READERS)
			readers[n](&i, response, len);
		else
			check_sense(response, len);
		free(response);
		data += 2 + len;
		size -= 2 + len;
	}
	check_identity(&i, &zero);
	return 0;
}
