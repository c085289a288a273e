// SPDX-License-Identifier: BSD-2-Clause
// A connect that came to a listener, from its worker on, on a device that does not exist: what of
// librdmacm, libibverbs and the provider's other files conn.c calls is below (the linker's --wrap).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rdma/verbs/priv.h"

static struct {
	int device_error;
	int rnic_error; // of the worker's share of the device
	uint8_t link_layer;
	unsigned rejected, destroyed, accepted;
	uint8_t tos; // as it was set by then
	bool is_set_before_accept;
} fake;
static struct ibv_context context;
static struct verbs_open is_open;
static struct verbs_device device = { .name = "fake0", .open = &is_open };
static struct verbs_rnic rnic = { .head = { .name = "fake0" }, .device = &device };
static struct verbs_worker vw;
static struct worker *w;

// --- the device ---

int __wrap_verbs_worker_get(struct verbs_worker **ret, struct worker *worker, struct err *e);
int __wrap_verbs_worker_get(struct verbs_worker **ret, struct worker *worker, struct err *e)
{
	vw.worker = worker;
	*ret = &vw;
	return 0;
}

int __wrap_verbs_worker_enter(struct verbs_worker *v, struct err *e);
int __wrap_verbs_worker_enter(struct verbs_worker *v, struct err *e)
{
	return 0;
}

void __wrap_verbs_worker_put(struct verbs_worker *v);
void __wrap_verbs_worker_put(struct verbs_worker *v)
{
}

int __wrap_verbs_device_get(struct verbs_device **ret, struct rdma_cm_id *id, struct err *e);
int __wrap_verbs_device_get(struct verbs_device **ret, struct rdma_cm_id *id, struct err *e)
{
	*ret = fake.device_error ? NULL : &device;
	if (fake.device_error)
		return err_set(e, fake.device_error, "fake0: no support for shared receive queues");
	return 0;
}

void __wrap_verbs_device_put(struct verbs_device *d);
void __wrap_verbs_device_put(struct verbs_device *d)
{
}

int __wrap_verbs_rnic_get(struct verbs_rnic **ret, struct verbs_worker *v, struct verbs_device *d,
			  struct err *e);
int __wrap_verbs_rnic_get(struct verbs_rnic **ret, struct verbs_worker *v, struct verbs_device *d,
			  struct err *e)
{
	assert_ptr_equal(d, &device);
	if (fake.rnic_error)
		return err_set(e, fake.rnic_error, "fake0: no memory for completions");
	*ret = &rnic;
	return 0;
}

void __wrap_verbs_rnic_put(struct verbs_rnic *r);
void __wrap_verbs_rnic_put(struct verbs_rnic *r)
{
}

int __wrap_verbs_qp_create(struct verbs_conn *c, struct err *e);
int __wrap_verbs_qp_create(struct verbs_conn *c, struct err *e)
{
	return 0;
}

void __wrap_verbs_listener_put(struct verbs_listener *l);
void __wrap_verbs_listener_put(struct verbs_listener *l)
{
}

bool __wrap_verbs_listener_is_freed(const struct verbs_listener *l);
bool __wrap_verbs_listener_is_freed(const struct verbs_listener *l)
{
	return false;
}

void __wrap_verbs_async_gone(struct verbs_conn *c);
void __wrap_verbs_async_gone(struct verbs_conn *c)
{
	free(c);
}

int __wrap_rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);
int __wrap_rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	return 0;
}

int __wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len);
int __wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	fake.rejected++;
	return 0;
}

int __wrap_rdma_destroy_id(struct rdma_cm_id *id);
int __wrap_rdma_destroy_id(struct rdma_cm_id *id)
{
	fake.destroyed++;
	return 0;
}

int __wrap_rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len);
int __wrap_rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
	assert_int_equal(level, RDMA_OPTION_ID);
	assert_int_equal(len, 1);
	if (name == RDMA_OPTION_ID_TOS)
		fake.tos = *(const uint8_t *)value;
	return 0;
}

int __wrap_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *p);
int __wrap_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	fake.is_set_before_accept = fake.tos;
	fake.accepted++;
	return 0;
}

int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask);
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	return 0;
}

int __wrap_ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *a);
int __wrap_ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *a)
{
	((struct ibv_port_attr *)(void *)a)->link_layer = fake.link_layer;
	return 0;
}

// --- the listener's owner ---

static struct {
	struct rnic_request *request;
	unsigned refused;
	struct err why;
	char peer[TCP_ADDR_TEXT], carrier[20];
} heard;
static struct rnic_listener_ops ops; // filled in setup
static struct rdma_cm_id id;

