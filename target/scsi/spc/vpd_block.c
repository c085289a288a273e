// SPDX-License-Identifier: BSD-2-Clause
// VPD pages of block devices (SBC-4 6.6): Block Limits, Block Device Characteristics, Logical
// Block Provisioning, all from sbc_limits_of(). Task's worker.
#include "target/scsi/sbc/limits.h"
#include "target/scsi/spc/inquiry.h"
#include "target/scsi/task.h"
#include "transport/wire/be.h"

unsigned vpd_block_limits(const struct task *t, uint8_t *out)
{
	struct sbc_limits l = sbc_limits_of(t->lu);
	out[4] = l.wsnz ? 0x01 : 0;
	out[5] = l.max_compare_and_write;
	put_be16(out + 6, l.transfer_granularity);
	put_be32(out + 8, l.max_transfer);
	put_be32(out + 12, l.optimal_transfer);
	put_be32(out + 16, l.max_prefetch);
	if (l.can_unmap) {
		put_be32(out + 20, l.max_unmap_blocks);
		put_be32(out + 24, l.max_unmap_descriptors);
	}
	if (l.is_thin) {
		put_be32(out + 28, l.unmap_granularity);
		if (l.has_unmap_alignment)
			put_be32(out + 32, 0x80000000u | l.unmap_alignment);
	}
	put_be64(out + 36, l.max_write_same);
	put_be32(out + 44, l.atomic_max);
	put_be32(out + 48, l.atomic_alignment);
	put_be32(out + 52, l.atomic_granularity);
	put_be32(out + 56, l.atomic_max_with_boundary);
	put_be32(out + 60, l.atomic_boundary);
	return 64;
}

unsigned vpd_block_device(const struct task *t, uint8_t *out)
{
	struct sbc_limits l = sbc_limits_of(t->lu);
	put_be16(out + 4, l.rotation_rate);
	out[7] = (uint8_t)(l.wabereq << 6 | l.wacereq << 4);
	return 64;
}

unsigned vpd_provisioning(const struct task *t, uint8_t *out)
{
	struct sbc_limits l = sbc_limits_of(t->lu);
	out[4] = l.threshold_exponent;
	out[5] = (uint8_t)((l.can_unmap ? 0x80 : 0) | (l.can_write_same_unmap ? 0x60 : 0) |
			   (l.is_thin && l.unmap_zeroes ? 0x04 : 0) | (l.can_anchor ? 0x02 : 0));
	out[6] = l.provisioning_type;
	return 8;
}
