// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator as a program, for checks that log in. Blocks.
#pragma once

#include "core/err.h"

// Runs it with words (NULL at the end) behind its name: the one beside this program, or else that
// of PATH. secret: CHAP's, NULL: none; it goes by the environment. 0 with *ret, what it printed,
// for free(); -EIO with its first line of complaint, -ENOENT: there is no such program.
int initiator_run(const char *const *words, const char *secret, char **ret, struct err *e);
// Ends the one that runs, if one does: initiator_run() then returns soon. From a signal handler of
// the same thread.
void initiator_stop(void);
