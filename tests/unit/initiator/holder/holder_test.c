// SPDX-License-Identifier: BSD-2-Clause
// The life of an attachment with a carrier of the test's (an ops table) and a disk of memory: a
// child holds it, this process asks. What the carrier does waits until the test says so.
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "initiator/holder/holder.h"
#include "initiator/tool/fake_session.h"

#include <json-c/json.h>

enum stage { NOTHING, START, CHECK, STOP, STOP_FORCED };

static struct shared {		     // with the child
	atomic_int blocks_in, is_in; // enum stage
	atomic_int reads_in;	     // a stage that reads the disk, whose target goes away before
	atomic_int read_res;
	atomic_bool is_used, is_busy;
	atomic_uint stops, checks;
} * shared;

static struct way way;
static char dir[64];
static struct holder_files files;
static pid_t child;

static void pause_here(void)
{
	sched_yield(); // the condition is asked again
}

struct reading {
	struct disk *disk;
	struct disk_io io;
	struct sg sg;
	sem_t done;
	uint8_t data[BLOCK];
};

static void read_done(struct disk_io *io)
{
	sem_post(&((struct reading *)io->arg)->done);
}

static void lose_and_read(void *arg)
{
	struct reading *r = arg;
	way.is_lost = true;
	disk_submit(r->disk, &r->io);
}

// As the kernel reads a partition table, or writes back what a device still has.
static void read_disk(struct disk *d)
{
	struct reading r = {
		.disk = d, .sg = {.addr = r.data, .len = BLOCK}
	};
	r.io = (struct disk_io){
		.op = DISK_READ, .len = BLOCK, .sg = &r.sg, .nsg = 1, .done = read_done, .arg = &r
	};
	sem_init(&r.done, 0, 0);
	worker_call(disk_worker(d), lose_and_read, &r);
	while (sem_wait(&r.done))
		;
	sem_destroy(&r.done);
	atomic_store(&shared->read_res, r.io.res);
}

static struct disk *carried;

static void pass(enum stage s)
{
	atomic_store(&shared->is_in, s);
	if (atomic_load(&shared->reads_in) == (int)s)
		read_disk(carried);
	while (atomic_load(&shared->blocks_in) == (int)s)
		pause_here();
}

// ---- the carrier ----

static struct carrier carrier;

static int fake_start(struct carrier **ret, struct disk *d, const struct carrier_config *config,
		      const struct carrier_events *events, void *arg, struct err *e)
{
	carried = d;
	*ret = &carrier;
	pass(START);
	return 0;
}

static void fake_carrier_info(const struct carrier *c, struct carrier_info *ret)
{
	*ret = (struct carrier_info){ .id = 7, .device = "/dev/fake7" };
}

static int fake_check(const struct carrier *c, struct err *e)
{
	pass(CHECK);
	atomic_fetch_add(&shared->checks, 1);
	return atomic_load(&shared->is_used) ? err_set(e, -EBUSY, "/dev/fake7: mounted") : 0;
}

static int fake_stop(struct carrier *c, bool is_forced, struct err *e)
{
	atomic_fetch_add(&shared->stops, 1);
	pass(is_forced ? STOP_FORCED : STOP);
	return atomic_load(&shared->is_busy) && !is_forced
		       ? err_set(e, -ETIMEDOUT, "/dev/fake7: requests wait")
		       : 0;
}

static int fake_probe(struct err *e)
{
	return 0;
}

static const struct carrier_ops fake = {
	.name = "fake",
	.probe = fake_probe,
	.start = fake_start,
	.info = fake_carrier_info,
	.check_unused = fake_check,
	.stop = fake_stop,
};

// ---- the child ----

static void is_ready(void *arg, struct json_object *status)
{
}

static _Noreturn void hold(void)
{
	static struct way *config = &way;
	struct disk_path_config path = {
		.open = fake_open, .config = &config, .config_size = sizeof config, .name = "fake"
	};
	struct holder_config c = {
		.name = "disk",
		.run_dir = dir,
		.via = &fake,
		.disk = {.paths = &path, .path_count = 1, .no_path_retry = DISK_QUEUE_FOREVER}
	};
	struct err e;
	int r = holder_run(&c, is_ready, NULL, &e);
	if (r < 0)
		fprintf(stderr, "%s\n", e.text);
	_exit(r == -ECANCELED ? 3 : r < 0);
}

static void wait_in(enum stage s)
{
	while (atomic_load(&shared->is_in) != (int)s)
		pause_here();
}

static void hold_in_child(void)
{
	child = fork();
	if (!child)
		hold();
}

static struct json_object *ask(const char *request)
{
	struct err e;
	struct json_object *o = holder_ask(&files, request, &e);
	if (!o)
		fail_msg("%s: %s", request, e.text);
	return o;
}

static void expect_text(const char *request, const char *key, const char *text)
{
	struct json_object *v = NULL, *o = ask(request);
	json_object_object_get_ex(o, key, &v);
	const char *found = v ? json_object_get_string(v) : "";
	if (!strstr(found, text) || !*text != !*found)
		fail_msg("%s: %s: '%s', not '%s'", request, key, found, text);
	json_object_put(o);
}

// A request whose answer is awaited by a process.
static pid_t ask_in_background(const char *request)
{
	pid_t pid = fork();
	if (!pid) {
		struct err e;
		struct json_object *v, *o = holder_ask(&files, request, &e);
		_exit(!o ? 2 : json_object_object_get_ex(o, "error", &v) ? 1 : 0);
	}
	return pid;
}

