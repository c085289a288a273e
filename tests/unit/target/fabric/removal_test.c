// SPDX-License-Identifier: BSD-2-Clause
// Who may remove whose nexus, with sessions of a toy fabric on one worker.
#include "target/fabric/removal.h"

#include "target/fabric/toy_fabric.h"
#include "target/scsi/lun_map.h"

static struct worker *control, *data;
static struct toy toys[2]; // the one that removes, the one that is removed
static char own_acl[] = "toy.0", acl_for_all[] = "all";
static struct view_acl acls[2];
static struct fabric_ops other_fabric;
static struct nexus_name name;
static int result; // -2: not called
static struct nexus_removal *removal;

static void enter(struct toy *t, const char *initiator, const struct view_acl *acl, uint8_t port)
{
	struct nexus_info info = {
		.protocol = SCSI_PROTOCOL_SRP,
		.relative_port = 1,
		.transport_id = {4, port},
		.transport_id_len = 24
	};
	struct session *s = &t->session;
	struct lun_map *map = lun_map_new(0);
	memset(t, 0, sizeof *t);
	session_init(s, &toy_fabric, data);
	s->initiator = initiator;
	s->acl = acl;
	s->peer_addr = &t->addr;
	nexus_new(&s->nexus, &info, NULL, t, map);
	lun_map_put(map);
	s->state = SESSION_LIVE;
	session_enter(s);
}

static void on_done(void *arg, int bad)
{
	result = bad;
}

static void begin_removal(void *arg)
{
	removal = removal_begin(&toys[0].session, &name, 1, on_done, NULL);
}

static void cancel(void *arg)
{
	removal_cancel(removal);
}

static void free_victim(void *arg)
{
	struct session *s = &toys[1].session;
	nexus_free(s->nexus);
	s->nexus = NULL;
	removal_nexus_ended(s);
	session_leave(s);
}

static void free_remover(void *arg)
{
	struct session *s = &toys[0].session;
	assert_int_equal(s->removals_begun, 0);
	nexus_free(s->nexus);
	session_leave(s);
}

static void nothing(void *arg)
{
}

static void settle(void)
{
	for (int i = 0; i < 10; i++)
		worker_call(data, nothing, NULL);
}

static void cut(struct session *s, const char *why)
{
	snprintf(toy_of(s)->closed, sizeof toy_of(s)->closed, "%s", why);
}

static void remove_it(void)
{
	result = -2;
	worker_call(data, begin_removal, NULL);
	settle();
}

static void enter_same(void *arg)
{
	enter(&toys[0], "toy.0", &acls[0], 1);
	enter(&toys[1], "toy.0", &acls[0], 2);
}

static int begin_test(void **state)
{
	acls[0] = (struct view_acl){ .initiator = own_acl };
	acls[1] = (struct view_acl){ .initiator = acl_for_all };
	name = (struct nexus_name){
		1, 24, {4, 2}
	};
	worker_call(data, enter_same, NULL);
	return 0;
}

static int end_test(void **state)
{
	if (toys[1].session.nexus)
		worker_call(data, free_victim, NULL);
	settle();
	worker_call(data, free_remover, NULL);
	return 0;
}

static void assert_may(bool may)
{
	remove_it();
	assert_int_equal(result, may ? -2 : 0);
	assert_int_equal(*toys[1].closed != 0, may);
}

// ---- claims ----

static void it_is_over_when_the_nexus_is_freed(void **state)
{
	assert_may(true);
	worker_call(data, free_victim, NULL);
	settle();
	assert_int_equal(result, -1);
}

static void a_cancelled_one_tells_nobody(void **state)
{
	assert_may(true);
	worker_call(data, cancel, NULL);
	settle();
	assert_true(list_empty(&toys[1].session.removals));
	assert_int_equal(result, -2);
}

static void unknown_nexuses_are_gone_at_once(void **state)
{
	name.relative_port = 2;
	remove_it();
	assert_int_equal(result, -1);
	assert_string_equal(toys[1].closed, "");
}

static void a_claimed_name_does_not_remove_a_proven_one(void **state)
{
	toys[1].session.is_authenticated = true;
	assert_may(false);
	toys[0].session.is_authenticated = true;
	assert_may(true);
}

static void another_initiator_is_not_removed_but_by_the_same_acl(void **state)
{
	toys[0].session.initiator = "toy.1";
	toys[0].session.acl = &acls[1];
	assert_may(false);
	toys[1].session.acl = &acls[1];
	assert_may(true);
}

static void an_acl_for_all_does_not_prove_a_name(void **state)
{
	toys[0].session.acl = &acls[1];
	assert_may(false);
	toys[0].session.acl = NULL;
	assert_may(false);
	toys[1].session.acl = NULL;
	assert_may(true);
}

// Another fabric's, with another name that was proven.
static void make_stranger(const struct view_acl *acl)
{
	toys[1].session.fabric = &other_fabric;
	toys[1].session.initiator = "other.0";
	toys[1].session.is_authenticated = true;
	toys[1].session.acl = acl;
}

static void acls_of_one_host_are_one_initiator(void **state)
{
	make_stranger(&acls[1]);
	strcpy(acls[0].host, "web");
	assert_may(false);
	strcpy(acls[1].host, "database");
	assert_may(false);
	strcpy(acls[1].host, "web");
	assert_may(true);
}

static void acls_without_a_host_are_not(void **state)
{
	make_stranger(&acls[1]);
	assert_may(false);
}

static void nobody_without_an_acl_has_a_host(void **state)
{
	make_stranger(NULL);
	strcpy(acls[0].host, "web");
	assert_may(false);
}

static bool (*is_same)(const char *a, const char *b);

// For the look at all nexuses, but not when they are ended.
static bool is_same_only_once(const char *a, const char *b)
{
	toy_fabric.is_same_initiator = is_same;
	return true;
}

static void one_that_became_anothers_meanwhile_is_told(void **state)
{
	toys[0].session.acl = toys[1].session.acl = NULL;
	toys[1].session.initiator = "toy.1";
	is_same = toy_fabric.is_same_initiator;
	toy_fabric.is_same_initiator = is_same_only_once;
	assert_may(false);
}

static int begin(void **state)
{
	toy_fabric.cut = cut;
	other_fabric = toy_fabric;
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
		CLAIM(it_is_over_when_the_nexus_is_freed),
		CLAIM(a_cancelled_one_tells_nobody),
		CLAIM(unknown_nexuses_are_gone_at_once),
		CLAIM(a_claimed_name_does_not_remove_a_proven_one),
		CLAIM(another_initiator_is_not_removed_but_by_the_same_acl),
		CLAIM(an_acl_for_all_does_not_prove_a_name),
		CLAIM(acls_of_one_host_are_one_initiator),
		CLAIM(acls_without_a_host_are_not),
		CLAIM(nobody_without_an_acl_has_a_host),
		CLAIM(one_that_became_anothers_meanwhile_is_told),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
