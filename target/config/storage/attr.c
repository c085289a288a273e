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
	if (!s->lu && s->absent && !(row->flags & (ATTR_IGNORED | ATTR_RESTART)))
		return lu_attr_apply(s->absent, row, text, e);
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

// ---- attributes that the backstore gives no effect ----

static bool lacks_cache(const struct storage *s)
{
	return !lu_backstore(s->lu)->limits.has_write_cache;
}

static bool lacks_unmap(const struct storage *s)
{
	return !lu_backstore(s->lu)->limits.can_unmap;
}

static bool lacks_space(const struct storage *s)
{
	uint64_t used, total;
	return backstore_space(lu_backstore(s->lu), &used, &total) < 0;
}

// Attributes that depend on the backstore.
static const struct {
	const char *name;
	bool (*lacks)(const struct storage *s);
	const char *why;
} conditions[] = {
	{"emulate_write_cache",	 lacks_cache, "this storage has no volatile write cache"	 },
	{ "emulate_tpu",		 lacks_unmap, "this storage cannot unmap"		  },
	{ "emulate_tpws",		  lacks_unmap, "this storage cannot unmap"		   },
	{ "thin_threshold_percent", lacks_space, "this storage does not report its used space"},
};

// Attributes with an effect on a pass-through device.
static bool is_of_pass_through(const char *name)
{
	return !strcmp(name, "queue_depth") || !strcmp(name, "emulate_tas") ||
	       !strcmp(name, "emulate_ua_intlck_ctrl");
}

const char *storage_no_effect(const struct node *n, const struct attr_row *row)
{
	const struct storage *s = NODE_OF(const struct storage, n);
	const char *name = row->name;
	if (s->type && s->type->is_passthrough && !is_of_pass_through(name))
		return "the device itself answers";
	for (size_t i = 0; s->lu && i < sizeof conditions / sizeof *conditions; i++)
		if (!strcmp(conditions[i].name, name) && conditions[i].lacks(s))
			return conditions[i].why;
	return NULL;
}

// ---- the group ----

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
