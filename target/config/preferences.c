// SPDX-License-Identifier: BSD-2-Clause
// Preferences of the daemon: the group global of the root.
#include <stdio.h>

#include "target/config/classes.h"

// clang-format off
#define PREF(field) ATTR_BOOL, offsetof(struct prefs, field), 0, 1, "1", NULL

const struct attr_row pref_rows[] = {
	{ "auto_add_default_portal", PREF(auto_add_default_portal),
	  "create portal 0.0.0.0:3260, of SRP 0.0.0.0:3261, with a portal group", NULL, ATTR_SPARSE, "true or false" },
	{ "auto_add_mapped_luns", PREF(auto_add_mapped_luns),
	  "map new LUNs in all ACLs, and all LUNs in new ACLs", NULL, ATTR_SPARSE, "true or false" },
	{ "auto_enable_tpgt", PREF(auto_enable_tpgt), "enable new portal groups",
	  NULL, ATTR_SPARSE, "true or false" },
	{ "export_backstore_name_as_model", PREF(export_backstore_name_as_model),
	  "use the storage object's name as SCSI product name of new disks", NULL, ATTR_SPARSE, "true or false" },
	{ "max_backup_files", ATTR_UINT, offsetof(struct prefs, max_backup_files), 0, 1000, "10", NULL,
	  "number of changes that undo can revert; as many older backups are kept, a minute apart", NULL,
	  ATTR_SPARSE },
	{ 0 },
};
// clang-format on

// In targetcli's form.
static size_t get_pref(struct node *n, const struct attr_row *row, char *out, size_t size)
{
	size_t len = attr_get(row, &container_of(n, struct config, root)->prefs, out, size);
	if (row->type != ATTR_BOOL)
		return len;
	return (size_t)snprintf(out, size, "%s", *out == '1' ? "true" : "false");
}

const struct group_row root_groups[] = {
	{.name = "global",
	  .rows = pref_rows,
	  .at = offsetof(struct config, prefs) - offsetof(struct config, root),
	  .size = sizeof(struct prefs),
	  .is_worded = true,
	  .get = get_pref },
	{ 0},
};
