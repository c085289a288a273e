// SPDX-License-Identifier: BSD-2-Clause
// Two nexuses on two workers at the same blocks: what must be atomic is.
#include <pthread.h>

#include "target/scsi/sbc/sbc_test.h"

#define ROUNDS 150u
#define WIDE   48u // blocks

struct side {
	struct st_cmd cmd;
	pthread_t thread;
	unsigned nexus;
	unsigned errors;
	uint8_t data[2 * WIDE * ST_BLOCK];
};

static struct side sides[ST_NEXUSES];

static uint8_t run(struct side *s, const void *cdb, const void *out, uint32_t out_len, void *in,
		   uint32_t in_len)
{
	st_cmd_start(&s->cmd, s->nexus, cdb, 16, out, out_len, in, in_len);
	st_cmd_wait(&s->cmd);
	return s->cmd.status;
}

static unsigned both(void *(*work)(void *side))
{
	for (unsigned i = 0; i < ST_NEXUSES; i++) {
		sides[i].nexus = i;
		sides[i].errors = 0;
		sem_init(&sides[i].cmd.done, 0, 0);
		assert_int_equal(pthread_create(&sides[i].thread, NULL, work, &sides[i]), 0);
	}
	unsigned errors = 0;
	for (unsigned i = 0; i < ST_NEXUSES; i++) {
		pthread_join(sides[i].thread, NULL);
		errors += sides[i].errors;
	}
	return errors;
}

// Adds one to a counter on the medium, as a cluster file system takes a lock.
static bool count_up(struct side *s)
{
	static const uint8_t read[16] = { 0x88, 0, BE64(7), BE32(1) };
	static const uint8_t caw[16] = { 0x89, 0, BE64(7), 0, 0, 0, 1 };
	if (run(s, read, NULL, 0, s->data, ST_BLOCK) != STATUS_GOOD)
		s->errors++;
	memcpy(s->data + ST_BLOCK, s->data, ST_BLOCK);
	put_be32(s->data + ST_BLOCK, get_be32(s->data) + 1);
	uint8_t status = run(s, caw, s->data, 2 * ST_BLOCK, NULL, 0);
	if (status != STATUS_GOOD && (s->cmd.sense[2] & 0xf) != SK_MISCOMPARE)
		s->errors++;
	return status == STATUS_GOOD;
}

static void *counting(void *side)
{
	for (unsigned done = 0; done < ROUNDS;)
		done += count_up(side);
	return NULL;
}

static void counters_by_compare_and_write_lose_no_step(void **state)
{
	st_fill(7, 1, 0);
	assert_int_equal(both(counting), 0);
	uint8_t block[ST_BLOCK];
	st_read(7, 1, block);
	assert_int_equal(get_be32(block), 2 * ROUNDS);
}

static void *setting_bits(void *side)
{
	static const uint8_t orwrite[16] = { 0x8b, 0, BE64(9), BE32(1) };
	struct side *s = side;
	for (unsigned bit = s->nexus; bit < ROUNDS * 2; bit += 2) {
		memset(s->data, 0, ST_BLOCK);
		s->data[bit / 8] = (uint8_t)(1u << bit % 8);
		if (run(s, orwrite, s->data, ST_BLOCK, NULL, 0) != STATUS_GOOD)
			s->errors++;
	}
	return NULL;
}

static void bits_set_by_orwrite_are_never_lost(void **state)
{
	st_fill(9, 1, 0);
	assert_int_equal(both(setting_bits), 0);
	uint8_t block[ST_BLOCK];
	st_read(9, 1, block);
	for (unsigned bit = 0; bit < ROUNDS * 2; bit++)
		assert_true(block[bit / 8] & 1u << bit % 8);
}

static bool is_uniform(const uint8_t *data, size_t len)
{
	return memcmp(data, data + 1, len - 1) == 0;
}

// Nexus 0 writes, nexus 1 reads.
static void *writing_and_reading(void *side)
{
	static const uint8_t atomic[16] = { 0x9c, 0, BE64(100), 0, 0, 0, WIDE };
	static const uint8_t read[16] = { 0x88, 0, BE64(100), BE32(WIDE) };
	struct side *s = side;
	uint32_t len = WIDE * ST_BLOCK;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint8_t status;
		if (s->nexus == 0) {
			memset(s->data, (int)i, len);
			status = run(s, atomic, s->data, len, NULL, 0);
		} else {
			status = run(s, read, NULL, 0, s->data, len);
			s->errors += !is_uniform(s->data, len);
		}
		s->errors += status != STATUS_GOOD;
	}
	return NULL;
}

static void an_atomic_write_is_seen_whole_or_not_at_all(void **state)
{
	st_fill(100, WIDE, 0);
	assert_int_equal(both(writing_and_reading), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ST_TEST(counters_by_compare_and_write_lose_no_step),
		ST_TEST(bits_set_by_orwrite_are_never_lost),
		ST_TEST(an_atomic_write_is_seen_whole_or_not_at_all),
	};
	return st_main(tests);
}
