// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator, the program. The program's thread.
#pragma once

#include "initiator/tool/tool.h"

// Called by main(). Returns an exit status.
int tool_main(int argc, char **argv);
// Its subcommands for the manual, by index from 0 on; NULL after the last one.
const struct tool_verb *tool_verb_at(unsigned index);
