// SPDX-License-Identifier: BSD-2-Clause
// Logins to a service id of InfiniBand, from the request to the answer, by a provider of RDMA in
// memory: the layout of IB-CM, GIDs as addresses, the wait for an older session.
#include "target/srp/view_rig.h"

#include "core/log.h"
#include "target/fabric/fabric.h"
#include "target/fabric/portal.h"
#include "target/fabric/refusals.h"
#include "target/fabric/sessions.h"
#include "target/scsi/lun_map.h"
#include "transport/rdma/fake_rnic.h"
#include "transport/srp/login.h"

enum { IB_PRIVATE_LEN = 92 }; // what the kernel passes on of a request
#define INITIATOR "ib.0000000000000000111122223333444f"

static struct worker *control, *data;
static struct rnic_provider provider;
static struct rnic_listener the_listener = { .provider = &provider };
static const struct rnic_listener_ops *heard_by;
static void *heard_arg;
static struct portal *portal;
static uint8_t private_data[IB_PRIVATE_LEN];
static struct tcp_addr any;

static int fake_listen(struct rnic_listener **ret, struct worker *w, const struct tcp_addr *addr,
		       const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	heard_by = ops;
	heard_arg = arg;
	*ret = &the_listener;
	return 0;
}

static int fake_listen_service(struct rnic_listener **ret, struct worker *w, uint16_t port,
			       const struct rnic_listener_ops *ops, void *arg, struct err *e)
{
	return fake_listen(ret, w, NULL, ops, arg, e);
}

static void fake_listener_free(struct rnic_listener *l)
{
}

static struct view *view_of(const char *acl)
{
	struct view *v = view_new(&srp_fabric, 1);
	v->targets[0] =
		make_target(TARGET_A, "0.0.0.0", PORTAL_RDMA, (const char *const[]){ acl, NULL });
	v->targets[0]->tpgs[0].acls[0].map = lun_map_new(0);
	return v;
}

static void publish(const char *acl)
{
	view_publish(view_of(acl));
}

static void request_run(void *arg)
{
	heard_by->request(heard_arg, &fake.request);
}

// Nothing of it is left when the worker has handled its messages.
static void end_run(void *arg)
{
	if (fake.qp.is_established)
		fake_end(-ECONNRESET);
}

static void nothing_more(void *arg)
{
}

static void log_in(bool is_by_service)
{
	struct srp_login l = { .tag = 7, .it_iu_len = 260, .formats = 6 };
	id_of(TARGET_A, l.target);
	id_of(INITIATOR, l.initiator);
	memset(private_data, 0, sizeof private_data);
	srp_login_put(private_data, &l);
	fake_init(data);
	fake.request.provider = fake.rnic.provider = &provider;
	fake.request.carrier = "InfiniBand";
	fake.request.private_data = private_data;
	fake.request.private_len = sizeof private_data;
	fake.request.is_by_service = is_by_service;
	fake.request.local_addr = address("[fd00::1]:3261");
	fake.request.peer_addr = address("fd00::7");
	worker_call(data, request_run, NULL);
}

static int end_login(void **state)
{
	worker_call(data, end_run, NULL);
	for (int i = 0; i < 4; i++)
		worker_call(data, nothing_more, NULL);
	return 0;
}

static void the_login_of_ib_cm_is_answered_in_the_private_data(void **state)
{
	struct srp_accept a;
	struct err e;
	publish(INITIATOR);
	log_in(true);
	assert_int_equal(fake.accepts, 1);
	assert_int_equal(srp_accept_parse(&a, fake.answer, fake.answer_len, &e), 0);
	assert_int_equal(a.tag, 7);
	assert_int_equal(a.it_iu_len, 8448);
	assert_int_equal(sessions_count(TARGET_A, -1, NULL), 1);
}

static void an_acl_of_the_gid_admits_its_port(void **state)
{
	publish("fd00::7");
	log_in(true);
	assert_int_equal(fake.accepts, 1);
	end_login(NULL);
	publish("fd00::8");
	log_in(true);
	assert_int_equal(fake.accepts, 0);
	assert_int_equal(fake.rejects, 1);
}

