// SPDX-License-Identifier: BSD-2-Clause
// Whether a login is accepted, for which reason it is not, and the terms.
#include "target/srp/admit.h"
#include "target/srp/view_rig.h"
#include "transport/srp/list.h"

#define INITIATOR "ib.00000000000000001111222233334444"

static struct view *view;
static struct srp_login login;
static struct tcp_addr portal, peer;
static struct admit_query query;
static struct admission terms;
static enum refusal_cause cause;
static struct err e;

static struct view_tpg *group(void)
{
	return &view->targets[0]->tpgs[0];
}

static int setup(void **state)
{
	view = view_new(&srp_fabric, 1);
	view->targets[0] = make_target(TARGET_A, "192.0.2.1", PORTAL_RDMA,
				       (const char *const[]){ INITIATOR, NULL });
	login = (struct srp_login){ .tag = 7, .it_iu_len = 260, .formats = 6 };
	id_of(TARGET_A, login.target);
	id_of(INITIATOR, login.initiator);
	portal = address("192.0.2.1");
	peer = address("192.0.2.7:4000");
	query = (struct admit_query){ .view = view,
				      .login = &login,
				      .initiator = INITIATOR,
				      .peer = &peer,
				      .portal = &portal,
				      .transport = PORTAL_RDMA };
	return 0;
}

static int teardown(void **state)
{
	view_put(view);
	return 0;
}

static uint32_t admit(void)
{
	return srp_login_admit(&query, &terms, &cause, &e);
}

static void a_login_is_accepted_on_these_terms(void **state)
{
	assert_int_equal(admit(), 0);
	assert_ptr_equal(terms.tpg, group());
	assert_string_equal(terms.acl->initiator, INITIATOR);
	assert_int_equal(terms.terms.tag, 7);
	assert_int_equal(terms.terms.credits, 128);
	assert_int_equal(terms.terms.it_iu_len, 8448);
	assert_int_equal(terms.terms.ti_iu_len, 256);
	assert_int_equal(terms.terms.formats, 6);
	assert_int_equal(terms.terms.flags, 0);
}

static void responses_are_as_long_as_configured_but_not_shorter_than_256(void **state)
{
	struct srp_settings *own = group()->own;
	own->srp_max_rsp_size = 512;
	admit();
	assert_int_equal(terms.terms.ti_iu_len, 512);
	own->srp_max_rsp_size = 40;
	admit();
	assert_int_equal(terms.terms.ti_iu_len, 256);
}

static void immediate_data_is_agreed_on_within_an_iu(void **state)
{
	static const struct {
		uint16_t offset;
		bool is_taken;
	} rows[] = {
		{0,    false},
		      { 47,  false},
		     { 48,  true },
		   { 68,	 true },
		 { 260, false}
	};
	login.flags = SRP_IMMED_REQUESTED;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		login.imm_offset = rows[i].offset;
		assert_int_equal(admit(), 0);
		assert_int_equal(!!(terms.terms.flags & SRP_IMMED_SUPPORTED), rows[i].is_taken);
	}
}

static void the_length_of_ius_is_64_to_8448(void **state)
{
	static const struct {
		uint32_t len, reason;
	} rows[] = {
		{63,    SRP_REJ_IU_TOO_LARGE},
		      { 64,   0		      },
		 { 8448, 0		   },
		      { 8449, SRP_REJ_IU_TOO_LARGE}
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		login.it_iu_len = rows[i].len;
		assert_int_equal(admit(), rows[i].reason);
	}
}

static void formats_are_direct_and_indirect(void **state)
{
	static const struct {
		uint16_t formats;
		uint32_t reason;
	} rows[] = {
		{2,     0			 },
		{ 4,    0			 },
		{ 14,   0			 },
		{ 0,    SRP_REJ_UNSUPPORTED_FORMAT},
		{ 0x16, SRP_REJ_UNSUPPORTED_FORMAT}
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		login.formats = rows[i].formats;
		assert_int_equal(admit(), rows[i].reason);
	}
}

static void an_unknown_target_is_not_associated(void **state)
{
	login.target[15] ^= 1;
	assert_int_equal(admit(), SRP_REJ_NO_SUCH_PORT);
	assert_int_equal(cause, REFUSED_TARGET);
}

static void a_disabled_target_has_no_resources(void **state)
{
	group()->is_enabled = false;
	group()->portal_count = 0; // comes later
	assert_int_equal(admit(), SRP_REJ_INSUFFICIENT_RESOURCES);
	assert_string_equal(e.text, "the target is disabled (enable it)");
}

static void the_portal_and_its_transport_belong_to_the_target(void **state)
{
	query.transport = PORTAL_IWARP;
	assert_int_equal(admit(), SRP_REJ_NO_SUCH_PORT);
	assert_non_null(strstr(e.text, "does not offer SRP over software iWARP"));
	portal = address("192.0.2.2");
	assert_int_equal(admit(), SRP_REJ_NO_SUCH_PORT);
	assert_non_null(strstr(e.text, "no portal at this address"));
}

static void a_service_id_is_that_of_the_portals_on_all_addresses(void **state)
{
	static const struct {
		const char *portal;
		uint32_t reason;
	} rows[] = {
		{"0.0.0.0:3261",	  0		    },
		{ "[::]:3261",      0			 },
		{ "0.0.0.0:3262",	  SRP_REJ_NO_SUCH_PORT},
		{ "192.0.2.1:3261", SRP_REJ_NO_SUCH_PORT},
	};
	query.is_by_service = true;
	portal = address("0.0.0.0:3261");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		group()->portals[0].addr = address(rows[i].portal);
		assert_int_equal(admit(), rows[i].reason);
	}
	assert_non_null(strstr(e.text, "no portal at this service id"));
}

static void an_initiator_without_acl_is_told_which_one_it_needs(void **state)
{
	query.initiator = "ib.00000000000000001111222233335555";
	assert_int_equal(admit(), SRP_REJ_NO_SUCH_PORT);
	assert_int_equal(cause, REFUSED_ACL);
	assert_non_null(strstr(e.text, "acls create ib.00000000000000001111222233335555"));
}

static void discovery_has_small_terms_of_its_own(void **state)
{
	memcpy(login.target, srp_list_port, sizeof srp_list_port);
	login.flags = SRP_IMMED_REQUESTED;
	login.imm_offset = 68;
	query.initiator = "ib.00000000000000001111222233335555";
	assert_int_equal(admit(), 0);
	assert_true(terms.is_discovery);
	assert_null(terms.target);
	assert_int_equal(terms.terms.credits, 2);
	assert_int_equal(terms.terms.it_iu_len, 64);
	assert_int_equal(terms.terms.formats, SRP_FMT_DIRECT);
	assert_int_equal(terms.terms.flags, 0);
	login.formats = SRP_FMT_INDIRECT;
	assert_int_equal(admit(), SRP_REJ_UNSUPPORTED_FORMAT);
}

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(a_login_is_accepted_on_these_terms),
		CLAIM(responses_are_as_long_as_configured_but_not_shorter_than_256),
		CLAIM(immediate_data_is_agreed_on_within_an_iu),
		CLAIM(the_length_of_ius_is_64_to_8448),
		CLAIM(formats_are_direct_and_indirect),
		CLAIM(an_unknown_target_is_not_associated),
		CLAIM(a_disabled_target_has_no_resources),
		CLAIM(the_portal_and_its_transport_belong_to_the_target),
		CLAIM(a_service_id_is_that_of_the_portals_on_all_addresses),
		CLAIM(an_initiator_without_acl_is_told_which_one_it_needs),
		CLAIM(discovery_has_small_terms_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
