// SPDX-License-Identifier: BSD-2-Clause
// The worker of an address: that of its channels, or the one chosen lately.
#include "target/srp/placement.h"

#include <stdio.h>

#include "target/srp/view_rig.h"

static char places[2];
#define A   ((struct worker *)(void *)&places[0])
#define B   ((struct worker *)(void *)&places[1])
#define NOW UINT64_C(1000000000000)

static struct tcp_addr one, other;

static int setup(void **state)
{
	placement_init();
	one = address("192.0.2.1:1");
	other = address("192.0.2.2:1");
	return 0;
}

static int teardown(void **state)
{
	placement_init();
	return 0;
}

static void connections_of_an_address_go_to_the_worker_chosen_first(void **state)
{
	struct tcp_addr same = address("192.0.2.1:2");
	assert_ptr_equal(placement_choose(&one, A, NOW), A);
	assert_ptr_equal(placement_choose(&same, B, NOW + 1), A);
	assert_ptr_equal(placement_choose(&other, B, NOW + 2), B);
}

static void a_choice_without_a_channel_is_forgotten(void **state)
{
	placement_choose(&one, A, NOW);
	assert_ptr_equal(placement_choose(&one, B, NOW + PLACEMENT_NS + 1), B);
}

static void an_address_stays_where_its_channels_are(void **state)
{
	uint64_t late = NOW + 10 * PLACEMENT_NS;
	placement_choose(&one, A, NOW);
	placement_enter(&one, A);
	placement_enter(&one, A);
	placement_leave(&one, A);
	assert_ptr_equal(placement_choose(&one, B, late), A);
	placement_leave(&one, A);
	assert_ptr_equal(placement_choose(&one, B, late + PLACEMENT_NS + 1), B);
}

// Addresses with channels do not count, and those forgotten make room.
static void a_flood_of_addresses_is_not_noted(void **state)
{
	char text[32];
	placement_choose(&one, A, NOW);
	placement_enter(&one, A);
	for (unsigned i = 0; i < PLACEMENT_MAX; i++) {
		snprintf(text, sizeof text, "198.51.%u.%u:1", i / 250, i % 250 + 1);
		const struct tcp_addr peer = address(text);
		placement_choose(&peer, A, NOW);
		assert_ptr_equal(placement_choose(&peer, B, NOW), A);
	}
	placement_choose(&other, A, NOW);
	assert_ptr_equal(placement_choose(&other, B, NOW), B);
	uint64_t late = NOW + PLACEMENT_NS + 1;
	placement_choose(&other, A, late); // forgets the others
	placement_choose(&other, A, late);
	assert_ptr_equal(placement_choose(&other, B, late), A);
	assert_ptr_equal(placement_choose(&one, B, late), A);
}

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(connections_of_an_address_go_to_the_worker_chosen_first),
		CLAIM(a_choice_without_a_channel_is_forgotten),
		CLAIM(an_address_stays_where_its_channels_are),
		CLAIM(a_flood_of_addresses_is_not_noted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
