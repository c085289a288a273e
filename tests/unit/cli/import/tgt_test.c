// SPDX-License-Identifier: BSD-2-Clause
// targets.conf of tgt: what tgt-admin would make of it is what is served, or it is told.
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/import_bench.h"

#define TPG  "targets/0/tpgs/0"
#define PATH "/iscsi/iqn.2019-04.org.example:t/tpg1"

// Lines of a target.
static void take(const char *lines)
{
	char text[2000];
	snprintf(text, sizeof text, "<target iqn.2019-04.org.example:t>\n%s</target>\n", lines);
	take_file(&import_kind_tgt, "f.conf", text);
	if (!doc)
		fail_msg("%s", error.text);
}

static void disks_are_numbered_by_path_as_tgt_admin_does(void **state)
{
	take("backing-store /srv/z\nbacking-store /srv/a\n");
	assert_string_equal(text_at(TPG "/luns/0/storage_object"), "/backstores/fileio/a");
	assert_int_equal(number_at(TPG "/luns/0/index"), 1);
	assert_int_equal(number_at(TPG "/luns/1/index"), 2);
}

static void direct_store_comes_after_backing_store(void **state)
{
	take("direct-store /dev/a\nbacking-store /dev/z\n");
	assert_string_equal(text_at(TPG "/luns/0/storage_object"), "/backstores/block/z");
	assert_string_equal(text_at(TPG "/luns/1/storage_object"), "/backstores/block/a");
	assert_true(is_told("f.conf:2: direct-store /dev/a", "pscsi"));
}

static void a_number_that_is_given_is_not_given_again(void **state)
{
	take("<backing-store /srv/z>\nlun 1\n</backing-store>\n"
	     "<backing-store /srv/a>\n</backing-store>\n");
	assert_int_equal(number_at(TPG "/luns/0/index"), 2);
	assert_int_equal(number_at(TPG "/luns/1/index"), 1);
}

static void what_stands_behind_a_disk_in_its_target_holds_for_it(void **state)
{
	take("backing-store /srv/a\nwrite-cache off\nvendor_id Mine\n");
	assert_int_equal(number_at("storage_objects/0/write_back"), 0);
	assert_int_equal(number_at("storage_objects/0/attributes/emulate_write_cache"), 0);
	assert_string_equal(own("/backstores/fileio/a", "vendor"), "Mine");
}

static void a_disks_own_setting_wins(void **state)
{
	take("<backing-store /srv/a>\nreadonly no\n</backing-store>\nreadonly yes\n"
	     "<backing-store /srv/b>\n</backing-store>\n");
	assert_null(at(TPG "/luns/0/write_protect"));
	assert_int_equal(number_at(TPG "/luns/1/write_protect"), 1);
}

static void the_write_cache_is_on_unless_the_file_says_otherwise(void **state)
{
	take("backing-store /srv/a\n");
	assert_int_equal(number_at("storage_objects/0/write_back"), 1);
	assert_int_equal(number_at("storage_objects/0/attributes/emulate_write_cache"), 1);
}

static void initiator_names_are_the_only_ones_admitted(void **state)
{
	take("backing-store /srv/a\ninitiator-name iqn.2019-04.org.example:host\n"
	     "incominguser me secret\noutgoinguser us other\n");
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 0);
	assert_string_equal(text_at(TPG "/node_acls/0/node_wwn"), "iqn.2019-04.org.example:host");
	assert_string_equal(text_at(TPG "/node_acls/0/chap_password"), "secret");
	assert_string_equal(text_at(TPG "/node_acls/0/chap_mutual_userid"), "us");
	assert_int_equal(number_at(TPG "/node_acls/0/mapped_luns/0/tpg_lun"), 1);
}

static void a_name_that_is_none_admits_nobody(void **state)
{
	take("backing-store /srv/a\ninitiator-name nobody\n");
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 0);
	assert_int_equal(count_at(TPG "/node_acls"), 0);
	assert_true(is_told("f.conf:3: initiator nobody", "skipped"));
}

