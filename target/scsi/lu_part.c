// SPDX-License-Identifier: BSD-2-Clause
// The table of parts of a logical unit, see lu_part.h. Constant.
#include "target/scsi/lu_part.h"

#include "target/scsi/alua.h"
#include "target/scsi/io_log.h"
#include "target/scsi/pr.h"
#include "target/scsi/third_party.h"

const struct lu_part *const lu_parts[] = {
	&alua_part, &pr_part, &third_party_part, &io_log_part, NULL,
};
