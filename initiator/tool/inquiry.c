// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator inquiry: standard INQUIRY data, vital product data pages, capacity and
// limits, as text or JSON. SPC-5 6.6, 7.7; SBC-4 6.6. Every page is parsed up to the received
// length, not the one that it claims.
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "core/attr.h"
#include "initiator/tool/tool.h"
#include "transport/wire/be.h"

struct page {
	uint8_t data[1024];
	uint32_t len; // bytes received
};

struct view {
	struct scsi_sync *sync;
	uint16_t lun;
	json_object *json; // NULL: text
};

static void show(struct view *v, const char *key, const char *label, const char *value)
{
	if (v->json)
		json_object_object_add(v->json, key, json_object_new_string(value));
	else
		printf("%-24s %s\n", label, value);
}

static void show_number(struct view *v, const char *key, const char *label, uint64_t value,
			const char *unit)
{
	if (v->json)
		json_object_object_add(v->json, key, json_object_new_uint64(value));
	else
		printf("%-24s %lu%s%s%s\n", label, (unsigned long)value, *unit ? " " : "", unit,
		       !strcmp(unit, "block") && value != 1 ? "s" : "");
}

// Text of a target, for a terminal: printable ASCII, without surrounding blanks.
static void clean(char *ret, const uint8_t *from, size_t n)
{
	while (n && (*from == ' ' || !*from)) {
		from++;
		n--;
	}
	while (n && (from[n - 1] == ' ' || !from[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++)
		ret[i] = from[i] >= 0x20 && from[i] < 0x7f ? (char)from[i] : '.';
	ret[n] = 0;
}

static int fetch(struct view *v, bool is_vpd, uint8_t code, struct page *ret, struct err *e)
{
	struct scsi_sync_cmd c;
	// 255 for the standard data: some old targets read one byte of the length.
	uint32_t size = is_vpd ? sizeof ret->data : 255;
	struct scsi_args args = { .len = size, .flags = is_vpd, .page = code };
	memset(ret, 0, sizeof *ret);
	scsi_cmd_set(&c.cmd, v->lun, SCSI_INQUIRY, &args, ret->data, size);
	int r = tool_run(v->sync, &c, SCSI_INQUIRY, e);
	if (r)
		return r;
	ret->len = c.cmd.data_len;
	if (!is_vpd)
		return ret->len >= 36
			       ? 0
			       : err_set(e, -EPROTO, "INQUIRY: short answer: %u bytes", ret->len);
	if (ret->len < 4 || ret->data[1] != code)
		return err_set(e, -EPROTO, "INQUIRY: unexpected answer to page %02x", code);
	uint32_t claimed = 4u + get_be16(ret->data + 2);
	ret->len = ret->len < claimed ? ret->len : claimed;
	return 0;
}

// --- standard data ---

static const char *const types[] = {
	"disk",
	"tape",
	"printer",
	"processor",
	"write-once",
	"CD/DVD",
	"scanner",
	"optical",
	"medium changer",
	"communications",
	"",
	"",
	"array controller",
	"enclosure",
	"simplified disk",
	"card reader",
	"",
	"object storage",
	"automation",
	"",
	"zoned disk",
};

const char *tool_device_type(uint8_t type, char buf[TOOL_TYPE_TEXT])
{
	if (type < sizeof types / sizeof *types && types[type][0])
		return types[type];
	snprintf(buf, TOOL_TYPE_TEXT, "type 0x%02x", type);
	return buf;
}

static void standard(struct view *v, const struct page *p)
{
	char text[32], type[TOOL_TYPE_TEXT];
	clean(text, p->data + 8, 8);
	show(v, "vendor", "Vendor", text);
	clean(text, p->data + 16, 16);
	show(v, "product", "Product", text);
	clean(text, p->data + 32, 4);
	show(v, "revision", "Revision", text);
	show(v, "type", "Device type", tool_device_type(p->data[0] & 0x1f, type));
	snprintf(text, sizeof text, "0x%02x", p->data[2]);
	show(v, "version", "SPC version", text);
	show(v, "removable", "Removable", p->data[1] & 0x80 ? "yes" : "no");
}

// --- vital product data ---

static void serial(struct view *v, const struct page *p)
{
	char text[sizeof p->data + 1];
	clean(text, p->data + 4, p->len - 4);
	show(v, "serial", "Serial number", text);
}

static void designator(struct view *v, json_object *list, const uint8_t *d, uint32_t n)
{
	static const char *const kinds[] = { "vendor",	      "T10",	    "EUI-64",	"NAA",
					     "relative port", "port group", "LU group", "MD5",
					     "name",	      "port",	    "UUID" };
	char text[600], label[48];
	uint8_t set = d[0] & 0xf, kind = d[1] & 0xf, association = d[1] >> 4 & 3;
	size_t at = 0;
	if (association) // of the port or the target: not the logical unit's identity
		return;
	if (set == 2 || set == 3)
		clean(text, d + 4, n);
	else
		for (uint32_t i = 0; i < n; i++)
			at += (size_t)snprintf(text + at, sizeof text - at, "%02x", d[4 + i]);
	const char *name = kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "unknown";
	if (list) {
		json_object *o = json_object_new_object();
		json_object_object_add(o, "type", json_object_new_string(name));
		json_object_object_add(o, "value", json_object_new_string(n ? text : ""));
		json_object_array_add(list, o);
		return;
	}
	snprintf(label, sizeof label, "Designator %s", name);
	printf("%-24s %s\n", label, n ? text : "");
}

static void identification(struct view *v, const struct page *p)
{
	json_object *list = v->json ? json_object_new_array() : NULL;
	for (uint32_t at = 4; at + 4 <= p->len;) {
		uint32_t n = p->data[at + 3];
		if (at + 4 + n > p->len)
			break;
		designator(v, list, p->data + at, n);
		at += 4 + n;
	}
	if (list)
		json_object_object_add(v->json, "designators", list);
}

static void block_limits(struct view *v, const struct page *p)
{
	static const struct {
		uint8_t at, size;
		const char *key, *label;
	} fields[] = {
		{5,   1, "max_compare_and_write", "COMPARE AND WRITE"   },
		{ 6,  2, "optimal_granularity",   "Optimal granularity" },
		{ 8,  4, "max_transfer",		"Maximum transfer"	   },
		{ 12, 4, "optimal_transfer",	     "Optimal transfer"	},
		{ 20, 4, "max_unmap",	      "Maximum UNMAP"	      },
		{ 24, 4, "max_unmap_descriptors", "UNMAP descriptors"   },
		{ 28, 4, "unmap_granularity",     "UNMAP granularity"	  },
		{ 36, 8, "max_write_same",	   "Maximum WRITE SAME"	},
		{ 44, 4, "max_atomic",	       "Maximum atomic write"},
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		uint64_t value = 0;
		if ((uint32_t)fields[i].at + fields[i].size > p->len)
			return;
		for (unsigned b = 0; b < fields[i].size; b++)
			value = value << 8 | p->data[fields[i].at + b];
		if (!value && !v->json)
			printf("%-24s not reported\n", fields[i].label);
		else
			show_number(v, fields[i].key, fields[i].label, value,
				    fields[i].at == 24 ? "" : "block");
	}
}

static void characteristics(struct view *v, const struct page *p)
{
	uint16_t rate = p->len >= 6 ? get_be16(p->data + 4) : 0;
	if (rate == 1)
		show(v, "rotation", "Medium", "solid state");
	else if (rate)
		show_number(v, "rotation", "Rotation rate", rate, "rpm");
}

static void provisioning(struct view *v, const struct page *p)
{
	static const char *const kinds[] = { "not reported", "resource", "thin", "other" };
	if (p->len < 8)
		return;
	uint8_t flags = p->data[5], kind = p->data[6] & 7;
	show(v, "provisioning", "Provisioning", kinds[kind < 3 ? kind : 3]);
	show(v, "unmap", "UNMAP", flags & 0x80 ? "yes" : "no");
	show(v, "write_same_unmap", "WRITE SAME with UNMAP",
	     flags & 0x40   ? (flags & 0x20 ? "16 and 10" : "16")
	     : flags & 0x20 ? "10"
			    : "no");
	show(v, "unmapped_reads", "Unmapped blocks read",
	     flags >> 2 & 1 ? "as zeros" : "as undefined data");
}

static const struct {
	uint8_t code;
	const char *name;
	void (*show)(struct view *v, const struct page *p);
} pages[] = {
	{0x00,	"supported pages",		   NULL		},
	{ 0x80, "unit serial number",	      serial	     },
	{ 0x83, "device identification",	 identification },
	{ 0x86, "extended INQUIRY data",	 NULL	      },
	{ 0x87, "mode page policy",		    NULL		 },
	{ 0x88, "SCSI ports",		      NULL	   },
	{ 0x8f, "third-party copy",		    NULL		 },
	{ 0xb0, "block limits",			block_limits   },
	{ 0xb1, "block device characteristics", characteristics},
	{ 0xb2, "logical block provisioning",   provisioning   },
	{ 0xb7, "block limits extension",	  NULL	       },
};
#define PAGE_COUNT (sizeof pages / sizeof *pages)

static void list_pages(struct view *v, const struct page *all)
{
	json_object *list = v->json ? json_object_new_array() : NULL;
	for (uint32_t i = 4; i < all->len; i++) {
		const char *name = "";
		for (size_t k = 0; k < PAGE_COUNT; k++)
			if (pages[k].code == all->data[i])
				name = pages[k].name;
		if (list)
			json_object_array_add(list, json_object_new_int(all->data[i]));
		else
			printf("%-24s %02x %s\n", i == 4 ? "VPD pages" : "", all->data[i], name);
	}
	if (list)
		json_object_object_add(v->json, "vpd_pages", list);
}

// A listed page that cannot be read is a fault of the target; the others are still shown.
static int vital(struct view *v, struct err *e)
{
	struct page all, one;
	struct err first = { 0 };
	if (fetch(v, true, 0, &all, e) < 0)
		return 0; // none: old devices
	list_pages(v, &all);
	for (size_t k = 0; k < PAGE_COUNT; k++) {
		if (!pages[k].show || !memchr(all.data + 4, pages[k].code, all.len - 4))
			continue;
		if (!fetch(v, true, pages[k].code, &one, e))
			pages[k].show(v, &one);
		else if (!first.code)
			first = *e;
	}
	*e = first;
	return first.code;
}

static int capacity(struct view *v, struct err *e)
{
	struct tool_disk d;
	char size[32];
	int r = tool_disk_open(&d, v->sync, v->lun, e);
	if (r)
		return r;
	uint64_t bytes = d.blocks * d.block_size;
	show_number(v, "blocks", "Blocks", d.blocks, "");
	show_number(v, "block_size", "Block size", d.block_size, "bytes");
	format_size(bytes, size);
	if (v->json)
		json_object_object_add(v->json, "bytes", json_object_new_uint64(bytes));
	else
		printf("%-24s %lu bytes (%s)\n", "Capacity", (unsigned long)bytes, size);
	return 0;
}

static int inquire(struct view *v, struct err *e)
{
	struct page p;
	int r = fetch(v, false, 0, &p, e);
	if (r)
		return r;
	if (p.data[0] >> 5 == 3) // peripheral qualifier 011b
		return err_set(e, -ENXIO, "no LUN %u (the luns command lists them)", v->lun);
	standard(v, &p);
	uint8_t type = p.data[0];
	r = vital(v, e);
	// Only disks have such a capacity.
	if (!r && (type == 0x00 || type == 0x0e || type == 0x14))
		r = capacity(v, e);
	return r;
}

int tool_inquiry(struct tool *t)
{
	struct err e = { 0 };
	int status = tool_open(t, true);
	if (status)
		return status;
	struct view v = { .sync = t->sync, .lun = t->lun };
	if (t->o.is_json)
		v.json = json_object_new_object();
	if (inquire(&v, &e) < 0)
		status = tool_fail(TOOL_FAILED, &e);
	else if (v.json)
		printf("%s\n", json_object_to_json_string_ext(v.json, JSON_C_TO_STRING_PRETTY));
	json_object_put(v.json);
	return status;
}
