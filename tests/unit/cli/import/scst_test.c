// SPDX-License-Identifier: BSD-2-Clause
// scst.conf of SCST: who sees which disk under which number is as it was, or it is told.
#include "cli/import/import_bench.h"

#define TPG "targets/0/tpgs/0"
#define DISKS                                                                                      \
	"HANDLER vdisk_fileio {\nDEVICE a {\nfilename /srv/a\n}\nDEVICE b {\nfilename "            \
	"/srv/b\n}\n}\n"

// Lines of a target, from line 11 on, behind two disks.
static void take(const char *lines)
{
	char text[2000];
	snprintf(text, sizeof text,
		 DISKS "TARGET_DRIVER iscsi {\nTARGET iqn.2019-04.org.example:t {\n%s}\n}\n",
		 lines);
	take_file(&import_kind_scst, "f.conf", text);
	if (!doc)
		fail_msg("%s", error.text);
}

// Lines of a disk, from line 3 on.
static void take_disk(const char *handler, const char *lines)
{
	char text[2000];
	snprintf(text, sizeof text, "HANDLER %s {\nDEVICE a {\n%s}\n}\n", handler, lines);
	take_file(&import_kind_scst, "f.conf", text);
	if (!doc)
		fail_msg("%s", error.text);
}

static void luns_outside_of_groups_are_for_everybody(void **state)
{
	take("LUN 0 a\nLUN 5 b\nenabled 1\n");
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 1);
	assert_int_equal(number_at(TPG "/luns/1/index"), 5);
	assert_int_equal(number_at(TPG "/enable"), 1);
}

static void a_group_sees_its_own_numbers(void **state)
{
	take("enabled 1\nGROUP one {\nLUN 0 a\nINITIATOR iqn.2019-04.a:one\n}\n"
	     "GROUP two {\nLUN 0 b {\nread_only 1\n}\nINITIATOR iqn.2019-04.a:two\n}\n");
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 0);
	assert_int_equal(number_at(TPG "/luns/1/index"), 1);
	assert_string_equal(text_at(TPG "/node_acls/1/node_wwn"), "iqn.2019-04.a:two");
	assert_int_equal(number_at(TPG "/node_acls/1/mapped_luns/0/index"), 0);
	assert_int_equal(number_at(TPG "/node_acls/1/mapped_luns/0/tpg_lun"), 1);
	assert_int_equal(number_at(TPG "/node_acls/1/mapped_luns/0/write_protect"), 1);
}

static void a_group_of_all_is_for_everybody(void **state)
{
	take("enabled 1\nGROUP all {\nINITIATOR *\\#*\nLUN 3 b\n}\n");
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 1);
	assert_int_equal(number_at(TPG "/luns/0/index"), 3);
	assert_string_equal(text_at(TPG "/portals/0/ip_address"), "0.0.0.0");
}

static void nobody_sees_what_only_a_group_may_see(void **state)
{
	take("enabled 1\nLUN 0 a\nGROUP one {\nLUN 0 b\nINITIATOR iqn.2019-04.a:one\n}\n");
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 0);
	assert_true(is_told("f.conf:10: TARGET", "are not admitted"));
}

static void a_pattern_admits_nobody(void **state)
{
	take("enabled 1\nGROUP one {\nLUN 0 a\nINITIATOR iqn.2019-04.a:*\n}\n");
	assert_int_equal(count_at(TPG "/node_acls"), 0);
	assert_int_equal(number_at(TPG "/attributes/generate_node_acls"), 0);
	assert_true(is_told("f.conf:14: INITIATOR iqn.2019-04.a:*", "refused"));
}

static void the_portal_of_an_initiator_is_the_targets(void **state)
{
	take("enabled 1\nGROUP one {\nLUN 0 a\nINITIATOR iqn.2019-04.a:b\\#10.1.2.3\n}\n");
	assert_int_equal(count_at(TPG "/portals"), 1);
	assert_string_equal(text_at(TPG "/portals/0/ip_address"), "10.1.2.3");
}

