// SPDX-License-Identifier: BSD-2-Clause
// One source for limits of block commands and of VPD pages (SBC-4 6.6). Pure functions of the
// logical unit's settings and of its backstore's limits; any worker.
#include "target/scsi/sbc/limits.h"

#include "target/scsi/lu_state.h"

// Used where the settings are 0. UNMAP: a value that initiators accept for one command.
#define UNMAP_BLOCKS	  (1u << 20)
#define UNMAP_DESCRIPTORS 1024u
// WRITE SAME: limits the duration of one command; the largest power of two of WRITE SAME(10).
#define WRITE_SAME_BLOCKS 32768u

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static uint32_t min32(uint64_t a, uint64_t b)
{
	uint64_t v = a < b ? a : b;
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static uint8_t log2_of(uint32_t n)
{
	uint8_t e = 0;
	while (n > 1) {
		n >>= 1;
		e++;
	}
	return e;
}

static void provisioning(struct sbc_limits *l, const struct lu *lu, const struct bs_limits *bs)
{
	// A read-only store keeps the commands: they end with WRITE PROTECTED, not "no such
	// command".
	l->can_unmap = bs->can_unmap && lu_setting(&lu->attr.emulate_tpu);
	l->can_write_same_unmap = bs->can_unmap && lu_setting(&lu->attr.emulate_tpws);
	l->is_thin = l->can_unmap || l->can_write_same_unmap;
	l->unmap_zeroes = l->is_thin && bs->unmap_zeroes;
	l->provisioning_type = l->is_thin ? 2 : 0;
	l->wabereq = l->is_thin ? 1 : 0;
	if (!l->is_thin)
		return;
	l->unmap_granularity = or_default(lu_setting(&lu->attr.unmap_granularity),
					  bs->unmap_granularity >> lu->block_shift);
	l->unmap_alignment = lu_setting(&lu->attr.unmap_granularity_alignment);
	l->has_unmap_alignment = l->unmap_alignment != 0;
	if (!l->can_unmap)
		return;
	l->max_unmap_blocks = or_default(lu_setting(&lu->attr.max_unmap_lba_count), UNMAP_BLOCKS);
	l->max_unmap_descriptors =
		or_default(lu_setting(&lu->attr.max_unmap_block_desc_count), UNMAP_DESCRIPTORS);
}

// An atomic write is completely in memory before the first block changes, so that no other command
// sees a part of it. Whether a power failure can leave a part depends on the storage;
// atomic_write_kib is therefore the administrator's declaration, limited by the store's
// atomic_write_max, if reported.
static void atomic_writes(struct sbc_limits *l, const struct lu *lu, const struct bs_limits *bs)
{
	uint64_t bytes = (uint64_t)lu_setting(&lu->attr.atomic_write_kib) << 10;
	if (bs->atomic_write_max && bytes > bs->atomic_write_max)
		bytes = bs->atomic_write_max;
	// The CDB has 16 bits for the length.
	uint32_t blocks = min32(bytes >> lu->block_shift, UINT16_MAX);
	if (l->max_transfer && blocks > l->max_transfer)
		blocks = l->max_transfer;
	l->atomic_max = l->atomic_max_with_boundary = l->atomic_boundary = blocks;
}

static void transfers(struct sbc_limits *l, const struct lu *lu, const struct bs_limits *bs)
{
	unsigned shift = lu->block_shift;
	l->max_transfer = lu_max_transfer(lu);
	l->optimal_transfer =
		or_default(lu_setting(&lu->attr.optimal_sectors), bs->optimal_io >> shift);
	if (l->max_transfer && l->optimal_transfer > l->max_transfer)
		l->optimal_transfer = l->max_transfer;
	uint32_t per_physical = bs->physical_block >> shift;
	l->lbppb_exponent = log2_of(per_physical);
	l->transfer_granularity = (uint16_t)min32(or_default(per_physical, 1), UINT16_MAX);
}

struct sbc_limits sbc_limits_of(const struct lu *lu)
{
	const struct bs_limits *bs = &lu_bs(lu)->limits;
	struct sbc_limits l = { .wsnz = true };
	provisioning(&l, lu, bs);
	transfers(&l, lu, bs);
	if (lu_setting(&lu->attr.emulate_caw))
		l.max_compare_and_write =
			(uint8_t)min32(or_default(lu_setting(&lu->attr.max_caw_blocks), 255), 255);
	l.max_write_same = or_default(lu_setting(&lu->attr.max_write_same_len), WRITE_SAME_BLOCKS);
	atomic_writes(&l, lu, bs);
	l.rotation_rate = lu_setting(&lu->attr.is_nonrot) ? 1 : 0;
	return l;
}

bool sbc_has_unmap(const struct lu *lu)
{
	return sbc_limits_of(lu).can_unmap;
}

bool sbc_has_compare_and_write(const struct lu *lu)
{
	return sbc_limits_of(lu).max_compare_and_write != 0;
}

bool sbc_has_write_atomic(const struct lu *lu)
{
	return sbc_limits_of(lu).atomic_max != 0;
}

bool sbc_has_block_erase(const struct lu *lu)
{
	return sbc_limits_of(lu).wabereq != 0;
}
