// SPDX-License-Identifier: BSD-2-Clause
// See tree_unit.h. SPC-5 6.7, 6.36, 7.7; SBC-4 5.20.
#include "initiator/tool/tree_unit.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "core/attr.h"
#include "initiator/disk/alua.h"
#include "initiator/disk/facts.h"
#include "initiator/holder/holder.h"

#define TYPE_MASK 0x1f
#define TYPE_DISK 0x00

// --- attachments ---

struct attachment {
	char name[HOLDER_NAME_MAX + 1], device[160], identity[DISK_IDENTITY_TEXT];
};

struct tree_attachments {
	const char *run_dir;
	struct attachment *all;
	unsigned count;
};

static const char *text_of(json_object *o, const char *key)
{
	json_object *v;
	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

static bool take_attachment(void *arg, const char *name)
{
	struct tree_attachments *a = arg;
	struct holder_files f;
	struct err ignored;
	json_object *o = NULL;
	if (!holder_files(&f, a->run_dir, name, &ignored))
		o = holder_state_read(&f, &ignored);
	struct attachment *more = o ? reallocarray(a->all, a->count + 1, sizeof *a->all) : NULL;
	if (more) {
		struct attachment *x = &more[a->count++];
		a->all = more;
		snprintf(x->name, sizeof x->name, "%s", name);
		snprintf(x->device, sizeof x->device, "%s", text_of(o, "device"));
		snprintf(x->identity, sizeof x->identity, "%s", text_of(o, "identity"));
	}
	json_object_put(o);
	return true;
}

int tree_attachments_new(struct tree_attachments **ret, const char *run_dir, struct err *e)
{
	struct err why;
	struct tree_attachments *a = calloc(1, sizeof *a);
	if (!a)
		return err_set(e, -ENOMEM, "attachments: out of memory");
	a->run_dir = run_dir;
	if (holder_each(run_dir, take_attachment, a, &why) < 0)
		tool_say("what is attached here is unknown: %s", why.text);
	*ret = a;
	return 0;
}

void tree_attachments_free(struct tree_attachments *a)
{
	if (a)
		free(a->all);
	free(a);
}

// --- the unit ---

struct unit {
	struct facts facts;
	bool is_known; // INQUIRY was answered
	bool is_disk;
	enum alua_state alua;
	bool is_preferred;
	struct err why; // of the first failure; code 0: none
};

static int run_step(struct scsi_sync *y, uint16_t lun, const struct facts_step *s, struct unit *u)
{
	uint8_t data[FACTS_DATA_MAX];
	uint32_t n;
	struct err e;
	int r = tool_data_in(y, lun, s->op, &s->args, data, s->bytes, &n, &e);
	if (!r && s->take)
		s->take(&u->facts, data, n);
	if (!r && s->take && s->op == SCSI_INQUIRY && !s->args.flags)
		u->is_known = n >= 36;
	// The session's errors end it, the unit's own do not: a unit in standby tells its name.
	bool is_end = r && r != -EIO;
	if (r && (is_end || !s->is_optional) && !u->why.code)
		u->why = e;
	return is_end ? r : 0;
}

static void groups(struct scsi_sync *y, uint16_t lun, struct unit *u)
{
	uint8_t data[FACTS_DATA_MAX];
	uint32_t n;
	struct err ignored;
	struct scsi_args args = { .len = sizeof data };
	if (!tool_data_in(y, lun, SCSI_REPORT_PORT_GROUPS, &args, data, sizeof data, &n, &ignored))
		alua_find(data, n, false, u->facts.port_group, &u->alua, &u->is_preferred);
}

static bool is_of_disks_alone(const struct facts_step *s)
{
	return s->op == SCSI_READ_CAPACITY_10 || s->op == SCSI_READ_CAPACITY_16;
}

static void examine(struct scsi_sync *y, uint16_t lun, struct unit *u)
{
	int r = 0;
	*u = (struct unit){ .alua = ALUA_NONE };
	for (unsigned i = 0; i < facts_step_count && !r; i++) {
		const struct facts_step *s = &facts_steps[i];
		u->is_disk = u->is_known && u->facts.identity.type == TYPE_DISK;
		if (u->is_disk || !is_of_disks_alone(s))
			r = run_step(y, lun, s, u);
		if (s->op == SCSI_INQUIRY && !s->args.flags && !u->is_known)
			break;
	}
	if (!r && u->facts.has_alua && u->facts.has_port_group)
		groups(y, lun, u);
	if (!u->why.code && u->is_disk)
		facts_evaluate(&u->facts, &u->why);
	else if (!u->why.code && u->facts.identity.type & ~TYPE_MASK)
		err_set(&u->why, -ENXIO, "no such LUN");
}

// --- output ---

static void print_attached(const struct tree_attachments *a, const char *identity)
{
	for (unsigned i = 0; i < a->count && *identity; i++)
		if (!strcmp(a->all[i].identity, identity))
			printf("  attached as %s (%s)", a->all[i].name, a->all[i].device);
}

static void print(uint16_t lun, const struct unit *u, const struct tree_attachments *a,
		  unsigned indent)
{
	const struct disk_facts *d = &u->facts.disk;
	char size[32] = "", type[TOOL_TYPE_TEXT];
	printf("%*sLUN %u", (int)indent, "", lun);
	if (u->is_disk && d->blocks) {
		format_size(d->blocks * d->block_size, size);
		printf("  %s", size);
	} else if (u->is_known) {
		printf("  %s", tool_device_type(u->facts.identity.type & TYPE_MASK, type));
	}
	if (u->is_known)
		printf("  %s %s", d->vendor, d->product);
	if (*d->identity)
		printf("  %s", d->identity);
	if (u->alua != ALUA_NONE)
		printf("  %s%s", alua_text(u->alua), u->is_preferred ? ", preferred" : "");
	print_attached(a, d->identity);
	if (u->why.code)
		printf("  %s", u->why.text);
	putchar('\n');
}

static void add(json_object *o, const char *key, const char *text)
{
	if (*text)
		json_object_object_add(o, key, json_object_new_string(text));
}

static json_object *attached_json(const struct tree_attachments *a, const char *identity)
{
	json_object *list = json_object_new_array();
	for (unsigned i = 0; i < a->count && *identity; i++) {
		if (strcmp(a->all[i].identity, identity))
			continue;
		json_object *o = json_object_new_object();
		add(o, "name", a->all[i].name);
		add(o, "device", a->all[i].device);
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *unit_json(uint16_t lun, const struct unit *u, const struct tree_attachments *a)
{
	const struct disk_facts *d = &u->facts.disk;
	json_object *o = json_object_new_object();
	json_object_object_add(o, "lun", json_object_new_int(lun));
	if (u->is_known)
		json_object_object_add(o, "type",
				       json_object_new_int(u->facts.identity.type & TYPE_MASK));
	if (u->is_disk && d->blocks) {
		json_object_object_add(o, "bytes",
				       json_object_new_uint64(d->blocks * d->block_size));
		json_object_object_add(o, "block_size", json_object_new_uint64(d->block_size));
	}
	add(o, "vendor", d->vendor);
	add(o, "product", d->product);
	add(o, "serial", d->serial);
	add(o, "identity", d->identity);
	if (u->facts.has_port_group)
		json_object_object_add(o, "port_group", json_object_new_int(u->facts.port_group));
	if (u->alua != ALUA_NONE) {
		add(o, "alua", alua_text(u->alua));
		json_object_object_add(o, "preferred", json_object_new_boolean(u->is_preferred));
	}
	json_object_object_add(o, "attached", attached_json(a, d->identity));
	add(o, "error", u->why.code ? u->why.text : "");
	return o;
}

void tree_unit_show(struct scsi_sync *y, uint16_t lun, const struct tree_attachments *a,
		    unsigned indent, struct json_object *json)
{
	struct unit u;
	examine(y, lun, &u);
	if (json)
		json_object_array_add(json, unit_json(lun, &u, a));
	else
		print(lun, &u, a, indent);
}
