// SPDX-License-Identifier: BSD-2-Clause
// The table of parts of a logical unit, see lu_part.h. Constant.
#include "target/scsi/lu_part.h"

const struct lu_part *const lu_parts[] = {
	NULL,
};
