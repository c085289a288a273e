// SPDX-License-Identifier: BSD-2-Clause
// Device management datagrams, byte for byte. IBA volume 1, 13.4 and 16.3.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "transport/rdma/rnic.h"
#include "transport/srp/dm_mad.h"

static const struct srp_controller two[] = {
	{{ 0x20, 0x01, 2, 3, 4, 5, 6, 7 },
	  { 0x02, 0xc9, 2, 3, 4, 5, 6, 0xff },
	  0x13f0cbd, "first" },
	{ { 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0, 1 },
	  { 0x11, 0, 0, 0, 0, 0, 0, 0x22 },
	  0x13f0cbe, "second"},
};
static const struct srp_io_unit unit = { 7, 2, two };

// A request with transaction id 1122334455667788.
static struct dm_mad request(uint8_t method, uint16_t attribute, uint32_t modifier)
{
	return (struct dm_mad){
		.base_version = 1,
		.mgmt_class = 6,
		.class_version = 1,
		.method = method,
		.status = {0xff,			  0xff		       }, // of a request: ignored
		.tid = {	 0x11,	       0x22,					   0x33, 0x44, 0x55, 0x66, 0x77, 0x88 },
		.attribute = { (uint8_t)(attribute >> 8),		  (uint8_t)attribute					     },
		.modifier = {			      (uint8_t)(modifier >> 24),		 (uint8_t)(modifier >> 16),
			      (uint8_t)(modifier >> 8), (uint8_t)modifier },
	};
}

static struct dm_mad answered(const struct srp_io_unit *u, const struct dm_mad *m)
{
	struct dm_mad reply;

	memset(&reply, 0xee, sizeof reply);
	assert_true(srp_dm_answer(u, m, sizeof *m, &reply));
	return reply;
}

static struct dm_mad get(uint16_t attribute, uint32_t modifier)
{
	struct dm_mad m = request(DM_GET, attribute, modifier);

	return answered(&unit, &m);
}

static unsigned status(const struct dm_mad *m)
{
	return (unsigned)m->status[0] << 8 | m->status[1];
}

static bool is_zero(const uint8_t *p, size_t len)
{
	while (len && !*p)
		p++, len--;
	return !len;
}

static void a_reply_repeats_the_header_of_its_request(void **state)
{
	static const uint8_t header[] = {
		1,    6,    1,	  0x81, 0,    0,    0,	  0,	// versions, class, GetResp, status
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // transaction id
		0,    0x12, 0,	  0,	0,    2,    0,	  0,	// attribute, modifier
	};
	struct dm_mad r = get(DM_SERVICE_ENTRIES, 0x00020000);

	assert_memory_equal(&r, header, sizeof header);
	assert_true(is_zero(r.rsvd3, sizeof r.rsvd3));
}

static void class_port_info_has_versions_and_response_time(void **state)
{
	static const uint8_t expected[] = { 1, 1, 0, 0, 0, 0, 0, 20 };
	struct dm_mad r = get(DM_CLASS_PORT_INFO, 0);

	assert_int_equal(status(&r), 0);
	assert_memory_equal(r.data, expected, sizeof expected);
	assert_true(is_zero(r.data + 8, DM_DATA_LEN - 8));
}

static void class_port_info_can_be_set_without_effect(void **state)
{
	struct dm_mad m = request(DM_SET, DM_CLASS_PORT_INFO, 0);
	struct dm_mad expected = get(DM_CLASS_PORT_INFO, 0);

	memset(m.data, 0x5a, sizeof m.data);
	struct dm_mad r = answered(&unit, &m);
	assert_memory_equal(&r, &expected, sizeof r);
}

static void io_unit_info_lists_the_slots(void **state)
{
	static const uint8_t expected[] = { 0, 7, 2, 0, 0x11, 0xff };
	struct dm_mad r = get(DM_IO_UNIT_INFO, 0);

	assert_int_equal(status(&r), 0);
	assert_memory_equal(r.data, expected, sizeof expected);
	assert_int_equal(r.data[131], 0xff);
	assert_true(is_zero(r.data + 132, DM_DATA_LEN - 132));
}

