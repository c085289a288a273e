// SPDX-License-Identifier: BSD-2-Clause
// The tree carries the settings of a fabric by its table alone: here /iscsi is another fabric,
// whose groups have a colour and whose ACLs have a shade.
#include "target/config/config_bench.h"
#include "target/fabric/toy_fabric.h"
#include "target/fabric/view.h"

#define GROUP "/iscsi/toy.box/tpg1"

struct settings {
	uint32_t colour, is_shared;
};

#define ROW(field, number)                                                                         \
	{                                                                                          \
		.name = #field, .type = ATTR_UINT, .max = 9, .default_text = #number,              \
		.offset = offsetof(struct settings, field), .help = "for the test"                 \
	}
static const struct attr_row rows[] = { ROW(colour, 1), ROW(is_shared, 0), { 0 } };

static int any_name(const char *in, bool is_new, char out[FABRIC_NAME_SIZE], struct err *e)
{
	snprintf(out, FABRIC_NAME_SIZE, "%s", in);
	return 0;
}

static int any_initiator(const char *in, char out[FABRIC_NAME_SIZE], struct err *e)
{
	return any_name(in, false, out, e);
}

static int refuse_nine(const void *own, struct err *e)
{
	const struct settings *s = own;
	return s->colour == 9 ? err_set(e, -EINVAL, "colour: 9 is not a colour") : 0;
}

static void access_of(const void *own, struct fabric_access *ret)
{
	*ret = (struct fabric_access){ .is_open = ((const struct settings *)own)->is_shared };
}

static void use_toy(void)
{
	static struct fabric_ops fabric;
	static struct fabric_ops *const fabrics[] = { &fabric, NULL };
	fabric = toy_fabric;
	fabric.name = "iscsi";
	fabric.name_target = any_name;
	fabric.name_initiator = any_initiator;
	fabric.group = (struct fabric_settings){ rows, sizeof(struct settings), NULL, refuse_nine };
	fabric.acl = (struct fabric_settings){ rows, sizeof(struct settings), NULL, NULL };
	fabric.access = access_of;
	fabrics_use(fabrics);
}

static int setup_toy(void **state)
{
	bench_fabrics = use_toy;
	if (setup(state) ||
	    run("/", "set", "{\"group\": \"global\", \"auto_add_default_portal\": \"false\"}") ||
	    run("/iscsi", "create", "{\"wwn\": \"toy.box\"}"))
		return -1;
	return run(GROUP "/acls", "create", "{\"wwn\": \"bear\"}");
}

static const struct view_tpg *published(struct view **view)
{
	*view = view_current(fabric_find("iscsi"));
	return &(*view)->targets[0]->tpgs[0];
}

static void its_settings_are_published(void **state)
{
	struct view *view;
	assert_int_equal(set(GROUP, "attribute", "\"colour\": 4"), 0);
	assert_int_equal(set(GROUP "/acls/bear", "attribute", "\"colour\": 5"), 0);
	const struct view_tpg *tpg = published(&view);
	assert_int_equal(((const struct settings *)tpg->own)->colour, 4);
	assert_int_equal(((const struct settings *)tpg->acls[0].own)->colour, 5);
	view_put(view);
}

static void they_say_who_may_log_in(void **state)
{
	struct view *view;
	assert_false(published(&view)->is_open);
	view_put(view);
	assert_int_equal(set(GROUP, "attribute", "\"is_shared\": 1"), 0);
	assert_true(published(&view)->is_open);
	view_put(view);
}

static void its_check_refuses(void **state)
{
	assert_int_equal(set(GROUP, "attribute", "\"colour\": 9"), -EINVAL);
	assert_string_equal(error.text, "colour: 9 is not a colour");
	assert_string_equal(get(GROUP, "attribute", "colour"), "1");
}

static void they_are_saved_and_read(void **state)
{
	assert_int_equal(set(GROUP, "attribute", "\"colour\": 7"), 0);
	assert_int_equal(set(GROUP "/acls/bear", "attribute", "\"colour\": 8"), 0);
	restart();
	assert_string_equal(get(GROUP, "attribute", "colour"), "7");
	assert_string_equal(get(GROUP "/acls/bear", "attribute", "colour"), "8");
}

#define S(f) cmocka_unit_test_setup_teardown(f, setup_toy, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S(its_settings_are_published),
		S(they_say_who_may_log_in),
		S(its_check_refuses),
		S(they_are_saved_and_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
