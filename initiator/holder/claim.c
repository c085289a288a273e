// SPDX-License-Identifier: BSD-2-Clause
// See claim.h.
#include "initiator/holder/claim.h"

#include <limits.h>
#include <stdio.h>

#include "core/lockfile.h"

int holder_claim(const char *run_dir, const char *identity, int *ret_fd, struct err *e)
{
	char path[PATH_MAX];
	*ret_fd = -1;
	if (!*identity)
		return 0;
	snprintf(path, sizeof path, "%s/%s.disk", run_dir, identity);
	return lockfile_take(path, ret_fd, e);
}
