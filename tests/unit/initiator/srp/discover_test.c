// SPDX-License-Identifier: BSD-2-Clause
// Discovery against a target that says what it likes: nothing is reported but a whole valid list.
#include "transport/srp/scripted_target.h"

#include <pthread.h>

#include "core/offload.h"
#include "initiator/srp/sync.h"

#define NAME "ib.0011223344556677aabbccddeeff0011"

static struct rig {
	struct worker *w;
	struct st_target target;
	struct srps_config config;
	uint8_t page[SRP_LIST_MAX];
	uint32_t len;	  // of the page that is written
	int32_t residual; // that is told; negative: the right one
	uint8_t status;
	bool hangs_up;
	unsigned found;
	bool is_cut;
	int res;
	struct err e;
} r;

static void found(void *arg, const struct srp_listed *one)
{
	char text[TCP_ADDR_TEXT];
	assert_int_equal(one->target[15], 0x11);
	assert_string_equal(tcp_addr_format(&one->portal, text), "192.0.2.1:3261");
	r.found++;
}

// The only command that may come.
static void check_command(const uint8_t *iu, uint32_t len)
{
	static const uint8_t cdb[] = { 0x12, 1, 0xc0, 0xff, 0xff, 0 };
	assert_int_equal(len, SRP_IU_MIN);
	assert_memory_equal(iu + 32, cdb, sizeof cdb);
}

static void answer(struct st_conn *c, const uint8_t *iu, uint32_t len)
{
	struct srp_desc d;
	struct srp_response rsp = { .credits = 1, .status = r.status, .tag = c->tag };
	if (iu[0] != SRP_CMD)
		return;
	check_command(iu, len);
	if (r.hangs_up) {
		st_hang_up(c);
		return;
	}
	st_desc(&d, iu, len, true);
	assert_int_equal(d.len, SRP_LIST_MAX);
	if (r.len)
		st_write(c, &d, r.page, r.len);
	rsp.in_residual = r.residual < 0 ? d.len - r.len : (uint32_t)r.residual;
	rsp.flags = rsp.in_residual ? SRP_DIUNDER : 0;
	st_respond(c, &rsp);
}

static int setup(void **state)
{
	memset(&r, 0, sizeof r);
	r.w = make_worker(false, 0);
	r.residual = -1;
	st_start(&r.target, r.w);
	r.target.iu = answer;
	srps_config_init(&r.config);
	r.config.connect_timeout = 60;
	r.config.portals[0] = *rnic_listener_addr(r.target.listener);
	r.config.portal_count = 1;
	r.config.providers[0] = &rnic_iwarp;
	r.config.provider_count = 1;
	return 0;
}

static int teardown(void **state)
{
	offload_shutdown();
	worker_free(r.w);
	return 0;
}

static void *discover(void *arg)
{
	r.res = srps_sync_discover(&r.config, found, NULL, &r.is_cut, &r.e);
	st_stop(&r.target);
	return NULL;
}

static void run(void)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, discover, NULL), 0);
	run_guarded(r.w);
	pthread_join(thread, NULL);
}

static void list(unsigned count, bool is_cut)
{
	struct srp_list_out out;
	struct tcp_addr a;
	assert_int_equal(tcp_addr_parse(&a, "192.0.2.1:3261", 0, NULL), 0);
	srp_list_begin(&out, r.page, sizeof r.page);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(srp_list_append(&out, NAME, &a), 0);
	r.len = srp_list_end(&out, is_cut);
}

static void refused(const char *why)
{
	run();
	assert_true(r.res < 0);
	assert_int_equal(r.found, 0);
	if (!strstr(r.e.text, why))
		fail_msg("'%s', not '%s'", r.e.text, why);
}

static void each_target_is_reported(void **state)
{
	list(3, false);
	run();
	assert_int_equal(r.res, 0);
	assert_int_equal(r.found, 3);
	assert_false(r.is_cut);
	assert_memory_equal(r.target.conns[0].login.target, "farblock\0\0\0\0\0\0\0", 16);
}

static void the_longest_list_is_taken(void **state)
{
	list(1200, true);
	run();
	assert_int_equal(r.res, 0);
	assert_int_equal(r.found, 1200);
	assert_true(r.is_cut);
}

static void an_empty_list_reports_nothing(void **state)
{
	list(0, false);
	run();
	assert_int_equal(r.res, 0);
	assert_int_equal(r.found, 0);
}

static void a_bad_last_entry_reports_nothing(void **state)
{
	list(3, false);
	r.page[r.len - 2] = '\x1b';
	refused("entry 3: invalid portal");
}

static void what_has_not_been_written_is_no_list(void **state)
{
	r.residual = 0;
	refused("not farblock's list");
}

static void a_list_longer_than_what_came_is_refused(void **state)
{
	list(3, false);
	r.residual = (int32_t)(SRP_LIST_MAX - r.len + 1);
	refused("of which");
}

static void a_list_of_another_version_is_refused(void **state)
{
	list(1, false);
	r.page[12] = 2;
	refused("version 2");
}

static void a_status_is_told(void **state)
{
	r.status = 0x18;
	refused("discovery: ");
}

static void a_target_that_hangs_up_is_no_answer(void **state)
{
	r.hangs_up = true;
	refused("");
}

static void a_target_without_discovery_is_told(void **state)
{
	r.target.rejects = SRP_REJ_NO_SUCH_PORT;
	refused("the target does not support discovery");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_target_is_reported),
		TEST(the_longest_list_is_taken),
		TEST(an_empty_list_reports_nothing),
		TEST(a_bad_last_entry_reports_nothing),
		TEST(what_has_not_been_written_is_no_list),
		TEST(a_list_longer_than_what_came_is_refused),
		TEST(a_list_of_another_version_is_refused),
		TEST(a_status_is_told),
		TEST(a_target_that_hangs_up_is_no_answer),
		TEST(a_target_without_discovery_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
