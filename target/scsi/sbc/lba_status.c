// SPDX-License-Identifier: BSD-2-Clause
// GET LBA STATUS(16) (SBC-3 5.4): the backstore's extents, with adjacent ones of one kind merged.
// The response has a bounded number of descriptors from a bounded number of look-ups; the initiator
// continues from its end. Task's worker.
#include <string.h>

#include "target/scsi/lu_state.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/limits.h"
#include "target/scsi/sbc/walk.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

#define STATUS_HEADER	  8u
#define STATUS_DESCRIPTOR 16u
#define DESCRIPTORS_MAX	  255u
#define LOOKUPS_MAX	  1024u
#define PROVISIONING_BYTE 12
#define DESCRIPTOR_BLOCKS UINT32_MAX // the maximum of a descriptor
enum { STATUS_MAPPED, STATUS_DEALLOCATED };

struct lba_status {
	struct sbc_walk walk;
	unsigned count, most, lookups;
	uint8_t data[STATUS_HEADER + STATUS_DESCRIPTOR * DESCRIPTORS_MAX];
};

static void status_reply(struct lba_status *s)
{
	struct task *t = s->walk.t;
	uint32_t len = STATUS_HEADER + STATUS_DESCRIPTOR * s->count;
	put_be32(s->data, len - 4);
	task_reply(t, s->data, len, get_be32(t->cdb + 10));
}

// Adds [lba, lba + blocks); false: no room for all of it.
static bool status_add(struct lba_status *s, uint64_t lba, uint64_t blocks, uint8_t provisioning)
{
	while (blocks) {
		uint8_t *last = s->data + STATUS_HEADER + STATUS_DESCRIPTOR * s->count;
		uint32_t have = 0;
		if (s->count && last[PROVISIONING_BYTE - (int)STATUS_DESCRIPTOR] == provisioning)
			have = get_be32(last - STATUS_DESCRIPTOR + 8);
		if (have && have < DESCRIPTOR_BLOCKS) {
			last -= STATUS_DESCRIPTOR;
		} else {
			if (s->count == s->most)
				return false;
			s->count++;
			put_be64(last, lba);
			last[PROVISIONING_BYTE] = provisioning;
			have = 0;
		}
		uint64_t room = DESCRIPTOR_BLOCKS - have, n = blocks < room ? blocks : room;
		put_be32(last + 8, have + (uint32_t)n);
		lba += n;
		blocks -= n;
	}
	return true;
}

static void status_lookup(struct sbc_walk *w);

static void status_extent(struct sbc_walk *w)
{
	struct lba_status *s = (struct lba_status *)w;
	const struct bs_io *io = &w->t->io;
	uint64_t blocks = io->ret_extent_length >> w->t->lu->block_shift;
	// A store that returns short extents must not keep us here forever.
	if (blocks == 0)
		blocks = 1;
	if (blocks > w->left)
		blocks = w->left;
	bool fits = status_add(s, w->lba, blocks,
			       io->ret_is_mapped ? STATUS_MAPPED : STATUS_DEALLOCATED);
	w->lba += blocks;
	w->left -= blocks;
	if (fits && w->left && ++s->lookups < LOOKUPS_MAX)
		status_lookup(w);
	else
		status_reply(s);
}

static void status_lookup(struct sbc_walk *w)
{
	sbc_walk_io(w, BS_EXTENT, NULL, 0, w->lba, w->left, 0, status_extent);
}

void get_lba_status_run(struct task *t)
{
	uint64_t lba = get_be64(t->cdb + 2), capacity = lu_capacity(t->lu);
	uint32_t alloc = get_be32(t->cdb + 10);
	if (lba >= capacity) {
		task_check(t, SENSE_LBA_RANGE, NULL);
		return;
	}
	struct lba_status *s = sbc_walk_new(t, sizeof *s);
	if (!s)
		return;
	s->walk.lba = lba;
	s->walk.left = capacity - lba;
	uint32_t fit = alloc > STATUS_HEADER ? (alloc - STATUS_HEADER) / STATUS_DESCRIPTOR : 0;
	s->most = fit < 1 ? 1 : fit > DESCRIPTORS_MAX ? DESCRIPTORS_MAX : fit;
	if (sbc_limits_of(t->lu).is_thin && lu_bs(t->lu)->limits.can_extent) {
		status_lookup(&s->walk);
		return;
	}
	status_add(s, lba, capacity - lba, STATUS_MAPPED);
	status_reply(s);
}