static void a_unit_may_have_no_controller_or_all(void **state)
{
	static struct srp_controller all[DM_SLOTS_MAX];
	struct srp_io_unit none = { 1, 0, NULL }, full = { 1, DM_SLOTS_MAX, all };
	struct dm_mad m = request(DM_GET, DM_IO_UNIT_INFO, 0);

	struct dm_mad r = answered(&none, &m);
	assert_int_equal(r.data[2], 0);
	assert_int_equal(r.data[4], 0xff);
	r = answered(&full, &m);
	assert_int_equal(r.data[2], 255);
	assert_int_equal(r.data[4], 0x11);
	assert_int_equal(r.data[131], 0x1f);
}

static void a_profile_describes_a_controller_of_srp(void **state)
{
	static const uint8_t expected[] = {
		0x11, 0,    0,	  0,	0,    0,    0,	  0x22, // guid
		0,    0,    0,	  0,	0,    0,    0,	  0,	// vendor, device
		0,    0,    0,	  0,				// version
		0,    0,    0,	  0,	0,    0,    0,	  0,	// subsystem
		0x01, 0x00, 0x60, 0x9e, 0x01, 0x08, 0x00, 0x01, // class, protocol
		0xff, 0xff, 0xff, 0xff, 0,    128,  0,	  16,	// connections, depths
		0,    0,    0x21, 0x00, 1,    0,    0,	  0,	// sizes
		0x2b, 0,    1,					// operations, services
	};
	struct dm_mad r = get(DM_CONTROLLER_PROFILE, 2);

	assert_int_equal(status(&r), 0);
	assert_memory_equal(r.data, expected, sizeof expected);
	assert_string_equal((const char *)r.data + 64, "second");
	assert_true(is_zero(r.data + 128, DM_DATA_LEN - 128));
}

static void a_service_has_the_name_and_id_that_srp_daemon_expects(void **state)
{
	static const uint8_t id[] = { 0, 0, 0, 0, 0x01, 0x3f, 0x0c, 0xbd };
	struct dm_mad r = get(DM_SERVICE_ENTRIES, 1 << 16);

	assert_int_equal(status(&r), 0);
	assert_string_equal((const char *)r.data, "SRP.T10:2001020304050607");
	assert_true(is_zero(r.data + 24, 16));
	assert_memory_equal(r.data + 40, id, sizeof id);
	assert_true(is_zero(r.data + 48, DM_DATA_LEN - 48));
	assert_int_equal(rnic_service_id(0x0cbd), two[0].service_id);
}

static void what_cannot_be_answered_has_its_status(void **state)
{
	static const struct {
		struct dm_mad m;
		unsigned status;
	} cases[] = {
		{{ .base_version = 2, 6, 1, DM_GET },  DM_BAD_VERSION},
		{ { .base_version = 1, 6, 2, DM_GET }, DM_BAD_VERSION},
		{ { .base_version = 1, 6, 1, 0x12 },   DM_BAD_METHOD },
		{ { .base_version = 1, 6, 1, 0 },	  DM_BAD_METHOD },
		{ { .base_version = 1, 6, 1, 0x7f },   DM_BAD_METHOD },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dm_mad r = answered(&unit, &cases[i].m);
		assert_int_equal(status(&r), cases[i].status);
		assert_int_equal(r.method, cases[i].m.method | 0x80);
		assert_true(is_zero(r.data, sizeof r.data));
	}
}

