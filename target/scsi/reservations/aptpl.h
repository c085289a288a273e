// SPDX-License-Identifier: BSD-2-Clause
// The file of a table that survives a loss of power (APTPL, SPC-4 5.13.5).
#pragma once

#include "core/err.h"
#include "target/scsi/reservations/table.h"

struct lu;

// The table as an APTPL file: text of *ret_len bytes, free(). NULL: no memory.
char *pr_store_format(const struct pr_view *v, size_t *ret_len);
// -EBADMSG: damaged; -ENOMEM.
int pr_store_parse(struct pr_view **ret, const char *text, size_t len);
// Reads the file of lu. 0 with *ret NULL: no file; a damaged one is renamed and ignored. Control
// thread; blocks.
int pr_store_load(struct pr_view **ret, const struct lu *lu, struct err *e);