static void on_request(void *arg, struct rnic_request *q)
{
	heard.request = q;
	strcpy(heard.carrier, q->carrier);
	worker_stop(w);
}

static void on_refused(void *arg, const struct tcp_addr *peer, const struct err *why)
{
	assert_ptr_equal(worker_self(), w);
	heard.refused++;
	heard.why = *why;
	tcp_addr_format(peer, heard.peer);
	worker_stop(w);
}

static void arrive(void)
{
	struct verbs_cm_event ev = { .id = &id, .initiator_depth = 4, .responder_resources = 4 };

	verbs_conn_requested(NULL, w, &ops, NULL, &ev);
	if (!heard.refused && !heard.request)
		worker_run(w);
}

static void come(uint16_t pkey)
{
	struct tcp_addr peer, local;
	struct err e;

	assert_int_equal(tcp_addr_parse(&peer, "192.0.2.7", 4711, &e), 0);
	assert_int_equal(tcp_addr_parse(&local, "192.0.2.1", 3260, &e), 0);
	memset(&id, 0, sizeof id);
	id.verbs = &context;
	id.route.addr.addr.ibaddr.pkey = htons(pkey);
	memcpy(&id.route.addr.src_addr, &local.sa, sizeof local.in4);
	memcpy(&id.route.addr.dst_addr, &peer.sa, sizeof peer.in4);
	arrive();
}

static struct sockaddr_ib gid_ending_with(uint8_t last, uint64_t service)
{
	struct sockaddr_ib a = { .sib_family = AF_IB, .sib_sid = htobe64(service) };

	a.sib_addr.sib_raw[0] = 0xfd;
	a.sib_addr.sib_raw[15] = last;
	return a;
}

// To a service id, as the kernel's cma_save_ib_info() leaves the addresses.
static void come_by_service(uint16_t pkey)
{
	struct sockaddr_ib local = gid_ending_with(1, 0x00000000013f0cbd);
	struct sockaddr_ib peer = gid_ending_with(7, 0);

	memset(&id, 0, sizeof id);
	id.verbs = &context;
	id.route.addr.addr.ibaddr.pkey = htons(pkey);
	memcpy(&id.route.addr.src_storage, &local, sizeof local);
	memcpy(&id.route.addr.dst_storage, &peer, sizeof peer);
	arrive();
}

static int setup(void **state)
{
	struct worker_options o = { .name = "request", .cpu = -1 };
	struct err e;

	memset(&fake, 0, sizeof fake);
	memset(&heard, 0, sizeof heard);
	device.is_iwarp = false;
	list_init(&rnic.conns);
	rnic.head.limits = (struct rnic_limits){ .max_reads_out = 8, .max_reads_in = 8 };
	ops = (struct rnic_listener_ops){ .request = on_request, .refused = on_refused };
	return worker_new(&w, &o, &e);
}

static int teardown(void **state)
{
	worker_free(w);
	return 0;
}

// --- what happens to it ---

static void who_finds_no_share_of_the_device_is_refused_in_words(void **state)
{
	fake.rnic_error = -ENOMEM;
	come(0);
	assert_int_equal(heard.refused, 1);
	assert_null(heard.request);
	assert_int_equal(heard.why.code, -ENOMEM);
	assert_non_null(strstr(heard.why.text, "no memory for completions"));
	assert_string_equal(heard.peer, "192.0.2.7:4711");
	assert_int_equal(fake.rejected, 1);
	assert_int_equal(fake.destroyed, 1);
}

static void who_comes_by_a_device_without_use_is_refused_in_words(void **state)
{
	fake.device_error = -EOPNOTSUPP;
	come(0);
	assert_int_equal(heard.refused, 1);
	assert_null(heard.request);
	assert_int_equal(heard.why.code, -EOPNOTSUPP);
	assert_non_null(strstr(heard.why.text, "no support for shared receive queues"));
	assert_int_equal(fake.rejected, 1);
	assert_int_equal(fake.destroyed, 1);
}

static void a_listener_that_does_not_want_to_know_is_not_told(void **state)
{
	fake.rnic_error = -ENOMEM;
	ops.refused = NULL;
	worker_stop(w);
	come(0);
	assert_int_equal(fake.rejected, 1);
	assert_int_equal(fake.destroyed, 1);
}

