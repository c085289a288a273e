// SPDX-License-Identifier: BSD-2-Clause
// REPORT LUNS (SPC-4 6.33). Task's worker.
#include "target/scsi/handler.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/spc/commands.h"
#include "transport/wire/be.h"

// The initiator reads the inventory: REPORTED LUNS DATA HAS CHANGED is obsolete.
static void luns_were_read(struct nexus *n)
{
	if (!n->luns_changed)
		return;
	n->luns_changed = false;
	for (uint32_t i = 0; i < n->lun_limit; i++) {
		if (n->luns[i])
			n->luns[i]->ua &= ~((ua_mask)1 << UA_LUNS_CHANGED);
	}
}

// SELECT REPORT: there are neither well-known nor administrative logical units.
static bool lists_luns(uint8_t select, bool *ret_known)
{
	*ret_known = select <= 0x02 || (select >= 0x10 && select <= 0x12);
	return select == 0x00 || select == 0x02;
}

// Encodes the LUNs of the map that appear to the initiator (nexus_set_map()); returns their number.
static uint32_t put_luns(const struct nexus *n, uint32_t count, uint8_t *at)
{
	uint32_t listed = 0;
	for (uint32_t i = 0; i < count; i++)
		if (nexus_find_lun(n, n->map->entries[i].number))
			lun_encode(at + 8 * (size_t)listed++, n->map->entries[i].number);
	return listed;
}

void report_luns_run(struct task *t)
{
	struct nexus *n = t->nexus;
	bool is_known;
	uint32_t count = lists_luns(t->cdb[2], &is_known) ? n->map->count : 0;
	if (!is_known) {
		task_invalid_cdb(t, 2, -1);
		return;
	}
	uint8_t *d = task_scratch(t, 8 + 8 * (size_t)count);
	if (!d)
		return;
	count = put_luns(n, count, d + 8);
	put_be32(d, 8 * count);
	luns_were_read(n);
	task_reply(t, d, 8 + 8 * count, get_be32(t->cdb + 6));
}
