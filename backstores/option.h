// SPDX-License-Identifier: BSD-2-Clause
// Checks a struct bs_config against the option rows of its type; functions that set the fields from
// text are in backstore.h.
#pragma once

#include "backstores/backstore.h"

// 0, or -EINVAL with a text that names the option, the cause and the valid values: a required
// option is missing, the type does not take an option, the block size is invalid.
// Any thread.
int option_check(const struct backstore_type *type, const struct bs_config *config, struct err *e);
