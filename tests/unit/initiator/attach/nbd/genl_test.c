// SPDX-License-Identifier: BSD-2-Clause
// Generic netlink messages, and the kernel's own family, which every kernel has.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/attach/nbd/device.h"
#include "initiator/attach/nbd/genl.h"
#include "initiator/attach/nbd_flags.h"

static void attributes_are_aligned_and_nested_ones_have_the_length_of_their_content(void **state)
{
	static const uint8_t wanted[] = {
		16, 0, 7, 0x80,		      // nested, of type 7
		12, 0, 1, 0x80,		      // nested, of type 1
		8,  0, 2, 0,	9,   0, 0, 0, // 9
		6,  0, 3, 0,	'x', 0, 0, 0, // "x", padded
	};
	struct genl g = { .family = 99 };
	struct genl_message m;

	genl_begin(&m, &g, 5);
	uint32_t begin = m.len;
	uint32_t outer = genl_nest(&m, 7), inner = genl_nest(&m, 1);
	genl_put_u32(&m, 2, 9);
	genl_nest_end(&m, inner);
	genl_nest_end(&m, outer);
	genl_put_text(&m, 3, "x");
	assert_int_equal(m.len - begin, sizeof wanted);
	assert_memory_equal(m.bytes + begin, wanted, sizeof wanted);
}

static void a_message_that_does_not_fit_is_not_sent(void **state)
{
	char text[GENL_BYTES_MAX];
	struct genl g = { .fd = -1 };
	struct genl_message m;

	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = 0;
	genl_begin(&m, &g, 1);
	genl_put_text(&m, 1, text);
	genl_put_u32(&m, 2, 3);
	assert_int_equal(genl_do(&g, &m, NULL), -EMSGSIZE);
}

static void the_kernels_own_family_has_its_number(void **state)
{
	struct genl g;

	assert_int_equal(genl_open(&g, "nlctrl"), 0);
	assert_int_equal(g.family, GENL_ID_CTRL);
	genl_close(&g);
}

static void a_family_that_the_kernel_lacks_is_not_found(void **state)
{
	struct genl g;

	assert_int_equal(genl_open(&g, "farblock-none"), -ENOENT);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			attributes_are_aligned_and_nested_ones_have_the_length_of_their_content),
		cmocka_unit_test(a_message_that_does_not_fit_is_not_sent),
		cmocka_unit_test(the_kernels_own_family_has_its_number),
		cmocka_unit_test(a_family_that_the_kernel_lacks_is_not_found),
		cmocka_unit_test(flags_follow_what_the_disk_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
