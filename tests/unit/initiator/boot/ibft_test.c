// SPDX-License-Identifier: BSD-2-Clause
// The iBFT, as sysfs has it: what is taken, what is refused, which disk is chosen, what is printed.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "fake_root.h"
#include "initiator/boot/ibft.h"

static struct ibft table;

static void put(const char *object, const char *attribute, const char *text)
{
	ibft_take(&table, object, attribute, text, strlen(text));
}

// A table as iPXE leaves it: one target, one NIC.
static const struct {
	const char *object, *attribute, *text;
} usual[] = {
	{"initiator",  "flags",		"3\n"			      },
	{ "initiator", "initiator-name",	 "iqn.2025-01.org.example:me\n"},
	{ "target0",   "index",		      "0\n"			    },
	{ "target0",   "flags",		      "3\n"			    },
	{ "target0",   "ip-addr",		"192.0.2.1\n"		      },
	{ "target0",   "port",		     "3261\n"		      },
	{ "target0",   "lun",		    "01000000\n"			 },
	{ "target0",   "nic-assoc",		  "0\n"				},
	{ "target0",   "chap-type",		  "2\n"				},
	{ "target0",   "target-name",	    "iqn.2025-01.org.example:t\n" },
	{ "target0",   "chap-name",		  "me\n"			 },
	{ "target0",   "chap-secret",	    "first-secret-1\n"	       },
	{ "target0",   "rev-chap-name",	      "it\n"			     },
	{ "target0",   "rev-chap-name-secret", "second-secret-2\n"		 },
	{ "ethernet0", "index",		"0\n"			      },
	{ "ethernet0", "flags",		"3\n"			      },
	{ "ethernet0", "ip-addr",		  "192.0.2.10\n"		 },
	{ "ethernet0", "subnet-mask",	      "255.255.255.0"		      },
	{ "ethernet0", "prefix-len",	     "24\n"			    },
	{ "ethernet0", "origin",		 "3\n"			       },
	{ "ethernet0", "gateway",		  "192.0.2.254\n"		  },
	{ "ethernet0", "vlan",		       "0\n"			     },
	{ "ethernet0", "mac",		      "52:54:00:12:34:56\n"	    },
};

static int begin(void **state)
{
	memset(&table, 0, sizeof table);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		put(usual[i].object, usual[i].attribute, usual[i].text);
	return 0;
}

// target1, the same disk at another portal.
static void put_second(void)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!strcmp(usual[i].object, "target0"))
			put("target1", usual[i].attribute, usual[i].text);
	put("target1", "ip-addr", "2001:0db8:0000:0000:0000:0000:0000:0001");
}

// ---- values ----

static void a_table_has_its_disk_and_its_network(void **state)
{
	const struct ibft_target *t = &table.targets[0];
	const struct ibft_nic *n = &table.nics[0];
	struct ibft_choice c;
	struct err e;
	char text[IBFT_ADDRESS_TEXT];
	assert_int_equal(ibft_choose(&table, &c, &e), 0);
	assert_ptr_equal(c.paths[0], t);
	assert_int_equal(c.count, 1);
	assert_int_equal(c.other_count, 0);
	assert_false(c.is_unselected);
	assert_string_equal(table.initiator.name, "iqn.2025-01.org.example:me");
	assert_string_equal(t->name, "iqn.2025-01.org.example:t");
	assert_string_equal(t->secret, "first-secret-1");
	assert_string_equal(t->mutual_secret, "second-secret-2");
	assert_int_equal(t->port, 3261);
	assert_int_equal(t->lun, 1);
	assert_ptr_equal(ibft_nic_of(&table, t), n);
	assert_int_equal(ibft_prefix(n), 24);
	assert_true(ibft_is_dhcp(n));
	ibft_address_text(&n->gateway, text);
	assert_string_equal(text, "192.0.2.254");
	assert_int_equal(n->mac[5], 0x56);
}

