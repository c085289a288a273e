// SPDX-License-Identifier: BSD-2-Clause
// What the log says of a path: what has changed, not each attempt of a path that is tried again for
// ever. One thread at a time, does not block.
#pragma once

#include "core/err.h"
#include "initiator/disk/disk.h"

enum { PATH_LOG_REASONS = 4 };

// Zeroes: nothing was said.
struct path_log {
	char said[PATH_LOG_REASONS][sizeof((struct err *)0)->text];
	unsigned count; // of the reasons that were said; more are not
};

// Whether the path's new state is news: it serves again, or does not for a reason that was not said
// since it last did. Of reasons the first PATH_LOG_REASONS are.
// is_unsteady: it serves, but will not for long, as the reasons say that are kept.
bool path_log_is_news(struct path_log *l, enum disk_path_state s, const struct err *why,
		      bool is_unsteady);
