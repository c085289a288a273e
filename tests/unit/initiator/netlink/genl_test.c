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

#include "initiator/netlink/genl.h"

static void a_request_names_its_family_and_command(void **state)
{
	static const uint8_t wanted[] = { 5, 1, 0, 0 }; // command, version
	struct genl g = { .family = 99 };
	struct netlink_message m;

	genl_begin(&m, &g, 5);
	assert_int_equal(m.header.nlmsg_type, 99);
	assert_int_equal(m.header.nlmsg_len, NLMSG_HDRLEN + sizeof wanted);
	assert_memory_equal(m.bytes + NLMSG_HDRLEN, wanted, sizeof wanted);
}

static void attributes_are_aligned_and_nested_ones_have_the_length_of_their_content(void **state)
{
	static const uint8_t wanted[] = {
		16, 0, 7, 0x80,		      // nested, of type 7
		12, 0, 1, 0x80,		      // nested, of type 1
		8,  0, 2, 0,	9,   0, 0, 0, // 9
		6,  0, 3, 0,	'x', 0, 0, 0, // "x", padded
	};
	struct genl g = { .family = 99 };
	struct netlink_message m;

	genl_begin(&m, &g, 5);
	uint32_t begin = m.header.nlmsg_len;
	struct nlattr *outer = netlink_nest(&m, 7), *inner = netlink_nest(&m, 1);
	netlink_put_u32(&m, 2, 9);
	netlink_nest_end(&m, inner);
	netlink_nest_end(&m, outer);
	netlink_put_text(&m, 3, "x");
	assert_int_equal(m.header.nlmsg_len - begin, sizeof wanted);
	assert_memory_equal(m.bytes + begin, wanted, sizeof wanted);
}

static void a_message_that_does_not_fit_is_not_sent(void **state)
{
	char text[NETLINK_BYTES_MAX];
	struct genl g = { .family = 99 };
	struct netlink_message m;

	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = 0;
	genl_begin(&m, &g, 1);
	netlink_put_text(&m, 1, text);
	netlink_put_u32(&m, 2, 3);
	assert_int_equal(genl_do(&g, &m, NULL), -EMSGSIZE);
}

static void the_kernels_own_family_has_its_number(void **state)
{
	struct genl g;

	assert_int_equal(genl_open(&g, "nlctrl", 60), 0);
	assert_int_equal(g.family, GENL_ID_CTRL);
	genl_close(&g);
}

static void a_family_that_the_kernel_lacks_is_not_found(void **state)
{
	struct genl g;

	assert_int_equal(genl_open(&g, "farblock-none", 60), -ENOENT);
}

static void an_attribute_of_the_wanted_length_is_taken_and_no_other(void **state)
{
	uint32_t wide = 1;
	uint16_t family = 1;
	struct genl_wanted wide_one = { CTRL_ATTR_FAMILY_ID, sizeof wide, &wide };
	struct genl_wanted wanted = { CTRL_ATTR_FAMILY_ID, sizeof family, &family };
	struct netlink_message m;
	struct genl g;

	assert_int_equal(genl_open(&g, "nlctrl", 60), 0);
	genl_begin(&m, &g, CTRL_CMD_GETFAMILY);
	netlink_put_text(&m, CTRL_ATTR_FAMILY_NAME, "nlctrl");

	assert_int_equal(genl_do(&g, &m, &wide_one), 0);
	assert_int_equal(wide, 1);
	assert_int_equal(genl_do(&g, &m, &wanted), 0);
	assert_int_equal(family, GENL_ID_CTRL);
	genl_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_names_its_family_and_command),
		cmocka_unit_test(
			attributes_are_aligned_and_nested_ones_have_the_length_of_their_content),
		cmocka_unit_test(a_message_that_does_not_fit_is_not_sent),
		cmocka_unit_test(the_kernels_own_family_has_its_number),
		cmocka_unit_test(a_family_that_the_kernel_lacks_is_not_found),
		cmocka_unit_test(an_attribute_of_the_wanted_length_is_taken_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
