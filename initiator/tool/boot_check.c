// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator boot-check: logs in as firmware does, and says what it would boot. One session
// over TCP, or SRP, without discovery; CHAP with MD5 and the keys that iPXE offers.
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/attr.h"
#include "initiator/tool/boot_image.h"
#include "initiator/tool/tool.h"

enum { BIOS_BLOCK = 512, REASON_SIZE = 160 };

// How one kind of firmware would fare.
struct verdict {
	bool boots;
	char text[REASON_SIZE];
};

struct finding {
	struct tool_disk d;
	struct boot_image image;
	struct verdict bios, uefi;
	char content[160]; // what else is on the disk, "": nothing that is known
};

// ---- the login ----

// Offered by iPXE; what the user sets replaces them.
static const char *const keys[] = { "HeaderDigest=None", "DataDigest=None", "InitialR2T=Yes",
				    "ImmediateData=No", "MaxRecvDataSegmentLength=8192" };
#define KEY_COUNT (sizeof keys / sizeof *keys)

static int be_firmware(struct tool *t, struct err *e)
{
	struct tool_options *o = &t->o;
	const char *url = o->args[0];
	bool is_iser = o->transport && !strcasecmp(o->transport, "iser");
	if (!strncasecmp(url, "iser://", strlen("iser://")) || is_iser)
		return err_set(e, -EINVAL, "%.160s: firmware has no iSER (use iscsi://)", url);
	if (o->replacement_timeout == TOOL_UNSET)
		o->replacement_timeout = 0;
	if (strncasecmp(url, "iscsi://", strlen("iscsi://")))
		return 0;
	if (!o->chap_algs)
		o->chap_algs = "MD5";
	if (o->key_count > TOOL_KEYS_MAX - KEY_COUNT)
		return err_set(e, -EINVAL, "--set: more than %zu", TOOL_KEYS_MAX - KEY_COUNT);
	memmove(o->keys + KEY_COUNT, o->keys, o->key_count * sizeof *o->keys);
	memcpy(o->keys, keys, sizeof keys);
	o->key_count += KEY_COUNT;
	return 0;
}

// ---- the disk ----

static int read_bytes(void *arg, uint64_t offset, uint8_t *buf, uint32_t len, struct err *e)
{
	struct tool_disk *d = arg;
	uint64_t first = offset / d->block_size, last = (offset + len - 1) / d->block_size;
	struct scsi_args args = { .lba = first, .len = (uint32_t)(last - first + 1) };
	uint32_t size = args.len * d->block_size, n;
	uint8_t *blocks = malloc(size);
	if (!blocks)
		return err_set(e, -ENOMEM, "out of memory");
	int r = tool_data_in(d->sync, d->lun, last > UINT32_MAX ? SCSI_READ_16 : SCSI_READ_10,
			     &args, blocks, size, &n, e);
	if (!r && n != size)
		r = err_set(e, -EPROTO, "READ at block %lu: short read: %u of %u bytes",
			    (unsigned long)first, n, size);
	if (!r)
		memcpy(buf, blocks + offset % d->block_size, len);
	free(blocks);
	return r;
}

// ---- the verdicts ----

static void judge_bios(const struct finding *f, struct verdict *v)
{
	const struct boot_image *i = &f->image;
	bool needs_active = i->loader && strcmp(i->loader, "GRUB") && i->table == BOOT_TABLE_DOS;
	if (f->d.block_size != BIOS_BLOCK)
		snprintf(v->text, sizeof v->text,
			 "no: blocks of %u bytes, and BIOS boot code reads %d (attribute "
			 "block_size)",
			 f->d.block_size, BIOS_BLOCK);
	else if (!i->has_signature)
		snprintf(v->text, sizeof v->text, "no: block 0 has no boot signature (55AA)");
	else if (!i->has_code)
		snprintf(v->text, sizeof v->text, "no: block 0 has no boot code");
	else if (needs_active && !i->has_active)
		snprintf(v->text, sizeof v->text,
			 "no: boot code of %s, and no partition is marked active", i->loader);
	else
		v->boots = true;
	if (v->boots && !i->loader)
		snprintf(v->text, sizeof v->text, "yes: boot code of an unknown loader");
	else if (v->boots)
		snprintf(v->text, sizeof v->text, "yes: boot code of %s", i->loader);
}

static void judge_uefi(const struct finding *f, struct verdict *v)
{
	const struct boot_image *i = &f->image;
	v->boots = i->efi[0] && !i->is_damaged;
	if (i->is_damaged)
		snprintf(v->text, sizeof v->text, "no: the GPT at the start is damaged");
	else if (!i->esp)
		snprintf(v->text, sizeof v->text, "no: no EFI system partition");
	else if (!i->is_fat)
		snprintf(v->text, sizeof v->text,
			 "no: the EFI system partition, number %u, has no FAT file system", i->esp);
	else if (!v->boots)
		snprintf(v->text, sizeof v->text,
			 "no: nothing in \\EFI\\BOOT of partition %u (grub-install --removable)",
			 i->esp);
	else
		snprintf(v->text, sizeof v->text, "yes: \\EFI\\BOOT\\%s of partition %u", i->efi,
			 i->esp);
}

