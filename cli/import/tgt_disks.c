// SPDX-License-Identifier: BSD-2-Clause
// The disks of a target of tgt: their names here, their numbers, their settings.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "cli/import/tgt.h"
#include "core/json/json.h"

static bool readonly(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	d->is_readonly = is_yes(value);
	return true;
}

static bool write_cache(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	import_cache(d, strcmp(value, "off") != 0);
	return !*value || !strcmp(value, "on") || !strcmp(value, "off");
}

static bool bsoflags(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	if (strcmp(value, "sync") && strcmp(value, "direct"))
		return false;
	import_cache(d, false);
	return true;
}

static bool online(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	return is_yes(value);
}

#define PSCSI	    .has_pscsi = true
#define FROM_DEVICE "taken from the file or device; skipped"

// bsoflags after write-cache, which it overrides.
// clang-format off
static const struct import_disk_row rows[] = {
	[TGT_BS_TYPE] = { "bs-type", NULL, NULL, PSCSI },
	[TGT_DEVICE_TYPE] = { "device-type", NULL, NULL, PSCSI },
	[TGT_LUN] = { "lun", NULL, NULL, PSCSI },
	[TGT_READONLY] = { "readonly", readonly, NULL, PSCSI },
	[TGT_WRITE_CACHE] = { "write-cache", write_cache, "not on or off; using on" },
	{ "bsoflags", bsoflags, "not imported (set write_back and emulate_write_cache)" },
	{ "block-size", import_block_size,
	  "block sizes are 512, 1024, 2048 and 4096; using 512: data on the disk may look damaged "
	  "(do not use it so)" },
	{ "vendor_id", import_inquiry, "truncated to 8 ASCII characters", "vendor" },
	{ "product_id", import_inquiry, "truncated to 16 ASCII characters", "product" },
	{ "product_rev", import_inquiry, "truncated to 4 ASCII characters", "revision" },
	{ "scsi_sn", import_serial,
	  "not a UUID; the disk gets a new serial number (its name in /dev/disk/by-id changes)" },
	{ "scsi_id", NULL,
	  "the identifier derives from the serial number (the name in /dev/disk/by-id changes)" },
	{ "removable", import_removable, NULL },
	{ "online", online, "disks are always online (delete the LUN to remove it)", PSCSI },
	{ "allow-in-use", NULL,
	  "not imported: a disk whose device is in use is waiting until it is free", PSCSI },
	{ "bsopts", NULL, "not supported; skipped", PSCSI },
	{ "sense_format", NULL,
	  "not supported; sense data has the fixed format until an initiator selects the other "
	  "(D_SENSE)", PSCSI },
	{ "path", NULL, "not supported; skipped", PSCSI },
	{ "mode_page", NULL, "mode pages derive from the attributes; skipped", PSCSI },
	{ "params", NULL, "not supported; skipped (see set attribute)", PSCSI },
	{ "lbppbe", NULL, FROM_DEVICE, PSCSI },
	{ "la_lba", NULL, FROM_DEVICE, PSCSI },
	{ "optimal_xfer_gran", NULL, FROM_DEVICE, PSCSI },
	{ "optimal_xfer_len", NULL, "not imported (set attribute optimal_sectors=BLOCKS)", PSCSI },
};
// clang-format on
static_assert(sizeof rows / sizeof *rows == TGT_SETTINGS, "the size of tgt_target.set");

unsigned tgt_setting_find(const char *name)
{
	unsigned i = 0;
	while (i < TGT_SETTINGS && strcmp(rows[i].name, name))
		i++;
	return i;
}

static const struct tgt_value *value_of(const struct tgt_target *t, const struct tgt_disk *d,
					unsigned i)
{
	return d->set[i].text ? &d->set[i] : &t->set[i];
}

static const char *text_of(const struct tgt_target *t, const struct tgt_disk *d, enum tgt_setting i,
			   const char *absent)
{
	const char *text = value_of(t, d, i)->text;
	return text ? text : absent;
}

// The type of the disk here; NULL: not supported.
static const char *plugin_of(struct import *im, const struct tgt_target *t,
			     const struct tgt_disk *d)
{
	const char *bs = text_of(t, d, TGT_BS_TYPE, "rdwr");
	const char *type = text_of(t, d, TGT_DEVICE_TYPE, "disk");
	bool is_device = !strncmp(d->path, "/dev/", 5);
	if (!strcmp(bs, "sg") || !strcmp(type, "pt"))
		return "pscsi";
	if (strcmp(type, "disk")) {
		import_note(im, value_of(t, d, TGT_DEVICE_TYPE)->at,
			    "device-type %.20s: files can only be disks; %.150s "
			    "skipped (pscsi passes a drive of this machine through)",
			    type, d->path);
		return NULL;
	}
	if (strcmp(bs, "rdwr") && strcmp(bs, "aio") && strcmp(bs, "null")) {
		import_note(im, value_of(t, d, TGT_BS_TYPE)->at,
			    "bs-type %.20s: not supported; %.150s skipped (map it to a "
			    "block device and export that)",
			    bs, d->path);
		return NULL;
	}
	if (!strcmp(bs, "null"))
		return "null";
	return is_device ? "block" : "fileio";
}