static void attributes_and_modifiers_are_checked(void **state)
{
	static const struct {
		uint8_t method;
		uint16_t attribute;
		uint32_t modifier;
		unsigned status;
	} cases[] = {
		{DM_GET,  0x0000, 0,	     DM_BAD_ATTRIBUTE},
		{ DM_GET, 0x0002, 0,	     DM_BAD_ATTRIBUTE}, // Notice
		{ DM_GET, 0x0020, 0,	     DM_BAD_ATTRIBUTE}, // DiagnosticTimeout
		{ DM_SET, 0x0010, 0,	     DM_BAD_ATTRIBUTE},
		{ DM_SET, 0x0011, 1,	     DM_BAD_ATTRIBUTE},
		{ DM_SET, 0x0012, 0x10000,   DM_BAD_ATTRIBUTE},
		{ DM_GET, 0x0001, 1,	     DM_BAD_FIELD	  },
		{ DM_GET, 0x0010, 1,	     DM_BAD_FIELD	  },
		{ DM_GET, 0x0011, 0,	     DM_BAD_FIELD	  },
		{ DM_GET, 0x0011, 3,	     DM_NO_CONTROLLER},
		{ DM_GET, 0x0011, 255,       DM_NO_CONTROLLER},
		{ DM_GET, 0x0011, 256,       DM_BAD_FIELD    },
		{ DM_GET, 0x0011, 0x10001,   DM_BAD_FIELD	},
		{ DM_GET, 0x0012, 0,	     DM_BAD_FIELD	  },
		{ DM_GET, 0x0012, 0x30000,   DM_NO_CONTROLLER},
		{ DM_GET, 0x0012, 0x1000000, DM_BAD_FIELD	  },
		{ DM_GET, 0x0012, 0x10001,   DM_BAD_FIELD	}, // first 1, last 0
		{ DM_GET, 0x0012, 0x10100,   DM_BAD_FIELD	}, // there is one
		{ DM_GET, 0x0012, 0x1ffff,   DM_BAD_FIELD	},
		{ DM_GET, 0x0012, 0x1ff00,   DM_BAD_FIELD	},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dm_mad m = request(cases[i].method, cases[i].attribute, cases[i].modifier);
		struct dm_mad r = answered(&unit, &m);
		assert_int_equal(status(&r), cases[i].status);
		assert_int_equal(r.method, 0x81);
		assert_true(is_zero(r.data, sizeof r.data));
	}
}

static void what_is_no_request_gets_no_reply(void **state)
{
	static const struct dm_mad cases[] = {
		{.base_version = 1,  6,	1, 0x81		}, // a response
		{ .base_version = 1, 6,	1, 0x87		},
		{ .base_version = 1, 6,	1, DM_SEND	   },
		{ .base_version = 1, 6,	1, DM_TRAP	   },
		{ .base_version = 1, 6,	1, DM_TRAP_REPRESS},
		{ .base_version = 1, 0x03, 1, DM_GET	     }, // another class
	};
	struct dm_mad m = request(DM_GET, DM_CLASS_PORT_INFO, 0), reply;
	uint8_t longer[DM_MAD_LEN + 1] = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_false(srp_dm_answer(&unit, &cases[i], sizeof cases[i], &reply));
	for (size_t len = 0; len < sizeof m; len++)
		assert_false(srp_dm_answer(&unit, &m, len, &reply));
	memcpy(longer, &m, sizeof m);
	assert_false(srp_dm_answer(&unit, longer, sizeof longer, &reply));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_repeats_the_header_of_its_request),
		cmocka_unit_test(class_port_info_has_versions_and_response_time),
		cmocka_unit_test(class_port_info_can_be_set_without_effect),
		cmocka_unit_test(io_unit_info_lists_the_slots),
		cmocka_unit_test(a_unit_may_have_no_controller_or_all),
		cmocka_unit_test(a_profile_describes_a_controller_of_srp),
		cmocka_unit_test(a_service_has_the_name_and_id_that_srp_daemon_expects),
		cmocka_unit_test(what_cannot_be_answered_has_its_status),
		cmocka_unit_test(attributes_and_modifiers_are_checked),
		cmocka_unit_test(what_is_no_request_gets_no_reply),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
