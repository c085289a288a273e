// SPDX-License-Identifier: BSD-2-Clause
// Names shared by the writer and the reader of the saved file.
#pragma once

#define SAVED_SECTION "farblock" // top-level key of ours; rtslib ignores it
#define SAVED_TARGET  "target"	 // in kept keys of an SRP target: those of the target itself
#define SAVED_PREFS   "global"	 // in it: the preferences that differ from their defaults
enum { SAVED_VERSION = 1 };
