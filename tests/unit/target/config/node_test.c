// SPDX-License-Identifier: BSD-2-Clause
// target/config/node.c, names.c: paths, order, names.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/config/tree/names.h"
#include "target/config/tree/tree.h"
#include "transport/iscsi/name.h"
#include "target/iscsi_fabric.h"

static const struct node_class class = { .name = "test" };

static struct node *add(struct map *m, struct node *parent, const char *name)
{
	struct node *n = calloc(1, sizeof *n);
	node_init(n, &class, name);
	if (parent)
		assert_int_equal(node_attach(m, parent, n), 0);
	return n;
}

static void drop(struct map *m, struct node *n)
{
	while (!list_empty(&n->children))
		drop(m, list_entry(n->children.next, struct node, link));
	node_detach(m, n);
	node_done(n);
	free(n);
}

static void numbers_at_the_end_sort_by_value(void **state)
{
	static const char *const wanted[] = { "a", "lun2", "lun10", "lun10x", "lux" };
	struct map m = { 0 };
	struct node *root = add(&m, NULL, "");
	static const char *const given[] = { "lux", "lun10", "lun10x", "a", "lun2" };
	for (int i = 0; i < 5; i++)
		add(&m, root, given[i]);
	struct node **list = node_sorted(root);
	for (int i = 0; i < 5; i++)
		assert_string_equal(list[i]->name, wanted[i]);
	free(list);
	drop(&m, root);
	map_done(&m);
}

static void a_path_leads_to_its_node_and_back(void **state)
{
	struct map m = { 0 };
	char path[64];
	struct node *root = add(&m, NULL, ""), *leaf = add(&m, add(&m, root, "a"), "b:c,d");
	assert_ptr_equal(node_at(&m, root, "/a/b:c,d"), leaf);
	assert_ptr_equal(node_at(&m, root, "/a//b:c,d/"), leaf);
	assert_ptr_equal(node_at(&m, root, "/"), root);
	assert_null(node_at(&m, root, "/a/x"));
	node_path(leaf, path, sizeof path);
	assert_string_equal(path, "/a/b:c,d");
	drop(&m, root);
	map_done(&m);
}

static void a_path_that_does_not_fit_is_cut(void **state)
{
	struct map m = { 0 };
	char path[6];
	struct node *root = add(&m, NULL, ""), *leaf = add(&m, add(&m, root, "aaaa"), "bbbb");
	assert_int_equal(node_path(leaf, path, sizeof path), 5);
	assert_string_equal(path, "/aaaa");
	drop(&m, root);
	map_done(&m);
}

static void numbers_come_with_and_without_their_prefix(void **state)
{
	assert_int_equal(number_of("lun12", "lun", 100), 12);
	assert_int_equal(number_of("12", "lun", 100), 12);
	static const char *const bad[] = { "",	  "lun",	"x12",	   "12x", "-1",
					   "101", "9999999999", "lunlun1", " 1" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(number_of(bad[i], "lun", 100), -1);
}

static void storage_names_have_no_slash_nor_blank(void **state)
{
	assert_int_equal(name_check_storage("web01-root_1.x", NULL), 0);
	static const char *const bad[] = { "", "a/b", "a b", "a\tb", "a\nb", ".", ".." };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(name_check_storage(bad[i], NULL), -EINVAL);
}

static void storage_names_have_no_control_characters(void **state)
{
	static const char *const bad[] = { "a\x1b", "a\x7f", "a\xc2\x9b", "a\xe2\x80\xae",
					   "a\xff" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(name_check_storage(bad[i], NULL), -EINVAL);
	assert_int_equal(name_check_storage("\xc3\xa4\xe2\x82\xac", NULL), 0);
}

static void made_up_names_are_valid_and_differ(void **state)
{
	char a[40], b[40], iqn[224], other[224], normal[224];
	name_new_uuid(a);
	name_new_uuid(b);
	assert_int_equal(name_check_wwn(a, NULL), 0);
	assert_string_not_equal(a, b);
	name_new_iqn(iqn);
	name_new_iqn(other);
	assert_string_not_equal(iqn, other);
	assert_int_equal(name_iscsi(iqn, true, normal, NULL), 0);
	assert_string_equal(iqn, normal);
}

static void names_that_are_none_are_refused(void **state)
{
	char out[224];
	static const char *const bad[] = { "", "disk1", "iqn.2025-01.org.x:a/b",
					   "iqn.2025-01.org a" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err e = { 0 };
		assert_int_equal(name_iscsi(bad[i], false, out, &e), -EINVAL);
		assert_non_null(strstr(e.text, "WWN not valid as: iqn, naa, eui"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_at_the_end_sort_by_value),
		cmocka_unit_test(a_path_leads_to_its_node_and_back),
		cmocka_unit_test(a_path_that_does_not_fit_is_cut),
		cmocka_unit_test(numbers_come_with_and_without_their_prefix),
		cmocka_unit_test(storage_names_have_no_slash_nor_blank),
		cmocka_unit_test(storage_names_have_no_control_characters),
		cmocka_unit_test(made_up_names_are_valid_and_differ),
		cmocka_unit_test(names_that_are_none_are_refused),
	};
	use_iscsi();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
