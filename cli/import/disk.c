// SPDX-License-Identifier: BSD-2-Clause
// Disks of a document, and the settings of disks that several formats have.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "core/attr.h"
#include "core/json/json.h"

// A unique disk name from the permitted characters of wanted.
static void make_name(struct import *im, const char *wanted, char out[IMPORT_NAME_MAX + 1])
{
	char base[100];
	struct json_object *last;
	snprintf(base, sizeof base, "%s", *wanted ? wanted : "disk");
	for (char *p = base; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '-';
	if (*base == '.')
		*base = '-';
	int n = json_object_object_get_ex(im->names, base, &last) ? json_object_get_int(last) : 0;
	snprintf(out, IMPORT_NAME_MAX + 1, "%s", base);
	while (json_object_object_get_ex(im->names, out, NULL))
		snprintf(out, IMPORT_NAME_MAX + 1, "%s-%d", base, ++n + 1);
	json_object_object_add(im->names, out, json_object_new_int(0));
	json_object_object_add(im->names, base, json_object_new_int(n));
}

void import_disk_add(struct import_disk *d, const char *key, const char *wanted, const char *dev)
{
	char name[IMPORT_NAME_MAX + 1], path[200];
	make_name(d->im, wanted, name);
	d->o = json_object_new_object();
	json_put_text(d->o, "plugin", d->plugin);
	json_put_text(d->o, "name", name);
	json_put_text(d->o, "dev", dev);
	json_object_array_add(d->im->storage, d->o);
	snprintf(path, sizeof path, "/backstores/%s/%s", d->plugin, name);
	json_put_text(d->im->disks, key, path);
	d->path = import_disk_path(d->im, key);
}

const char *import_disk_path(struct import *im, const char *key)
{
	return json_text(im->disks, key);
}

bool import_disk_is(const struct import_disk *d, const char *plugin)
{
	return !strcmp(d->plugin, plugin);
}

void import_disk_setting(struct import_disk *d, const struct import_disk_row *row,
			 struct import_place at, const char *value)
{
	bool is_taken = row->take && row->take(d, row, value);
	if (!is_taken && row->why)
		import_note(d->im, at, "%s %.60s: %s", row->name, value, row->why);
}

// ---- settings ----

bool import_inquiry(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	static const struct {
		const char *name;
		int max;
	} texts[] = {
		{"vendor",    8 },
		 { "product",  16},
		    { "revision", 4 }
	};
	char cut[17] = ""; // SPC requires ASCII
	for (int i = 0; i < 3; i++)
		if (!strcmp(texts[i].name, row->arg))
			snprintf(cut, sizeof cut, "%.*s", texts[i].max, value);
	for (char *p = cut; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	if (!strcmp(row->arg, "product"))
		import_attribute(d->o, "emulate_model_alias", 0);
	import_own(d->im, d->path, "attribute", row->arg, cut);
	return !strcmp(cut, value);
}

bool import_block_size(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	int n = import_number(value, 4096);
	if (import_disk_is(d, "pscsi") || (n != 512 && n != 1024 && n != 2048 && n != 4096))
		return false;
	import_attribute(d->o, "block_size", n);
	return true;
}

bool import_serial(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	if (!is_uuid(value))
		return false;
	json_put_text(d->o, "wwn", value);
	return true;
}

bool import_removable(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	import_own(d->im, d->path, "attribute", "removable", is_yes(value) ? "1" : "0");
	return true;
}

void import_cache(struct import_disk *d, bool is_on)
{
	if (import_disk_is(d, "fileio"))
		import_bool_field(d->o, "write_back", is_on);
	import_attribute(d->o, "emulate_write_cache", is_on);
}
