// SPDX-License-Identifier: BSD-2-Clause
// Shared by the files that implement fdstore.h: fdstore.c (I/O, on workers) and fdstore_open.c.
#pragma once

#include "backstores/fdstore.h"

// A sync has failed. Linux reports that a page could not be written once for each open file, to
// whichever sync comes first, and drops the page: who wrote it does not learn that it is lost. Over
// the page cache nothing is called durable from then on. Any thread.
void fdstore_note_lost(struct fdstore *f, int res);
bool fdstore_has_lost(const struct fdstore *f);
