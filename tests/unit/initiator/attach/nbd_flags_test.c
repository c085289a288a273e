// SPDX-License-Identifier: BSD-2-Clause
// The transmission flags of a disk.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "initiator/attach/nbd_flags.h"

static void flags_follow_what_the_disk_can(void **state)
{
	struct disk_facts f = { .blocks = 1, .block_size = 512 };

	assert_int_equal(nbd_flags_of(&f), 1);
	f.has_fua = true;
	assert_int_equal(nbd_flags_of(&f), 1);
	f.has_write_cache = true;
	f.unmap_max = f.zeroes_max = 4096;
	assert_int_equal(nbd_flags_of(&f), 1 | 4 | 8 | 32 | 64);
	f.is_read_only = f.is_rotational = true;
	assert_int_equal(nbd_flags_of(&f), 1 | 2 | 4 | 8 | 16);
}

static void requests_are_refused_as_the_protocol_says(void **state)
{
	enum { BEYOND = 1 << 20 };
	static const struct {
		uint16_t type, flags;
		uint64_t offset;
		uint32_t len;
		int res;
	} rows[] = {
	// clang-format off
		{NBD_READ, NBD_FUA | NBD_DF, 0, 4096, 0},
		{NBD_READ, NBD_REQ_ONE, 0, 4096, -EBADRQC},
		{NBD_READ, 0, BEYOND - 4096, 8192, -ERANGE},
		{NBD_READ, 0, UINT64_MAX - 4095, 4096, -ERANGE},
		{NBD_READ, 0, 512, 4096, -EINVAL},
		{NBD_READ, 0, 0, NBD_DATA_MAX + 4096, -EINVAL},
		{NBD_WRITE, NBD_FUA, BEYOND - 4096, 4096, 0},
		{NBD_WRITE, 0, BEYOND, 4096, -EFBIG},
		{NBD_WRITE, NBD_DF, 0, 4096, -EBADRQC},
		{NBD_WRITE_ZEROES, NBD_NO_HOLE, 0, 4096, 0},
		{NBD_WRITE_ZEROES, 0, BEYOND, 4096, -EFBIG},
		{NBD_WRITE_ZEROES, NBD_FAST_ZERO, 0, 4096, -EOPNOTSUPP},
		{NBD_TRIM, NBD_FUA, 0, 4096, -EBADRQC}, // the disk does not unmap
		{NBD_FLUSH, 0, 0, 0, 0},
		{NBD_BLOCK_STATUS, NBD_REQ_ONE, 0, UINT32_MAX - 4095, -ERANGE},
		{NBD_BLOCK_STATUS, NBD_REQ_ONE, 0, BEYOND, 0},
		{NBD_BLOCK_STATUS, 0, 0, 0, -EINVAL},
		{NBD_TYPE_COUNT, 0, 0, 4096, -EBADRQC},
		{UINT16_MAX, 0, 0, 4096, -EBADRQC},
	// clang-format on
	};
	static const struct disk_facts f = { .blocks = 256, .block_size = 4096 };
	static const struct nbd_offer offer = { NBD_CAN_FUA | NBD_CAN_FLUSH | NBD_CAN_DF |
							NBD_CAN_WRITE_ZEROES | NBD_CAN_FAST_ZERO,
						true, true };

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nbd_request r = { .type = rows[i].type,
					 .flags = rows[i].flags,
					 .offset = rows[i].offset,
					 .len = rows[i].len };
		assert_int_equal(nbd_refusal(&r, &offer, &f), rows[i].res);
	}
}

static void what_was_not_negotiated_is_refused(void **state)
{
	static const struct {
		uint16_t type, flags;
	} rows[] = {
		{NBD_READ,	    NBD_DF },
		 { NBD_READ,	     NBD_FUA},
		  { NBD_FLUSH,	       0	 },
		{ NBD_WRITE_ZEROES, 0      },
		 { NBD_BLOCK_STATUS, 0      },
	};
	static const struct disk_facts f = { .blocks = 256, .block_size = 4096 };
	static const struct nbd_offer none;

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nbd_request r = { .type = rows[i].type,
					 .flags = rows[i].flags,
					 .len = 4096 };
		assert_int_equal(nbd_refusal(&r, &none, &f), -EBADRQC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_follow_what_the_disk_can),
		cmocka_unit_test(requests_are_refused_as_the_protocol_says),
		cmocka_unit_test(what_was_not_negotiated_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
