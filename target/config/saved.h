// SPDX-License-Identifier: BSD-2-Clause
// Names that writing and reading of the saved file share.
#pragma once

#define SAVED_SECTION "farblock" // top-level key of ours; rtslib ignores it
#define SAVED_TARGET  "target" // in what an SRP target keeps: the target's, not its portal group's
#define SAVED_PREFS   "global" // in it: the preferences that are not as delivered
enum { SAVED_VERSION = 1 };