static void a_target_whose_portals_are_lost_has_none(void **state)
{
	take("enabled 1\nLUN 0 a\nallowed_portal 10.1.*\n");
	assert_int_equal(count_at(TPG "/portals"), 0);
	assert_true(is_told("f.conf:10: TARGET", "portals create"));
}

static void a_target_that_is_not_enabled_is_disabled(void **state)
{
	take("LUN 0 a\n");
	assert_int_equal(number_at(TPG "/enable"), 0);
	assert_true(is_told("f.conf:10: TARGET", "disabled"));
}

static void accounts_are_those_of_every_initiator(void **state)
{
	take("enabled 1\nIncomingUser \"me secret\"\nIncomingUser \"you hidden\"\n"
	     "GROUP one {\nLUN 0 a\nINITIATOR iqn.2019-04.a:one\n}\n");
	assert_int_equal(number_at(TPG "/attributes/authentication"), 1);
	assert_string_equal(text_at(TPG "/node_acls/0/chap_userid"), "me");
	assert_true(is_told("f.conf:13: incoming account you", "skipped"));
	assert_null(strstr(all_notes(), "hidden"));
}

static void parameters_of_iscsi_are_carried_over(void **state)
{
	take("enabled 1\nLUN 0 a\nHeaderDigest CRC32C,None\nalias \"the first\"\n");
	assert_string_equal(text_at(TPG "/parameters/HeaderDigest"), "CRC32C,None");
	assert_string_equal(text_at(TPG "/parameters/TargetAlias"), "the first");
}

static void an_initiator_of_two_groups_belongs_to_the_first(void **state)
{
	take("enabled 1\nGROUP one {\nLUN 0 a\nINITIATOR iqn.2019-04.a:x\n}\n"
	     "GROUP two {\nLUN 0 b\nINITIATOR iqn.2019-04.a:x\n}\n");
	assert_int_equal(count_at(TPG "/node_acls"), 1);
	assert_true(is_told("f.conf:18: INITIATOR iqn.2019-04.a:x", "already in group one"));
}

static void a_file_is_cached_unless_it_says_otherwise(void **state)
{
	take_disk("vdisk_fileio", "filename /srv/a\n");
	assert_int_equal(number_at("storage_objects/0/write_back"), 1);
	take_disk("vdisk_fileio", "filename /srv/a\nwrite_through 1\n");
	assert_int_equal(number_at("storage_objects/0/write_back"), 0);
	take_disk("vdisk_fileio", "filename /srv/a\nnv_cache 1\n");
	assert_int_equal(number_at("storage_objects/0/write_back"), 0);
	assert_true(is_told("f.conf:4: nv_cache 1", "durable"));
}

static void handlers_become_backstores(void **state)
{
	take_disk("vdisk_blockio", "filename /dev/x\nread_only 1\n");
	assert_string_equal(text_at("storage_objects/0/plugin"), "block");
	assert_int_equal(number_at("storage_objects/0/readonly"), 1);
	take_disk("vdisk_nullio", "size_mb 5\n");
	assert_string_equal(text_at("storage_objects/0/plugin"), "null");
	assert_string_equal(text_at("storage_objects/0/size"), "5M");
	take_file(&import_kind_scst, "f.conf", "HANDLER dev_disk {\nDEVICE 1:0:2:3\n}\n");
	assert_string_equal(text_at("storage_objects/0/plugin"), "pscsi");
	assert_string_equal(text_at("storage_objects/0/dev"), "1:0:2:3");
}

static void a_serial_number_that_is_a_uuid_is_kept(void **state)
{
	take_disk("vdisk_fileio", "filename /srv/a\nusn 5b0c3f0e-7c21-4f63-9a0d-2d7e41f0a911\n");
	assert_string_equal(text_at("storage_objects/0/wwn"),
			    "5b0c3f0e-7c21-4f63-9a0d-2d7e41f0a911");
	take_disk("vdisk_fileio", "filename /srv/a\nusn 27cddc71\n");
	assert_null(at("storage_objects/0/wwn"));
	assert_true(is_told("f.conf:4: usn 27cddc71", "UUID"));
}

