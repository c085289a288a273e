// SPDX-License-Identifier: BSD-2-Clause
// What udev learns of an attached disk. Pure functions on the program's thread.
#pragma once

#include <stdio.h>

struct json_object;

enum { UDEV_WHOLE = 0 };

// The number of the partition that node is of device ("/dev/nbd0p2" of "/dev/nbd0": 2), UDEV_WHOLE
// if it is the device itself; -1: it is another device's.
int udev_partition(const char *device, const char *node);

// Prints the properties of an attachment's state (holder_state_read()) as lines KEY=VALUE, as a
// rule imports them. FARBLOCK_LINK1 .. are links below /dev, with the partition's number (a
// property with several could not be used: udev replaces its spaces). Characters that udev does not
// take become '_'.
void udev_print(FILE *out, struct json_object *state, int partition);
