// SPDX-License-Identifier: BSD-2-Clause
// What farblock-initiator has a device register: its memory, once, and nothing for each command.
// The whole program runs, over providers that are the test's own, which expose only what was
// announced (core/region.h) or registered for it, as adapters do.
#include "initiator/iscsi/rdma_target.h"

#include <unistd.h>

#include "core/region.h"
#include "initiator/program/program.h"

enum { BLOCK = 512, DISK = 16 << 20, REGIONS = 64 };

static struct fake_rnic f;
static uint8_t disk[DISK];
static int registrations; // ever

// --- what is announced ---

static const struct region *regions[REGIONS];

static void on_added(struct region_watch *w, struct region *r)
{
	for (int i = 0; i < REGIONS; i++)
		if (!regions[i]) {
			regions[i] = r;
			return;
		}
	abort();
}

static void on_removed(struct region_watch *w, struct region *r)
{
	for (int i = 0; i < REGIONS; i++)
		if (regions[i] == r)
			regions[i] = NULL;
}

static struct region_watch region_watch = { .added = on_added, .removed = on_removed };

static bool is_announced(const void *addr)
{
	const uint8_t *a = addr;
	for (int i = 0; i < REGIONS; i++)
		if (regions[i] && a >= regions[i]->addr && a < regions[i]->addr + regions[i]->len)
			return true;
	return false;
}

static bool is_unknown(struct fake_rnic *fake, const void *addr)
{
	return !is_announced(addr);
}

// --- the providers that the program finds ---

static int test_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
			const struct tcp_addr *local, const struct rnic_qp_options *o,
			const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	f.w = f.rnic.worker = w;
	return fake_connect(ret, w, peer, local, o, ops, owner, e);
}

static int test_register(struct rnic *rn, struct rnic_mr **ret, void *addr, uint64_t len,
			 unsigned access, struct err *e)
{
	registrations++;
	return fake_register(rn, ret, addr, len, access, e);
}

static int test_expose(struct rnic_qp *qp, struct rnic_exposed *ret, const struct sg *sg,
		       uint32_t nsg, uint64_t len, unsigned access)
{
	if (!is_announced(sg[0].addr) && !f.registered)
		return -EOPNOTSUPP;
	return fake_expose(qp, ret, sg, nsg, len, access);
}

static int no_device(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		     const struct tcp_addr *local, const struct rnic_qp_options *o,
		     const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	return err_set(e, -ENODEV, "no device");
}

const struct rnic_provider rnic_iwarp = { .name = "iwarp", .connect = test_connect };
const struct rnic_provider rnic_verbs = { .name = "verbs", .connect = no_device };

// --- the target's disk ---

static struct fake_exposure *exposure(const uint8_t *stag)
{
	uint32_t rkey = get_be32(stag);
	for (int i = 0; i < f.exposed_count; i++)
		if (f.exposed[i].is_live && f.exposed[i].rkey == rkey)
			return &f.exposed[i];
	return NULL;
}

static void capacity(uint8_t *to)
{
	put_be64(to, DISK / BLOCK - 1);
	put_be32(to + 8, BLOCK);
}

static void disk_does(const uint8_t *hdr, const uint8_t *bhs, const uint8_t *data)
{
	const uint8_t *cdb = bhs + 32;
	struct fake_exposure *out = exposure(hdr + 4), *in = exposure(hdr + 16);
	bool is_16 = cdb[0] & 0x80;
	uint64_t at = (is_16 ? get_be64(cdb + 2) : get_be32(cdb + 2)) * BLOCK;
	uint64_t len = get_be32(bhs + 20);
	switch (cdb[0]) {
	case 0x28:
	case 0x88:
		memcpy(in->sg.addr, disk + at, len);
		break;
	case 0x2a:
	case 0x8a:
		memcpy(disk + at, out ? out->sg.addr : data, len);
		break;
	case 0x9e:
		capacity(in->sg.addr);
		break;
	default:
		if (in)
			memset(in->sg.addr, 0, len);
	}
}

// --- the program ---

static int setup(void **state)
{
	fake_rnic_init(&f, NULL);
	far_init(&f);
	far_does = disk_does;
	f.is_unknown = is_unknown;
	f.provider.register_mr = test_register;
	f.provider.expose = test_expose;
	registrations = 0;
	region_watch_add(&region_watch);
	return 0;
}

static int teardown(void **state)
{
	region_watch_remove(&region_watch);
	fake_rnic_done(&f);
	return 0;
}

#define URL "iser://127.0.0.1:3260/iqn.2003-01.org.example:disk/0"

// Runs farblock-initiator with these words, up to NULL; returns how many registrations it took.
static int tool(const char *word, ...)
{
	const char *argv[16] = { "farblock-initiator", word, URL, "--initiator-name",
				 "iqn.2003-01.org.example:me" };
	int argc = 5, before = registrations;
	va_list words;
	va_start(words, word);
	while ((argv[argc] = va_arg(words, const char *)))
		argc++;
	va_end(words);
	assert_int_equal(tool_main(argc, (char **)(uintptr_t)argv), 0);
	return registrations - before;
}

static const char small[] = "512k", large[] = "16m";

static void reads_register_nothing_each(void **state)
{
	int few = tool("read", "--bs", "16k", "-o", "/dev/null", "--length", small, NULL);
	int before = commands;
	assert_int_equal(tool("read", "--bs", "16k", "-o", "/dev/null", "--length", large, NULL),
			 few);
	assert_true(commands - before > 1024);
}

static void writes_register_nothing_each(void **state)
{
	int few = tool("write", "--bs", "16k", "-i", "/dev/zero", "--length", small, NULL);
	int before = commands;
	assert_int_equal(tool("write", "--bs", "16k", "-i", "/dev/zero", "--length", large, NULL),
			 few);
	assert_true(commands - before > 1024);
}

static void verifies_register_nothing_each(void **state)
{
	int few = tool("verify", "--bs", "16k", "--pattern", "1", "--length", small, NULL);
	int before = commands;
	assert_int_equal(tool("verify", "--bs", "16k", "--pattern", "1", "--length", large, NULL),
			 few);
	assert_true(commands - before > 2048);
}

static void a_bench_registers_nothing_for_its_commands(void **state)
{
	static const char *const ops[] = { "randread", "write" };
	for (int i = 0; i < 2; i++) {
		int before = commands;
		int few = tool("bench", "--time", "1", "--op", ops[i], "--bs", "64k", NULL);
		assert_true(commands - before > 100 * few);
	}
}

static void memory_is_announced_until_it_goes(void **state)
{
	struct tool_memory *m;
	struct err e;
	assert_int_equal(tool_memory_new(&m, 5000, &e), 0);
	uint8_t *addr = tool_memory_at(m, 0);
	assert_true(is_announced(addr) && is_announced(addr + 4999));
	tool_memory_free(m);
	assert_false(is_announced(addr));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(reads_register_nothing_each),	      T(writes_register_nothing_each),
		T(verifies_register_nothing_each),    T(a_bench_registers_nothing_for_its_commands),
		T(memory_is_announced_until_it_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
