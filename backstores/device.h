// SPDX-License-Identifier: BSD-2-Clause
// Facts about a block device: its queue attributes, its users, its content. Control thread; all
// functions may block.
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

// Sets -EBUSY with the user of path, whose device number is rdev, and the cure.
int device_refuse_used(dev_t rdev, const char *path, struct err *e);
// 0, or -EBUSY with the content of path, which fd has open, and the cure.
int device_refuse_signed(int fd, const char *path, struct err *e);