static int examine(struct tool *t, struct finding *f, struct err *e)
{
	*f = (struct finding){ 0 };
	int r = tool_disk_open(&f->d, t->sync, t->lun, e);
	if (r < 0)
		return r;
	struct boot_source s = { .read = read_bytes,
				 .arg = &f->d,
				 .bytes = f->d.blocks * f->d.block_size,
				 .block_size = f->d.block_size };
	r = boot_image_look(&s, &f->image, e);
	if (r < 0)
		return err_prefix(e, "LUN %u", t->lun), r;
	judge_bios(f, &f->bios);
	judge_uefi(f, &f->uefi);
	if (!f->bios.boots && !f->uefi.boots)
		r = tool_signature(&f->d, f->content, sizeof f->content, e);
	return r;
}

// ---- the report ----

static const char *const tables[] = {
	[BOOT_TABLE_NONE] = "none", [BOOT_TABLE_DOS] = "dos", [BOOT_TABLE_GPT] = "gpt"
};

static void print_text(const struct tool *t, const struct finding *f)
{
	const struct boot_image *i = &f->image;
	char size[32];
	format_size(f->d.blocks * f->d.block_size, size);
	printf("%-24s LUN %u of %s\n", "Logged in to", t->lun, t->target);
	printf("%-24s %s, blocks of %u bytes\n", "Size", size, f->d.block_size);
	printf("%-24s %s\n", "Boot signature (55AA)", i->has_signature ? "yes" : "no");
	printf("%-24s %s%s", "Partition table", tables[i->table],
	       i->is_damaged ? ", a protective MBR before a damaged GPT" : "");
	if (i->table != BOOT_TABLE_NONE)
		printf(", %u partition%s", i->partitions, i->partitions == 1 ? "" : "s");
	printf("%s\n", i->has_bios_boot ? ", one for GRUB (BIOS boot)" : "");
	printf("%-24s %s\n", "BIOS boots it", f->bios.text);
	printf("%-24s %s\n", "UEFI boots it", f->uefi.text);
	if (f->content[0])
		printf("%-24s %s\n", "Content", f->content);
}

static json_object *verdict_json(const struct verdict *v)
{
	json_object *o = json_object_new_object();
	json_object_object_add(o, "boots", json_object_new_boolean(v->boots));
	json_object_object_add(o, "reason", json_object_new_string(v->text));
	return o;
}

static void print_json(const struct tool *t, const struct finding *f)
{
	const struct boot_image *i = &f->image;
	json_object *o = json_object_new_object();
	json_object_object_add(o, "target", json_object_new_string(t->target));
	json_object_object_add(o, "lun", json_object_new_int(t->lun));
	json_object_object_add(o, "bytes", json_object_new_uint64(f->d.blocks * f->d.block_size));
	json_object_object_add(o, "block_size", json_object_new_int((int)f->d.block_size));
	json_object_object_add(o, "boot_signature", json_object_new_boolean(i->has_signature));
	if (i->loader)
		json_object_object_add(o, "loader", json_object_new_string(i->loader));
	json_object_object_add(o, "partition_table", json_object_new_string(tables[i->table]));
	json_object_object_add(o, "partitions", json_object_new_int((int)i->partitions));
	if (i->esp)
		json_object_object_add(o, "efi_system_partition", json_object_new_int((int)i->esp));
	if (i->efi[0])
		json_object_object_add(o, "efi_loader", json_object_new_string(i->efi));
	json_object_object_add(o, "bios", verdict_json(&f->bios));
	json_object_object_add(o, "uefi", verdict_json(&f->uefi));
	if (f->content[0])
		json_object_object_add(o, "content", json_object_new_string(f->content));
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

int tool_boot_check(struct tool *t)
{
	struct finding f;
	struct err e;
	if (be_firmware(t, &e) < 0)
		return tool_fail(TOOL_USAGE, &e);
	int status = tool_open(t, true);
	if (status)
		return status;
	if (examine(t, &f, &e) < 0)
		return tool_fail(TOOL_FAILED, &e);
	if (t->o.is_json)
		print_json(t, &f);
	else
		print_text(t, &f);
	if (f.bios.boots || f.uefi.boots)
		return TOOL_OK;
	fflush(stdout);
	err_set(&e, -ENOENT,
		"LUN %u: nothing to boot (boot an installer on the machine and install to this "
		"LUN, "
		"or write an image: farblock-initiator write URL -i IMAGE)",
		t->lun);
	return tool_fail(TOOL_FAILED, &e);
}
