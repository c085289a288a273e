// SPDX-License-Identifier: BSD-2-Clause
// The disks of a target of tgt: their names here, their numbers, their settings.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "cli/import/tgt.h"
#include "core/json/json.h"

// A disk being added to the document.
struct making {
	struct import *im;
	struct json_object *disk; // NULL: it exists already, for another target
	const char *path;	  // in the tree
	const char *plugin;
	bool is_readonly;
};

// False: value has no counterpart, reported with the row's text.
typedef bool tgt_apply(struct making *m, const char *value);

static bool same(struct making *m, const char *value)
{
	return true; // handled elsewhere
}

static bool never(struct making *m, const char *value)
{
	return false;
}

static bool readonly(struct making *m, const char *value)
{
	m->is_readonly = is_yes(value);
	return true;
}

static bool write_cache(struct making *m, const char *value)
{
	import_cache(m->disk, strcmp(value, "off") != 0);
	return !*value || !strcmp(value, "on") || !strcmp(value, "off");
}

static bool bsoflags(struct making *m, const char *value)
{
	if (strcmp(value, "sync") && strcmp(value, "direct"))
		return false;
	import_cache(m->disk, false);
	return true;
}

static bool block_size(struct making *m, const char *value)
{
	return import_block_size(m->disk, value);
}

static bool vendor(struct making *m, const char *value)
{
	return import_inquiry(m->im, m->path, "vendor", value);
}

static bool product(struct making *m, const char *value)
{
	import_attribute(m->disk, "emulate_model_alias", 0);
	return import_inquiry(m->im, m->path, "product", value);
}

static bool revision(struct making *m, const char *value)
{
	return import_inquiry(m->im, m->path, "revision", value);
}

static bool serial(struct making *m, const char *value)
{
	return import_serial(m->disk, value);
}

static bool removable(struct making *m, const char *value)
{
	import_own(m->im, m->path, "attribute", "removable", is_yes(value) ? "1" : "0");
	return true;
}

static bool must_be_true(struct making *m, const char *value)
{
	return is_yes(value);
}

// In the order of enum tgt_setting; bsoflags after write-cache, which it overrides.
static const struct tgt_row {
	const char *name;
	tgt_apply *apply;
	const char *why; // refused by apply
	bool holds_for_pscsi;
} rows[] = {
	[TGT_BS_TYPE] = {"bs-type",	     same,	   "",					       true },
	[TGT_DEVICE_TYPE] = { "device-type",	     same,	   "",					       true },
	[TGT_LUN] = { "lun",		     same,	   "",					       true },
	[TGT_READONLY] = { "readonly",	       readonly,	 "",						     true },
	[TGT_WRITE_CACHE] = { "write-cache",	     write_cache,  "not on or off; using on",			     false},
	[TGT_BSOFLAGS] = { "bsoflags",	       bsoflags,
			   "not imported (set write_back and emulate_write_cache)",				    false},
	[TGT_BLOCK_SIZE] = { "block-size",	   block_size,
			     "block sizes are 512, 1024, 2048 and 4096; using 512: "
			     "data "
			     "on the disk may look damaged (do not use it so)",				false},
	[TGT_VENDOR] = { "vendor_id",	      vendor,	      "truncated to 8 ASCII characters",		 false},
	[TGT_PRODUCT] = { "product_id",	product,	 "truncated to 16 ASCII characters",		     false},
	[TGT_REVISION] = { "product_rev",	  revision,	    "truncated to 4 ASCII characters",		       false},
	[TGT_SERIAL] = { "scsi_sn",	    serial,
			 "not a UUID; the disk gets a new serial number (its name "
			 "in /dev/disk/by-id changes)",							false},
	[TGT_ID] = { "scsi_id",		never,
			 "the identifier derives from the serial number (the name in "
		     "/dev/disk/by-id changes)",							       false},
	[TGT_REMOVABLE] = { "removable",	 removable,    "",						false},
	[TGT_ONLINE] = { "online",		   must_be_true,
			 "disks are always online (delete the LUN to remove it)",				  true },
	[TGT_IN_USE] = { "allow-in-use",	 never,
			 "not imported: a disk whose device is in use is waiting until it is free",		 true },
	[TGT_BSOPTS] = { "bsopts",		   never,	  "not supported; skipped",			    true },
	[TGT_SENSE_FORMAT] = { "sense_format",      never,
			       "not supported; sense data has the fixed format until an "
			       "initiator selects the other (D_SENSE)",					true },
	[TGT_PATH] = { "path",	       never,	      "not supported; skipped",				true },
	[TGT_MODE_PAGE] = { "mode_page",	 never,	"mode pages derive from the attributes; skipped",
			    true										       },
	[TGT_PARAMS] = { "params",		   never,	  "not supported; skipped (see set attribute)",	true },
	[TGT_LBPPBE] = { "lbppbe",		   never,	  "taken from the file or device; skipped",	    true },
	[TGT_LA_LBA] = { "la_lba",		   never,	  "taken from the file or device; skipped",	    true },
	[TGT_XFER_GRAN] = { "optimal_xfer_gran", never,	"taken from the file or device; skipped",
			    true										       },
	[TGT_XFER_LEN] = { "optimal_xfer_len",  never,
			   "not imported (set attribute optimal_sectors=BLOCKS)",				  true },
};

enum tgt_setting tgt_setting_find(const char *name)
{
	int i = 0;
	while (i < TGT_SETTINGS && strcmp(rows[i].name, name))
		i++;
	return (enum tgt_setting)i;
}

static const struct tgt_value *value_of(const struct tgt_target *t, const struct tgt_disk *d,
					enum tgt_setting i)
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

static void apply_settings(struct making *m, const struct tgt_target *t, const struct tgt_disk *d)
{
	bool is_pscsi = !strcmp(m->plugin, "pscsi");
	if (!is_pscsi && !value_of(t, d, TGT_WRITE_CACHE)->text)
		import_cache(m->disk, true); // tgt's default
	for (int i = 0; i < TGT_SETTINGS; i++) {
		const struct tgt_value *v = value_of(t, d, (enum tgt_setting)i);
		if (!v->text)
			continue;
		if (is_pscsi && !rows[i].holds_for_pscsi)
			import_note(m->im, v->at, "%s: given by the pass-through device; skipped",
				    rows[i].name);
		else if (!rows[i].apply(m, v->text))
			import_note(m->im, v->at, "%s %.60s: %s", rows[i].name, v->text,
				    rows[i].why);
	}
}

static void put_disk(struct import *im, struct tgt_target *t, struct tgt_disk *d)
{
	char name[128];
	const char *plugin = plugin_of(im, t, d);
	struct making m = { .im = im, .plugin = plugin };
	if (!plugin)
		return;
	m.path = import_disk_path(im, d->path);
	if (!m.path) {
		m.disk = import_disk(im, d->path, wanted_name(d->path, name), plugin,
				     strcmp(plugin, "null") ? d->path : NULL);
		m.path = import_disk_path(im, d->path);
		if (!strcmp(plugin, "null"))
			import_text_field(m.disk, "size", "1T");
		apply_settings(&m, t, d);
	} else {
		m.is_readonly = is_yes(text_of(t, d, TGT_READONLY, "no"));
		import_note(im, d->at,
			    "%.150s: also exported by another target; the settings there apply",
			    d->path);
	}
	import_lun(t->tpg, d->lun, m.path, m.is_readonly);
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
