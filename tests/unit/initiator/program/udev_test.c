// SPDX-License-Identifier: BSD-2-Clause
// What udev imports of an attachment: names of links, and that no text of a target becomes another
// property or link.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "initiator/program/udev.h"

static char *printed; // of the last says()

static const char *says(const char *state, int partition)
{
	size_t len;
	struct json_object *o = json_tokener_parse(state);
	free(printed);
	FILE *out = open_memstream(&printed, &len);
	assert_non_null(o);
	udev_print(out, o, partition);
	fclose(out);
	json_object_put(o);
	return printed;
}

static void links_are_those_of_the_kernels_initiators(void **state)
{
	assert_string_equal(
		says("{\"name\": \"data\", \"vendor\": \"LIO-ORG\", \"product\": \"my disk\","
		     "\"serial\": \"12ab\", \"identity\": \"naa.60014050000000000000000000000001\","
		     "\"paths\": [{\"url\": \"iscsi://bob@10.0.0.1/iqn.2025-01.org:t/3\"},"
		     "{\"url\": \"iser://[fd00::1]:3261/iqn.2025-01.org:t/300\"},"
		     "{\"url\": \"srp://10.0.0.2:3260/0001:0002/0\"},"
		     "{\"url\": \"srp://[fd00::2]/0001:0002/0\"}]}",
		     UDEV_WHOLE),
		"FARBLOCK_NAME=data\nID_VENDOR=LIO-ORG\nID_MODEL=my_disk\nID_SCSI_SERIAL=12ab\n"
		"ID_WWN=0x60014050000000000000000000000001\n"
		"ID_SERIAL=360014050000000000000000000000001\n"
		"FARBLOCK_LINK1=disk/by-id/farblock-data\n"
		"FARBLOCK_LINK2=disk/by-id/wwn-0x60014050000000000000000000000001\n"
		"FARBLOCK_LINK3=disk/by-id/scsi-360014050000000000000000000000001\n"
		"FARBLOCK_LINK4=disk/by-path/ip-10.0.0.1:3260-iscsi-iqn.2025-01.org:t-lun-3\n"
		"FARBLOCK_LINK5=disk/by-path/ip-fd00::1:3261-iscsi-iqn.2025-01.org:t-"
		"lun-0x412c000000000000\n"
		"FARBLOCK_LINK6=disk/by-path/ip-10.0.0.2:3260-srp-0001:0002-lun-0\n"
		"FARBLOCK_LINK7=disk/by-path/ip-fd00::2:3261-srp-0001:0002-lun-0\n");
}

static void a_unit_without_designators_has_its_serial_number(void **state)
{
	assert_string_equal(says("{\"name\": \"a\", \"vendor\": \"V\", \"product\": \"P Q\","
				 "\"serial\": \"7\", \"identity\": \"\"}",
				 2),
			    "FARBLOCK_NAME=a\nID_VENDOR=V\nID_MODEL=P_Q\nID_SCSI_SERIAL=7\n"
			    "ID_SERIAL=SV_P_Q_7\nFARBLOCK_LINK1=disk/by-id/farblock-a-part2\n"
			    "FARBLOCK_LINK2=disk/by-id/scsi-SV_P_Q_7-part2\n");
	assert_string_equal(says("{\"name\": \"a\", \"identity\": \"eui.0123456789abcdef\"}", 0),
			    "FARBLOCK_NAME=a\nID_WWN=0x0123456789abcdef\n"
			    "ID_SERIAL=20123456789abcdef\nFARBLOCK_LINK1=disk/by-id/farblock-a\n"
			    "FARBLOCK_LINK2=disk/by-id/wwn-0x0123456789abcdef\n"
			    "FARBLOCK_LINK3=disk/by-id/scsi-20123456789abcdef\n");
}

static void text_of_a_target_is_no_other_property_or_link(void **state)
{
	assert_string_equal(says("{\"name\": \"a\", \"vendor\": \"x\\nPATH=/tmp\","
				 "\"product\": \"../$(a) ;b\", \"serial\": \"s/../t\\u0001\","
				 "\"identity\": \"\","
				 "\"paths\": [{\"url\": \"iscsi://h/iqn.a\\n/../x/0\"}]}",
				 0),
			    "FARBLOCK_NAME=a\nID_VENDOR=x_PATH=_tmp\nID_MODEL=.._a_b\n"
			    "ID_SCSI_SERIAL=s_.._t_\nID_SERIAL=Sx_PATH=_tmp_.._a_b_s_.._t_\n"
			    "FARBLOCK_LINK1=disk/by-id/farblock-a\n"
			    "FARBLOCK_LINK2=disk/by-id/scsi-Sx_PATH=_tmp_.._a_b_s_.._t_\n"
			    "FARBLOCK_LINK3=disk/by-path/ip-h:3260-iscsi-iqn.a_.._x-lun-0\n");
}

static void what_is_no_url_has_no_link(void **state)
{
	static const char *const urls[] = { "",
					    "iscsi",
					    "iscsi://",
					    "iscsi://h",
					    "iscsi://h/t",
					    "iscsi://h/t/",
					    "iscsi://h/t/x",
					    "iscsi://h:99999/t/0",
					    "iscsi:///t/0" };
	char text[200];
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		snprintf(text, sizeof text,
			 "{\"name\": \"a\", \"identity\": 7, \"paths\": [{\"url\": \"%s\"}, 1]}",
			 urls[i]);
		assert_string_equal(says(text, 0),
				    "FARBLOCK_NAME=a\nFARBLOCK_LINK1=disk/by-id/farblock-a\n");
	}
	assert_string_equal(says("{\"name\": \"a\", \"paths\": {}}", 0),
			    "FARBLOCK_NAME=a\nFARBLOCK_LINK1=disk/by-id/farblock-a\n");
}

static void partitions_are_those_of_the_device(void **state)
{
	static const struct {
		const char *node;
		int partition;
	} rows[] = {
		{"/dev/nbd1",	       0	 },
		{ "/dev/nbd1p1",		 1  },
		{ "/dev/nbd1p128",	   128},
		{ "/dev/nbd1p0",		 -1 },
		{ "/dev/nbd1p",		-1 },
		{ "/dev/nbd1p1x",	  -1 },
		{ "/dev/nbd1p99999999999", -1 },
		{ "/dev/nbd12",		-1 },
		{ "/dev/nbd",	      -1 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(udev_partition("/dev/nbd1", rows[i].node), rows[i].partition);
	assert_int_equal(udev_partition("", "p1"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_those_of_the_kernels_initiators),
		cmocka_unit_test(a_unit_without_designators_has_its_serial_number),
		cmocka_unit_test(text_of_a_target_is_no_other_property_or_link),
		cmocka_unit_test(what_is_no_url_has_no_link),
		cmocka_unit_test(partitions_are_those_of_the_device),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(printed);
	return failed;
}
