// SPDX-License-Identifier: BSD-2-Clause
// Soft threshold of thin provisioning, see thin_threshold.h. Control thread.
//
// The pool of a sparse file is its file system, which other files fill as well: the threshold
// applies to that, not to the unit's mapped blocks. VPD page B2h therefore reports no threshold
// exponent, and no threshold can be set by mode page 1Ch/02h.
#include "target/scsi/sbc/thin_threshold.h"

#include "target/scsi/lu_state.h"
#include "target/scsi/ua.h"

static bool is_above(uint64_t used, uint64_t total, uint32_t percent)
{
	// In units that cannot overflow.
	uint64_t hundredth = total / 100 ? total / 100 : 1;
	return used / hundredth >= percent;
}

void thin_check(struct lu *lu)
{
	uint32_t percent = __atomic_load_n(&lu->attr.thin_threshold_percent, __ATOMIC_RELAXED);
	uint64_t used, total;
	if (!percent || backstore_space(lu_bs(lu), &used, &total) < 0) {
		lu->is_space_low = false;
		return;
	}
	bool is_low = is_above(used, total, percent);
	if (is_low && !lu->is_space_low)
		ua_raise_lu(lu, UA_THIN_SOFT_THRESHOLD, NULL);
	lu->is_space_low = is_low;
}
