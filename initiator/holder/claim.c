// SPDX-License-Identifier: BSD-2-Clause
// See claim.h.
#include "initiator/holder/claim.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "core/lockfile.h"
#include "initiator/holder/holder.h"

int holder_claim(const char *run_dir, const char *identity, int *ret_fd, struct err *e)
{
	char path[PATH_MAX];
	*ret_fd = -1;
	if (!*identity)
		return 0;
	snprintf(path, sizeof path, "%s/%s.disk", run_dir, identity);
	int r = lockfile_take(path, ret_fd, e);
	// The directory may have been removed with the lock of a process that lives.
	if (r || !holder_lost(run_dir, identity, "disk"))
		return r;
	close(*ret_fd);
	*ret_fd = -1;
	return -EADDRINUSE;
}
