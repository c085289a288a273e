// SPDX-License-Identifier: BSD-2-Clause
// Thin provisioning: the soft threshold (SBC-4 4.7.3.7). The hard threshold is a write that fails
// with -ENOSPC (task_fail_io()).
#pragma once

struct lu;

// Checks how full the unit's pool is (backstore_space()), and raises THIN PROVISIONING SOFT
// THRESHOLD REACHED for every nexus when use exceeds thin_threshold_percent; once, until it falls
// below. The control thread calls it periodically, like backstore_refresh(); may block. No-op if
// the setting is 0 or the storage does not know.
void thin_check(struct lu *lu);