// The name of a disk: the path of a device, the name of a file.
static const char *wanted_name(const char *path, char out[128])
{
	static const char *const folders[] = { "/dev/mapper/", "/dev/disk/by-id/", "/dev/" };
	for (int i = 0; i < 3; i++) {
		size_t n = strlen(folders[i]);
		if (!strncmp(path, folders[i], n))
			return path + n;
	}
	const char *slash = strrchr(path, '/');
	snprintf(out, 128, "%.120s", slash ? slash + 1 : path);
	size_t n = strlen(out);
	if (n > 4 && !strcmp(out + n - 4, ".img"))
		out[n - 4] = 0;
	return out;
}

static void apply_settings(struct import_disk *disk, const struct tgt_target *t,
			   const struct tgt_disk *d)
{
	bool is_pscsi = import_disk_is(disk, "pscsi");
	if (!is_pscsi && !value_of(t, d, TGT_WRITE_CACHE)->text)
		import_cache(disk, true); // tgt's default
	for (unsigned i = 0; i < TGT_SETTINGS; i++) {
		const struct tgt_value *v = value_of(t, d, i);
		if (v->text && is_pscsi && !rows[i].has_pscsi)
			import_note(disk->im, v->at,
				    "%s: given by the pass-through device; skipped", rows[i].name);
		else if (v->text)
			import_disk_setting(disk, &rows[i], v->at, v->text);
	}
}

static void put_disk(struct import *im, struct tgt_target *t, struct tgt_disk *d)
{
	char name[128];
	struct import_disk disk = { .im = im, .plugin = plugin_of(im, t, d) };
	if (!disk.plugin)
		return;
	bool is_null = import_disk_is(&disk, "null");
	disk.path = import_disk_path(im, d->path);
	if (!disk.path) {
		import_disk_add(&disk, d->path, wanted_name(d->path, name),
				is_null ? NULL : d->path);
		json_put_text(disk.o, "size", is_null ? "1T" : NULL);
		apply_settings(&disk, t, d);
	} else {
		disk.is_readonly = is_yes(text_of(t, d, TGT_READONLY, "no"));
		import_note(im, d->at,
			    "%.150s: also exported by another target; the settings there apply",
			    d->path);
	}
	import_lun(t->tpg, d->lun, disk.path, disk.is_readonly);
}

// In tgt-admin's order: backing-store first, then by path.
static int compare_store(const struct tgt_disk *x, const struct tgt_disk *y)
{
	return x->is_direct != y->is_direct ? x->is_direct - y->is_direct
					    : strcmp(x->path, y->path);
}

static int compare(const void *a, const void *b)
{
	const struct tgt_disk *x = a, *y = b;
	int r = compare_store(x, y);
	return r ? r : (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

// The number in the file; -1: none, or not available.
static int own_number(struct import *im, struct tgt_target *t, struct tgt_disk *d,
		      const bool used[IMPORT_LUN_MAX + 1])
{
	const struct tgt_value *v = value_of(t, d, TGT_LUN);
	int n = v->text ? import_number(v->text, IMPORT_LUN_MAX) : -1;
	if (n >= 0 && !used[n])
		return n;
	if (v->text)
		import_note(im, v->at, "lun %.20s: %s; %.150s gets the next free number", v->text,
			    n < 0 ? "not in 0..16383" : "used by another disk", d->path);
	return -1;
}

void tgt_put_disks(struct import *im, struct tgt_target *t)
{
	bool *used = calloc(IMPORT_LUN_MAX + 1, sizeof *used);
	int next = 1; // 0 is tgt's controller
	if (t->disk_count)
		qsort(t->disks, t->disk_count, sizeof *t->disks, compare);
	for (size_t i = 0; used && i < t->disk_count; i++) {
		struct tgt_disk *d = &t->disks[i];
		d->lun = own_number(im, t, d, used);
		if (d->lun >= 0)
			used[d->lun] = true;
	}
	for (size_t i = 0; used && i < t->disk_count; i++) {
		struct tgt_disk *d = &t->disks[i];
		if (i && !compare_store(d, d - 1)) {
			import_note(im, d->at, "%.150s: duplicate; the first one applies", d->path);
			continue;
		}
		while (d->lun < 0 && next <= IMPORT_LUN_MAX && used[next])
			next++;
		if (d->lun < 0 && next > IMPORT_LUN_MAX) {
			import_note(im, d->at, "%.150s: no free LUN number; skipped", d->path);
			continue;
		}
		if (d->lun < 0)
			d->lun = next++;
		put_disk(im, t, d);
	}
	free(used);
}
