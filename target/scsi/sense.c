// SPDX-License-Identifier: BSD-2-Clause
// Sense data in fixed and descriptor format (SPC-4 4.5). Pure functions.
#include "target/scsi/sense.h"

#include <string.h>

#include "transport/wire/be.h"

// Sense-key specific bytes (SPC-4 4.5.2.4): field pointer or progress. False: none.
static bool encode_specific(uint8_t out[3], const struct sense_extra *x)
{
	if (x->has_progress) {
		out[0] = 0x80;
		put_be16(out + 1, x->progress);
		return true;
	}
	if (!x->has_field_pointer)
		return false;
	out[0] = 0x80;
	if (x->is_field_in_cdb)
		out[0] |= 0x40;
	if (x->field_bit >= 0)
		out[0] |= 0x08 | (x->field_bit & 7);
	put_be16(out + 1, x->field_byte);
	return true;
}

static unsigned encode_fixed(uint8_t *out, uint32_t code, const struct sense_extra *x)
{
	out[0] = 0x70;
	out[2] = (uint8_t)(code >> 16);
	out[7] = 10;
	out[12] = (uint8_t)(code >> 8);
	out[13] = (uint8_t)code;
	// The field has 32 bits; without VALID it is ignored.
	if (x->has_information && x->information <= UINT32_MAX) {
		out[0] |= 0x80;
		put_be32(out + 3, (uint32_t)x->information);
	}
	encode_specific(out + 15, x);
	return 18;
}

static unsigned encode_descriptor(uint8_t *out, uint32_t code, const struct sense_extra *x)
{
	unsigned n = 8;
	out[0] = 0x72;
	out[1] = (uint8_t)(code >> 16);
	out[2] = (uint8_t)(code >> 8);
	out[3] = (uint8_t)code;
	if (x->has_information) {
		out[n + 1] = 0x0a;
		out[n + 2] = 0x80;
		put_be64(out + n + 4, x->information);
		n += 12;
	}
	if (encode_specific(out + n + 4, x)) {
		out[n] = 0x02;
		out[n + 1] = 0x06;
		n += 8;
	}
	out[7] = (uint8_t)(n - 8);
	return n;
}

unsigned sense_encode(uint8_t out[SENSE_MAX], uint32_t code, const struct sense_extra *extra,
		      bool descriptor)
{
	static const struct sense_extra none;
	memset(out, 0, SENSE_MAX);
	if (!extra)
		extra = &none;
	return descriptor ? encode_descriptor(out, code, extra) : encode_fixed(out, code, extra);
}
