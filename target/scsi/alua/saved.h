// SPDX-License-Identifier: BSD-2-Clause
// The file of access states, which survive a restart.
#pragma once

#include "target/scsi/alua/access.h"

// The states to save as text for alua_saved_write(), free(); NULL: no memory.
char *alua_saved_format(const struct alua *a, size_t *ret_len);
// Reads such text; -EBADMSG. At most ALUA_GROUPS_MAX entries.
int alua_saved_parse(struct alua_saved *ret, uint32_t *ret_n, const char *text, size_t len);

// Writes the text to the file of lu. 0 or -EIO. Blocks.
int alua_saved_write(const struct lu *lu, const char *text, size_t len);
// Reads the file into lu->alua->saved; a damaged one is renamed and ignored. Control thread;
// blocks.
void alua_saved_load(struct lu *lu);
