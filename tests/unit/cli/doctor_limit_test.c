// SPDX-License-Identifier: BSD-2-Clause
// cli/doctor: what limits the load of a daemon, from two answers of its status.get, a second apart
// by its clock, and from the counters of interfaces in a directory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "cli/doctor/doctor.h"
#include "cli/shell/client.h"
#include "fake_root.h"

// What grows in the second, and what is there both times.
struct daemon {
	unsigned cpu_us, polled_us; // of worker 0; there are two
	unsigned commands, read_us, write_us, storage_us;
	unsigned output_waits_us; // both times
	const char *received;	  // bytes of eth0 in the second answer
	const char *root;
	int answers;
};

static int ask(void *arg, const char *method, struct json_object *params, struct json_object **ret,
	       struct err *e)
{
	struct daemon *k = arg;
	char text[1000];
	json_object_put(params);
	if (strcmp(method, "status.get"))
		return err_set(e, -1, "not here");
	unsigned n = k->answers++ ? 1 : 0;
	if (n && k->received)
		fake_root_put(k->root, "/sys/class/net/eth0/statistics/rx_bytes", k->received);
	snprintf(text, sizeof text,
		 "{\"clock_us\": %u, \"workers\": [{\"cpu_us\": %u, \"polled_us\": %u}, "
		 "{\"cpu_us\": 0, \"polled_us\": 0}], \"storage_objects\": {\"/disk\": "
		 "{\"read\": {\"commands\": %u, \"latency_sum_us\": %u}, \"write\": {\"commands\": "
		 "0, \"latency_sum_us\": %u}, \"storage_us\": %u}}, \"sessions\": [{\"sid\": 7, "
		 "\"initiator\": \"iqn.a\", \"output_waits_us\": %u}]}",
		 1000000 + n * 1000000, n * k->cpu_us, n * k->polled_us, n * k->commands,
		 n * k->read_us, n * k->write_us, n * k->storage_us, k->output_waits_us);
	*ret = json_tokener_parse(text);
	return *ret ? 0 : err_set(e, -1, "malformed");
}

static void expect(struct daemon k, const char *verdict, const char *object, const char *what)
{
	static char root[] = "/tmp/farblock-limit.XXXXXX";
	char command[100];
	memcpy(root + sizeof root - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(root));
	k.root = root;
	fake_root_put(root, "/sys/class/net/eth0/speed", "1000\n");
	fake_root_put(root, "/sys/class/net/eth0/statistics/rx_bytes", "5000\n");
	fake_root_put(root, "/sys/class/net/lo/statistics/rx_bytes", "7\n");
	struct doctor d = { .root = root, .ask = ask, .ask_arg = &k, .sample_ms = 1 };
	doctor_begin(&d, "limit");
	check_limit(&d);
	snprintf(command, sizeof command, "rm -rf %s", root);
	assert_int_equal(system(command), 0);
	assert_int_equal(json_object_array_length(d.findings), 1);
	struct json_object *f = json_object_array_get_idx(d.findings, 0);
	assert_string_equal(text_field(f, "what"), what);
	assert_string_equal(text_field(f, "verdict"), verdict);
	assert_string_equal(text_field(f, "object"), object);
	json_object_put(d.findings);
}

static void without_load_there_is_no_limit(void **state)
{
	expect((struct daemon){ .commands = 12, .read_us = 3000, .storage_us = 3000 }, "skip", "",
	       "no load to judge: 12 commands/s");
}

static void a_worker_that_always_works_is_the_limit(void **state)
{
	expect((struct daemon){ .commands = 300000, .cpu_us = 990000, .polled_us = 20000 }, "ok",
	       "worker 0", "the limit is the CPU: it works 97 % of the time");
}

static void a_worker_that_polls_has_time(void **state)
{
	expect((struct daemon){ .commands = 30000, .cpu_us = 990000, .polled_us = 800000 }, "ok",
	       "",
	       "the limit is not farblockd: 30000 commands/s, the busiest worker has 19 % of its "
	       "time in use");
}

static void a_disk_that_has_most_commands_is_the_limit(void **state)
{
	expect((struct daemon){ .commands = 1600, .read_us = 32000000, .storage_us = 31000000 },
	       "ok", "/disk",
	       "the limit is the disk: of 32.0 commands in flight 31.0 are with it (1600 "
	       "commands/s)");
}

static void a_busy_worker_is_named_and_not_the_disk_that_waits_for_it(void **state)
{
	expect((struct daemon){ .commands = 90000,
				.read_us = 32000000,
				.storage_us = 31000000,
				.cpu_us = 950000 },
	       "ok", "worker 0", "the limit is the CPU: it works 95 % of the time");
}

static void writes_that_wait_for_their_data_wait_for_the_network(void **state)
{
	expect((struct daemon){ .commands = 2000, .write_us = 8000000, .storage_us = 800000 }, "ok",
	       "",
	       "the limit is the network or the initiators: WRITEs without their data have 90 % of "
	       "the commands' time");
}

static void data_that_waits_to_be_sent_waits_for_the_initiator(void **state)
{
	expect((struct daemon){ .commands = 900, .output_waits_us = 25000 }, "ok", "iqn.a",
	       "the limit is the network or the initiator: data of 1 session waits to be sent, "
	       "here for 25.0 ms");
}

static void an_interface_near_its_rate_is_the_limit(void **state)
{
	expect((struct daemon){ .commands = 28000, .received = "115005000\n" }, "ok", "eth0",
	       "the limit is the network: 0.92 of 1.00 Gb/s received");
}

static void an_interface_below_its_rate_is_not_the_limit(void **state)
{
	expect((struct daemon){ .commands = 28000, .received = "50005000\n" }, "ok", "",
	       "the limit is not farblockd: 28000 commands/s, the busiest worker has 0 % of its "
	       "time in use");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_load_there_is_no_limit),
		cmocka_unit_test(a_worker_that_always_works_is_the_limit),
		cmocka_unit_test(a_worker_that_polls_has_time),
		cmocka_unit_test(a_disk_that_has_most_commands_is_the_limit),
		cmocka_unit_test(a_busy_worker_is_named_and_not_the_disk_that_waits_for_it),
		cmocka_unit_test(writes_that_wait_for_their_data_wait_for_the_network),
		cmocka_unit_test(data_that_waits_to_be_sent_waits_for_the_initiator),
		cmocka_unit_test(an_interface_near_its_rate_is_the_limit),
		cmocka_unit_test(an_interface_below_its_rate_is_not_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