static int ended(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void attached(void)
{
	struct err e;
	struct json_object *o;
	hold_in_child();
	while (!(o = holder_ask(&files, "status", &e)))
		pause_here();
	json_object_put(o);
}

static int begin(void **state)
{
	struct err e;
	memset(&far, 0, sizeof far);
	far.serial = 'a';
	far.has_ways = true;
	way = (struct way){ .alua = 0xff };
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	strcpy(dir, "/tmp/holder_test.XXXXXX");
	return shared == MAP_FAILED || !mkdtemp(dir) || holder_files(&files, dir, "disk", &e);
}

static int end_test(void **state)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	munmap(shared, sizeof *shared);
	return system(command);
}

static void is_left_clean(void)
{
	assert_int_equal(ended(child), 0);
	assert_int_not_equal(access(files.state, F_OK), 0);
	assert_int_not_equal(access(files.socket, F_OK), 0);
}

// ---- tests ----

static void a_detach_leaves_nothing(void **state)
{
	attached();
	expect_text("status", "device", "/dev/fake7");
	expect_text("status", "via", "fake");
	expect_text("detach", "error", "");
	is_left_clean();
}

static void a_used_device_is_refused_and_stays(void **state)
{
	attached();
	atomic_store(&shared->is_used, true);
	expect_text("detach", "error", "/dev/fake7: mounted");
	expect_text("status", "state", "attached");
	assert_int_equal(atomic_load(&shared->stops), 0);
	expect_text("detach force", "error", "");
	is_left_clean();
}

static void a_device_that_cannot_be_stopped_stays(void **state)
{
	attached();
	atomic_store(&shared->is_busy, true);
	expect_text("detach", "error", "requests wait");
	expect_text("status", "state", "attached");
	expect_text("detach force", "error", "");
	is_left_clean();
}

static void requests_are_answered_while_a_detach_blocks(void **state)
{
	attached();
	atomic_store(&shared->blocks_in, STOP);
	pid_t asking = ask_in_background("detach");
	wait_in(STOP);
	for (int i = 0; i < 3; i++)
		expect_text("status", "state", "detaching");
	atomic_store(&shared->blocks_in, NOTHING);
	assert_int_equal(ended(asking), 0);
	is_left_clean();
}

static void force_follows_a_detach_that_failed_meanwhile(void **state)
{
	attached();
	atomic_store(&shared->is_busy, true);
	atomic_store(&shared->blocks_in, STOP);
	pid_t plain = ask_in_background("detach");
	wait_in(STOP);
	pid_t forced = ask_in_background("detach force");
	expect_text("status", "state", "detaching");
	atomic_store(&shared->blocks_in, NOTHING);
	assert_int_equal(ended(plain), 1);
	assert_int_equal(ended(forced), 0);
	is_left_clean();
}

static void either_signal_detaches(void **state)
{
	for (int i = 0; i < 2; i++) {
		attached();
		kill(child, i ? SIGINT : SIGTERM);
		is_left_clean();
	}
}

static void wait_for_checks(unsigned more)
{
	unsigned want = atomic_load(&shared->checks) + more;
	while (atomic_load(&shared->checks) < want)
		pause_here();
}

static void a_signal_is_remembered_until_the_device_is_unused(void **state)
{
	for (int i = 0; i < 2; i++) {
		attached();
		atomic_store(&shared->is_used, true);
		kill(child, i ? SIGINT : SIGTERM);
		wait_for_checks(2);
		expect_text("status", "state", "attached");
		atomic_store(&shared->is_used, false);
		is_left_clean();
	}
}

static void a_request_to_detach_is_not_remembered(void **state)
{
	attached();
	atomic_store(&shared->is_used, true);
	expect_text("detach", "error", "/dev/fake7: mounted");
	atomic_store(&shared->is_used, false);
	expect_text("status", "state", "attached");
	assert_int_equal(atomic_load(&shared->checks), 1);
	expect_text("detach", "error", "");
	is_left_clean();
}

static void force_ends_what_a_signal_waits_for(void **state)
{
	attached();
	atomic_store(&shared->is_used, true);
	kill(child, SIGTERM);
	wait_for_checks(1);
	expect_text("detach", "error", "/dev/fake7: mounted");
	expect_text("detach force", "error", "");
	is_left_clean();
}

static void a_signal_ends_a_start_that_waits_for_the_target(void **state)
{
	for (int i = 0; i < 2; i++) {
		atomic_store(&shared->is_in, NOTHING);
		atomic_store(&shared->reads_in, START);
		hold_in_child();
		wait_in(START);
		kill(child, i ? SIGINT : SIGTERM);
		assert_int_equal(ended(child), 3);
		assert_int_equal(atomic_load(&shared->read_res), -ESHUTDOWN);
		assert_int_equal(atomic_load(&shared->stops), i + 1);
		assert_int_not_equal(access(files.state, F_OK), 0);
	}
}

static void force_fails_what_a_detach_waits_for(void **state)
{
	attached();
	atomic_store(&shared->reads_in, STOP);
	pid_t plain = ask_in_background("detach");
	wait_in(STOP);
	expect_text("status", "state", "detaching");
	expect_text("detach force", "error", "");
	assert_int_equal(ended(plain), 0);
	assert_int_equal(atomic_load(&shared->read_res), -ESHUTDOWN);
	is_left_clean();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_detach_leaves_nothing),
		TEST(a_used_device_is_refused_and_stays),
		TEST(a_device_that_cannot_be_stopped_stays),
		TEST(requests_are_answered_while_a_detach_blocks),
		TEST(force_follows_a_detach_that_failed_meanwhile),
		TEST(either_signal_detaches),
		TEST(a_signal_is_remembered_until_the_device_is_unused),
		TEST(a_request_to_detach_is_not_remembered),
		TEST(force_ends_what_a_signal_waits_for),
		TEST(a_signal_ends_a_start_that_waits_for_the_target),
		TEST(force_fails_what_a_detach_waits_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
