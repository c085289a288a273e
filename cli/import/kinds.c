// SPDX-License-Identifier: BSD-2-Clause
// The kinds of files that import reads.
#include <string.h>

#include "cli/import/import.h"

const struct import_kind *const import_kinds[] = { &import_kind_tgt, &import_kind_scst, NULL };

const struct import_kind *import_kind_find(const char *name)
{
	const struct import_kind *const *k = import_kinds;
	while (*k && strcmp((*k)->name, name))
		k++;
	return *k;
}
