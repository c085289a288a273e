// SPDX-License-Identifier: BSD-2-Clause
// ramdisk: the contract, and what is its own: memory handed out, sparse, stable while growing.
#include "backstores/contract.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "backstores/memory.h"
#include "core/region.h"

static struct backstore *open_ramdisk(const struct subject *s, bool is_new)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = SUBJECT_SIZE;
	c.block_size = s->arg ? *(const uint32_t *)s->arg : 0;
	return must_open("ramdisk", &c);
}

static struct backstore *open_nullio(const struct subject *s, bool is_new)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = SUBJECT_SIZE;
	c.nullio = true;
	return must_open("ramdisk", &c);
}

static void its_memory_is_page_aligned_and_starts_as_zeroes(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = MIB;
	struct backstore *bs = must_open("ramdisk", &c);
	assert_int_equal((uintptr_t)bs->memory % BUF_PAGE, 0);
	for (uint32_t i = 0; i < MIB; i++)
		assert_int_equal(bs->memory[i], 0);
	backstore_close(bs);
}

static void its_memory_stays_in_place_while_it_grows(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	struct err e;
	c.size = 64 * MIB;
	struct backstore *bs = must_open("ramdisk", &c);
	uint8_t *before = bs->memory;
	memset(before, 0x11, MIB);

	assert_int_equal(backstore_resize(bs, 128 * MIB, &e), 0);

	assert_ptr_equal(bs->memory, before);
	assert_int_equal(before[MIB - 1], 0x11);
	before[128 * MIB - 1] = 0x22;
	backstore_close(bs);
}

static void only_what_was_written_is_data(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	struct err e;
	c.size = 64 * MIB;
	struct backstore *bs = must_open("ramdisk", &c);
	volatile uint8_t *memory = bs->memory;
	assert_false(backstore_holds_data(bs));
	for (uint32_t i = 0; i < 64 * MIB; i += BUF_PAGE)
		assert_int_equal(memory[i], 0);
	assert_false(backstore_holds_data(bs));
	memory[64 * MIB - 1] = 1;
	assert_true(backstore_holds_data(bs));
	memory[64 * MIB - 1] = 0;
	assert_false(backstore_holds_data(bs));
	assert_int_equal(backstore_resize(bs, 128 * MIB, &e), 0);
	memory[128 * MIB - 1] = 1;
	assert_true(backstore_holds_data(bs));
	backstore_close(bs);
	c.nullio = true;
	bs = must_open("ramdisk", &c);
	assert_false(backstore_holds_data(bs));
	backstore_close(bs);
}

static uint64_t all_memory(void)
{
	struct sysinfo s;
	assert_int_equal(sysinfo(&s), 0);
	return ((uint64_t)s.totalram + s.totalswap) * s.mem_unit;
}

static bool is_warned(uint64_t size, bool is_nullio, struct backstore **ret)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = size & ~(uint64_t)(MIB - 1);
	c.nullio = is_nullio;
	*ret = must_open("ramdisk", &c);
	return strstr((*ret)->note, "Warning: RAM disks can grow to") != NULL;
}

static void more_than_there_is_memory_is_warned_of(void **state)
{
	struct backstore *one, *two;
	uint64_t memory = all_memory();
	assert_true(is_warned(memory + MIB, false, &one));
	backstore_close(one);
	assert_false(is_warned(memory + MIB, true, &one));
	backstore_close(one);
	assert_false(is_warned(MIB, false, &one));
	assert_true(is_warned(memory, false, &two)); // both together
	backstore_close(one);
	backstore_close(two);
	assert_false(is_warned(MIB, false, &one));
	backstore_close(one);
}

static void growing_beyond_memory_is_warned_of(void **state)
{
	struct backstore *bs;
	struct err e;
	uint64_t memory = all_memory() & ~(uint64_t)(MIB - 1);
	if (!is_warned(memory / 2 + MIB, false, &bs)) { // or a cgroup allows less
		assert_int_equal(backstore_resize(bs, memory + MIB, &e), 0);
		assert_non_null(strstr(bs->note, "Warning: RAM disks can grow to"));
	}
	backstore_close(bs);
}

