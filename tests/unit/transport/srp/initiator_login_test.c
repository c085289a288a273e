// SPDX-License-Identifier: BSD-2-Clause
// The login of an initiator's channel: what it asks for, what it accepts, and the words for what
// it does not.
#include "transport/srp/initiator_rig.h"

static struct rig r; // large

static int setup(void **state)
{
	rig_init(&r);
	return 0;
}

static int teardown(void **state)
{
	rig_done(&r);
	return 0;
}

// A new rig, unless this one was not used.
static void again(void)
{
	if (!r.closes)
		return;
	rig_done(&r);
	rig_init(&r);
}

static const struct srp_login *login(void)
{
	return &r.target.conns[0].login;
}

static void a_login_asks_for_what_the_initiator_can_do(void **state)
{
	rig_run(&r);
	assert_int_equal(r.ups, 1);
	assert_int_equal(r.why.code, 0);
	assert_int_equal(login()->flags, SRP_MULTICHAN_SINGLE | SRP_IMMED_REQUESTED);
	assert_int_equal(login()->imm_offset, 68);
	assert_int_equal(login()->it_iu_len, 68 + 8192);
	assert_int_equal(login()->formats, SRP_FMT_DIRECT | SRP_FMT_INDIRECT);
	assert_memory_equal(login()->initiator, r.options.initiator, SRP_PORT_ID_LEN);
	assert_memory_equal(login()->target, r.options.target, SRP_PORT_ID_LEN);
}

static void a_further_channel_says_so(void **state)
{
	r.options.is_additional = true;
	r.options.has_no_immediate = true;
	rig_run(&r);
	assert_int_equal(login()->flags, SRP_MULTICHAN_MULTI);
	assert_int_equal(login()->imm_offset, 0);
	assert_in_range(login()->it_iu_len, 64, 2132); // what LIO takes without immediate data
}

static void own_ius_are_limited_as_asked(void **state)
{
	r.options.it_iu_len = 1000;
	rig_run(&r);
	assert_int_equal(login()->it_iu_len, 1000);
}

static void a_refused_login_is_told_in_words(void **state)
{
	static const struct {
		uint32_t reason;
		const char *text;
	} rows[] = {
		{SRP_REJ_UNABLE_TO_ESTABLISH,     "cannot establish"	  },
		{ SRP_REJ_INSUFFICIENT_RESOURCES, "no resources"		 },
		{ SRP_REJ_IU_TOO_LARGE,		"IUs of that length"	     },
		{ SRP_REJ_NO_SUCH_PORT,		"check id_ext and ioc_guid"},
		{ SRP_REJ_UNSUPPORTED_FORMAT,     "formats"			},
		{ SRP_REJ_MULTICHAN_UNSUPPORTED,	 "further channel"	   },
		{ SRP_REJ_CHANNEL_LIMIT,		 "all channels"		},
		{ 0x00010099,		      "unknown"			},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		again();
		r.target.rejects = rows[i].reason;
		rig_run(&r);
		assert_int_equal(r.ups, 0);
		assert_int_equal(r.why.code, -ECONNREFUSED);
		assert_int_equal(r.reject, rows[i].reason);
		if (!strstr(r.why.text, rows[i].text))
			fail_msg("0x%08x: '%s'", rows[i].reason, r.why.text);
	}
}

static void a_refusal_that_is_no_login_rej_is_told(void **state)
{
	static const uint8_t raw[40] = { SRP_LOGIN_RSP };
	r.target.rejects = 1;
	r.target.raw = raw;
	r.target.raw_len = sizeof raw;
	rig_run(&r);
	assert_int_equal(r.reject, 0);
	assert_int_equal(r.why.code, -ECONNREFUSED);
	assert_non_null(strstr(r.why.text, "SRP: connect"));
}

static void refused_with(struct srp_accept a, const char *text)
{
	again();
	r.target.accept = a;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_int_equal(r.why.code, -EPROTO);
	if (!strstr(r.why.text, text))
		fail_msg("'%s' instead of '%s'", r.why.text, text);
}

static void an_invalid_login_rsp_ends_the_channel(void **state)
{
	const struct srp_accept good = r.target.accept;
	struct srp_accept a = good;
	a.credits = 1;
	refused_with(a, "request limit of 1");
	a.credits = 0;
	refused_with(a, "request limit");
	a.credits = 0x80000000u;
	refused_with(a, "request limit");
	a = good;
	a.tag = 5;
	refused_with(a, "another login");
	a = good;
	a.formats = SRP_FMT_INDIRECT;
	refused_with(a, "direct descriptors");
	a = good;
	a.ti_iu_len = RNIC_RX_SIZE + 1;
	refused_with(a, "8449 bytes");
	a.ti_iu_len = 20;
	refused_with(a, "too short");
	a = good;
	a.it_iu_len = 63;
	refused_with(a, "too short");
}

static void a_short_login_rsp_ends_the_channel(void **state)
{
	static const uint8_t raw[SRP_LOGIN_RSP_LEN - 1] = { SRP_LOGIN_RSP };
	r.target.raw = raw;
	r.target.raw_len = sizeof raw;
	rig_run(&r);
	assert_int_equal(r.ups, 0);
	assert_non_null(strstr(r.why.text, "51 bytes instead of 52"));
}

static void nobody_who_listens_is_told_with_a_cure(void **state)
{
	struct tcp_addr nobody;
	struct err e;
	assert_int_equal(tcp_addr_parse(&nobody, "127.0.0.1:1", 0, &e), 0);
	r.options.peer = &nobody;
	rig_run(&r);
	assert_int_equal(r.why.code, -ECONNREFUSED);
	assert_non_null(strstr(r.why.text, "check that a target listens there"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_login_asks_for_what_the_initiator_can_do),
		T(a_further_channel_says_so),
		T(own_ius_are_limited_as_asked),
		T(a_refused_login_is_told_in_words),
		T(a_refusal_that_is_no_login_rej_is_told),
		T(an_invalid_login_rsp_ends_the_channel),
		T(a_short_login_rsp_ends_the_channel),
		T(nobody_who_listens_is_told_with_a_cure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
