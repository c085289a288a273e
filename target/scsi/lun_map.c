// SPDX-License-Identifier: BSD-2-Clause
// LUN maps and LUN addresses (SAM-5 4.7). A map is immutable once published; any thread.
#include "target/scsi/lun_map.h"

#include <stdlib.h>

#include "target/scsi/lu.h"
#include "transport/wire/be.h"

struct lun_map *lun_map_new(uint32_t count)
{
	struct lun_map *m = calloc(1, sizeof *m + count * sizeof m->entries[0]);
	if (!m)
		return NULL;
	m->refs = 1;
	m->count = count;
	return m;
}

struct lun_map *lun_map_get(struct lun_map *m)
{
	__atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
	return m;
}

void lun_map_put(struct lun_map *m)
{
	if (!m || __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (uint32_t i = 0; i < m->count; i++)
		lu_put(m->entries[i].lu);
	free(m);
}

uint64_t lun_decode(const uint8_t lun[8])
{
	uint64_t raw = get_be64(lun);
	if (raw & 0x0000ffffffffffffull)
		return UINT64_MAX; // a second level
	uint64_t number = raw >> 48 & 0x3fff;
	switch (lun[0] >> 6) {
	case 0: // peripheral, bus 0
		return number < 256 ? number : UINT64_MAX;
	case 1: // flat
		return number;
	default:
		return UINT64_MAX;
	}
}

void lun_encode(uint8_t out[8], uint16_t number)
{
	put_be64(out, 0);
	put_be16(out, number < 256 ? number : (uint16_t)(0x4000 | (number & 0x3fff)));
}

const struct lun_entry *lun_map_find(const struct lun_map *map, uint16_t number)
{
	uint32_t lo = 0, hi = map->count;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (map->entries[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < map->count && map->entries[lo].number == number ? &map->entries[lo] : NULL;
}