static void addresses_become_allowed_addresses(void **state)
{
	take("backing-store /srv/a\ninitiator-address 10.1.0.0/16\ninitiator-address ::1\n");
	assert_string_equal(own(PATH, "allowed_addresses"), "10.1.0.0/16,::1");
	assert_null(at(TPG "/enable"));
}

static void a_target_whose_addresses_are_lost_is_disabled(void **state)
{
	take("backing-store /srv/a\ninitiator-address host.example.org\n");
	assert_int_equal(number_at(TPG "/enable"), 0);
	assert_true(is_told("f.conf:1: target iqn.2019-04.org.example:t", "disabled"));
}

static void a_second_account_is_told_without_its_password(void **state)
{
	take("backing-store /srv/a\nincominguser me secret\nincominguser you hidden\n");
	assert_string_equal(text_at(TPG "/chap_userid"), "me");
	assert_true(is_told("f.conf:4: incoming account you", "skipped"));
	assert_null(strstr(all_notes(), "hidden"));
}

static void a_target_in_two_pieces_is_one(void **state)
{
	take("backing-store /srv/a\n</target>\n<target iqn.2019-04.org.example:t>\n"
	     "backing-store /srv/b\n");
	assert_int_equal(count_at("targets"), 1);
	assert_int_equal(count_at(TPG "/luns"), 2);
}

static void a_disk_of_two_targets_is_one(void **state)
{
	take("backing-store /srv/a\n</target>\n<target iqn.2019-04.org.example:u>\n"
	     "backing-store /srv/a\n");
	assert_int_equal(count_at("storage_objects"), 1);
	assert_string_equal(text_at("targets/1/tpgs/0/luns/0/storage_object"),
			    "/backstores/fileio/a");
}

static void disks_of_the_same_name_get_names_of_their_own(void **state)
{
	take("backing-store /a/disk.img\nbacking-store /b/disk.img\n");
	assert_string_equal(text_at("storage_objects/0/name"), "disk");
	assert_string_equal(text_at("storage_objects/1/name"), "disk-2");
}

static void an_iser_target_has_an_iser_portal(void **state)
{
	take_file(&import_kind_tgt, "f.conf",
		  "<target iqn.2019-04.org.example:t>\nbacking-store /srv/a\n</target>\n"
		  "default-driver iser\n");
	assert_int_equal(number_at(TPG "/portals/0/iser"), 1);
}

static void a_comment_ends_a_line_and_an_escaped_mark_does_not(void **state)
{
	take("backing-store /srv/a # the first\nincominguser me a\\#b\n");
	assert_string_equal(text_at(TPG "/chap_password"), "a#b");
	assert_string_equal(text_at("storage_objects/0/dev"), "/srv/a");
}

static void an_unknown_directive_is_told_with_its_line(void **state)
{
	take("backing-store /srv/a\nfrobnicate 7\n");
	assert_true(is_told("f.conf:3: frobnicate", "skipped"));
}

static void a_backing_store_that_nothing_serves_is_told(void **state)
{
	take("<backing-store pool/image>\nbs-type rbd\n</backing-store>\nbacking-store /srv/a\n");
	assert_int_equal(count_at(TPG "/luns"), 1);
	assert_true(is_told("f.conf:3: bs-type rbd", "pool/image skipped"));
}

static void a_broken_file_is_refused_with_its_line(void **state)
{
	const struct import_kind *k = &import_kind_tgt;
	refused(k, "<target iqn.2019-04.a:b>\n", "f.conf:1: <target>: missing <");
	refused(k, "\n<target iqn.2019-04.a:b\n", "f.conf:2: <target iqn.2019-04.a:b: missing >");
	refused(k, "</target>\n", "f.conf:1: unexpected </target>");
	refused(k, "<target nobody>\n</target>\n", "f.conf:1: target nobody: ");
	refused(k, "<target iqn.2019-04.a:b>\n<disk /a>\n", "f.conf:2: unexpected <disk>");
	refused(k, "\n<target iqn.2019-04.a:b>\nincominguser a \xe4\n", "f.conf:3: not UTF-8");
	refused(k, "include /does/not/exist.conf\n", "f.conf:1: include /does/not/exist.conf");
}

