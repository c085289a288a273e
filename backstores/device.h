// SPDX-License-Identifier: BSD-2-Clause
// Facts about a block device: its queue attributes, its users, its content; and about a file that
// is in memory instead. Control thread; all functions may block.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

// A line of /sys/dev/block/MAJOR:MINOR/queue/NAME (of the whole disk for a partition), without
// its newline. False if it does not exist.
bool device_queue_text(dev_t rdev, const char *name, char *ret, size_t size);
// The same as a number; 0 if it does not exist.
uint64_t device_queue_number(dev_t rdev, const char *name);

// The user of the device, or of a partition: "mounted at /mnt", "used as swap", "held by dm-0 (LVM,
// RAID or encryption)", else "in use by another program".
void device_user(dev_t rdev, char *ret, size_t size);

// The filesystem, partition table, RAID or LVM signature on the device of fd (buffered): "ext4
// filesystem", "gpt partition table". False: no signature.
bool device_signature(int fd, char *ret, size_t size);

enum { DEVICE_IDENTITY_MAX = 300 };
// What tells the disk of a block device, or a partition of it, from another one that gets the same
// number later: its WWID, UUID or serial number, else its number in this run of the kernel. "":
// nothing does.
void device_identity(dev_t rdev, char ret[DEVICE_IDENTITY_MAX]);

// Sets -EBUSY with the user of path, whose device number is rdev, and the cure.
int device_refuse_used(dev_t rdev, const char *path, struct err *e);
// 0, or -ENODEV with the cure: path, in the open directory, would become a regular file among
// device nodes: below /dev, by whatever link. /dev/shm is for files.
int device_refuse_file(int folder_fd, const char *path, struct err *e);
// Whether the file of fd is among device nodes, as above.
bool device_is_among_nodes(int fd);
// The file system of fd if it is in memory, "tmpfs" or "ramfs"; else NULL.
const char *device_memory_name(int fd);
// 0, or -EBUSY with the content of path, which fd has open, and the cure.
int device_refuse_signed(int fd, const char *path, struct err *e);