static void a_lun_is_read_from_digits_without_padding(void **state)
{
	static const struct {
		const char *text;
		int lun; // -1: refused
	} rows[] = {
		{"00000000",	      0	},
		{ "01000000",	      1	},
		{ "09000000",	      9	},
		{ "0a000000",	      10	 },
		{ "0A000000",	      10	 },
		{ "010000000",	       16	  },
		{ "0ff000000",	       255  },
		{ "400000000",	       0	 }, // flat: 40 00
		{ "401000000",	       1	 }, // 40 01
		{ "4010000000",	16   }, // 40 10
		{ "410000000",	       256  }, // 41 00
		{ "4123000000",	291  },
		{ "7fff000000",	16383},
		{ "0001000000000000",  1	}, // padded
		{ "4123000000000000",  291  },
		{ "10000000",	      -1	 }, // bus 1
		{ "110000000",	       -1	  },
		{ "80000000",	      -1	 },
		{ "c1010000000",	 -1   },
		{ "01000001",	      -1	 }, // two levels
		{ "0001000100000000",  -1	 },
		{ "0100000",	     -1	}, // seven bytes
		{ "0001000000",	-1   },
		{ "0x000000",	      -1	 },
		{ "",		      -2	 }, // absent
		{ "00000000000000000", -1	  },
		{ "-1000000",	      -1	 },
		{ "01000000 ",	       -1	  },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(&table, 0, sizeof table);
		put("target0", "lun", rows[i].text);
		const struct ibft_target *t = &table.targets[0];
		if (t->has_lun ? t->lun != rows[i].lun : rows[i].lun >= 0)
			fail_msg("%s: %d", rows[i].text, t->has_lun ? t->lun : -1);
		assert_int_equal(t->object.fault.code, rows[i].lun == -1 ? -EINVAL : 0);
	}
}

static void what_is_wrong_is_a_fault_of_its_object(void **state)
{
	static char long_name[300];
	static const struct {
		const char *object, *attribute, *text, *error;
	} rows[] = {
		{"target0",    "flags",	      "-1",		    "target0/flags: '-1': must be a number up to 255" },
		{ "target0",   "flags",	      "256",		     "target0/flags: '256': must be a number up to 255"},
		{ "target0",   "port",	     "65536",
		  "target0/port: '65536': must be a number up to 65535"							},
		{ "target0",   "port",	     "99999999999999999999",
		  "target0/port: '99999999999999999999': must be a number up to 65535"				       },
		{ "target0",   "port",	     "3260x",
		  "target0/port: '3260x': must be a number up to 65535"							},
		{ "target0",   "port",	     " 1",		   "target0/port: ' 1': must be a number up to 65535"},
		{ "target0",   "chap-type",	  "3",		       "target0/chap-type: '3': must be a number up to 2"},
		{ "target0",   "ip-addr",	"192.0.2.256",
		  "target0/ip-addr: '192.0.2.256': must be an IPv4 or IPv6 address"					    },
		{ "target0",   "ip-addr",	"fe80::1%eth0",
		  "target0/ip-addr: 'fe80::1%eth0': must be an IPv4 or IPv6 address"					     },
		{ "target0",   "ip-addr",	"host",
		  "target0/ip-addr: 'host': must be an IPv4 or IPv6 address"						     },
		{ "target0",   "target-name",    "iqn.x/0",
		  "target0/target-name: must be the name of an iSCSI node, up to 223 bytes"				    },
		{ "target0",   "target-name",    "iqn.x y",
		  "target0/target-name: must be the name of an iSCSI node, up to 223 bytes"				    },
		{ "target0",   "target-name",    long_name,
		  "target0/target-name: must be the name of an iSCSI node, up to 223 bytes"				    },
		{ "target0",   "chap-secret",    "line\nline",
		  "target0/chap-secret: must be a line of up to 255 bytes"						   },
		{ "target0",   "chap-secret",    long_name,
		  "target0/chap-secret: must be a line of up to 255 bytes"						   },
		{ "initiator", "initiator-name", "\x01",
		  "initiator/initiator-name: must be the name of an iSCSI node, up to 223 bytes"				 },
	};
	memset(long_name, 'a', sizeof long_name - 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ibft_choice c;
		struct err e;
		begin(state);
		put(rows[i].object, rows[i].attribute, rows[i].text);
		assert_string_equal(ibft_object(&table, rows[i].object)->fault.text, rows[i].error);
		if (!strcmp(rows[i].object, "target0"))
			assert_int_equal(ibft_choose(&table, &c, &e), -EINVAL);
	}
}

