// SPDX-License-Identifier: BSD-2-Clause
// Names shared by the writer and the reader of the saved file.
#pragma once

#define SAVED_SECTION "farblock" // top-level key of ours; rtslib ignores it
#define SAVED_TARGET                                                                               \
	"target"	     // in an SRP target's kept keys: those of the target, not of its
			     // portal group
#define SAVED_PREFS "global" // in it: the preferences that differ from their defaults
enum { SAVED_VERSION = 1 };
