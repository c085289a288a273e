// SPDX-License-Identifier: BSD-2-Clause
// The list of types. Any thread.
#include "backstores/types.h"

#include <string.h>

const struct backstore_type *const backstore_types[] = {
	&block_type, &fileio_type, &null_type, &pscsi_type, &ramdisk_type, NULL,
};

const struct backstore_type *backstore_type_find(const char *name)
{
	for (const struct backstore_type *const *t = backstore_types; *t; t++)
		if (strcmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}