static void a_value_of_a_nic_that_is_wrong_is_its_fault(void **state)
{
	static const char *const rows[][2] = {
		{"mac",		 "52:54:00:12:34"	  },
		{ "mac",	 "52:54:00:12:34:56:78"},
		{ "mac",	 "52-54-00-12-34-56"   },
		{ "mac",	 "52:54:00:12:34:5g"   },
		{ "vlan",	  "4095"		 },
		{ "prefix-len",	"129"		      },
		{ "subnet-mask", "255.0.255.0"	       },
		{ "subnet-mask", "::"		      },
		{ "gateway",     "none"		    },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(state);
		put("ethernet0", rows[i][0], rows[i][1]);
		assert_int_equal(table.nics[0].object.fault.code, -EINVAL);
	}
}

static void a_byte_zero_is_refused(void **state)
{
	ibft_take(&table, "target0", "chap-secret", "a\0b", 3);
	assert_int_equal(table.targets[0].object.fault.code, -EINVAL);
	assert_int_equal(table.targets[0].secret[0], 'f'); // the earlier one
}

static void an_address_of_zeros_is_none(void **state)
{
	put("ethernet0", "gateway", "0.0.0.0\n");
	put("ethernet0", "dhcp", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	assert_int_equal(table.nics[0].gateway.family, 0);
	assert_int_equal(table.nics[0].dhcp.family, 0);
}

static void a_mask_is_a_prefix(void **state)
{
	static const struct {
		const char *mask;
		unsigned prefix;
	} rows[] = {
		{"255.255.255.0",	   24},
		 { "255.255.255.255", 32},
		    { "128.0.0.0",	   1 },
		{ "255.255.254.0",   23},
		 { "0.0.0.0",	      0 },
	};
	put("ethernet0", "prefix-len", "0\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put("ethernet0", "subnet-mask", rows[i].mask);
		assert_int_equal(ibft_prefix(&table.nics[0]), rows[i].prefix);
	}
	put("ethernet0", "prefix-len", "33\n"); // of IPv6 alone
	assert_int_equal(ibft_prefix(&table.nics[0]), 0);
}

static void a_name_that_is_no_object_is_ignored(void **state)
{
	static const char *const names[] = { "target",	 "target256",	    "target00",
					     "targetx",	 "target-1",	    "acpi_header",
					     "ethernet", "initiator0",	    "target0 ",
					     "..",	 "target9999999999" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (ibft_object(&table, names[i]))
			fail_msg("%s", names[i]);
}

static void objects_are_in_the_order_of_their_numbers(void **state)
{
	put("target255", "port", "3");
	put("target4", "port", "2");
	put("target255", "flags", "1");
	assert_int_equal(table.target_count, 3);
	assert_int_equal(table.targets[1].port, 2);
	assert_int_equal(table.targets[2].port, 3);
	assert_int_equal(table.targets[2].object.flags, 1);
}

static void objects_beyond_the_limit_are_ignored(void **state)
{
	char name[16];
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "target%d", i);
		put(name, "port", "7");
	}
	assert_int_equal(table.target_count, IBFT_OBJECTS_MAX);
}

// ---- the choice ----

static void a_target_of_the_same_disk_is_a_path(void **state)
{
	struct ibft_choice c;
	struct err e;
	put_second();
	assert_int_equal(ibft_choose(&table, &c, &e), 0);
	assert_int_equal(c.count, 2);
	assert_ptr_equal(c.paths[1], &table.targets[1]);
}

static void a_target_of_another_disk_is_no_path(void **state)
{
	static const char *const rows[][2] = {
		{"lun",		 "02000000"		    },
		{ "target-name", "iqn.2025-01.org.example:u"},
		{ "chap-secret", "another"		   },
		{ "lun",	 "x"			     },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ibft_choice c;
		struct err e;
		begin(state);
		put_second();
		put("target1", rows[i][0], rows[i][1]);
		assert_int_equal(ibft_choose(&table, &c, &e), 0);
		assert_int_equal(c.count, 1);
		assert_ptr_equal(c.others[0], &table.targets[1]);
	}
}

static void the_target_that_is_selected_is_first(void **state)
{
	struct ibft_choice c;
	struct err e;
	put_second();
	put("target0", "flags", "1");
	assert_int_equal(ibft_choose(&table, &c, &e), 0);
	assert_ptr_equal(c.paths[0], &table.targets[1]);
	assert_int_equal(c.count, 2);
}

