// SPDX-License-Identifier: BSD-2-Clause
// Addresses of SRP logical units: URLs and add_target strings.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/srp/address.h"

#define ID   "200100e08b000000:00117500007ee3aa"
#define PAIR "id_ext=200100e08b000000,ioc_guid=00117500007ee3aa"

static const uint8_t id[16] = { 0x20, 0x01, 0,	  0xe0, 0x8b, 0,    0,	  0,
				0,    0x11, 0x75, 0,	0,    0x7e, 0xe3, 0xaa };

static void good(struct srps_address *a, const char *text)
{
	struct err e;
	if (srps_address_parse(text, a, &e))
		fail_msg("%s: %s", text, e.text);
}

static void bad(const char *text, const char *words)
{
	struct srps_address a;
	struct err e;
	assert_int_equal(srps_address_parse(text, &a, &e), -EINVAL);
	if (!strstr(e.text, words))
		fail_msg("%s: '%s' instead of '%s'", text, e.text, words);
}

static void urls_are_parsed(void **state)
{
	struct srps_address a;
	good(&a, "srp://host/" ID "/7");
	assert_string_equal(a.portal, "host");
	assert_memory_equal(a.target, id, 16);
	assert_true(a.has_target && a.has_lun);
	assert_int_equal(a.lun, 7);
	good(&a, "srp://[fe80::1%eth0]:3262/" ID);
	assert_string_equal(a.portal, "[fe80::1%eth0]:3262");
	assert_false(a.has_lun);
	good(&a, "srp://192.0.2.1/" ID "/");
	assert_false(a.has_lun);
	good(&a, "srp://host");
	assert_false(a.has_target);
	good(&a, "SRP://host/" ID "/7");
	assert_int_equal(a.lun, 7);
	good(&a, "srp://host/0x200100E08B000000:0x00117500007ee3aa/16383");
	assert_memory_equal(a.target, id, 16);
}

static void bad_urls_are_refused_with_words(void **state)
{
	bad("srp:///" ID "/0", "no host");
	bad("srp://user@host/" ID "/0", "user names");
	bad("srp://host/200100e08b000000/0", "EXTENSION:GUID");
	bad("srp://host/200100e08b00000:00117500007ee3aa/0", "EXTENSION:GUID");
	bad("srp://host/200100e08b000000:00117500007ee3ag/0", "EXTENSION:GUID");
	bad("srp://host/" ID "0/0", "EXTENSION:GUID");
	bad("srp://host/" ID "/16384", "LUN '16384'");
	bad("srp://host/" ID "/-1", "LUN '-1'");
	bad("srp://host/" ID "/1x", "LUN '1x'");
	bad("srp://host/" ID "/1/2", "LUN '1/2'");
	bad("iscsi://host/iqn.a:b/0", "srp://host");
	bad("", "srp://host");
}

static void add_target_strings_are_parsed(void **state)
{
	struct srps_address a;
	assert_true(srps_address_is_string(PAIR ",dest=1.2.3.4:5555"));
	assert_false(srps_address_is_string("srp://host/a=b"));
	good(&a, PAIR ",dest=1.2.3.4:5555\r\n\n");
	assert_string_equal(a.portal, "1.2.3.4:5555");
	assert_memory_equal(a.target, id, 16);
	assert_false(a.has_lun || a.has_initiator_ext);
	good(&a, PAIR ",dest=1.2.3.4:5555/");
	assert_false(a.has_lun);
	good(&a, "dest=[::1]:3261,src=::2,initiator_ext=00000000000000ff,ch_count=4,"
		 "queue_size=64,target_can_queue=100,max_it_iu_size=1000,io_class=0100," PAIR "/5");
	assert_string_equal(a.portal, "[::1]:3261");
	assert_string_equal(a.local, "::2");
	assert_true(a.has_initiator_ext && a.has_lun);
	assert_int_equal(a.initiator_ext[7], 0xff);
	assert_int_equal(a.channels, 4);
	assert_int_equal(a.channel_depth, 64);
	assert_int_equal(a.queue_depth, 100);
	assert_int_equal(a.it_iu_len, 1000);
	assert_int_equal(a.lun, 5);
	assert_string_equal(a.ignored, "");
}

