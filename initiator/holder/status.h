// SPDX-License-Identifier: BSD-2-Clause
// What an attachment is, as JSON. The program's thread.
#pragma once

#include "initiator/attach/carrier.h"
#include "initiator/disk/disk.h"

struct json_object;

struct holder_status {
	const char *name;
	const char *login; // may be NULL
	const char *state; // NULL: as the disk's notices say, else "attached"
	struct disk *disk;
	uint32_t no_path_retry; // of its configuration
	bool is_reserved;	// ... it is to be
	const char *via;
	const struct carrier_info *carrier;
};

// A new object, for json_object_put(); NULL: no memory.
struct json_object *holder_status(const struct holder_status *s);