// Its NIC is set up, whatever the target lacks.
static void the_target_that_is_chosen_may_lack_something(void **state)
{
	put_second();
	put("target0", "flags", "1");
	put("target1", "lun", "x");
	assert_ptr_equal(ibft_chosen(&table), &table.targets[1]);
}

static void a_target_that_is_not_valid_is_left_out(void **state)
{
	struct ibft_choice c;
	struct err e;
	put_second();
	put("target1", "flags", "2");
	assert_int_equal(ibft_choose(&table, &c, &e), 0);
	assert_int_equal(c.count + c.other_count, 1);
	put("target0", "flags", "0");
	assert_int_equal(ibft_choose(&table, &c, &e), -ENOENT);
}

static void without_a_selected_target_the_first_valid_one_is_taken(void **state)
{
	struct ibft_choice c;
	struct err e;
	put("target0", "flags", "1");
	assert_int_equal(ibft_choose(&table, &c, &e), 0);
	assert_true(c.is_unselected);
}

static void a_target_that_lacks_something_is_refused_with_its_name(void **state)
{
	static const struct {
		size_t at; // of the first byte of what is missing
		const char *error;
	} rows[] = {
		{offsetof(struct ibft_target,  name),	      "target0: no target-name in the iBFT"},
		{ offsetof(struct ibft_target, ip),	    "target0: no ip-addr in the iBFT"    },
		{ offsetof(struct ibft_target, has_lun),	 "target0: no lun in the iBFT"	       },
		{ offsetof(struct ibft_target, user),	      "target0: no chap-name in the iBFT"  },
		{ offsetof(struct ibft_target, secret),	"target0: no chap-secret in the iBFT"},
		{ offsetof(struct ibft_target, mutual_user),
		  "target0: no rev-chap-name in the iBFT"						  },
		{ offsetof(struct ibft_target, mutual_secret),
		  "target0: no rev-chap-name-secret in the iBFT"					 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ibft_choice c;
		struct err e;
		begin(state);
		((char *)&table.targets[0])[rows[i].at] = 0;
		assert_int_equal(ibft_choose(&table, &c, &e), -EINVAL);
		assert_string_equal(e.text, rows[i].error);
	}
}

static void the_nic_is_that_of_the_association_or_the_only_one(void **state)
{
	const struct ibft_target *t = &table.targets[0];
	put("target0", "nic-assoc", "7");
	assert_ptr_equal(ibft_nic_of(&table, t), &table.nics[0]);
	put("ethernet1", "index", "1");
	assert_null(ibft_nic_of(&table, t));
	put("target0", "nic-assoc", "1");
	assert_ptr_equal(ibft_nic_of(&table, t), &table.nics[1]);
}

// ---- text ----

static void named_eth0(const struct ibft_nic *n, char *ret, size_t size)
{
	snprintf(ret, size, "eth0");
}

static char *printed(void)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");
	text[0] = 0;
	ibft_print(&table, "iser", named_eth0, out);
	fclose(out);
	return text;
}

static void a_record_is_as_iscsistart_prints_it_without_secrets(void **state)
{
	static const char expected[] = "iface.initiatorname = iqn.2025-01.org.example:me\n"
				       "iface.transport_name = iser\n"
				       "iface.hwaddress = 52:54:00:12:34:56\n"
				       "iface.bootproto = DHCP\n"
				       "iface.ipaddress = 192.0.2.10\n"
				       "iface.prefix_len = 24\n"
				       "iface.subnet_mask = 255.255.255.0\n"
				       "iface.gateway = 192.0.2.254\n"
				       "iface.vlan_id = 0\n"
				       "iface.net_ifacename = eth0\n"
				       "node.name = iqn.2025-01.org.example:t\n"
				       "node.conn[0].address = 192.0.2.1\n"
				       "node.conn[0].port = 3261\n"
				       "node.session.auth.username = me\n"
				       "node.session.auth.username_in = it\n"
				       "node.boot_lun = 01000000\n"
				       "# END RECORD\n";
	char *text = printed();
	assert_true(!strncmp(text, "# BEGIN RECORD ", 15));
	assert_string_equal(strchr(text, '\n') + 1, expected);
}

static void a_user_with_control_characters_makes_no_line(void **state)
{
	put("target0", "chap-name", "me\x1b[2J\rnode.name = x");
	char *text = printed();
	assert_non_null(strstr(text, "username = me?[2J?node.name = x\n"));
}