static void a_file_of_another_kind_is_refused(void **state)
{
	refused(&import_kind_tgt, "HANDLER vdisk_fileio {\n}\n", "f.conf: no disks");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void included_files_are_read(void **state)
{
	char dir[] = "/tmp/farblock-import-XXXXXX", part[64], whole[64];
	assert_non_null(mkdtemp(dir));
	snprintf(part, sizeof part, "%s/part.conf", dir);
	snprintf(whole, sizeof whole, "%s/targets.conf", dir);
	write_file(part, "<target iqn.2019-04.org.example:p>\nbacking-store /srv/a\nodd 1\n"
			 "</target>\n");
	take_file(&import_kind_tgt, whole, "include *.conf\n");
	unlink(part);
	rmdir(dir);
	assert_string_equal(text_at("targets/0/wwn"), "iqn.2019-04.org.example:p");
	assert_true(is_told(dir, "/part.conf:3: odd"));
}

static void an_included_file_that_is_no_text_is_named(void **state)
{
	char dir[] = "/tmp/farblock-import-XXXXXX", part[64], whole[64];
	assert_non_null(mkdtemp(dir));
	snprintf(part, sizeof part, "%s/part.conf", dir);
	snprintf(whole, sizeof whole, "%s/targets.conf", dir);
	write_file(part, "\nodd \xff\n");
	take_file(&import_kind_tgt, whole, "include part.conf\n");
	unlink(part);
	rmdir(dir);
	assert_null(doc);
	assert_non_null(strstr(error.text, "/part.conf:2: not UTF-8"));
}

static void files_that_include_each_other_are_refused(void **state)
{
	char dir[] = "/tmp/farblock-import-XXXXXX", part[64];
	assert_non_null(mkdtemp(dir));
	snprintf(part, sizeof part, "%s/part.conf", dir);
	write_file(part, "include part.conf\n");
	take_file(&import_kind_tgt, part, "include part.conf\n");
	unlink(part);
	rmdir(dir);
	assert_null(doc);
	assert_non_null(strstr(error.text, "files include each other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disks_are_numbered_by_path_as_tgt_admin_does),
		cmocka_unit_test(direct_store_comes_after_backing_store),
		cmocka_unit_test(a_number_that_is_given_is_not_given_again),
		cmocka_unit_test(what_stands_behind_a_disk_in_its_target_holds_for_it),
		cmocka_unit_test(a_disks_own_setting_wins),
		cmocka_unit_test(the_write_cache_is_on_unless_the_file_says_otherwise),
		cmocka_unit_test(initiator_names_are_the_only_ones_admitted),
		cmocka_unit_test(a_name_that_is_none_admits_nobody),
		cmocka_unit_test(addresses_become_allowed_addresses),
		cmocka_unit_test(a_target_whose_addresses_are_lost_is_disabled),
		cmocka_unit_test(a_second_account_is_told_without_its_password),
		cmocka_unit_test(a_target_in_two_pieces_is_one),
		cmocka_unit_test(a_disk_of_two_targets_is_one),
		cmocka_unit_test(disks_of_the_same_name_get_names_of_their_own),
		cmocka_unit_test(an_iser_target_has_an_iser_portal),
		cmocka_unit_test(a_comment_ends_a_line_and_an_escaped_mark_does_not),
		cmocka_unit_test(an_unknown_directive_is_told_with_its_line),
		cmocka_unit_test(a_backing_store_that_nothing_serves_is_told),
		cmocka_unit_test(a_broken_file_is_refused_with_its_line),
		cmocka_unit_test(a_file_of_another_kind_is_refused),
		cmocka_unit_test(included_files_are_read),
		cmocka_unit_test(an_included_file_that_is_no_text_is_named),
		cmocka_unit_test(files_that_include_each_other_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, forget);
}
