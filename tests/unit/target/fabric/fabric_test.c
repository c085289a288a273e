// SPDX-License-Identifier: BSD-2-Clause
// The border of fabrics, with one that is not iSCSI: registered, listed, dropped, asked to log out,
// counted, refused, published to; absent slots refuse.
#include "target/fabric/toy_fabric.h"

#include <errno.h>
#include <unistd.h>

#include "target/fabric/portal.h"
#include "target/fabric/session_ends.h"
#include "target/fabric/sessions.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus_ops.h"

static struct worker *control, *data;
static struct toy toys[2]; // of the initiators toy.0 and toy.1
static struct view_target *target;

// ---- a fabric with two sessions ----

// With a portal group and ACLs: toy.0 has one of its own, toy.1 needs the one for all.
static void publish(bool has_all)
{
	static const char *const names[] = { "all", "toy.0" };
	struct view *v = view_new(&toy_fabric, 1);
	target = v->targets[0] = view_target_new(TOY_TARGET, 1);
	struct view_tpg *tpg = &target->tpgs[0];
	tpg->tag = 3;
	tpg->is_enabled = true;
	tpg->demo_map = lun_map_new(0);
	tpg->acls = calloc(2, sizeof *tpg->acls);
	tpg->acl_count = 1 + has_all;
	for (unsigned i = 0; i < tpg->acl_count; i++) {
		tpg->acls[i].initiator = strdup(names[i + !has_all]);
		tpg->acls[i].map = lun_map_new(0);
		tpg->acls[i].own = view_own_new(4);
	}
	view_publish(v);
}

static void enter(struct toy *t, const char *initiator)
{
	struct nexus_info info = { .protocol = SCSI_PROTOCOL_SRP,
				   .initiator_port = initiator,
				   .initiator_name = initiator,
				   .target_name = TOY_TARGET,
				   .target_port = TOY_TARGET,
				   .relative_port = 1 };
	struct session *s = &t->session;
	memset(t, 0, sizeof *t);
	session_init(s, &toy_fabric, data);
	s->initiator = initiator;
	s->target_name = TOY_TARGET;
	s->transport = toy_transports[0];
	s->peer = "192.0.2.1:9";
	s->peer_addr = &t->addr;
	s->target = view_target_get(target);
	s->tpg = &target->tpgs[0];
	s->acl = toy_fabric.find_acl(s->tpg, s);
	nexus_new(&s->nexus, &info, &(struct nexus_ops){ 0 }, t, s->acl->map);
	s->state = SESSION_LIVE;
	session_enter(s);
}

static void enter_both(void *arg)
{
	enter(&toys[0], "toy.0");
	enter(&toys[1], "toy.1");
}

static void leave_both(void *arg)
{
	toy_close(&toys[0].session, "the test ends");
	toy_close(&toys[1].session, "the test ends");
}

static void nothing(void *arg)
{
}

// What is on its way to the worker has run.
static void settle(void)
{
	worker_call(data, nothing, NULL);
}

static int begin_test(void **state)
{
	publish(true);
	worker_call(data, enter_both, NULL);
	return 0;
}

static int end_test(void **state)
{
	worker_call(data, leave_both, NULL);
	settle();
	return 0;
}

// ---- claims ----

static void sessions_are_listed_with_what_only_their_protocol_knows(void **state)
{
	struct session_info *list;
	unsigned count;
	assert_int_equal(sessions_list(&list, &count), 0);
	assert_int_equal(count, 2);
	assert_true(list[1].id > list[0].id);
	assert_string_equal(list[1].initiator, "toy.1");
	assert_string_equal(list[1].transport, "Toy");
	assert_int_equal(list[1].tpg, 3);
	assert_int_equal(list[1].window, 7);
	assert_string_equal(list[1].identity[0].name, "channels");
	assert_int_equal(list[1].identity[0].number, 2);
	assert_string_equal(list[1].negotiated[0].text, "red");
	free(list);
}

static void a_dropped_session_ends_for_the_table_of_ends_too(void **state)
{
	struct session_end end;
	struct err e;
	bool asked;
	uint64_t id = toys[0].session.id;
	assert_int_equal(session_drop(id, 0, &asked, &e), 0);
	settle();
	assert_false(asked);
	assert_string_equal(toys[0].closed, "dropped by the administrator");
	assert_int_equal(sessions_ended(&end, 1), 1);
	assert_int_equal(end.id, id);
	assert_int_equal(session_drop(id, 0, &asked, &e), -ENOENT);
}

static void a_drained_session_is_asked_to_log_out(void **state)
{
	struct err e;
	bool asked;
	assert_int_equal(session_drop(toys[1].session.id, 5, &asked, &e), 0);
	assert_true(asked);
	assert_int_equal(toys[1].asked_s, 5);
	assert_string_equal(toys[1].closed, "");
}

static void sessions_are_counted_by_target_group_and_acl(void **state)
{
	assert_int_equal(sessions_count(NULL, -1, NULL), 2);
	assert_int_equal(sessions_count(TOY_TARGET, 3, "all"), 1);
	assert_int_equal(sessions_count(TOY_TARGET, 4, NULL), 0);
}

static void a_session_gets_the_lun_map_that_is_published(void **state)
{
	publish(true);
	settle();
	assert_ptr_equal(toys[0].session.target, target);
	assert_ptr_equal(toys[0].session.nexus->map, view_find_acl(target->tpgs, "toy.0")->map);
	assert_int_equal(toys[0].switches, 1);
	assert_int_equal(toys[0].holds, 0);
}

static void a_session_ends_with_its_acl(void **state)
{
	publish(false);
	settle();
	assert_string_equal(toys[0].closed, "");
	assert_string_equal(toys[1].closed, "the initiator's ACL was deleted");
}

static void a_refused_connection_has_the_status_of_its_fabric(void **state)
{
	struct login_refusal r;
	struct tcp_addr peer;
	assert_int_equal(tcp_addr_parse(&peer, "192.0.2.7:1", 0, NULL), 0);
	portal_refused(&toy_fabric, &peer, "the toy is broken");
	assert_int_equal(login_refusals(&r, 1), 1);
	assert_int_equal(r.status, 0x00010001);
	assert_string_equal(r.peer, "192.0.2.7:1");
	assert_string_equal(r.reason, "the toy is broken");
}

static void absent_slots_refuse(void **state)
{
	char name[FABRIC_NAME_SIZE];
	struct fabric_counters k;
	struct err e;
	assert_int_equal(toy_fabric.name_target("x", true, name, &e), -EINVAL);
	assert_int_equal(toy_fabric.name_initiator("x", name, &e), -EINVAL);
	assert_null(toy_fabric.transports->name);
	fabric_counters_sum(&k);
	assert_int_equal(k.logins_ok, 0);
	assert_ptr_equal(fabric_find("toy"), &toy_fabric);
	assert_null(fabric_find("iscsi"));
}

static int begin(void **state)
{
	return toy_begin(&control, &data, 1);
}

static int end(void **state)
{
	toy_finish(control, &data, 1);
	return 0;
}

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, begin_test, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(sessions_are_listed_with_what_only_their_protocol_knows),
		CLAIM(a_dropped_session_ends_for_the_table_of_ends_too),
		CLAIM(a_drained_session_is_asked_to_log_out),
		CLAIM(sessions_are_counted_by_target_group_and_acl),
		CLAIM(a_session_gets_the_lun_map_that_is_published),
		CLAIM(a_session_ends_with_its_acl),
		CLAIM(a_refused_connection_has_the_status_of_its_fabric),
		CLAIM(absent_slots_refuse),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
