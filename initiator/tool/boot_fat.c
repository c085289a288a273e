// SPDX-License-Identifier: BSD-2-Clause
// Finds a loader in a FAT file system, by short names: \EFI\BOOT\BOOTX64.EFI and its like.
// ECMA-107, and FAT32 as the firmware's standard describes it (UEFI 2.10 13.3).
#include <string.h>

#include "initiator/tool/boot_image.h"

enum {
	SECTOR_MAX = 4096,
	ENTRY = 32,
	NAME = 11,
	IS_DIRECTORY = 0x10,
	IS_LABEL = 0x08,	 // and of long names
	SECTORS_READ_MAX = 4096, // of directories and the table: no more for any file system
};

struct fat {
	const struct boot_source *s;
	uint64_t at;						   // of the file system, in bytes
	uint32_t sector;					   // bytes
	uint32_t cluster_sectors, table, root, root_sectors, data; // in sectors
	uint64_t sectors, clusters;
	unsigned bits; // of an entry of the table: 12, 16 or 32
	uint32_t root_cluster;
	unsigned reads;
};

static uint32_t le16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | le16(p + 2) << 16;
}

static bool is_power(uint32_t n)
{
	return n && !(n & (n - 1));
}

// Fills f from the boot sector. False: no FAT file system.
static bool parse(struct fat *f, const uint8_t *b, uint64_t bytes)
{
	uint32_t reserved = le16(b + 14), copies = b[16], entries = le16(b + 17);
	uint32_t table = le16(b + 22) ? le16(b + 22) : le32(b + 36);
	f->sector = le16(b + 11);
	f->cluster_sectors = b[13];
	f->sectors = le16(b + 19) ? le16(b + 19) : le32(b + 32);
	if (b[510] != 0x55 || b[511] != 0xaa || !is_power(f->sector) || f->sector < 512 ||
	    f->sector > SECTOR_MAX || !is_power(f->cluster_sectors) || !reserved || !copies ||
	    copies > 2 || !table || f->sectors > bytes / f->sector)
		return false;
	uint64_t root = reserved + (uint64_t)copies * table;
	f->root_sectors = (entries * ENTRY + f->sector - 1) / f->sector;
	if (root + f->root_sectors >= f->sectors)
		return false;
	f->table = reserved;
	f->root = (uint32_t)root;
	f->data = f->root + f->root_sectors;
	f->clusters = (f->sectors - f->data) / f->cluster_sectors;
	f->bits = f->clusters < 4085 ? 12 : f->clusters < 65525 ? 16 : 32;
	f->root_cluster = f->bits == 32 ? le32(b + 44) : 0;
	return (f->clusters + 2) * f->bits / 8 <= (uint64_t)table * f->sector;
}

static int read_sector(struct fat *f, uint64_t number, uint8_t *buf, struct err *e)
{
	f->reads++;
	return f->s->read(f->s->arg, f->at + number * f->sector, buf, f->sector, e);
}

static bool is_cluster(const struct fat *f, uint32_t n)
{
	return n >= 2 && n < f->clusters + 2;
}

// The cluster after n; at the end of its file a number that no cluster has.
static int next_cluster(struct fat *f, uint32_t n, uint32_t *ret, struct err *e)
{
	uint8_t buf[2 * SECTOR_MAX];
	uint64_t byte = (uint64_t)n * f->bits / 8, at = f->table + byte / f->sector;
	uint32_t in = (uint32_t)(byte % f->sector);
	int r = read_sector(f, at, buf, e);
	if (!r && in + 4 > f->sector && at + 1 < f->sectors) // 12 bits cross sectors
		r = read_sector(f, at + 1, buf + f->sector, e);
	else
		memset(buf + f->sector, 0, 4);
	if (r < 0)
		return r;
	if (f->bits == 32)
		*ret = le32(buf + in) & 0xfffffff;
	else if (f->bits == 16)
		*ret = le16(buf + in);
	else
		*ret = (n & 1 ? le16(buf + in) >> 4 : le16(buf + in)) & 0xfff;
	return 0;
}

