// SPDX-License-Identifier: BSD-2-Clause
// One process of this machine writes a disk: a lock named after the disk's identity. Any thread;
// may block on the file system.
#pragma once

#include "core/err.h"
#include "initiator/disk/disk.h"

// The name of the disk's lock, safe as a part of a file's name whatever the unit reports: its
// NAA or EUI designator; else "serial." and a hash of its serial number with vendor and product;
// else "place." and a hash of target and lun, since it has no other name. -ENOMEM with a text.
int holder_claim_name(const struct disk_facts *f, const char *target, uint16_t lun,
		      char ret[DISK_IDENTITY_TEXT], struct err *e);

// The name of its target, for the function above: a callback of scsi_session_describe() and
// disk_path_describe() whose arg is this struct. On the thread of these.
struct holder_target {
	char name[256]; // "": none yet
};
void holder_take_target(void *arg, const char *key, const char *text, uint64_t number);

// Takes the lock of the disk, by its name, until *ret_fd is closed or the process ends.
// -EADDRINUSE, without text: another process has it; -ENOENT, -EACCES and others with a text.
int holder_claim(const char *run_dir, const char *name, int *ret_fd, struct err *e);
