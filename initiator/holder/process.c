// SPDX-License-Identifier: BSD-2-Clause
// What a process on the way of write-back needs: pages that stay, no allocation that waits for its
// own disk, and to be spared by the OOM killer and at shutdown. All of it needs root; without it
// the attachment works, less safely.
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/log.h"
#include "initiator/holder/holder.h"

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static void spare_from_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "-1000", 5) != 5)
		log_debug("oom_score_adj: not changed");
	if (fd >= 0)
		close(fd);
}

// The files of this process, whose pages would otherwise be read when they are first needed: from a
// disk that may be its own.
static void load_files(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[PATH_MAX + 128];
	while (maps && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx r", &from, &to) != 2 || !strchr(line, '/'))
			continue;
		if (strstr(line, " r") && madvise((void *)from, to - from, MADV_POPULATE_READ))
			log_debug("%s: not loaded", strchr(line, '/'));
	}
	if (maps)
		fclose(maps);
}

void holder_process_begin(void)
{
	if (prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0))
		log_debug("PR_SET_IO_FLUSHER: not permitted");
}

void holder_process_protect(char *argv0)
{
	// systemd: "Storage Daemons and the root file system"
	if (argv0 && *argv0)
		*argv0 = '@';
	prctl(PR_SET_NAME, "farblock-attach");
	spare_from_oom();
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		log_debug("mlockall: not permitted");
	load_files();
}
