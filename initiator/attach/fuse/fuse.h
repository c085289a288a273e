// SPDX-License-Identifier: BSD-2-Clause
// libfuse's low-level interface, in the version that is used here.
#pragma once

#define FUSE_USE_VERSION 312

#include <fuse3/fuse_lowlevel.h>
