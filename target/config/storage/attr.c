// SPDX-License-Identifier: BSD-2-Clause
// Attributes of a storage object.
#include <errno.h>
#include <string.h>

#include "target/config/storage/storage.h"
#include "target/scsi/lu.h"

// All that rtslib knows of a pass-through object.
static bool is_unknown_to_rtslib(const struct node *n, const struct attr_row *row)
{
	bool is_passthrough = NODE_OF(const struct storage, n)->type->is_passthrough;
	return row->flags & ATTR_OWN || (is_passthrough && strcmp(row->name, "emulate_pr") &&
					 strcmp(row->name, "pgr_support"));
}

static int check_storage(struct config *c, struct node *n, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	return s->lu ? lu_attr_check(&s->attr, &lu_backstore(s->lu)->limits, e) : 0;
}

// A setting of the open storage object. A setting read at open takes effect by reopening the
// storage, which must not be in use.
static int apply_storage(struct config *c, struct node *n, const struct attr_row *row,
			 const char *text, struct err *e)
{
	struct storage *s = NODE_OF(struct storage, n);
	if (!s->lu || row->flags & ATTR_IGNORED)
		return 0;
	if (!(row->flags & ATTR_RESTART))
		return lu_attr_apply(s->lu, row, text, e);
	if (s->lun_count)
		return err_set(
			e, -EBUSY, "%s: cannot change while %u LUN%s %s (delete the LUNs first)",
			row->name, s->lun_count, s->lun_count == 1 ? " uses" : "s use", n->name);
	if (storage_loses_data(s))
		return err_set(e, -EBUSY,
			       "%s: the data of RAM disk %s would be lost (delete and create it)",
			       row->name, n->name);
	return 0;
}

const struct group_row storage_groups[] = {
	{.name = "attribute",
	  .form = SAVED_NUMBERS,
	  .part = "attributes",
	  .is_own = is_unknown_to_rtslib,
	  .rows = lu_attr_rows,
	  .at = offsetof(struct storage, attr),
	  .size = sizeof(struct lu_attr),
	  .check = check_storage,
	  .apply = apply_storage,
	  .restart = storage_restart },
	{ 0},
};
