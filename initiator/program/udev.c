// SPDX-License-Identifier: BSD-2-Clause
// See udev.h. Links are named as those of the kernel's initiators: by-id after designators of the
// unit (SPC-4 7.8.6), by-path after portals.
#include "initiator/program/udev.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "initiator/srp/initiator.h"
#include "transport/iscsi/sendtargets.h"

enum { PARTITION_MAX = 4096, LUN_TEXT_MAX = 32 };

int udev_partition(const char *device, const char *node)
{
	size_t n = strlen(device);
	char *end;
	if (!n || strncmp(node, device, n))
		return -1;
	if (!node[n])
		return UDEV_WHOLE;
	if (node[n] != 'p' || !isdigit((unsigned char)node[n + 1]))
		return -1;
	unsigned long number = strtoul(node + n + 1, &end, 10);
	return *end || !number || number > PARTITION_MAX ? -1 : (int)number;
}

// What a target says of itself is any text: a run of characters that udev does not take is '_'.
static void put_safe(FILE *out, const char *text)
{
	bool was_unsafe = false;
	for (; *text; text++) {
		bool is_safe = isalnum((unsigned char)*text) || strchr("#+-.:=@_", *text);
		if (is_safe)
			fputc(*text, out);
		else if (!was_unsafe)
			fputc('_', out);
		was_unsafe = !is_safe;
	}
}

static void put_property(FILE *out, const char *key, const char *prefix, const char *value)
{
	if (!*value)
		return;
	fprintf(out, "%s=%s", key, prefix);
	put_safe(out, value);
	fputc('\n', out);
}

// ---- names ----

// Of a unit with a NAA or EUI designator, without "naa." and "eui."; NULL: it has none. type: of
// the designator, as scsi_id(8) puts it in front.
static const char *designator(struct json_object *state, char *type)
{
	const char *identity = json_text_or_empty(state, "identity");
	*type = !strncmp(identity, "naa.", 4) ? '3' : '2';
	return *type == '3' || !strncmp(identity, "eui.", 4) ? identity + 4 : NULL;
}

static void put_serial(FILE *out, struct json_object *state)
{
	char type;
	const char *id = designator(state, &type);
	if (id) {
		fputc(type, out);
		put_safe(out, id);
		return;
	}
	fputc('S', out);
	for (int i = 0; i < 3; i++) {
		put_safe(out, json_text_or_empty(
				      state, (const char *[]){ "vendor", "product", "serial" }[i]));
		fputs(i < 2 ? "_" : "", out);
	}
}

static bool has_serial(struct json_object *state)
{
	char type;
	return designator(state, &type) || *json_text_or_empty(state, "serial");
}

// ---- links ----

struct links {
	FILE *out;
	int partition;
	unsigned count;
};

static FILE *begin_link(struct links *l, const char *folder)
{
	fprintf(l->out, "FARBLOCK_LINK%u=disk/%s", ++l->count, folder);
	return l->out;
}

static void end_link(struct links *l)
{
	if (l->partition != UDEV_WHOLE)
		fprintf(l->out, "-part%d", l->partition);
	fputc('\n', l->out);
}

static void put_ids(struct links *l, struct json_object *state)
{
	char type;
	const char *id = designator(state, &type);
	put_safe(begin_link(l, "by-id/farblock-"), json_text_or_empty(state, "name"));
	end_link(l);
	if (id) {
		put_safe(begin_link(l, "by-id/wwn-0x"), id);
		end_link(l);
	}
	if (has_serial(state)) {
		put_serial(begin_link(l, "by-id/scsi-"), state);
		end_link(l);
	}
}

// As the kernel shows a LUN: that of flat space addressing has eight bytes.
static void lun_text(char ret[LUN_TEXT_MAX], unsigned long lun)
{
	if (lun < 256)
		snprintf(ret, LUN_TEXT_MAX, "lun-%lu", lun);
	else
		snprintf(ret, LUN_TEXT_MAX, "lun-0x%04lx000000000000", 0x4000 | (lun & 0x3fff));
}

// SCHEME://[USER@]HOST[:PORT]/TARGET/LUN
static void put_path(struct links *l, const char *url)
{
	const char *host = strstr(url, "://"), *target = host ? strchr(host + 3, '/') : NULL;
	const char *lun = target ? strrchr(target + 1, '/') : NULL;
	char portal[ISCSI_HOST_MAX + 16], name[ISCSI_NAME_MAX + 1], number[LUN_TEXT_MAX], *end;
	struct iscsi_address address;
	struct err ignored;
	bool is_srp = !strncmp(url, "srp:", 4);
	if (!lun)
		return;
	host += 3;
	for (const char *at; (at = memchr(host, '@', (size_t)(target - host)));)
		host = at + 1;
	if (target - host >= (int)sizeof portal || lun - target > (int)sizeof name)
		return;
	snprintf(portal, sizeof portal, "%.*s", (int)(target - host), host);
	snprintf(name, sizeof name, "%.*s", (int)(lun - target - 1), target + 1);
	unsigned long n = strtoul(lun + 1, &end, 10);
	if (end == lun + 1 || *end || iscsi_address_parse(portal, &address, &ignored) < 0)
		return;
	if (is_srp && !address.has_port)
		address.port = SRPS_PORT;
	lun_text(number, n);
	FILE *out = begin_link(l, "by-path/ip-");
	put_safe(out, address.host);
	fprintf(out, ":%u-%s-", address.port, is_srp ? "srp" : "iscsi");
	put_safe(out, name);
	fprintf(out, "-%s", number);
	end_link(l);
}

static void put_paths(struct links *l, struct json_object *state)
{
	struct json_object *paths;
	if (!json_object_object_get_ex(state, "paths", &paths) ||
	    !json_object_is_type(paths, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(paths); i++)
		put_path(l, json_text_or_empty(json_object_array_get_idx(paths, i), "url"));
}

void udev_print(FILE *out, struct json_object *state, int partition)
{
	char type;
	const char *id = designator(state, &type);
	struct links l = { out, partition, 0 };
	put_property(out, "FARBLOCK_NAME", "", json_text_or_empty(state, "name"));
	put_property(out, "ID_VENDOR", "", json_text_or_empty(state, "vendor"));
	put_property(out, "ID_MODEL", "", json_text_or_empty(state, "product"));
	put_property(out, "ID_SCSI_SERIAL", "", json_text_or_empty(state, "serial"));
	put_property(out, "ID_WWN", "0x", id ? id : "");
	if (has_serial(state)) {
		fputs("ID_SERIAL=", out);
		put_serial(out, state);
		fputc('\n', out);
	}
	put_ids(&l, state);
	put_paths(&l, state);
}
