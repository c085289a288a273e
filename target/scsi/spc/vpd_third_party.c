// SPDX-License-Identifier: BSD-2-Clause
// VPD page 8Fh, Third-party Copy (SPC-4 7.8.17, SBC-3 6.6.8): descriptors in ascending order
// of type. Task's worker.
#include <string.h>

#include "target/scsi/copy/extended_copy.h"
#include "target/scsi/copy/odx.h"
#include "target/scsi/copy/turn.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/spc/inquiry.h"
#include "target/scsi/task.h"
#include "transport/wire/be.h"

// Each writes the body of its descriptor and returns the body's length, a multiple of 4 minus the 4
// bytes of the header.
static unsigned token_limits(const struct task *t, uint8_t *out)
{
	uint32_t shift = t->lu->block_shift;
	put_be16(out + 6, ROD_RANGES_MAX);
	put_be32(out + 8, ROD_TIMEOUT_MAX);
	put_be32(out + 12, ROD_TIMEOUT_SECS);
	put_be64(out + 16, ROD_BYTES_MAX >> shift);
	put_be64(out + 24, ROD_BYTES_OPTIMAL >> shift);
	return 32;
}

static unsigned supported_commands(const struct task *t, uint8_t *out)
{
	static const uint8_t list[] = {
		0x83, 3, 0x00, 0x10, 0x11,	 // EXTENDED COPY(LID1), the token commands
		0x84, 4, 0x00, 0x03, 0x04, 0x07, // RECEIVE COPY ...
	};
	(void)t;
	out[0] = sizeof list;
	memcpy(out + 1, list, sizeof list);
	return 1 + sizeof list;
}

static unsigned parameter_data(const struct task *t, uint8_t *out)
{
	(void)t;
	put_be16(out + 4, XCOPY_CSCD_MAX);
	put_be16(out + 6, XCOPY_SEGMENT_MAX);
	put_be32(out + 8, XCOPY_LIST_MAX);
	put_be32(out + 12, 0); // inline data
	return 28;
}

static unsigned supported_descriptors(const struct task *t, uint8_t *out)
{
	(void)t;
	out[0] = 2;
	out[1] = XCOPY_BLOCK_TO_BLOCK;
	out[2] = XCOPY_CSCD_ID;
	return 3;
}

static unsigned token_features(const struct task *t, uint8_t *out)
{
	(void)t;
	out[0] = 0; // REMOTE TOKENS: none
	put_be32(out + 12, ROD_TIMEOUT_SECS);
	put_be32(out + 16, ROD_TIMEOUT_MAX);
	put_be32(out + 20, ROD_TIMEOUT_MAX);
	put_be16(out + 42, 0); // no device-type specific features
	return 44;
}

static uint8_t *put_rod_type(uint8_t *p, uint32_t type, uint8_t flags)
{
	put_be32(p, type);
	p[4] = flags; // ECPY_INT 80, TOKEN_IN 02, TOKEN_OUT 01
	return p + 64;
}

static unsigned rod_types(const struct task *t, uint8_t *out)
{
	uint8_t *p = out + 4;
	(void)t;
	p = put_rod_type(p, ROD_TYPE_POINT_IN_TIME, 0x03);
	p = put_rod_type(p, ROD_TYPE_CHANGE_VULNERABLE, 0x03);
	p = put_rod_type(p, ROD_TYPE_ZERO, 0x02);
	put_be16(out + 2, (uint16_t)(p - out - 4));
	return (unsigned)(p - out);
}

static unsigned general_copy(const struct task *t, uint8_t *out)
{
	put_be32(out, COPIES_MAX);	     // TOTAL CONCURRENT COPIES
	put_be32(out + 4, COPIES_NEXUS_MAX); // MAXIMUM IDENTIFIED CONCURRENT COPIES
	put_be32(out + 8, 256u << 20);
	out[12] = (uint8_t)t->lu->block_shift;
	return 32;
}

static const struct {
	uint16_t type;
	unsigned (*body)(const struct task *t, uint8_t *out);
} descriptors[] = {
	{0x0000,  token_limits	       },
	    { 0x0001, supported_commands	 },
	{ 0x0004, parameter_data	 },
	    { 0x0008, supported_descriptors},
	{ 0x0106, token_features	 },
	    { 0x0108, rod_types		},
	{ 0x8001, general_copy	       },
};

unsigned vpd_third_party(const struct task *t, uint8_t *out)
{
	unsigned at = 4;
	for (unsigned i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
		unsigned len = descriptors[i].body(t, out + at + 4);
		len += -len & 3; // with the header, a multiple of 4
		put_be16(out + at, descriptors[i].type);
		put_be16(out + at + 2, (uint16_t)len);
		at += 4 + len;
	}
	return at;
}
