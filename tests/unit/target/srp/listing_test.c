// SPDX-License-Identifier: BSD-2-Clause
// Which targets and portals an initiator is told of, and how the list is made in parts.
#include <errno.h>
#include <stdio.h>

#include "target/srp/listing.h"
#include "target/srp/view_rig.h"

#define INITIATOR "ib.00000000000000001111222233334444"
#define STRANGER  "ib.00000000000000009999888877776666"
#define TARGETS	  4

static const char *const own[] = { INITIATOR, NULL }, *const others[] = { STRANGER, NULL };
static struct view *view;
static struct tcp_addr local, peer;
static struct listing_query query;
static struct listing listing;
static uint8_t page[SRP_LIST_MAX];

static int setup(void **state)
{
	view = view_new(&srp_fabric, TARGETS);
	for (unsigned i = 0; i < TARGETS; i++) {
		char name[PORT_NAME_SIZE], portal[32];
		snprintf(name, sizeof name, "ib.%031u%u", 0, i);
		snprintf(portal, sizeof portal, "192.0.2.%u", i + 1);
		view->targets[i] = make_target(name, portal, PORTAL_RDMA, i == 2 ? others : own);
	}
	local = address("192.0.2.9");
	peer = address("192.0.2.7:4000");
	query = (struct listing_query){ INITIATOR, &peer, &local, PORTAL_RDMA };
	listing = (struct listing){ 0 };
	srp_list_begin(&listing.out, page, sizeof page);
	return 0;
}

static int teardown(void **state)
{
	view_put(view);
	return 0;
}

static struct view_tpg *group(unsigned target)
{
	return &view->targets[target]->tpgs[0];
}

// The whole list: "0@192.0.2.1:3261 ...", the last digit of each target and its portal.
static const char *told(void)
{
	static char text[400];
	struct srp_list l;
	struct srp_listed one;
	struct err e;
	size_t n = 0;
	text[0] = 0;
	assert_int_equal(srp_list_parse(&l, page, srp_list_end(&listing.out, false), &e), 0);
	while (srp_list_next(&l, &one, &e) > 0) {
		char address[TCP_ADDR_TEXT];
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%u@%s", n ? " " : "",
				      one.target[15], tcp_addr_format(&one.portal, address));
	}
	return text;
}

static const char *whole(void)
{
	assert_int_equal(listing_continue(&listing, view, &query, 100), 1);
	return told();
}

static void targets_whose_acls_admit_the_initiator_are_listed(void **state)
{
	assert_string_equal(whole(), "0@192.0.2.1:3261 1@192.0.2.2:3261 3@192.0.2.4:3261");
}

static void an_acl_may_name_the_address(void **state)
{
	query.initiator = STRANGER;
	free(group(0)->acls[0].initiator);
	group(0)->acls[0].initiator = strdup("192.0.2.7");
	assert_string_equal(whole(), "0@192.0.2.1:3261 2@192.0.2.3:3261");
}

static void a_target_open_to_all_is_listed(void **state)
{
	group(2)->is_open = true;
	assert_string_equal(whole(),
			    "0@192.0.2.1:3261 1@192.0.2.2:3261 2@192.0.2.3:3261 3@192.0.2.4:3261");
}

static void disabled_targets_and_those_without_a_portal_are_not_listed(void **state)
{
	group(0)->is_enabled = false;
	group(1)->portal_count = 0;
	assert_string_equal(whole(), "3@192.0.2.4:3261");
}

static void only_portals_for_the_initiators_transport_are_listed(void **state)
{
	group(0)->portals[0].transports = PORTAL_IWARP;
	group(1)->portals[0].transports = PORTAL_IWARP | PORTAL_RDMA;
	assert_string_equal(whole(), "1@192.0.2.2:3261 3@192.0.2.4:3261");
}

static void a_wildcard_is_the_address_that_was_used(void **state)
{
	group(0)->portals[0].addr = address("0.0.0.0:4000");
	group(1)->portals[0].addr = address("[::]:4000");
	assert_string_equal(whole(), "0@192.0.2.9:4000 3@192.0.2.4:3261");
}

static void each_round_looks_at_as_many_targets_as_permitted(void **state)
{
	for (unsigned i = 0; i < TARGETS / 2; i++)
		assert_int_equal(listing_continue(&listing, view, &query, 2), i == TARGETS / 2 - 1);
	assert_string_equal(whole(), "0@192.0.2.1:3261 1@192.0.2.2:3261 3@192.0.2.4:3261");
}

static void a_full_page_is_continued_in_a_larger_one(void **state)
{
	uint8_t larger[400];
	for (uint32_t size = 16; size < sizeof larger; size++) {
		listing = (struct listing){ 0 };
		srp_list_begin(&listing.out, larger, size);
		int r = listing_continue(&listing, view, &query, 100);
		memcpy(page, larger, listing.out.len);
		srp_list_move(&listing.out, page, sizeof page);
		if (r < 0) {
			assert_int_equal(r, -ENOSPC);
			r = listing_continue(&listing, view, &query, 100);
		}
		assert_int_equal(r, 1);
		assert_string_equal(told(), "0@192.0.2.1:3261 1@192.0.2.2:3261 3@192.0.2.4:3261");
	}
}

static void portals_of_one_target_may_be_parted_by_a_full_page(void **state)
{
	struct view_tpg *tpg = group(0);
	tpg->portals = realloc(tpg->portals, 2 * sizeof *tpg->portals);
	tpg->portals[1] = tpg->portals[0];
	tpg->portals[1].addr = address("192.0.2.1:4000");
	tpg->portal_count = 2;
	srp_list_begin(&listing.out, page, 16 + PORT_NAME_SIZE + sizeof "192.0.2.1:3261");
	assert_int_equal(listing_continue(&listing, view, &query, 100), -ENOSPC);
	assert_string_equal(told(), "0@192.0.2.1:3261");
	srp_list_move(&listing.out, page, sizeof page);
	assert_string_equal(whole(),
			    "0@192.0.2.1:3261 0@192.0.2.1:4000 1@192.0.2.2:3261 3@192.0.2.4:3261");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(targets_whose_acls_admit_the_initiator_are_listed),
		TEST(an_acl_may_name_the_address),
		TEST(a_target_open_to_all_is_listed),
		TEST(disabled_targets_and_those_without_a_portal_are_not_listed),
		TEST(only_portals_for_the_initiators_transport_are_listed),
		TEST(a_wildcard_is_the_address_that_was_used),
		TEST(each_round_looks_at_as_many_targets_as_permitted),
		TEST(a_full_page_is_continued_in_a_larger_one),
		TEST(portals_of_one_target_may_be_parted_by_a_full_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