static void keys_without_effect_are_listed(void **state)
{
	struct srps_address a;
	good(&a,
	     PAIR ",dest=1.2.3.4:5,max_sect=65535,cmd_sg_entries=255,allow_ext_sg=1,"
		  "sg_tablesize=2048,comp_vector=1,tl_retry_count=7,max_cmd_per_lun=3,pkey=ffff");
	assert_string_equal(a.ignored, "max_sect, cmd_sg_entries, allow_ext_sg, sg_tablesize, "
				       "comp_vector, tl_retry_count, max_cmd_per_lun, pkey");
}

static void bad_strings_are_refused_with_words(void **state)
{
	bad(PAIR ",dgid=fe800000000000000002c90300000001,pkey=ffff,service_id=0002c90300000001",
	    "IB-CM");
	bad(PAIR, "dest=ADDRESS:PORT");
	bad("id_ext=200100e08b000000,dest=1.2.3.4:5", "no ioc_guid");
	bad("ioc_guid=200100e08b000000,dest=1.2.3.4:5", "no id_ext");
	bad(PAIR ",dest=1.2.3.4:5,io_class=ff00", "only 0100");
	bad(PAIR ",dest=1.2.3.4:5,io_class=0100zz", "invalid io_class: '0100zz'");
	bad(PAIR ",dest=1.2.3.4:5,io_class=", "invalid io_class");
	bad(PAIR ",dest=1.2.3.4:5,bogus=1", "unknown key: 'bogus'");
	bad(PAIR ",dest=1.2.3.4:5,dest=1.2.3.4:6", "dest is given twice");
	bad(PAIR ",dest=1.2.3.4:5,bogus", "not KEY=VALUE");
	bad(PAIR ",dest=", "invalid dest");
	bad(PAIR ",dest=1.2.3.4:5,ch_count=0", "invalid ch_count");
	bad(PAIR ",dest=1.2.3.4:5,ch_count=99999999999999999999", "invalid ch_count");
	bad(PAIR ",dest=1.2.3.4:5/x", "LUN 'x'");
	bad(PAIR ",dest=1.2.3.4:5\nbogus\n", "'bogus' is not KEY=VALUE");
	bad(PAIR ",dest=1.2.3.4:5/1\n/2", "invalid add_target string: LUN '1");
	bad(PAIR ",dest=1.2.3.4:5,ch_count=a", "invalid ch_count: 'a'");
	bad("id_ext=1,ioc_guid=2,dest=1.2.3.4:5", "invalid id_ext: '1'");
}

static void keys_without_effect_are_checked(void **state)
{
	bad(PAIR ",dest=1.2.3.4:5,cmd_sg_entries=abc", "invalid cmd_sg_entries: 'abc'");
	bad(PAIR ",dest=1.2.3.4:5,tl_retry_count=", "invalid tl_retry_count: ''");
	bad(PAIR ",dest=1.2.3.4:5,tl_retry_count=8", "invalid tl_retry_count: '8'");
	bad(PAIR ",dest=1.2.3.4:5,max_cmd_per_lun=0", "invalid max_cmd_per_lun");
	bad(PAIR ",dest=1.2.3.4:5,pkey=10000", "invalid pkey");
	bad(PAIR ",dest=1.2.3.4:5,comp_vector=-1", "invalid comp_vector");
}

static void a_port_identifier_is_written_as_it_is_read(void **state)
{
	char text[SRPS_PORT_ID_TEXT];
	uint8_t back[16];
	struct err e;
	assert_string_equal(srps_port_id_format(id, text), ID);
	assert_int_equal(srps_port_id_parse(text, back, &e), 0);
	assert_memory_equal(back, id, 16);
	assert_int_equal(srps_port_id_parse("", back, &e), -EINVAL);
	assert_int_equal(srps_port_id_parse(":", back, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_parsed),
		cmocka_unit_test(bad_urls_are_refused_with_words),
		cmocka_unit_test(add_target_strings_are_parsed),
		cmocka_unit_test(keys_without_effect_are_listed),
		cmocka_unit_test(keys_without_effect_are_checked),
		cmocka_unit_test(bad_strings_are_refused_with_words),
		cmocka_unit_test(a_port_identifier_is_written_as_it_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
