// SPDX-License-Identifier: BSD-2-Clause
// Listening on a service id, with a connection manager that is the test's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <string.h>

#include "transport/rdma/verbs/priv.h"

static struct {
	int create_error, bind_error, listen_error;
	enum rdma_port_space ps;
	struct sockaddr_ib bound;
	int backlog;
	unsigned listening, destroyed;
} cm;
static struct rdma_cm_id the_id;
static struct rdma_event_channel channel;

static int failing(int error)
{
	errno = error;
	return error ? -1 : 0;
}

static int fake_create(struct rdma_event_channel *ch, struct rdma_cm_id **ret, void *context,
		       enum rdma_port_space ps)
{
	assert_ptr_equal(ch, &channel);
	assert_ptr_equal(context, &cm);
	cm.ps = ps;
	*ret = &the_id;
	return failing(cm.create_error);
}

static int fake_bind(struct rdma_cm_id *id, struct sockaddr *addr)
{
	assert_int_equal(addr->sa_family, AF_IB);
	memcpy(&cm.bound, addr, sizeof cm.bound);
	return failing(cm.bind_error);
}

static int fake_listen(struct rdma_cm_id *id, int backlog)
{
	cm.backlog = backlog;
	cm.listening += !cm.listen_error;
	return failing(cm.listen_error);
}

static int fake_destroy(struct rdma_cm_id *id)
{
	assert_ptr_equal(id, &the_id);
	cm.destroyed++;
	errno = EIO;
	return 0;
}

static const struct verbs_cm_ops fake = {
	.create_id = fake_create,
	.bind_addr = fake_bind,
	.listen = fake_listen,
	.destroy_id = fake_destroy,
};

static int setup(void **state)
{
	memset(&cm, 0, sizeof cm);
	return 0;
}

static int open_3261(struct err *e)
{
	struct rdma_cm_id *id = NULL;
	int r = verbs_service_open(&fake, &id, &channel, &cm, 3261, 7, e);

	assert_ptr_equal(id, r == 0 ? &the_id : NULL);
	return r;
}

static void the_service_id_of_a_port_is_bound_on_every_infiniband_port(void **state)
{
	struct err e = { 0 };

	assert_int_equal(open_3261(&e), 0);
	assert_int_equal(cm.ps, RDMA_PS_IB);
	assert_int_equal(be64toh(cm.bound.sib_sid), 0x00000000013f0cbd);
	assert_int_equal(cm.bound.sib_sid_mask, UINT64_MAX);
	assert_true(ib_addr_any(&cm.bound.sib_addr));
	assert_int_equal(cm.bound.sib_pkey, 0);
	assert_int_equal(cm.backlog, 7);
	assert_int_equal(cm.listening, 1);
	assert_int_equal(cm.destroyed, 0);
}

static void a_failure_leaves_nothing_and_says_what_is_missing(void **state)
{
	static const struct {
		int create, bind, listen, code;
		const char *text;
	} rows[] = {
		{ENODEV, 0,	     0,	-ENODEV,	 "no RDMA device"	  },
		{ 0,     EINVAL,	     0,	-EOPNOTSUPP, "does not support AF_IB"},
		{ 0,     EAFNOSUPPORT,  0,      -EOPNOTSUPP, "does not support AF_IB"},
		{ 0,     EADDRINUSE,	 0,	    -EADDRINUSE, "already in use"	  },
		{ 0,     EADDRNOTAVAIL, 0,      -EADDRINUSE, "already in use"	     },
		{ 0,     0,		EACCES, -EACCES,	 "Permission denied"     },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e = { 0 };
		setup(NULL);
		cm.create_error = rows[i].create;
		cm.bind_error = rows[i].bind;
		cm.listen_error = rows[i].listen;
		assert_int_equal(open_3261(&e), rows[i].code);
		assert_non_null(strstr(e.text, rows[i].text));
		assert_non_null(strstr(e.text, "service id 00000000013f0cbd"));
		assert_int_equal(cm.destroyed, !rows[i].create);
	}
}

static void a_gid_is_an_ipv6_address_and_the_port_that_of_the_service(void **state)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB, .sib_sid = htobe64(0x00000000013f0cbd) };
	struct tcp_addr ip = {
		.in4 = {.sin_family = AF_INET, .sin_port = htons(3261)}
	};
	struct tcp_addr a;
	char text[TCP_ADDR_TEXT];

	ib.sib_addr.sib_raw[0] = 0xfe;
	ib.sib_addr.sib_raw[1] = 0x80;
	ib.sib_addr.sib_raw[15] = 7;
	verbs_addr_read(&a, (struct sockaddr *)&ib);
	assert_string_equal(tcp_addr_format(&a, text), "[fe80::7]:3261");
	verbs_addr_read(&a, &ip.sa);
	assert_string_equal(tcp_addr_format(&a, text), "0.0.0.0:3261");
}

#define CASE(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_service_id_of_a_port_is_bound_on_every_infiniband_port),
		CASE(a_failure_leaves_nothing_and_says_what_is_missing),
		CASE(a_gid_is_an_ipv6_address_and_the_port_that_of_the_service),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
