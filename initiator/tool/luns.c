// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator luns: REPORT LUNS, then the properties of each logical unit. SPC-5 6.32, SAM-5
// 4.7.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "initiator/tool/tool.h"
#include "transport/wire/be.h"

enum { LUNS_MAX = 16384, HEADER = 8, FIRST_SIZE = 4096, ROUNDS_MAX = 4 };

struct unit {
	uint16_t lun;
	char vendor[9], product[17];
	uint8_t type;
	uint64_t bytes; // 0: not a disk, or not ready
	char why[240];
};

// Peripheral and flat space addressing, single level; -1: another form.
static int decode(const uint8_t *lun)
{
	static const uint8_t zeros[6];
	uint16_t v = get_be16(lun);
	if (memcmp(lun + 2, zeros, sizeof zeros) || (v >> 14 == 0 && v > 255) || v >> 14 > 1)
		return -1;
	return v & 0x3fff;
}

// *ret_bytes: of the addresses behind the header; *ret_all: of the whole list.
static int report(struct scsi_sync *y, uint8_t *list, uint32_t size, uint32_t *ret_bytes,
		  uint32_t *ret_all, struct err *e)
{
	struct scsi_sync_cmd c;
	struct scsi_args args = { .len = size };
	memset(list, 0, size);
	scsi_cmd_set(&c.cmd, 0, SCSI_REPORT_LUNS, &args, list, size);
	int r = tool_run(y, &c, SCSI_REPORT_LUNS, e);
	if (r)
		return r;
	uint32_t came = c.cmd.data_len;
	if (came < HEADER)
		return err_set(e, -EPROTO, "REPORT LUNS: short answer: %u bytes", came);
	*ret_all = get_be32(list);
	*ret_bytes = *ret_all < came - HEADER ? *ret_all : came - HEADER;
	return 0;
}

// Asks for little first, then for as much as there is: istgt does not answer to a request for more
// than 8 KiB, and SPDK repeats the beginning of the list every 64 KiB. A list may grow meanwhile.
static int report_all(struct scsi_sync *y, uint8_t *list, uint32_t max, uint32_t *ret_bytes,
		      struct err *e)
{
	uint32_t size = FIRST_SIZE, all = 0;
	int r = report(y, list, size, ret_bytes, &all, e);
	for (unsigned i = 0; !r && i < ROUNDS_MAX && size < max && all > size - HEADER; i++) {
		size = all < max - HEADER ? HEADER + all : max;
		r = report(y, list, size, ret_bytes, &all, e);
	}
	return r;
}

int tool_report_luns(struct scsi_sync *y, uint16_t **ret, unsigned *ret_count, struct err *e)
{
	uint32_t size = HEADER + LUNS_MAX * 8, bytes = 0;
	uint8_t *list = malloc(size);
	uint16_t *luns = malloc(LUNS_MAX * sizeof *luns);
	int r = list && luns ? report_all(y, list, size, &bytes, e)
			     : err_set(e, -ENOMEM, "REPORT LUNS: out of memory");
	*ret_count = 0;
	for (uint32_t at = 0; at + 8 <= bytes && !r; at += 8) {
		int lun = decode(list + HEADER + at);
		if (lun >= 0)
			luns[(*ret_count)++] = (uint16_t)lun;
	}
	free(list);
	if (r)
		free(luns);
	else
		*ret = luns;
	return r;
}

static void text_field(char *ret, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = from[i] >= 0x20 && from[i] < 0x7f ? (char)from[i] : '.';
	while (n && ret[n - 1] == ' ')
		n--;
	ret[n] = 0;
}

static void examine(struct scsi_sync *y, struct unit *u)
{
	struct scsi_sync_cmd c;
	struct tool_disk d;
	struct err e = { 0 };
	uint8_t b[255] = { 0 };
	struct scsi_args args = { .len = sizeof b };
	scsi_cmd_set(&c.cmd, u->lun, SCSI_INQUIRY, &args, b, sizeof b);
	int r = tool_run(y, &c, SCSI_INQUIRY, &e);
	if (!r && c.cmd.data_len < 36)
		r = err_set(&e, -EPROTO, "INQUIRY: short answer: %u bytes", c.cmd.data_len);
	if (!r) {
		text_field(u->vendor, b + 8, 8);
		text_field(u->product, b + 16, 16);
		u->type = b[0] & 0x1f;
		if (u->type == 0x00 && !(r = tool_disk_open(&d, y, u->lun, &e)))
			u->bytes = d.blocks * d.block_size;
	}
	if (r)
		memcpy(u->why, e.text, sizeof u->why);
}

static void print_line(const struct unit *u)
{
	char size[32] = "", type[TOOL_TYPE_TEXT];
	if (u->bytes)
		format_size(u->bytes, size);
	printf("%-5u %-15s %-8s %-16s %s%s\n", u->lun, tool_device_type(u->type, type), u->vendor,
	       u->product, size, u->why);
}

static json_object *json_unit(const struct unit *u)
{
	json_object *o = json_object_new_object();
	json_object_object_add(o, "lun", json_object_new_int(u->lun));
	json_object_object_add(o, "type", json_object_new_int(u->type));
	json_object_object_add(o, "vendor", json_object_new_string(u->vendor));
	json_object_object_add(o, "product", json_object_new_string(u->product));
	if (u->bytes)
		json_object_object_add(o, "bytes", json_object_new_uint64(u->bytes));
	if (u->why[0])
		json_object_object_add(o, "error", json_object_new_string(u->why));
	return o;
}

static void show_all(struct tool *t, const uint16_t *luns, unsigned count)
{
	json_object *all = t->o.is_json ? json_object_new_array() : NULL;
	for (unsigned i = 0; i < count && !tool_interrupted(); i++) {
		struct unit u = { .lun = luns[i] };
		examine(t->sync, &u);
		if (all)
			json_object_array_add(all, json_unit(&u));
		else
			print_line(&u);
	}
	if (all)
		printf("%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	json_object_put(all);
}

static bool is_disk(struct scsi_sync *y, uint16_t lun)
{
	struct scsi_args args = { .len = 36 };
	uint8_t b[36];
	uint32_t len;
	struct err ignored;
	return !tool_data_in(y, lun, SCSI_INQUIRY, &args, b, sizeof b, &len, &ignored) && len &&
	       !b[0]; // peripheral qualifier: connected; type: a block device
}

int tool_disks(struct scsi_sync *y, uint16_t *ret, unsigned max, unsigned *ret_count, struct err *e)
{
	uint16_t *luns;
	unsigned count;
	int r = tool_report_luns(y, &luns, &count, e);
	*ret_count = 0;
	if (r)
		return r;
	for (unsigned i = 0; i < count && !r; i++) {
		if (!is_disk(y, luns[i]))
			continue;
		if (*ret_count == max)
			r = err_set(e, -E2BIG, "REPORT LUNS: more than %u disks", max);
		else
			ret[(*ret_count)++] = luns[i];
	}
	free(luns);
	return r;
}

int tool_luns(struct tool *t)
{
	struct err e;
	uint16_t *luns;
	unsigned count;
	int status = tool_open(t, false);
	if (status)
		return status;
	if (tool_report_luns(t->sync, &luns, &count, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	show_all(t, luns, count);
	free(luns);
	return tool_interrupted();
}
