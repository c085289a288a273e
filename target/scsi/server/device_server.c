// SPDX-License-Identifier: BSD-2-Clause
// The device server as its logical units know it: parts, command set, entry. Constant.
#include "target/scsi/server/device_server.h"

#include "target/scsi/alua/alua.h"
#include "target/scsi/copy/results.h"
#include "target/scsi/copy/rod_token.h"
#include "target/scsi/io_log.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/reservations/reservations.h"
#include "target/scsi/sbc/sanitize_mark.h"
#include "target/scsi/server/dispatch.h"
#include "target/scsi/spc/mode.h"

static const struct lu_part *const parts[] = {
	&alua_part,   &pr_part,	      &third_party_part, &io_log_part, &freeze_part,
	&ending_part, &sanitize_part, &mode_part,	 NULL,
};

const struct device_server device_server = {
	.parts = parts,
	.rows = opcode_rows,
	.submit = task_submit,
	.revoke_tokens = rod_tokens_revoke,
};
