// SPDX-License-Identifier: BSD-2-Clause
// The ranges of registered memory, behind a sequence lock. Any thread.
#include "transport/rdma/verbs/mr_table.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 16
#define LOOK_BACK      8 // ranges that begin before the nearest one may cover more

struct range {
	uint64_t addr, len;
	void *value;
};

struct mr_table_array {
	struct mr_table_array *outgrown;
	uint32_t capacity, count;
	struct range ranges[];
};

// Entries are read and written as single words: a reader that races with a change sees inconsistent
// entries, but no torn word, and retries. Acquire loads precede the second read of seq; release
// stores follow the one that makes it odd.
static struct range load_range(const struct range *r)
{
	return (struct range){
		.addr = __atomic_load_n(&r->addr, __ATOMIC_ACQUIRE),
		.len = __atomic_load_n(&r->len, __ATOMIC_ACQUIRE),
		.value = __atomic_load_n(&r->value, __ATOMIC_ACQUIRE),
	};
}

static void store_range(struct range *to, const struct range *r)
{
	__atomic_store_n(&to->addr, r->addr, __ATOMIC_RELEASE);
	__atomic_store_n(&to->len, r->len, __ATOMIC_RELEASE);
	__atomic_store_n(&to->value, r->value, __ATOMIC_RELEASE);
}

static void change_begin(struct mr_table *t)
{
	__atomic_store_n(&t->seq, t->seq + 1, __ATOMIC_RELAXED);
}

static void change_end(struct mr_table *t)
{
	__atomic_store_n(&t->seq, t->seq + 1, __ATOMIC_RELEASE);
}

static int grow(struct mr_table *t)
{
	struct mr_table_array *old = t->array;
	uint32_t capacity = old ? old->capacity * 2 : FIRST_CAPACITY;
	struct mr_table_array *a = calloc(1, sizeof *a + capacity * sizeof(struct range));

	if (!a)
		return -ENOMEM;
	a->capacity = capacity;
	a->outgrown = old;
	a->count = old ? old->count : 0;
	for (uint32_t i = 0; i < a->count; i++)
		a->ranges[i] = old->ranges[i];
	__atomic_store_n(&t->array, a, __ATOMIC_RELEASE);
	return 0;
}

int mr_table_add(struct mr_table *t, const void *addr, uint64_t len, void *value)
{
	const struct range new = { .addr = (uintptr_t)addr, .len = len, .value = value };

	if (!t->array || t->array->count == t->array->capacity)
		if (grow(t) < 0)
			return -ENOMEM;
	struct mr_table_array *a = t->array;
	uint32_t i = a->count;
	change_begin(t);
	for (; i && a->ranges[i - 1].addr > new.addr; i--)
		store_range(&a->ranges[i], &a->ranges[i - 1]);
	store_range(&a->ranges[i], &new);
	__atomic_store_n(&a->count, a->count + 1, __ATOMIC_RELEASE);
	change_end(t);
	return 0;
}

void mr_table_remove(struct mr_table *t, const void *value)
{
	struct mr_table_array *a = t->array;
	uint32_t i = 0;

	if (!a)
		return;
	while (i < a->count && a->ranges[i].value != value)
		i++;
	if (i == a->count)
		return;
	change_begin(t);
	__atomic_store_n(&a->count, a->count - 1, __ATOMIC_RELEASE);
	for (; i < a->count; i++)
		store_range(&a->ranges[i], &a->ranges[i + 1]);
	change_end(t);
}

void mr_table_done(struct mr_table *t)
{
	for (struct mr_table_array *a = t->array; a;) {
		struct mr_table_array *next = a->outgrown;
		free(a);
		a = next;
	}
	t->array = NULL;
}

static void *look(const struct mr_table_array *a, uint64_t addr, uint64_t len)
{
	uint32_t low = 0, high = __atomic_load_n(&a->count, __ATOMIC_ACQUIRE);

	while (low < high) { // the first range that begins after addr
		uint32_t middle = low + (high - low) / 2;
		if (__atomic_load_n(&a->ranges[middle].addr, __ATOMIC_ACQUIRE) <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t back = 0; back < LOOK_BACK && low > back; back++) {
		struct range r = load_range(&a->ranges[low - back - 1]);
		uint64_t offset = addr - r.addr;
		if (offset <= r.len && len <= r.len - offset)
			return r.value;
	}
	return NULL;
}

void *mr_table_find(const struct mr_table *t, const void *addr, uint64_t len)
{
	for (;;) {
		uint32_t seq = __atomic_load_n(&t->seq, __ATOMIC_ACQUIRE);
		const struct mr_table_array *a = __atomic_load_n(&t->array, __ATOMIC_ACQUIRE);
		void *value = a && !(seq & 1) ? look(a, (uintptr_t)addr, len) : NULL;
		if (!(seq & 1) && __atomic_load_n(&t->seq, __ATOMIC_RELAXED) == seq)
			return value;
	}
}
