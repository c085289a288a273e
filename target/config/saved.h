// SPDX-License-Identifier: BSD-2-Clause
// Names that writing and reading of the saved file share.
#pragma once

#define SAVED_SECTION "farblock" // top-level key of ours; rtslib ignores it
enum { SAVED_VERSION = 1 };
