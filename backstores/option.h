// SPDX-License-Identifier: BSD-2-Clause
// The check of a whole struct bs_config against the option rows of its type; what sets the
// fields from text is in backstore.h.
#pragma once

#include "backstores/backstore.h"

// 0, or -EINVAL with a text that names the option, the cause and what is possible: a required
// option is missing, one is given that the type does not take, the block size is impossible.
// Any thread.
int option_check(const struct backstore_type *type, const struct bs_config *config, struct err *e);
