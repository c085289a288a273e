// SPDX-License-Identifier: BSD-2-Clause
// Attributes of a storage object that its backstore gives no effect. Control thread.
#include <string.h>

#include "target/config/storage/storage.h"
#include "target/scsi/lu.h"

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
