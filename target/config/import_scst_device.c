// SPDX-License-Identifier: BSD-2-Clause
// DEVICE of an scst.conf: a disk here.
#include <stdio.h>
#include <string.h>

#include "core/attr.h"
#include "target/config/import_scst.h"
#include "target/config/json.h"

static bool is_plugin(const struct scst *s, const char *plugin)
{
	return !strcmp(s->plugin, plugin);
}

void scst_device_open(struct scst *s, char *name)
{
	struct import *im = s->im;
	struct scst_device *d = &s->device;
	*d = (struct scst_device){ .name = name, .at = im->at };
	if (!*name)
		import_note(im, im->at, "DEVICE: its name is missing; left out");
	else if (!s->plugin)
		import_note(
			im, im->at,
			"DEVICE %.60s: handler %.40s has no counterpart; left out, and its LUNs "
			"with it",
			name, s->handler);
	else if (import_disk_path(im, name))
		import_note(im, im->at, "DEVICE %.60s: is there already; left out", name);
	else
		d->disk =
			import_disk(im, name, name, s->plugin, is_plugin(s, "pscsi") ? name : NULL);
	if (!d->disk)
		return;
	d->path = import_disk_path(im, name);
	if (!is_plugin(s, "pscsi") && !is_plugin(s, "null"))
		import_cache(d->disk, true); // SCST's default
}

void scst_device_close(struct scst *s)
{
	struct scst_device *d = &s->device;
	bool is_null = d->disk && is_plugin(s, "null");
	if (is_null && !d->has_size) {
		import_text_field(d->disk, "size", "1T");
		import_note(s->im, d->at, "DEVICE %.60s: has no size; 1 TiB is taken", d->name);
	} else if (d->disk && !is_null && !is_plugin(s, "pscsi") && !d->has_file) {
		import_note(s->im, d->at, "DEVICE %.60s: names no file; it waits (delete it)",
			    d->name);
	}
	d->disk = NULL;
}

static bool filename(struct scst *s, char *value)
{
	if (is_plugin(s, "pscsi") || is_plugin(s, "null"))
		return false;
	import_text_field(s->device.disk, "dev", value);
	s->device.has_file = true;
	return true;
}

// A backstore of the file's own size takes none.
static bool take_size(struct scst *s, const char *value, const char *unit)
{
	char text[32];
	if (is_plugin(s, "block") || is_plugin(s, "pscsi") || !*value || strlen(value) > 18 ||
	    value[strspn(value, "0123456789")])
		return false;
	snprintf(text, sizeof text, "%s%s", value, unit);
	import_text_field(s->device.disk, "size", text);
	s->device.has_size = true;
	return true;
}

static bool size(struct scst *s, char *value)
{
	return take_size(s, value, "");
}

static bool size_mb(struct scst *s, char *value)
{
	return take_size(s, value, "M");
}

static bool blocksize(struct scst *s, char *value)
{
	return !is_plugin(s, "pscsi") && import_block_size(s->device.disk, value);
}

static bool read_only(struct scst *s, char *value)
{
	if (is_plugin(s, "pscsi") || is_plugin(s, "null"))
		return !is_yes(value);
	if (is_plugin(s, "block"))
		import_bool_field(s->device.disk, "readonly", is_yes(value));
	else if (is_yes(value)) // rtslib's fileio has no such option
		import_own(s->im, s->device.path, "options", "readonly", "true");
	return true;
}

static bool without_cache(struct scst *s, char *value)
{
	bool has_cache = !is_plugin(s, "pscsi") && !is_plugin(s, "null");
	if (has_cache && is_yes(value))
		import_cache(s->device.disk, false);
	return has_cache || !is_yes(value);
}

// Flushes were thought needless; here every write is durable instead.
static bool nv_cache(struct scst *s, char *value)
{
	without_cache(s, value);
	return !is_yes(value);
}

static bool removable(struct scst *s, char *value)
{
	import_own(s->im, s->device.path, "attribute", "removable", is_yes(value) ? "1" : "0");
	return true;
}

static bool thin_provisioned(struct scst *s, char *value)
{
	import_attribute(s->device.disk, "emulate_tpu", is_yes(value));
	import_attribute(s->device.disk, "emulate_tpws", is_yes(value));
	return true;
}

static bool rotational(struct scst *s, char *value)
{
	import_attribute(s->device.disk, "is_nonrot", !strcmp(value, "0"));
	return true;
}

static bool serial(struct scst *s, char *value)
{
	return import_serial(s->device.disk, value);
}

static bool vendor(struct scst *s, char *value)
{
	return import_inquiry(s->im, s->device.path, "vendor", value);
}

static bool product(struct scst *s, char *value)
{
	import_attribute(s->device.disk, "emulate_model_alias", 0);
	return import_inquiry(s->im, s->device.path, "product", value);
}

static bool revision(struct scst *s, char *value)
{
	return import_inquiry(s->im, s->device.path, "revision", value);
}

#define SERIAL                                                                                     \
	"a serial number is a UUID here; the disk gets a new one (what initiators find by "        \
	"/dev/disk/by-id has another name)"
#define IDENTIFIER                                                                                 \
	"the identifier follows from the serial number here (what initiators find by "             \
	"/dev/disk/by-id has another name)"
#define THREADS "one worker a core serves all disks; left out"

// clang-format off
const struct scst_row scst_device_rows[] = {
	{ "filename", filename, "this handler has no file; left out" },
	{ "size", size, "is the device's own, or no number; left out" },
	{ "size_mb", size_mb, "is the device's own, or no number; left out" },
	{ "blocksize", blocksize,
	  "blocks have 512, 1024, 2048 or 4096 bytes here; what is on the disk may look damaged (do "
	  "not use it so)" },
	{ "read_only", read_only, "is for files and block devices alone (write-protect its LUNs)" },
	{ "write_through", without_cache, "has no counterpart for this handler" },
	{ "o_direct", without_cache, "has no counterpart for this handler" },
	{ "nv_cache", nv_cache,
	  "has no counterpart: every write is durable when it ends (write_back=true would use the page "
	  "cache)" },
	{ "removable", removable, NULL },
	{ "thin_provisioned", thin_provisioned, NULL },
	{ "rotational", rotational, NULL },
	{ "usn", serial, SERIAL },
	{ "t10_vend_id", vendor, "is cut to 8 characters of ASCII" },
	{ "prod_id", product, "is cut to 16 characters of ASCII" },
	{ "prod_rev_lvl", revision, "is cut to 4 characters of ASCII" },
	{ "t10_dev_id", NULL, IDENTIFIER },
	{ "naa_id", NULL, IDENTIFIER },
	{ "eui64_id", NULL, IDENTIFIER },
	{ "scsi_device_name", NULL, IDENTIFIER },
	{ "vend_specific_id", NULL, "has no counterpart; left out" },
	{ "threads_num", NULL, THREADS },
	{ "threads_pool_type", NULL, THREADS },
	{ "numa_node_id", NULL, THREADS },
	{ "async", NULL, NULL },
	{ "active", NULL, "a disk is always active here (see /backstores/PLUGIN/NAME/alua)" },
	{ "bind_alua_state", NULL, "a disk stays open in every ALUA state; left out" },
	{ "cluster_mode", NULL, "reservations are not shared between machines here; left out" },
	{ "dummy", NULL, "is served as an empty disk (delete it)" },
	{ 0 },
};
// clang-format on
