// SPDX-License-Identifier: BSD-2-Clause
// DEVICE of an scst.conf: a disk here.
#include <stdio.h>
#include <string.h>

#include "core/attr.h"
#include "cli/import/scst.h"
#include "core/json/json.h"

// Without a file or device of its own.
static bool is_special(const struct import_disk *d)
{
	return import_disk_is(d, "pscsi") || import_disk_is(d, "null");
}

int scst_device_open(struct scst *s, char *name, struct err *e)
{
	struct import *im = s->im;
	struct import_disk *d = &s->device.disk;
	s->device = (struct scst_device){
		name, im->at, {.im = im, .plugin = s->plugin}
	};
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
		import_disk_add(d, name, name, import_disk_is(d, "pscsi") ? name : NULL);
	if (d->o && !is_special(d))
		import_cache(d, true); // SCST's default
	return SCST_DEVICE;
}

void scst_device_close(struct scst *s)
{
	struct scst_device *d = &s->device;
	struct json_object *o = d->disk.o;
	if (o && import_disk_is(&d->disk, "null") && !json_field(o, "size")) {
		json_put_text(o, "size", "1T");
		import_note(s->im, d->at, "DEVICE %.60s: no size; using 1 TiB", d->name);
	} else if (o && !is_special(&d->disk) && !json_field(o, "dev")) {
		import_note(s->im, d->at, "DEVICE %.60s: no file; the disk is waiting (delete it)",
			    d->name);
	}
	d->disk.o = NULL;
}

static bool filename(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	if (is_special(d))
		return false;
	json_put_text(d->o, "dev", value);
	return true;
}

// A backstore with the size of its file needs none. arg: the unit.
static bool size(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	char text[32];
	if (import_disk_is(d, "block") || import_disk_is(d, "pscsi") || !*value ||
	    strlen(value) > 18 || value[strspn(value, "0123456789")])
		return false;
	snprintf(text, sizeof text, "%s%s", value, row->arg);
	json_put_text(d->o, "size", text);
	return true;
}

static bool read_only(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	if (is_special(d))
		return !is_yes(value);
	if (import_disk_is(d, "block"))
		import_bool_field(d->o, "readonly", is_yes(value));
	else if (is_yes(value)) // rtslib's fileio has no such option
		import_own(d->im, d->path, "options", "readonly", "true");
	return true;
}

static bool without_cache(struct import_disk *d, const struct import_disk_row *row,
			  const char *value)
{
	if (!is_special(d) && is_yes(value))
		import_cache(d, false);
	return !is_special(d) || !is_yes(value);
}

// SCST skips flushes; here every write is durable instead.
static bool nv_cache(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	without_cache(d, row, value);
	return !is_yes(value);
}

static bool thin_provisioned(struct import_disk *d, const struct import_disk_row *row,
			     const char *value)
{
	import_attribute(d->o, "emulate_tpu", is_yes(value));
	import_attribute(d->o, "emulate_tpws", is_yes(value));
	return true;
}

static bool rotational(struct import_disk *d, const struct import_disk_row *row, const char *value)
{
	import_attribute(d->o, "is_nonrot", !strcmp(value, "0"));
	return true;
}

#define SERIAL                                                                                     \
	"not a UUID; the disk gets a new serial number (its name in "                              \
	"/dev/disk/by-id changes)"
#define IDENTIFIER                                                                                 \
	"the identifier derives from the serial number (the name in "                              \
	"/dev/disk/by-id changes)"
#define THREADS "workers serve all disks, one worker a core; skipped"

// clang-format off
const struct import_disk_row scst_device_rows[] = {
	{ "filename", filename, "this handler has no file; skipped" },
	{ "size", size, "invalid, or given by the device; skipped", "" },
	{ "size_mb", size, "invalid, or given by the device; skipped", "M" },
	{ "blocksize", import_block_size,
	  "block sizes are 512, 1024, 2048 and 4096; data on the disk may look damaged (do "
	  "not use it so)" },
	{ "read_only", read_only, "only for files and block devices (write-protect its LUNs)" },
	{ "write_through", without_cache, "not supported for this handler" },
	{ "o_direct", without_cache, "not supported for this handler" },
	{ "nv_cache", nv_cache,
	  "not supported: every write is durable when it completes (write_back=true uses the page "
	  "cache)" },
	{ "removable", import_removable, NULL },
	{ "thin_provisioned", thin_provisioned, NULL },
	{ "rotational", rotational, NULL },
	{ "usn", import_serial, SERIAL },
	{ "t10_vend_id", import_inquiry, "truncated to 8 ASCII characters", "vendor" },
	{ "prod_id", import_inquiry, "truncated to 16 ASCII characters", "product" },
	{ "prod_rev_lvl", import_inquiry, "truncated to 4 ASCII characters", "revision" },
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
