// SPDX-License-Identifier: BSD-2-Clause
// INQUIRY: standard data (SPC-4 6.6.2) and dispatch to the vital product data pages. Task's worker.
#include "target/scsi/spc/inquiry.h"

#include <string.h>

#include "target/scsi/alua/access.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/nexus.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/spc/commands.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

enum {
	STANDARD_LEN = 96,
	VERSION_SPC4 = 0x06,
	QUALIFIER_NO_LU = 0x7f, // no logical unit, and none is possible
	RMB = 0x80,
	RESPONSE_FORMAT = 0x02,
	HISUP = 0x10,
	THREE_PC = 0x08,
	MULTIP = 0x10,
	CMDQUE = 0x02,
};

// Version descriptors (SPC-4 table D.1).
enum { V_SAM5 = 0x00a0, V_ISCSI = 0x0960, V_SRP = 0x0940, V_SPC4 = 0x0460, V_SBC3 = 0x04c0 };

static void standard_data(const struct task *t, uint8_t d[STANDARD_LEN])
{
	const struct lu *lu = t->lu;
	memset(d, 0, STANDARD_LEN);
	d[1] = lu_setting(&lu->attr.removable) ? RMB : 0;
	d[2] = VERSION_SPC4;
	d[3] = HISUP | RESPONSE_FORMAT;
	d[4] = STANDARD_LEN - 5;
	d[5] = (uint8_t)(alua_tpgs(lu, t->nl->alua_group) |
			 (lu_setting(&lu->attr.emulate_3pc) ? THREE_PC : 0));
	d[6] = MULTIP;
	d[7] = CMDQUE;
	inquiry_text(d + 8, lu->attr.vendor, 8);
	inquiry_product(d + 16, lu);
	inquiry_text(d + 32, lu->attr.revision, 4);
	bool is_srp = t->nexus->info.protocol == SCSI_PROTOCOL_SRP;
	put_be16(d + 58, V_SAM5);
	put_be16(d + 60, is_srp ? V_SRP : V_ISCSI);
	put_be16(d + 62, V_SPC4);
	put_be16(d + 64, V_SBC3);
}

static void standard_data_no_lu(uint8_t d[STANDARD_LEN])
{
	memset(d, 0, STANDARD_LEN);
	d[0] = QUALIFIER_NO_LU;
	d[2] = VERSION_SPC4;
	d[3] = HISUP | RESPONSE_FORMAT;
	d[4] = STANDARD_LEN - 5;
}

void inquiry_run(struct task *t)
{
	uint8_t d[STANDARD_LEN];
	uint16_t alloc = get_be16(t->cdb + 3);
	bool is_vital = t->cdb[1] & 0x01;
	if (!is_vital && t->cdb[2]) {
		task_invalid_cdb(t, 2, -1);
		return;
	}
	if (!t->lu) {
		if (is_vital) { // a missing logical unit has no pages
			task_invalid_cdb(t, 1, 0);
			return;
		}
		standard_data_no_lu(d);
	} else if (is_vital) {
		vpd_run(t, t->cdb[2], alloc);
		return;
	} else {
		standard_data(t, d);
	}
	task_reply(t, d, sizeof d, alloc);
}
