// SPDX-License-Identifier: BSD-2-Clause
// The header and the map of an overlay file: what is accepted can be written again as it was, its
// parts do not overlap, and the map's runs are those of its bits.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backstores/overlay_header.h"
#include "backstores/overlay_map.h"

#define BLOCKS_MAX (1u << 17) // of a map in memory

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_layout(const struct overlay_layout *l, uint64_t base_size)
{
	must(l->blocks <= base_size / OVERLAY_BLOCK && l->map_bytes * 8 >= l->blocks);
	must(l->kept >= OVERLAY_HEADER && l->noted - l->kept == l->map_bytes);
	must(l->data - l->noted >= l->map_bytes && l->data % OVERLAY_BLOCK == 0);
	must(l->data <= INT64_MAX - base_size);
}

static void check_map(const struct overlay_layout *l, const uint8_t *bits, uint64_t length)
{
	struct overlay_map m;
	bool own;
	if (l->blocks > BLOCKS_MAX || overlay_map_init(&m, l) < 0)
		return;
	overlay_map_load(&m, 0, bits, length);
	for (uint64_t at = 0, n; at < l->blocks + 9; at += n) {
		n = overlay_map_run(&m, at, l->blocks + 9 - at, &own);
		must(n && n <= l->blocks + 9 - at);
		for (uint64_t i = at; i < at + n && i < l->blocks; i++) {
			bool bit = i / 8 < length && bits[i / 8] >> i % 8 & 1;
			must(bit == own);
		}
	}
	overlay_map_touch(&m);
	overlay_map_stage(&m);
	for (uint64_t at = 0, n; at = overlay_map_staged(&m, at, &n), n; at += n)
		must(at + n <= m.bytes && !memcmp(m.live + at, m.staged + at, n));
	overlay_map_commit(&m, false);
	must(!overlay_map_has_dirty(&m));
	overlay_map_done(&m);
}

// The checksum is made right, which a fuzzer cannot.
static void check_header(uint8_t data[OVERLAY_HEADER])
{
	struct overlay_header h;
	struct overlay_layout l;
	struct err e;
	uint8_t again[OVERLAY_HEADER];
	uint32_t crc = overlay_crc(0, data, OVERLAY_HEADER - 4);
	for (unsigned i = 0; i < 4; i++)
		data[OVERLAY_HEADER - 4 + i] = (uint8_t)(crc >> 8 * i);
	if (overlay_header_read(data, OVERLAY_HEADER, &h, &e) < 0)
		return;
	overlay_header_write(&h, again);
	must(!memcmp(data, again, OVERLAY_HEADER));
	must(!overlay_layout(h.base.size, &l));
	check_layout(&l, h.base.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct overlay_header h;
	struct overlay_layout l;
	struct err e;
	uint8_t fixed[OVERLAY_HEADER] = { 0 };
	overlay_header_read(data, size, &h, &e);
	memcpy(fixed, data, size < OVERLAY_HEADER ? size : OVERLAY_HEADER);
	check_header(fixed);
	if (size < 3)
		return 0;
	uint64_t blocks = (uint64_t)(data[0] | data[1] << 8 | data[2] << 16) % BLOCKS_MAX;
	if (!overlay_layout(blocks * OVERLAY_BLOCK + data[0], &l))
		check_map(&l, data + 3, size - 3);
	return 0;
}