static void growth_past_the_reserved_addresses_is_refused_in_words(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	struct err e;
	c.size = MIB;
	struct backstore *bs = must_open("ramdisk", &c);
	int r = backstore_resize(bs, 1ull << 50, &e);
	assert_int_equal(r, -EFBIG);
	assert_non_null(strstr(e.text, "ramdisk rd0: resize"));
	assert_non_null(strstr(e.text, "delete and recreate it"));
	assert_int_equal(backstore_size(bs), MIB);
	backstore_close(bs);
}

static void a_huge_disk_takes_only_what_is_written(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = 512 * GIB;
	struct backstore *bs = must_open("ramdisk", &c);
	put_pattern(bs, 512 * GIB - MIB, MIB, 1);
	expect_pattern(bs, 512 * GIB - MIB, MIB, 1);
	expect_zeroes(bs, 256 * GIB, MIB);
	backstore_close(bs);
}

// Memory of this process in huge pages that files are mapped with, KiB; -1: not told.
static long huge_kib(void)
{
	long kib = -1;
	char line[256];
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "ShmemPmdMapped: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

static bool has_collapse(void)
{
	uint8_t *p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = p + (-(uintptr_t)p & (2 * MIB - 1));
	assert_ptr_not_equal(p, MAP_FAILED);
	memset(at, 1, 2 * MIB);
	bool ok = !madvise(at, 2 * MIB, 25); // MADV_COLLAPSE
	munmap(p, 4 * MIB);
	return ok && huge_kib() >= 0;
}

static void what_is_written_whole_becomes_huge_pages(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = 16 * MIB;
	if (!has_collapse())
		skip();
	struct backstore *bs = must_open("ramdisk", &c);
	long before = huge_kib();
	put_pattern(bs, 4 * MIB, 4 * MIB, 1);
	put_pattern(bs, 10 * MIB, MIB, 2);

	uint64_t end = clock_ns() + 30000000000;
	while (huge_kib() < before + 4096 && clock_ns() < end)
		sched_yield();

	assert_int_equal(huge_kib(), before + 4096);
	expect_pattern(bs, 4 * MIB, 4 * MIB, 1);
	expect_pattern(bs, 10 * MIB, MIB, 2);
	backstore_close(bs);
}

static void a_size_is_rounded_up_to_pages(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = 5000;
	struct backstore *bs = must_open("ramdisk", &c);
	assert_int_equal(bs->limits.size, 8192);
	backstore_close(bs);
}

static void an_impossible_size_is_refused(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = UINT64_MAX;
	must_refuse("ramdisk", &c, -EINVAL, "ramdisk rd0: size", "out of range");
	c.size = 1ull << 62;
	must_refuse("ramdisk", &c, -ENOMEM, "ramdisk rd0: size", "address space");
}

static void nullio_keeps_nothing(void **state)
{
	struct backstore *bs = open_nullio(NULL, true);
	put_pattern(bs, 0, MIB, 1);
	assert_null(bs->memory);
	expect_zeroes(bs, 0, MIB);
	backstore_close(bs);
}

static void huge_pages_that_are_not_there_are_refused_in_words(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	char needed[64];
	uint64_t pages = memory_free_huge_pages() + 32768; // 64 GiB fit beside a sanitizer's memory
	c.hugepages = true;
	c.size = pages << 21;
	snprintf(needed, sizeof needed, "ramdisk rd0: size: huge pages of 2 MiB: %llu are",
		 (unsigned long long)pages);
	must_refuse("ramdisk", &c, -ENOMEM, needed,
		    "raise vm.nr_hugepages, or create it without hugepages=true");
	c.nullio = true;
	must_refuse("ramdisk", &c, -EINVAL, "ramdisk rd0: hugepages", "has no memory");
}

static unsigned regions_seen;

static void pin_added(struct region_watch *w, struct region *r)
{
	regions_seen += r->len == 4 * MIB;
	region_pin(r);
}

static void pin_removed(struct region_watch *w, struct region *r)
{
	region_unpin(r);
}

static bool is_page_there(const uint8_t *at)
{
	unsigned char there;
	assert_int_equal(mincore((void *)(uintptr_t)at, BUF_PAGE, &there), 0);
	return there & 1;
}

static void what_a_device_has_pinned_is_zeroed_and_stays(void **state)
{
	struct region_watch device = { .added = pin_added, .removed = pin_removed };
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = MIB;
	struct backstore *bs = must_open("ramdisk", &c);

	put_pattern(bs, 0, MIB, 1);
	assert_int_equal(io_one(bs, BS_UNMAP, 0, 65536, NULL), 0);
	assert_false(is_page_there(bs->memory));
	region_watch_add(&device);
	assert_int_equal(io_one(bs, BS_UNMAP, 65536, 65536, NULL), 0);
	expect_zeroes(bs, 65536, 65536);
	assert_true(is_page_there(bs->memory + 65536));
	assert_int_equal(io_one(bs, BS_UNMAP, 131072, MIB - 131072, NULL), 0);
	expect_zeroes(bs, 131072, MIB - 131072);
	assert_true(is_page_there(bs->memory + MIB - BUF_PAGE));
	region_watch_remove(&device);
	assert_int_equal(io_one(bs, BS_UNMAP, 65536, 65536, NULL), 0);
	assert_false(is_page_there(bs->memory + 65536));
	backstore_close(bs);
}

static void what_it_grows_by_is_announced_too(void **state)
{
	struct region_watch device = { .added = pin_added, .removed = pin_removed };
	struct bs_config c = config_of("ramdisk", "rd0");
	struct err e;
	c.size = 4 * MIB;

	regions_seen = 0;
	region_watch_add(&device);
	struct backstore *bs = must_open("ramdisk", &c);
	assert_int_equal(regions_seen, 1);
	assert_int_equal(backstore_resize(bs, 8 * MIB, &e), 0);
	assert_int_equal(regions_seen, 2);
	backstore_close(bs);
	region_watch_remove(&device);
}

int main(void)
{
	static const uint32_t large_blocks = 4096;
	static const struct subject subjects[] = {
		{"ramdisk",			     IS_STORE | IS_GROWING | IS_THIN | IS_EXPLAINED, open_ramdisk, NULL,
		  NULL													     },
		{ "ramdisk of 4096-byte blocks", IS_STORE | IS_GROWING | IS_THIN | IS_EXPLAINED,
		  open_ramdisk,										 NULL, &large_blocks},
		{ "ramdisk with nullio",	 IS_GROWING | IS_THIN | IS_EXPLAINED,	      open_nullio,  NULL,
		  NULL													     },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_memory_is_page_aligned_and_starts_as_zeroes),
		cmocka_unit_test(its_memory_stays_in_place_while_it_grows),
		cmocka_unit_test(only_what_was_written_is_data),
		cmocka_unit_test(more_than_there_is_memory_is_warned_of),
		cmocka_unit_test(growing_beyond_memory_is_warned_of),
		cmocka_unit_test(growth_past_the_reserved_addresses_is_refused_in_words),
		cmocka_unit_test(a_huge_disk_takes_only_what_is_written),
		cmocka_unit_test(what_is_written_whole_becomes_huge_pages),
		cmocka_unit_test(a_size_is_rounded_up_to_pages),
		cmocka_unit_test(an_impossible_size_is_refused),
		cmocka_unit_test(nullio_keeps_nothing),
		cmocka_unit_test(huge_pages_that_are_not_there_are_refused_in_words),
		cmocka_unit_test(what_a_device_has_pinned_is_zeroed_and_stays),
		cmocka_unit_test(what_it_grows_by_is_announced_too),
	};
	int failed = cmocka_run_group_tests(tests, start_worker, stop_worker);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		failed += contract_run(&subjects[i]);
	return failed;
}
