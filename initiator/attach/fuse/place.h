// SPDX-License-Identifier: BSD-2-Clause
// The directory that the file's filesystem is mounted on. The program's thread; may block.
#pragma once

#include <stdbool.h>

#include "core/err.h"
#include "initiator/attach/carrier.h"

struct place {
	char path[CARRIER_PATH_MAX]; // without links
	char file[CARRIER_PATH_MAX]; // below it
	bool is_made;		     // to be removed at the end
};

// The directory of the configuration: made if it is missing, cleaned of the mount and the loop
// device of a process that has died, and empty. Negative with a text.
int place_take(struct place *ret, const struct carrier_config *c, struct err *e);
// Unmounts and waits until nobody uses it, at most that long; is_lazy: its users keep it until they
// leave it. -EBUSY with a text.
int place_unmount(const struct place *p, bool is_lazy, unsigned seconds, struct err *e);
// Takes away what a process that has died left: the mount, the loop devices of its file and the
// directory, if is_made. is_forced: even if they are used. -EBUSY with a text.
int place_clear(const struct place *p, bool is_forced, struct err *e);
// Removes the directory if place_take() made it.
void place_leave(const struct place *p);