static void by_rdma_cm_that_layout_is_refused(void **state)
{
	enum srp_rej_reason reason;
	struct err e;
	publish(INITIATOR);
	log_in(false);
	assert_int_equal(fake.accepts, 0);
	assert_int_equal(fake.rejects, 1);
	assert_int_equal(srp_reject_parse(&reason, fake.answer, fake.answer_len, &e), 0);
}

static struct rnic_request again; // of the same initiator

static void request_again(void *arg)
{
	again = fake.request;
	heard_by->request(heard_arg, &again);
}

// The older session ends when the configuration has become v.
static void log_in_again_and_publish(struct view *v)
{
	publish(INITIATOR);
	log_in(true);
	worker_call(data, request_again, NULL);
	worker_call(data, nothing_more, NULL);
	assert_int_equal(fake.closes, 1);
	assert_int_equal(fake.accepts + fake.rejects, 1);
	view_publish(v);
	end_login(NULL);
}

static void assert_refused(enum srp_rej_reason reason, const char *why)
{
	struct login_refusal refusal;
	enum srp_rej_reason got;
	struct err e;
	assert_int_equal(fake.accepts, 1);
	assert_int_equal(fake.rejects, 1);
	assert_int_equal(srp_reject_parse(&got, fake.answer, fake.answer_len, &e), 0);
	assert_int_equal(got, reason);
	assert_int_equal(login_refusals(&refusal, 1), 1);
	assert_non_null(strstr(refusal.reason, why));
}

static void a_login_that_has_waited_follows_the_older_session(void **state)
{
	log_in_again_and_publish(view_of(INITIATOR));
	assert_int_equal(fake.accepts, 2);
	assert_int_equal(sessions_count(TARGET_A, -1, NULL), 1);
}

static void a_login_that_has_waited_needs_an_acl_then(void **state)
{
	log_in_again_and_publish(view_of("fd00::8"));
	assert_refused(SRP_REJ_NO_SUCH_PORT, "no ACL for this initiator");
}

static void a_login_that_has_waited_needs_an_enabled_target_then(void **state)
{
	struct view *v = view_of(INITIATOR);
	v->targets[0]->tpgs[0].is_enabled = false;
	log_in_again_and_publish(v);
	assert_refused(SRP_REJ_INSUFFICIENT_RESOURCES, "the target is disabled");
}

static void a_login_that_has_waited_needs_the_target_then(void **state)
{
	log_in_again_and_publish(view_new(&srp_fabric, 0));
	assert_refused(SRP_REJ_NO_SUCH_PORT, "target");
}

static int begin(void **state)
{
	static struct fabric_ops *const table[] = { &srp_fabric, NULL };
	struct worker_options co = { .name = "control", .cpu = -1, .is_control = true };
	struct worker_options wo = { .name = "data", .cpu = -1 };
	struct err e;
	log_threshold = LOG_LVL_ERROR;
	provider = fake_provider;
	provider.listen = fake_listen;
	provider.listen_service = fake_listen_service;
	provider.listener_free = fake_listener_free;
	srp_fabric.devices = &provider;
	any = address("0.0.0.0");
	fabrics_use(table);
	return worker_new(&control, &co, &e) || worker_new(&data, &wo, &e) ||
	       worker_start(data, &e) || fabrics_start(control, &e) ||
	       portal_open(&portal, &srp_fabric, control, &any, PORTAL_RDMA, &e);
}

static int end(void **state)
{
	portal_close(portal, PORTAL_RDMA);
	fabrics_stop();
	worker_free(data);
	worker_free(control);
	return 0;
}

#define CLAIM(f) cmocka_unit_test_teardown(f, end_login)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(the_login_of_ib_cm_is_answered_in_the_private_data),
		CLAIM(an_acl_of_the_gid_admits_its_port),
		CLAIM(by_rdma_cm_that_layout_is_refused),
		CLAIM(a_login_that_has_waited_follows_the_older_session),
		CLAIM(a_login_that_has_waited_needs_an_acl_then),
		CLAIM(a_login_that_has_waited_needs_an_enabled_target_then),
		CLAIM(a_login_that_has_waited_needs_the_target_then),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