static void the_carrier_is_the_devices_and_the_ports(void **state)
{
	static const struct {
		bool is_iwarp;
		uint8_t link_layer;
		const char *carrier;
	} rows[] = {
		{true,	IBV_LINK_LAYER_ETHERNET,	 "iWARP"	 },
		{ false, IBV_LINK_LAYER_ETHERNET,	  "RoCE"	 },
		{ false, IBV_LINK_LAYER_INFINIBAND, "InfiniBand"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		teardown(NULL);
		assert_int_equal(setup(NULL), 0);
		device.is_iwarp = rows[i].is_iwarp;
		fake.link_layer = rows[i].link_layer;
		come(0);
		assert_non_null(heard.request);
		assert_string_equal(heard.carrier, rows[i].carrier);
		rnic_reject(heard.request, NULL, 0);
		assert_int_equal(fake.rejected, 1);
	}
}

static const struct rnic_qp_ops qp_ops;

// The answer to a request in partition is, for who wants another or the same.
static int accept_in(uint16_t is, const struct rnic_qp_options *o, struct err *e)
{
	struct rnic_qp *qp;

	come(is);
	assert_non_null(heard.request);
	int r = rnic_accept(heard.request, &qp, o, &qp_ops, NULL, e);
	if (r == 0)
		rnic_qp_free(qp);
	return r;
}

static void a_path_in_another_partition_is_refused_in_words(void **state)
{
	static const struct rnic_qp_options o = { .pkey = 0x8001 };
	struct err e = { 0 };

	fake.link_layer = IBV_LINK_LAYER_INFINIBAND;
	assert_int_equal(accept_in(0xffff, &o, &e), -EADDRNOTAVAIL);
	assert_non_null(strstr(e.text, "partition 0xffff, not 0x8001"));
	assert_non_null(strstr(e.text, "192.0.2.7"));
	assert_int_equal(fake.rejected, 1);
	assert_int_equal(fake.accepted, 0);
}

static void a_request_to_a_service_id_has_gids_for_addresses(void **state)
{
	char text[TCP_ADDR_TEXT];

	come(0xffff);
	assert_false(heard.request->is_by_service);
	rnic_reject(heard.request, NULL, 0);
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
	fake.link_layer = IBV_LINK_LAYER_INFINIBAND;
	come_by_service(0xffff);
	assert_true(heard.request->is_by_service);
	assert_string_equal(heard.carrier, "InfiniBand");
	assert_string_equal(tcp_addr_format(&heard.request->peer_addr, text), "[fd00::7]:0");
	assert_string_equal(tcp_addr_format(&heard.request->local_addr, text), "[fd00::1]:3261");
	rnic_reject(heard.request, NULL, 0);
}

static void the_partition_of_a_request_to_a_service_id_is_checked(void **state)
{
	static const struct rnic_qp_options o = { .pkey = 0x8001 };
	struct rnic_qp *qp;
	struct err e = { 0 };

	come_by_service(0xffff);
	assert_int_equal(rnic_accept(heard.request, &qp, &o, &qp_ops, NULL, &e), -EADDRNOTAVAIL);
	assert_non_null(strstr(e.text, "partition 0xffff, not 0x8001 (use that pkey)"));
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
	come_by_service(0x8001);
	assert_int_equal(rnic_accept(heard.request, &qp, &o, &qp_ops, NULL, &e), 0);
	assert_int_equal(fake.accepted, 1);
	rnic_qp_free(qp);
}

// The upper bit says full or limited member, of the same partition.
static void the_partition_that_is_wanted_is_taken(void **state)
{
	static const struct rnic_qp_options o = { .pkey = 0x8001 };
	static const uint16_t same[] = { 0x8001, 0x0001 };
	struct err e = { 0 };

	fake.link_layer = IBV_LINK_LAYER_INFINIBAND;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		teardown(NULL);
		assert_int_equal(setup(NULL), 0);
		assert_int_equal(accept_in(same[i], &o, &e), 0);
		assert_int_equal(fake.accepted, 1);
	}
}

static void the_type_of_service_is_set_before_the_accept(void **state)
{
	static const struct rnic_qp_options o = { .tos = 0x68 };
	struct err e = { 0 };

	fake.link_layer = IBV_LINK_LAYER_ETHERNET;
	assert_int_equal(accept_in(0xffff, &o, &e), 0);
	assert_int_equal(fake.tos, 0x68);
	assert_true(fake.is_set_before_accept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_finds_no_share_of_the_device_is_refused_in_words),
		TEST(who_comes_by_a_device_without_use_is_refused_in_words),
		TEST(a_listener_that_does_not_want_to_know_is_not_told),
		TEST(the_carrier_is_the_devices_and_the_ports),
		TEST(a_path_in_another_partition_is_refused_in_words),
		TEST(the_partition_that_is_wanted_is_taken),
		TEST(a_request_to_a_service_id_has_gids_for_addresses),
		TEST(the_partition_of_a_request_to_a_service_id_is_checked),
		TEST(the_type_of_service_is_set_before_the_accept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
