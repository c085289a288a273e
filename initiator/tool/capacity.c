// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator capacity: READ CAPACITY as text or JSON. The program's thread. SBC-4 5.20.
#include <errno.h>
#include <json-c/json.h>

#include "core/attr.h"
#include "initiator/tool/tool.h"
#include "transport/wire/be.h"

struct details {
	bool is_known; // READ CAPACITY(16) was answered
	bool is_thin, reads_zeros;
	unsigned protection;	     // type 1 to 3; 0: none
	uint64_t physical;	     // bytes
	uint64_t first_aligned_byte; // of the first aligned physical block
};

// Disks that have only READ CAPACITY(10) report none of this.
static void fetch(const struct tool_disk *d, struct details *ret)
{
	uint8_t b[32];
	uint32_t n;
	struct err ignored;
	struct scsi_args args = { .len = sizeof b };
	*ret = (struct details){ 0 };
	if (tool_data_in(d->sync, d->lun, SCSI_READ_CAPACITY_16, &args, b, sizeof b, &n,
			 &ignored) ||
	    n < 16)
		return;
	ret->is_known = true;
	ret->protection = b[12] & 1 ? 1u + (b[12] >> 1 & 7) : 0;
	ret->physical = (uint64_t)d->block_size << (b[13] & 0xf);
	ret->is_thin = b[14] & 0x80;
	ret->reads_zeros = b[14] & 0x40;
	ret->first_aligned_byte = (uint64_t)(get_be16(b + 14) & 0x3fff) * d->block_size;
}

static void print_json(const struct tool_disk *d, const struct details *x)
{
	json_object *o = json_object_new_object();
	json_object_object_add(o, "lun", json_object_new_int(d->lun));
	json_object_object_add(o, "blocks", json_object_new_uint64(d->blocks));
	json_object_object_add(o, "block_size", json_object_new_uint64(d->block_size));
	json_object_object_add(o, "bytes", json_object_new_uint64(d->blocks * d->block_size));
	if (x->is_known) {
		json_object_object_add(o, "physical_block_size",
				       json_object_new_uint64(x->physical));
		json_object_object_add(o, "first_aligned_byte",
				       json_object_new_uint64(x->first_aligned_byte));
		json_object_object_add(o, "thin", json_object_new_boolean(x->is_thin));
		json_object_object_add(o, "unmapped_reads_zeros",
				       json_object_new_boolean(x->reads_zeros));
		json_object_object_add(o, "protection_type",
				       json_object_new_int((int)x->protection));
	}
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

static void print_text(const struct tool_disk *d, const struct details *x)
{
	char size[32];
	uint64_t bytes = d->blocks * d->block_size;
	format_size(bytes, size);
	printf("%-24s %lu bytes (%s)\n", "Capacity", (unsigned long)bytes, size);
	printf("%-24s %lu\n", "Blocks", (unsigned long)d->blocks);
	printf("%-24s %u bytes\n", "Block size", d->block_size);
	if (!x->is_known)
		return;
	printf("%-24s %lu bytes\n", "Physical block size", (unsigned long)x->physical);
	if (x->first_aligned_byte)
		printf("%-24s %lu\n", "First aligned byte", (unsigned long)x->first_aligned_byte);
	printf("%-24s %s%s\n", "Thin provisioning", x->is_thin ? "yes" : "no",
	       x->is_thin && x->reads_zeros ? ", unmapped blocks read as zeros" : "");
	if (x->protection)
		printf("%-24s type %u\n", "Protection", x->protection);
	else
		printf("%-24s none\n", "Protection");
}

int tool_capacity(struct tool *t)
{
	struct tool_disk d;
	struct details x;
	struct err e;
	int status = tool_open(t, true);
	if (status)
		return status;
	if (tool_disk_open(&d, t->sync, t->lun, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	fetch(&d, &x);
	(t->o.is_json ? print_json : print_text)(&d, &x);
	return TOOL_OK;
}
