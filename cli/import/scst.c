// SPDX-License-Identifier: BSD-2-Clause
// scst.conf of SCST: blocks within blocks, HANDLER { DEVICE }, TARGET_DRIVER { TARGET { LUN, GROUP
// { LUN, INITIATOR } } }.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "cli/import/scst.h"
#include "core/json/json.h"

static enum scst_block now(const struct scst *s)
{
	return s->depth ? s->stack[s->depth - 1] : SCST_TOP;
}

// ---- blocks ----

static int open_handler(struct scst *s, char *name, struct err *e)
{
	static const char *const rows[][2] = {
		{"vdisk_fileio",	  "fileio"},
		      { "vdisk_blockio", "block" },
		{ "vdisk_nullio",  "null"	 },
		      { "dev_disk",	    "pscsi" },
		{ "dev_tape",      "pscsi" },
		      { "dev_changer",   "pscsi" },
		{ "dev_cdrom",     "pscsi" },
		      { "dev_modisk",    "pscsi" },
	};
	s->handler = name;
	s->plugin = NULL;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i][0], name))
			s->plugin = rows[i][1];
	return SCST_HANDLER;
}

static int open_driver(struct scst *s, char *name, struct err *e)
{
	s->fabric = !strcmp(name, "iscsi") ? "iscsi" : !strcmp(name, "ib_srpt") ? "srpt" : NULL;
	if (s->fabric)
		return SCST_DRIVER;
	import_note(s->im, s->im->at, "TARGET_DRIVER %.40s: %s", name,
		    !strcmp(name, "copy_manager")
			    ? "EXTENDED COPY works between all disks; skipped"
			    : "driver not supported; skipped with all its targets");
	return SCST_OTHER;
}

static int open_alua(struct scst *s, char *name, struct err *e)
{
	import_note(
		s->im, s->im->at,
		"DEVICE_GROUP %.60s: ALUA states are not imported; all paths are active and "
		"optimized (/backstores/PLUGIN/NAME/alua create, then luns set alua_tg_pt_gp_name)",
		name);
	return SCST_OTHER;
}

// clang-format off
static const struct {
	enum scst_block in;
	const char *name;
	scst_open *open;
} kinds[] = {
	{ SCST_TOP, "HANDLER", open_handler },
	{ SCST_TOP, "TARGET_DRIVER", open_driver },
	{ SCST_TOP, "DEVICE_GROUP", open_alua },
	{ SCST_HANDLER, "DEVICE", scst_device_open },
	{ SCST_DRIVER, "TARGET", scst_target_open },
	{ SCST_TARGET, "GROUP", scst_group_open },
	{ SCST_TARGET, "LUN", scst_lun_open },
	{ SCST_GROUP, "LUN", scst_lun_open },
};
// clang-format on

// The kind of the block that a line opens; SCST_BLOCKS: unknown here.
static int open_kind(struct scst *s, const char *name, char *value, struct err *e)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].in == now(s) && !strcmp(kinds[i].name, name))
			return kinds[i].open(s, value, e);
	return now(s) == SCST_OTHER ? SCST_OTHER : SCST_BLOCKS;
}

static int open_block(struct scst *s, char *line, struct err *e)
{
	char *value = import_value(line);
	if (!*line)
		return import_fail(e, s->im->at, "missing name before {");
	if (s->depth == SCST_DEPTH_MAX)
		return import_fail(e, s->im->at, "more than %d nested blocks", SCST_DEPTH_MAX);
	int kind = open_kind(s, line, value, e);
	if (kind < 0)
		return kind;
	if (kind == SCST_BLOCKS) {
		import_note(s->im, s->im->at,
			    "%.40s %.60s: unknown block; skipped with its "
			    "contents",
			    line, value);
		kind = SCST_OTHER;
	}
	s->opened[s->depth] = s->im->at;
	s->stack[s->depth++] = (enum scst_block)kind;
	return 0;
}

static int close_block(struct scst *s, struct err *e)
{
	static void (*const close[SCST_BLOCKS])(struct scst * s) = {
		[SCST_DEVICE] = scst_device_close,
		[SCST_TARGET] = scst_target_close,
	};
	if (!s->depth)
		return import_fail(e, s->im->at, "unexpected }");
	enum scst_block kind = s->stack[--s->depth];
	if (close[kind])
		close[kind](s);
	return 0;
}

// ---- lines ----

static bool driver_enabled(struct scst *s, const struct scst_row *row, char *value)
{
	return is_yes(value);
}

