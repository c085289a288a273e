// SPDX-License-Identifier: BSD-2-Clause
// holder_clear() with a carrier of the test's: what of a dead process's attachment goes, and what
// stays.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/lockfile.h"
#include "initiator/holder/left.h"

static char dir[64];
static struct holder_files files;
static struct {
	unsigned calls;
	bool is_forced;
	char device[64], identity[64];
	int id, result;
} seen;

static int fake_clear(const struct carrier_left *left, bool is_forced, struct err *e)
{
	seen.calls++;
	seen.is_forced = is_forced;
	seen.id = left->id;
	snprintf(seen.device, sizeof seen.device, "%s", left->device);
	snprintf(seen.identity, sizeof seen.identity, "%s", left->identity);
	return seen.result < 0 ? err_set(e, seen.result, "%s waits", left->device) : 0;
}

static const struct carrier_ops fake = {
	.name = "fake",
	.can_recover = true,
	.clear = fake_clear,
};

static const struct carrier_ops *find(const char *name)
{
	return strcmp(name, "fake") == 0 ? &fake : NULL;
}

static void write_state_of(const char *name, const char *text)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s.json", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void write_state(const char *text)
{
	write_state_of("disk", text);
}

static bool is_there(void)
{
	return !access(files.state, F_OK);
}

#define STATE "{\"via\":\"fake\",\"device\":\"/dev/fake3\",\"id\":3,\"identity\":\"naa.6\"}"

static int begin(void **state)
{
	struct err e;
	memset(&seen, 0, sizeof seen);
	strcpy(dir, "/tmp/left_test.XXXXXX");
	return !mkdtemp(dir) || holder_files(&files, dir, "disk", &e);
}

static int end(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

static void force_deletes_the_device_and_then_the_files(void **state)
{
	struct err e;
	write_state(STATE);
	assert_int_equal(holder_clear(dir, "disk", find, true, &e), 0);
	assert_int_equal(seen.calls, 1);
	assert_true(seen.is_forced);
	assert_int_equal(seen.id, 3);
	assert_string_equal(seen.device, "/dev/fake3");
	assert_string_equal(seen.identity, "naa.6");
	assert_false(is_there());
}

static void a_device_that_stays_keeps_its_files(void **state)
{
	struct err e;
	write_state(STATE);
	seen.result = -EHOSTDOWN;
	assert_int_equal(holder_clear(dir, "disk", find, false, &e), -EHOSTDOWN);
	assert_string_equal(e.text, "disk: its process has died: /dev/fake3 waits");
	assert_true(is_there());
}

static void a_device_that_is_another_attachments_is_left_alone(void **state)
{
	struct err e;
	write_state(STATE);
	write_state_of("other", STATE);
	assert_int_equal(holder_clear(dir, "disk", find, true, &e), 0);
	assert_int_equal(seen.calls, 0);
	assert_false(is_there());
}

static void an_attachment_that_a_process_has_is_left_alone(void **state)
{
	struct err e;
	int lock;
	write_state(STATE);
	assert_int_equal(lockfile_take(files.lock, &lock, &e), 0);
	assert_int_equal(holder_clear(dir, "disk", find, true, &e), -EBUSY);
	assert_int_equal(seen.calls, 0);
	assert_true(is_there());
	close(lock);
}

static void a_broken_state_file_is_only_forgotten_by_force(void **state)
{
	static const char *const bad[] = { "", "{", "[]", "{\"via\":7}", "{\"via\":\"x\"}" };
	struct err e;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		write_state(bad[i]);
		assert_int_equal(holder_clear(dir, "disk", find, false, &e), -EINVAL);
		assert_true(is_there());
		assert_int_equal(holder_clear(dir, "disk", find, true, &e), 0);
		assert_false(is_there());
	}
	assert_int_equal(seen.calls, 0);
}

static int found(const struct carrier_ops *via, const struct disk_facts *is)
{
	struct left_device left;
	struct err e;
	int r = left_device(&files, via, is, &left, &e);
	if (r < 0)
		assert_non_null(strstr(e.text, "/dev/fake3 is of another disk"));
	else if (left.id >= 0)
		assert_string_equal(left.path, "/dev/fake3");
	return r < 0 ? r : left.id;
}

static void only_a_device_of_the_same_way_is_taken_over(void **state)
{
	const struct carrier_ops other = { .name = "other", .can_recover = true };
	assert_int_equal(found(&fake, NULL), -1);
	write_state(STATE);
	assert_int_equal(found(&fake, NULL), 3);
	assert_int_equal(found(&other, NULL), -1);
	write_state("{\"via\":\"fake\",\"device\":\"/dev/fake3\",\"id\":\"3\"}");
	assert_int_equal(found(&fake, NULL), -1);
}

static void a_device_of_another_disk_is_not_taken_over(void **state)
{
	struct disk_facts is = { .identity = "naa.6" };
	write_state(STATE);
	assert_int_equal(found(&fake, &is), 3);
	strcpy(is.serial, "7");
	assert_int_equal(found(&fake, &is), -ESTALE);
	is = (struct disk_facts){ .identity = "naa.7" };
	assert_int_equal(found(&fake, &is), -ESTALE);
	assert_int_equal(found(&fake, NULL), 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(force_deletes_the_device_and_then_the_files),
		TEST(a_device_that_stays_keeps_its_files),
		TEST(a_device_that_is_another_attachments_is_left_alone),
		TEST(an_attachment_that_a_process_has_is_left_alone),
		TEST(a_broken_state_file_is_only_forgotten_by_force),
		TEST(only_a_device_of_the_same_way_is_taken_over),
		TEST(a_device_of_another_disk_is_not_taken_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
