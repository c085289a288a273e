// SPDX-License-Identifier: BSD-2-Clause
// Runs the program farblock-initiator, for commands that log in. Blocks.
#pragma once

#include "core/err.h"

// Runs it with words (NULL at the end) as arguments: the one beside this program, else that of
// PATH. secret: for CHAP, passed in the environment, or NULL. *ret: its output, for free(), also
// with an error; NULL: none. -EIO with its first line on standard error, -ENOENT: program not
// found.
int initiator_run(const char *const *words, const char *secret, char **ret, struct err *e);
// Ends the running one, if any: initiator_run() then returns soon. For a signal handler of the same
// thread.
void initiator_stop(void);
