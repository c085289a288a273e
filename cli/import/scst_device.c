// SPDX-License-Identifier: BSD-2-Clause
// DEVICE of an scst.conf: a disk here.
#include <stdio.h>
#include <string.h>

#include "core/attr.h"
#include "cli/import/scst.h"
#include "core/json/json.h"

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
		import_note(im, im->at, "DEVICE: missing name; skipped");
	else if (!s->plugin)
		import_note(im, im->at,
			    "DEVICE %.60s: handler %.40s not supported; skipped with its "
			    "LUNs",
			    name, s->handler);
	else if (import_disk_path(im, name))
		import_note(im, im->at, "DEVICE %.60s: already exists; skipped", name);
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
		import_note(s->im, d->at, "DEVICE %.60s: no size; using 1 TiB", d->name);
	} else if (d->disk && !is_null && !is_plugin(s, "pscsi") && !d->has_file) {
		import_note(s->im, d->at, "DEVICE %.60s: no file; the disk is waiting (delete it)",
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

// A backstore with the size of its file needs none.
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

// SCST skips flushes; here every write is durable instead.
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
	"not a UUID; the disk gets a new serial number (its name in "                              \
	"/dev/disk/by-id changes)"
#define IDENTIFIER                                                                                 \
	"the identifier derives from the serial number (the name in "                              \
	"/dev/disk/by-id changes)"
#define THREADS "workers serve all disks, one worker a core; skipped"

// clang-format off
const struct scst_row scst_device_rows[] = {
	{ "filename", filename, "this handler has no file; skipped" },
	{ "size", size, "invalid, or given by the device; skipped" },
	{ "size_mb", size_mb, "invalid, or given by the device; skipped" },
	{ "blocksize", blocksize,
	  "block sizes are 512, 1024, 2048 and 4096; data on the disk may look damaged (do "
	  "not use it so)" },
	{ "read_only", read_only, "only for files and block devices (write-protect its LUNs)" },
	{ "write_through", without_cache, "not supported for this handler" },
	{ "o_direct", without_cache, "not supported for this handler" },
	{ "nv_cache", nv_cache,
	  "not supported: every write is durable when it completes (write_back=true uses the page "
	  "cache)" },
	{ "removable", removable, NULL },
	{ "thin_provisioned", thin_provisioned, NULL },
	{ "rotational", rotational, NULL },
	{ "usn", serial, SERIAL },
	{ "t10_vend_id", vendor, "truncated to 8 ASCII characters" },
	{ "prod_id", product, "truncated to 16 ASCII characters" },
	{ "prod_rev_lvl", revision, "truncated to 4 ASCII characters" },
	{ "t10_dev_id", NULL, IDENTIFIER },
	{ "naa_id", NULL, IDENTIFIER },
	{ "eui64_id", NULL, IDENTIFIER },
	{ "scsi_device_name", NULL, IDENTIFIER },
	{ "vend_specific_id", NULL, "not supported; skipped" },
	{ "threads_num", NULL, THREADS },
	{ "threads_pool_type", NULL, THREADS },
	{ "numa_node_id", NULL, THREADS },
	{ "async", NULL, NULL },
	{ "active", NULL, "disks are always active (see /backstores/PLUGIN/NAME/alua)" },
	{ "bind_alua_state", NULL, "disks stay open in every ALUA state; skipped" },
	{ "cluster_mode", NULL, "reservations are not shared between machines; skipped" },
	{ "dummy", NULL, "imported as an empty disk (delete it)" },
	{ 0 },
};
// clang-format on
