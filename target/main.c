// SPDX-License-Identifier: BSD-2-Clause
// farblockd: the target daemon. Exit status: 0 stopped on request, 1 cannot start, 2 invalid
// option; one line on stderr gives the cause.
#include <stdio.h>

#include "core/fds.h"
#include "core/log.h"
#include "target/daemon.h"

int main(int argc, char **argv)
{
	struct daemon_options options;
	struct err e = { 0 };
	fds_fill_std();
	if (daemon_options_read(&options, argc, argv, &e) < 0) {
		fprintf(stderr, "farblockd: %s\n", e.text);
		return 2;
	}
	if (options.wants_help) {
		daemon_options_help();
		return 0;
	}
	if (options.wants_version) {
		printf("farblockd " FARBLOCK_VERSION "\n");
		return 0;
	}
	log_init("farblockd");
	log_threshold = options.log_level;
	if (daemon_run(&options, &e) < 0) {
		log_error("farblockd: %s", e.text);
		return 1;
	}
	return 0;
}
