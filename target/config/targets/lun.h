// SPDX-License-Identifier: BSD-2-Clause
// LUNs of a portal group and of its ACLs. Private to target/config; control thread.
#pragma once

#include "target/config/storage/storage.h"
#include "target/config/targets/targets.h"

enum { LUN_MAX = 16383 };

extern const struct group_row lun_groups[];

// The number in text; without one the lowest that no child of n named PREFIXnumber has. -EINVAL;
// -ENOSPC.
int number_pick(const struct config *c, struct node *n, const char *prefix, const char *text,
		struct err *e);
// The LUN of tpg_lun_or_backstore: its number, or a storage object, file or device, for which a LUN
// is created if missing. -ENOENT and errors of creating one.
int lun_for(struct config *c, struct tpg *tpg, const struct args *a, struct lun **ret,
	    struct reply *r, struct err *e);
// tpg_lun: the number of l, or of the LUN that is missing. ret may be NULL.
int mapped_lun_new(struct config *c, struct node **ret, struct node *acl, uint32_t number,
		   struct lun *l, uint32_t tpg_lun, bool is_write_protected, struct err *e);
// A LUN's or mapped LUN's number, of the command that deletes it: struct child_names.
int lun_given(const struct node *n, const struct args *a, char out[CHILD_NAME_SIZE], struct err *e);

// ---- lun_link.c ----
// Connects the LUNs that were kept without storage object n to it; a class's appeared. -ENOMEM.
int luns_find_storage(struct config *c, struct node *n, struct reply *r, struct err *e);

// ---- lun_ports.c ----
uint16_t alua_group_id(struct config *c, const struct lun *l);
// Before the target's LUNs become visible.
void alua_sync_ports(struct config *c, const struct node *target);