// clang-format off
static const struct scst_row driver_rows[] = {
	{ "IncomingUser", scst_user, NULL, "incoming" },
	{ "OutgoingUser", scst_user, NULL, "outgoing" },
	{ "enabled", driver_enabled, "targets are enabled one by one, as their sections say (disable them)" },
	{ "iSNSServer", NULL, "iSNS is not supported; skipped" },
	{ "iSNSAccessControl", NULL, "iSNS is not supported (create ACLs for its initiators)" },
	{ "link_local", NULL, "discovery shows every address of a portal; skipped" },
	{ "internal_portal", NULL, "not supported; skipped" },
	{ 0 },
};
static const struct scst_row top_rows[] = {
	{ "setup_id", NULL, "identifiers derive from the serial number of the disk; skipped" },
	{ 0 },
};
// clang-format on

static const struct scst_row *const rows_in[SCST_BLOCKS] = {
	[SCST_TOP] = top_rows,
	[SCST_DRIVER] = driver_rows,
	[SCST_TARGET] = scst_target_rows,
	[SCST_GROUP] = scst_group_rows,
	[SCST_LUN] = scst_lun_rows,
};

static const struct scst_row *row_of(const struct scst *s, const char *name)
{
	const struct scst_row *row = rows_in[now(s)];
	for (; row && row->name; row++)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

static bool is_parameter(const struct scst *s, const char *name)
{
	return now(s) == SCST_TARGET && !strcmp(s->fabric, "iscsi") &&
	       (import_is_parameter(name) || !strcmp(name, "TargetAlias"));
}

static void take_value(struct scst *s, const char *name, char *value)
{
	const struct scst_row *row = row_of(s, name);
	bool is_secret = strstr(name, "User") != NULL;
	if (row && row->take && row->take(s, row, value))
		return;
	if (row && row->why)
		import_note(s->im, s->im->at, "%s %.60s: %s", name, is_secret ? "" : value,
			    row->why);
	if (row)
		return;
	if (is_parameter(s, name))
		import_parameter(s->target.tpg, name, value);
	else
		import_note(s->im, s->im->at, "%.60s: unknown; skipped", name);
}

static void take_setting(struct scst *s, const char *name, const char *value)
{
	const struct import_disk_row *row = scst_device_rows;
	if (!s->device.disk.o)
		return;
	while (row->name && strcmp(row->name, name))
		row++;
	if (row->name)
		import_disk_setting(&s->device.disk, row, s->im->at, value);
	else
		import_note(s->im, s->im->at, "%.60s: unknown; skipped", name);
}

// A line that neither opens nor closes a block; one that could open a block means an empty block.
static int take_line(struct scst *s, char *line, struct err *e)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i].name);
		if (kinds[i].in == now(s) && !strncmp(line, kinds[i].name, n) &&
		    (!line[n] || strchr(" \t", line[n]))) {
			int r = open_block(s, line, e);
			return r ? r : close_block(s, e);
		}
	}
	char *value = import_value(line);
	if (now(s) == SCST_DEVICE)
		take_setting(s, line, value);
	else if (now(s) != SCST_OTHER)
		take_value(s, line, value);
	return 0;
}

static int read_line(struct scst *s, char *line, struct err *e)
{
	size_t n = strlen(line);
	if (*line == '<')
		return import_fail(e, s->im->at, "unexpected < (a file of tgt?)");
	if (!strcmp(line, "}"))
		return close_block(s, e);
	bool is_empty = line[n - 1] == '}'; // "NAME { }"
	if (is_empty) {
		line[--n] = 0;
		import_trim_end(line);
		n = strlen(line);
		if (!n || line[n - 1] != '{')
			return import_fail(e, s->im->at, "} must be alone on its line");
	}
	if (line[n - 1] != '{')
		return take_line(s, line, e);
	line[n - 1] = 0;
	import_trim_end(line);
	int r = open_block(s, line, e);
	return r || !is_empty ? r : close_block(s, e);
}

static int import_scst(struct import *im, char *text, struct err *e)
{
	struct scst s = { .im = im };
	char *line;
	int r = 0;
	while (!r && (line = import_line(im, &text)))
		r = read_line(&s, line, e);
	if (!r && s.depth)
		r = import_fail(e, s.opened[s.depth - 1], "missing } of this block");
	if (!r)
		import_discovery(im, &s.discovery);
	scst_target_done(&s);
	return r;
}

const struct import_kind import_kind_scst = { "scst", "scst.conf of SCST", import_scst };
