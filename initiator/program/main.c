// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator: discovers, logs in, reads, writes, verifies and measures. See tool.c.
#include "core/fds.h"
#include "initiator/program/program.h"

int main(int argc, char **argv)
{
	fds_fill_std();
	return tool_main(argc, argv);
}
