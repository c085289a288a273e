// SPDX-License-Identifier: BSD-2-Clause
// Thin provisioning: the soft threshold (SBC-4 4.7.3.7). The hard one is a write that fails
// with -ENOSPC (task_fail_io()).
#pragma once

struct lu;

// Looks how full the pool behind the unit is (backstore_space()), and raises THIN
// PROVISIONING SOFT THRESHOLD REACHED for every nexus when thin_threshold_percent is passed
// upwards; once, until it has been below again. For the control thread to call now and then,
// as it calls backstore_refresh(); may block. Nothing happens where the setting is 0 or the
// storage cannot tell.
void thin_check(struct lu *lu);
