// SPDX-License-Identifier: BSD-2-Clause
// The first blocks of a disk: boot code, the MBR's partitions, GPT.
#include "initiator/tool/boot_image.h"

#include <errno.h>
#include <string.h>

enum {
	MBR_BYTES = 512,
	CODE_BYTES = 440,
	MBR_TABLE = 446,
	MBR_ENTRIES = 4,
	TYPE_PROTECTIVE = 0xee,
	TYPE_ESP = 0xef,
	GPT_HEADER_MIN = 92,
	GPT_ENTRY_MIN = 128,
	GPT_ENTRIES_MAX = 1024,
	CHUNK = 4096,
};

static const uint8_t esp_type[16] = { 0x28, 0x73, 0x2a, 0xc1, 0x1f, 0xf8, 0xd2, 0x11,
				      0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b };
static const uint8_t bios_boot_type[16] = { 'H', 'a', 'h', '!', 'I', 'd', 'o', 'n',
					    't', 'N', 'e', 'e', 'd', 'E', 'F', 'I' };

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t le64(const uint8_t *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

// CRC-32 of a few KiB, continued from an earlier one, 0 at the start.
static uint32_t crc32(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

// ---- boot code ----

// A text in the boot code of each.
// clang-format off
static const struct {
	const char *text, *name;
} loaders[] = {
	{"GRUB ", "GRUB"},
	{"isolinux.bin", "ISOLINUX"},
	{"Operating system load error", "Syslinux"},
	{"LILO", "LILO"},
	{"Boot loader too large", "FreeBSD"},
	{"Invalid partition table", "Windows or DOS"},
};
// clang-format on

static const char *loader_of(const uint8_t *block)
{
	for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
		if (memmem(block, MBR_TABLE, loaders[i].text, strlen(loaders[i].text)))
			return loaders[i].name;
	return NULL;
}

static void look_at_code(const uint8_t *block, struct boot_image *ret)
{
	for (int i = 0; i < CODE_BYTES; i++)
		ret->has_code |= block[i];
	ret->has_signature = block[510] == 0x55 && block[511] == 0xaa;
	ret->loader = ret->has_code ? loader_of(block) : NULL;
}

// ---- partitions ----

// Keeps the first EFI system partition that is within the disk.
static void take_esp(const struct boot_source *s, struct boot_image *ret, unsigned number,
		     uint64_t first, uint64_t blocks)
{
	uint64_t all = s->bytes / s->block_size;
	if (ret->esp || first >= all || !blocks || blocks > all - first)
		return;
	ret->esp = number;
	ret->esp_at = first * s->block_size;
	ret->esp_bytes = blocks * s->block_size;
}

// Returns whether the MBR is GPT's protective one.
static bool look_at_mbr(const struct boot_source *s, const uint8_t *block, struct boot_image *ret)
{
	bool is_protective = false;
	for (unsigned i = 0; i < MBR_ENTRIES && ret->has_signature; i++) {
		const uint8_t *p = block + MBR_TABLE + 16 * i;
		if (p[0] & 0x7f || !p[4]) // not an entry: the flags are 00 or 80
			continue;
		ret->table = BOOT_TABLE_DOS;
		ret->partitions++;
		ret->has_active |= p[0];
		is_protective |= p[4] == TYPE_PROTECTIVE;
		if (p[4] == TYPE_ESP)
			take_esp(s, ret, i + 1, le32(p + 8), le32(p + 12));
	}
	return is_protective;
}

static void take_entry(const struct boot_source *s, const uint8_t *p, unsigned number,
		       struct boot_image *ret)
{
	static const uint8_t unused[16];
	uint64_t first = le64(p + 32), last = le64(p + 40);
	if (!memcmp(p, unused, sizeof unused))
		return;
	ret->partitions++;
	ret->has_bios_boot |= !memcmp(p, bios_boot_type, sizeof bios_boot_type);
	if (!memcmp(p, esp_type, sizeof esp_type) && last >= first && last < UINT64_MAX)
		take_esp(s, ret, number, first, last - first + 1);
}

// A header whose checksum is right, with a table of a size that occurs.
static bool is_header(const struct boot_source *s, const uint8_t *h, uint32_t len)
{
	uint8_t copy[CHUNK];
	uint32_t size = le32(h + 12), entry = le32(h + 84);
	uint64_t at = le64(h + 72), all = s->bytes / s->block_size;
	if (memcmp(h, "EFI PART", 8) || size < GPT_HEADER_MIN || size > len ||
	    entry < GPT_ENTRY_MIN || entry > CHUNK || entry & (entry - 1) ||
	    le32(h + 80) > GPT_ENTRIES_MAX || !at || at >= all)
		return false;
	memcpy(copy, h, size);
	memset(copy + 16, 0, 4);
	uint64_t table = (uint64_t)le32(h + 80) * entry;
	return crc32(0, copy, size) == le32(h + 16) && table <= s->bytes - at * s->block_size;
}

static int read_entries(const struct boot_source *s, const uint8_t *h, struct boot_image *ret,
			struct err *e)
{
	uint8_t chunk[CHUNK];
	uint32_t size = le32(h + 84), crc = 0;
	uint64_t table = (uint64_t)le32(h + 80) * size, at = le64(h + 72) * s->block_size;
	struct boot_image found = *ret;
	found.partitions = found.esp = 0;
	for (uint64_t done = 0; done < table; done += CHUNK) {
		uint32_t len = table - done < CHUNK ? (uint32_t)(table - done) : CHUNK;
		int r = s->read(s->arg, at + done, chunk, len, e);
		if (r < 0)
			return r;
		crc = crc32(crc, chunk, len);
		for (uint32_t i = 0; i < len; i += size)
			take_entry(s, chunk + i, (unsigned)((done + i) / size) + 1, &found);
	}
	if (crc != le32(h + 88))
		return 0;
	*ret = found;
	ret->is_damaged = false;
	ret->table = BOOT_TABLE_GPT;
	return 0;
}

static int look_at_gpt(const struct boot_source *s, struct boot_image *ret, struct err *e)
{
	uint8_t h[CHUNK];
	uint32_t len = s->block_size < CHUNK ? s->block_size : CHUNK;
	ret->is_damaged = true;
	if (s->bytes < (uint64_t)s->block_size + len)
		return 0;
	int r = s->read(s->arg, s->block_size, h, len, e);
	if (r < 0 || !is_header(s, h, len))
		return r;
	return read_entries(s, h, ret, e);
}

int boot_image_look(const struct boot_source *s, struct boot_image *ret, struct err *e)
{
	uint8_t block[MBR_BYTES];
	*ret = (struct boot_image){ 0 };
	if (s->bytes < MBR_BYTES)
		return 0;
	int r = s->read(s->arg, 0, block, MBR_BYTES, e);
	if (r < 0)
		return r;
	look_at_code(block, ret);
	if (look_at_mbr(s, block, ret))
		r = look_at_gpt(s, ret, e);
	if (!r && ret->esp)
		r = boot_fat_find(s, ret->esp_at, ret->esp_bytes, &ret->is_fat, ret->efi, e);
	return r;
}