static void a_target_that_is_not_valid_is_not_printed(void **state)
{
	put("target0", "flags", "2");
	char *text = printed();
	assert_string_equal(text, "");
}

static void json_has_the_disk_and_no_secret(void **state)
{
	struct json_object *o = ibft_json(&table, named_eth0);
	const char *text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	assert_non_null(strstr(text, "\"lun\":1"));
	assert_non_null(strstr(text, "\"portal_address\":\"192.0.2.1\""));
	assert_non_null(strstr(text, "\"selected\":true"));
	assert_null(strstr(text, "secret"));
	json_object_put(o);
}

// ---- files ----

static void a_directory_is_read(void **state)
{
	char root[] = "/tmp/farblock-ibft.XXXXXX", command[300];
	struct err e;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		snprintf(command, sizeof command, "/%s/%s", usual[i].object, usual[i].attribute);
		fake_root_put(root, command, usual[i].text);
	}
	fake_root_put(root, "/acpi_header/signature", "iBFT");
	struct ibft read;
	assert_int_equal(ibft_read(&read, root, &e), 0);
	assert_memory_equal(&read, &table, sizeof read);
	ibft_wipe(&read);
	assert_int_equal(read.target_count, 0);
	snprintf(command, sizeof command, "%s/target0/port", root);
	assert_int_equal(remove(command), 0);
	assert_int_equal(mkfifo(command, 0600), 0);
	assert_int_equal(ibft_read(&read, root, &e), 0);
	assert_int_equal(read.targets[0].object.fault.code, -EINVAL); // a FIFO is not waited for
	snprintf(command, sizeof command, "rm -r %s/target*", root);
	assert_int_equal(system(command), 0);
	assert_int_equal(ibft_read(&read, root, &e), -ENOENT);
	assert_non_null(strstr(e.text, ": the iBFT has no target"));
	snprintf(command, sizeof command, "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void a_directory_without_a_table_is_none(void **state)
{
	struct err e;
	assert_int_equal(ibft_read(&table, "/proc/self/fdinfo", &e), -ENOENT);
	assert_int_equal(ibft_read(&table, "/nowhere", &e), -ENOENT);
	assert_non_null(strstr(e.text, "modprobe iscsi_ibft"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_table_has_its_disk_and_its_network, begin),
		cmocka_unit_test_setup(a_lun_is_read_from_digits_without_padding, begin),
		cmocka_unit_test_setup(what_is_wrong_is_a_fault_of_its_object, begin),
		cmocka_unit_test_setup(a_value_of_a_nic_that_is_wrong_is_its_fault, begin),
		cmocka_unit_test_setup(a_byte_zero_is_refused, begin),
		cmocka_unit_test_setup(an_address_of_zeros_is_none, begin),
		cmocka_unit_test_setup(a_mask_is_a_prefix, begin),
		cmocka_unit_test_setup(a_name_that_is_no_object_is_ignored, begin),
		cmocka_unit_test_setup(objects_are_in_the_order_of_their_numbers, begin),
		cmocka_unit_test_setup(objects_beyond_the_limit_are_ignored, begin),
		cmocka_unit_test_setup(a_target_of_the_same_disk_is_a_path, begin),
		cmocka_unit_test_setup(a_target_of_another_disk_is_no_path, begin),
		cmocka_unit_test_setup(the_target_that_is_selected_is_first, begin),
		cmocka_unit_test_setup(the_target_that_is_chosen_may_lack_something, begin),
		cmocka_unit_test_setup(a_target_that_is_not_valid_is_left_out, begin),
		cmocka_unit_test_setup(without_a_selected_target_the_first_valid_one_is_taken,
				       begin),
		cmocka_unit_test_setup(a_target_that_lacks_something_is_refused_with_its_name,
				       begin),
		cmocka_unit_test_setup(the_nic_is_that_of_the_association_or_the_only_one, begin),
		cmocka_unit_test_setup(a_record_is_as_iscsistart_prints_it_without_secrets, begin),
		cmocka_unit_test_setup(a_user_with_control_characters_makes_no_line, begin),
		cmocka_unit_test_setup(a_target_that_is_not_valid_is_not_printed, begin),
		cmocka_unit_test_setup(json_has_the_disk_and_no_secret, begin),
		cmocka_unit_test_setup(a_directory_is_read, begin),
		cmocka_unit_test_setup(a_directory_without_a_table_is_none, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
