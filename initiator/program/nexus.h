// SPDX-License-Identifier: BSD-2-Clause
// I_T nexuses of paths: each has one session, since a login ends the one before it. Two paths of
// one nexus would end each other's sessions for ever. The program's thread; blocks on the file
// system.
#pragma once

#include "initiator/program/attach.h"

// Refuses path i of p that has the nexus of an earlier one, or, if its port was given, of another
// attachment of this machine. p has its name. TOOL_OK, or an exit status with a text.
int nexus_check(const struct attach_plan *p, unsigned i, struct err *e);