static void an_inquiry_text_is_cut_as_on_the_wire(void **state)
{
	take_disk("vdisk_fileio", "filename /srv/a\nt10_vend_id COMPANY99\n");
	assert_string_equal(own("/backstores/fileio/a", "vendor"), "COMPANY9");
	assert_true(is_told("f.conf:4: t10_vend_id COMPANY99", "truncated to 8"));
}

static void an_srp_target_is_one_of_srpt(void **state)
{
	take_file(&import_kind_scst, "f.conf",
		  DISKS
		  "TARGET_DRIVER ib_srpt {\nTARGET fe80:0000:0000:0000:0002:c903:0005:f34b {\n"
		  "alias one\n"
		  "enabled 1\nGROUP g {\nLUN 0 a\n"
		  "INITIATOR 0x00000000000000000002c9030005f34c\n}\n}\n}\n");
	assert_string_equal(text_at("targets/0/fabric"), "srpt");
	assert_null(at(TPG "/parameters")); // its alias
	assert_string_equal(text_at("targets/0/wwn"), "ib.fe800000000000000002c9030005f34b");
	assert_string_equal(text_at(TPG "/node_acls/0/node_wwn"),
			    "ib.00000000000000000002c9030005f34c");
	assert_null(at(TPG "/attributes"));
	assert_true(is_told("f.conf:10: TARGET ib.fe800000000000000002c9030005f34b", "add_target"));
}

static void what_is_not_served_is_told_as_a_whole(void **state)
{
	take_file(&import_kind_scst, "f.conf",
		  DISKS
		  "TARGET_DRIVER qla2x00t {\nTARGET 25:00:00:f0:98:87:92:f3 {\nLUN 0 a\n}\n}\n");
	assert_int_equal(count_at("targets"), 0);
	assert_int_equal(json_object_array_length(notes), 1);
	assert_true(is_told("f.conf:9: TARGET_DRIVER qla2x00t", "not supported"));
}

static void a_broken_file_is_refused_with_its_line(void **state)
{
	const struct import_kind *k = &import_kind_scst;
	refused(k, "HANDLER x {\n", "f.conf:1: missing }");
	refused(k, "}\n", "f.conf:1: unexpected }");
	refused(k, "\n{\n}\n", "f.conf:2: missing name before {");
	refused(k, "HANDLER x { y }\n", "f.conf:1: } must be alone");
	refused(k, "TARGET_DRIVER iscsi {\nTARGET nobody {\n}\n}\n", "f.conf:2: target nobody: ");
	refused(k, "<target iqn.2019-04.a:b>\n", "f.conf:1: unexpected <");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(luns_outside_of_groups_are_for_everybody),
		cmocka_unit_test(a_group_sees_its_own_numbers),
		cmocka_unit_test(a_group_of_all_is_for_everybody),
		cmocka_unit_test(nobody_sees_what_only_a_group_may_see),
		cmocka_unit_test(a_pattern_admits_nobody),
		cmocka_unit_test(the_portal_of_an_initiator_is_the_targets),
		cmocka_unit_test(a_target_whose_portals_are_lost_has_none),
		cmocka_unit_test(a_target_that_is_not_enabled_is_disabled),
		cmocka_unit_test(accounts_are_those_of_every_initiator),
		cmocka_unit_test(parameters_of_iscsi_are_carried_over),
		cmocka_unit_test(an_initiator_of_two_groups_belongs_to_the_first),
		cmocka_unit_test(a_file_is_cached_unless_it_says_otherwise),
		cmocka_unit_test(handlers_become_backstores),
		cmocka_unit_test(a_serial_number_that_is_a_uuid_is_kept),
		cmocka_unit_test(an_inquiry_text_is_cut_as_on_the_wire),
		cmocka_unit_test(an_srp_target_is_one_of_srpt),
		cmocka_unit_test(what_is_not_served_is_told_as_a_whole),
		cmocka_unit_test(a_broken_file_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, forget);
}
