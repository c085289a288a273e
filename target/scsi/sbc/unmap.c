// SPDX-License-Identifier: BSD-2-Clause
// UNMAP (SBC-3 5.28). The whole parameter list is checked before the first block changes;
// then the descriptors are processed one after another. The backstore handles blocks outside whole
// granules: with LBPRZ it zeroes what it cannot free. Task's worker.
#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/lba.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/sbc/read_write.h"
#include "target/scsi/sbc/walk.h"
#include "transport/wire/be.h"

#define UNMAP_HEADER	 8u
#define UNMAP_DESCRIPTOR 16u

struct unmap {
	struct sbc_walk walk;
	const uint8_t *descriptors;
	unsigned count, at;
};

static uint64_t descriptor_lba(const uint8_t *d)
{
	return get_be64(d);
}

static uint32_t descriptor_blocks(const uint8_t *d)
{
	return get_be32(d + 8);
}

static void unmap_next(struct sbc_walk *w)
{
	struct unmap *u = (struct unmap *)w;
	while (u->at < u->count) {
		const uint8_t *d = u->descriptors + (size_t)UNMAP_DESCRIPTOR * u->at++;
		if (descriptor_blocks(d)) {
			sbc_walk_io(w, BS_UNMAP, NULL, 0, descriptor_lba(d), descriptor_blocks(d),
				    0, unmap_next);
			return;
		}
	}
	// Without a write cache it flushes once for all ranges.
	sbc_walk_finish(w);
}

static void unmap_claimed(struct task *t)
{
	struct unmap *u = sbc_walk_new(t, sizeof *u);
	if (!u)
		return;
	u->descriptors = task_params(t) + UNMAP_HEADER;
	u->count = get_be16(task_params(t) + 2) / UNMAP_DESCRIPTOR;
	unmap_next(&u->walk);
}

// Checks descriptors and limits; *ret_lba and *ret_end become the range that holds them all.
// False: the task has been ended.
static bool descriptors_check(struct task *t, const uint8_t *d, unsigned count, uint64_t *ret_lba,
			      uint64_t *ret_end)
{
	struct sbc_limits limits = sbc_limits_of(t->lu);
	if (count > limits.max_unmap_descriptors) {
		task_invalid_param(t, 2, -1);
		return false;
	}
	uint64_t total = 0, first = UINT64_MAX, end = 0;
	for (unsigned i = 0; i < count; i++, d += UNMAP_DESCRIPTOR) {
		uint64_t lba = descriptor_lba(d), blocks = descriptor_blocks(d);
		uint64_t capacity = lu_capacity(t->lu);
		if (lba > capacity || blocks > capacity - lba) {
			task_check(t, SENSE_LBA_RANGE, NULL);
			return false;
		}
		total += blocks;
		if (total > limits.max_unmap_blocks) {
			task_invalid_param(t, UNMAP_HEADER + UNMAP_DESCRIPTOR * i + 8, -1);
			return false;
		}
		if (!blocks)
			continue;
		first = lba < first ? lba : first;
		end = lba + blocks > end ? lba + blocks : end;
	}
	*ret_lba = first;
	*ret_end = end;
	return true;
}

static void unmap_params(struct task *t)
{
	uint32_t len = get_be16(t->cdb + 7);
	const uint8_t *p = task_params(t);
	// An incomplete descriptor at the end is ignored; a length beyond the received data is an
	// error.
	uint32_t list = get_be16(p + 2);
	if (list > len - UNMAP_HEADER) {
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
		return;
	}
	uint64_t lba, end;
	if (!descriptors_check(t, p + UNMAP_HEADER, list / UNMAP_DESCRIPTOR, &lba, &end))
		return;
	if (end == 0)
		task_good(t);
	else
		task_claim(t, lba, end - lba, unmap_claimed);
}

void unmap_run(struct task *t)
{
	uint32_t len = get_be16(t->cdb + 7);
	if (t->cdb[1] & 0x01) // ANCHOR: ANC_SUP is 0
		task_invalid_cdb(t, 1, 0);
	else if (len == 0)
		task_good(t);
	else if (len < UNMAP_HEADER)
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
	else
		task_fetch_params(t, len, unmap_params);
}