// What is looked for in a directory: the first of the names.
struct wanted {
	const char *const *names; // of 11 characters, ends with NULL
	bool is_directory;
	const char *found; // NULL: none
	uint32_t cluster;
};

// Returns false at the end of the directory.
static bool look_at_entries(struct wanted *w, const uint8_t *buf, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += ENTRY) {
		const uint8_t *p = buf + i;
		if (!p[0])
			return false;
		if (p[11] & IS_LABEL || !(p[11] & IS_DIRECTORY) == w->is_directory)
			continue;
		for (const char *const *n = w->names; *n && !w->found; n++)
			if (!memcmp(p, *n, NAME))
				w->found = *n;
		if (w->found) {
			w->cluster = le16(p + 20) << 16 | le16(p + 26);
			return false;
		}
	}
	return true;
}

static int look_at_sectors(struct fat *f, uint64_t first, uint32_t count, struct wanted *w,
			   bool *ret_goes_on, struct err *e)
{
	uint8_t buf[SECTOR_MAX];
	*ret_goes_on = true;
	for (uint32_t i = 0; i < count && *ret_goes_on; i++) {
		int r = f->reads < SECTORS_READ_MAX ? read_sector(f, first + i, buf, e) : 0;
		if (r < 0)
			return r;
		*ret_goes_on = f->reads < SECTORS_READ_MAX && look_at_entries(w, buf, f->sector);
	}
	return 0;
}

// cluster 0: the root of FAT12 and FAT16, which has a place of its own.
static int look_at_directory(struct fat *f, uint32_t cluster, struct wanted *w, struct err *e)
{
	bool goes_on = true;
	int r = 0;
	if (!cluster)
		return look_at_sectors(f, f->root, f->root_sectors, w, &goes_on, e);
	while (!r && goes_on && is_cluster(f, cluster)) {
		uint64_t first = f->data + (uint64_t)(cluster - 2) * f->cluster_sectors;
		r = look_at_sectors(f, first, f->cluster_sectors, w, &goes_on, e);
		if (!r && goes_on)
			r = next_cluster(f, cluster, &cluster, e);
	}
	return r;
}

// "BOOTX64 EFI" as BOOTX64.EFI.
static void put_name(const char *name, char ret[BOOT_EFI_NAME_SIZE])
{
	size_t n = 8;
	while (n && name[n - 1] == ' ')
		n--;
	memcpy(ret, name, n);
	ret[n] = '.';
	memcpy(ret + n + 1, name + 8, 3);
	ret[n + 4] = 0;
}

int boot_fat_find(const struct boot_source *s, uint64_t at, uint64_t bytes, bool *ret_is_fat,
		  char ret[BOOT_EFI_NAME_SIZE], struct err *e)
{
	// clang-format off
	static const char *const efi[] = {"EFI        ", NULL};
	static const char *const boot[] = {"BOOT       ", NULL};
	static const char *const files[] = {"BOOTX64 EFI", "BOOTAA64EFI", "BOOTIA32EFI", "BOOTRISCEFI", NULL};
	struct wanted steps[] = {{efi, true}, {boot, true}, {files, false}};
	// clang-format on
	struct fat f = { .s = s, .at = at };
	uint8_t b[512];
	*ret = 0;
	*ret_is_fat = false;
	if (bytes < sizeof b)
		return 0;
	int r = s->read(s->arg, at, b, sizeof b, e);
	if (r < 0 || !parse(&f, b, bytes))
		return r;
	*ret_is_fat = true;
	uint32_t cluster = f.root_cluster;
	for (size_t i = 0; !r && i < sizeof steps / sizeof *steps; i++) {
		r = look_at_directory(&f, cluster, &steps[i], e);
		// The high half is not of the number in FAT12 and FAT16.
		cluster = steps[i].cluster & (f.bits == 32 ? 0xfffffff : 0xffff);
		if (r < 0 || !steps[i].found || !cluster)
			return r;
	}
	put_name(steps[2].found, ret);
	return 0;
}
