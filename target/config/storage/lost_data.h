// SPDX-License-Identifier: BSD-2-Clause
// Data of RAM disks that a change discards. Control thread.
#pragma once

#include "target/config/tree/tree.h"

// The parameter of the commands that may lose data of RAM disks.
#define PARAM_FORCE_LOSS                                                                           \
	{                                                                                          \
		"force", PARAM_BOOL, false, "false",                                               \
			"true: discard data on RAM disks, take disks from sessions that use them", \
			NULL                                                                       \
	}

// Adds a line for each RAM disk with data that the transaction has closed since the mark. Returns
// how many; *ret_first: the name of the first one, valid while the transaction is open.
unsigned lost_data(struct config *c, struct txn_mark since, struct json_object *lines,
		   const char **ret_first);
// Adds a line for each RAM disk that the transaction recreates since the mark, empty, where it had
// been deleted before.
void lost_before(struct config *c, struct txn_mark since, struct json_object *lines);
// -EBUSY with text unless count is 0.
int lost_data_refuse(unsigned count, const char *first, const char *what, struct err *e);
