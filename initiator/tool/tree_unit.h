// SPDX-License-Identifier: BSD-2-Clause
// A logical unit of a tree (tree.h), and the attachments of this machine that it is compared with.
// The program's thread; blocks.
#pragma once

#include "initiator/tool/tool.h"

struct json_object;
struct tree_attachments;

// Reads what the run directory has. Attachments that this user may not see are not known: a message
// says so. Errors with a text.
int tree_attachments_new(struct tree_attachments **ret, const char *run_dir, struct err *e);
void tree_attachments_free(struct tree_attachments *a); // NULL is fine

// Examines the unit and prints it as a line after indent blanks. With json instead: adds an object
// to that array.
void tree_unit_show(struct scsi_sync *y, uint16_t lun, const struct tree_attachments *a,
		    unsigned indent, struct json_object *json);
