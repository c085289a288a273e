// SPDX-License-Identifier: BSD-2-Clause
// Names of what disk.h counts.
#include "initiator/disk/disk.h"

const char *disk_path_state_text(enum disk_path_state s)
{
	static const char *const names[] = { "connecting", "checking", "up", "standby", "faulty" };
	return (unsigned)s < sizeof names / sizeof *names ? names[s] : "unknown";
}
