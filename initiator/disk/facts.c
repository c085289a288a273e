// SPDX-License-Identifier: BSD-2-Clause
// See facts.h.
#include "initiator/disk/facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/scsi_cdb.h"
#include "transport/wire/be.h"

#define TYPE_DISK	 0x00
#define TRANSFER_MAX	 (1u << 20) // bytes of a command, if the unit permits
#define WRITE_SAME_MAX	 (1u << 16) // blocks, if the unit gives no limit
#define DPOFUA		 0x10
#define WP		 0x80
#define PROMISES_PAGE	 0xf0
#define DESIGNATOR_PORT	 4
#define DESIGNATOR_GROUP 5
#define DESIGNATOR_NAA	 3
#define DESIGNATOR_EUI	 2

// Printable text without trailing spaces.
static void text_of(char *ret, const uint8_t *from, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		ret[i] = from[i] >= 0x20 && from[i] < 0x7f ? (char)from[i] : ' ';
	while (len && ret[len - 1] == ' ')
		len--;
	ret[len] = 0;
}

static void take_inquiry(struct facts *f, const uint8_t *data, uint32_t len)
{
	identity_inquiry(&f->identity, data, len);
	if (len < 36)
		return;
	f->has_alua = data[5] & 0x30;
	text_of(f->disk.vendor, data + 8, 8);
	text_of(f->disk.product, data + 16, 16);
	text_of(f->disk.revision, data + 32, 4);
}

static uint32_t page_end(const uint8_t *data, uint32_t len, uint8_t page)
{
	if (len < 4 || data[1] != page)
		return 0;
	uint32_t end = 4u + get_be16(data + 2);
	return end < len ? end : len;
}

static void name_of(struct facts *f, const char *prefix, const uint8_t *id, uint8_t len)
{
	char *to = f->disk.identity;
	size_t n = (size_t)snprintf(to, DISK_IDENTITY_TEXT, "%s.", prefix);
	for (uint8_t i = 0; i < len && n + 3 <= DISK_IDENTITY_TEXT; i++, n += 2)
		snprintf(to + n, 3, "%02x", id[i]);
}

// As scsi_id(8) chooses a unit's designator, the best one last. A NAA designator that is locally
// assigned is not unique everywhere. 0: it names nothing.
static unsigned rank_of(const uint8_t *d)
{
	static const uint8_t naa[] = { 0x2, 0x5, 0x6 };
	enum { RANK_EUI = 1, RANK_NAA };
	uint8_t type = d[1] & 0xf, association = d[1] >> 4 & 3;
	if (association || !d[3] || (type != DESIGNATOR_NAA && type != DESIGNATOR_EUI))
		return 0;
	if (type == DESIGNATOR_EUI)
		return RANK_EUI;
	for (unsigned i = 0; i < sizeof naa; i++)
		if (d[4] >> 4 == naa[i])
			return RANK_NAA + 1 + i;
	return RANK_NAA;
}

static void take_designators(struct facts *f, const uint8_t *data, uint32_t len)
{
	uint32_t end = page_end(data, len, 0x83);
	unsigned best = 0;
	identity_designators(&f->identity, data, len);
	for (uint32_t at = 4; at + 4 <= end && at + 4 + data[at + 3] <= end;
	     at += 4u + data[at + 3]) {
		const uint8_t *d = data + at;
		uint8_t type = d[1] & 0xf, association = d[1] >> 4 & 3;
		if (association == 1 && type == DESIGNATOR_PORT && d[3] >= 4) {
			f->relative_port = get_be16(d + 6);
		} else if (association == 1 && type == DESIGNATOR_GROUP && d[3] >= 4) {
			f->port_group = get_be16(d + 6);
			f->has_port_group = true;
		} else if (rank_of(d) > best) {
			best = rank_of(d);
			name_of(f, type == DESIGNATOR_NAA ? "naa" : "eui", d + 4, d[3]);
		}
	}
}

static void take_serial(struct facts *f, const uint8_t *data, uint32_t len)
{
	uint32_t end = page_end(data, len, 0x80);
	identity_serial(&f->identity, data, len);
	if (end > 4)
		text_of(f->disk.serial, data + 4,
			end - 4 < sizeof f->disk.serial ? end - 4 : sizeof f->disk.serial - 1);
}

static void take_extended(struct facts *f, const uint8_t *data, uint32_t len)
{
	identity_extended(&f->identity, data, len);
}

static void take_limits(struct facts *f, const uint8_t *data, uint32_t len)
{
	uint32_t end = page_end(data, len, 0xb0);
	if (end < 16)
		return;
	f->has_limits = true;
	f->transfer_blocks = get_be32(data + 8);
	f->optimal_blocks = get_be32(data + 12);
	if (end < 44)
		return;
	f->unmap_blocks = get_be32(data + 20);
	f->unmap_descriptors = get_be32(data + 24);
	f->granularity_blocks = get_be32(data + 28);
	f->write_same_blocks = get_be64(data + 36);
}

static void take_characteristics(struct facts *f, const uint8_t *data, uint32_t len)
{
	f->disk.is_rotational = page_end(data, len, 0xb1) >= 6 && get_be16(data + 4) > 1;
}

static void take_provisioning(struct facts *f, const uint8_t *data, uint32_t len)
{
	if (page_end(data, len, 0xb2) < 6)
		return;
	f->has_unmap = data[5] & 0x80;
	f->has_write_same = data[5] & 0x40;
}

// Supported VPD pages.
static void take_pages(struct facts *f, const uint8_t *data, uint32_t len)
{
	uint32_t end = page_end(data, len, 0x00);
	for (uint32_t at = 4; at < end; at++)
		f->has_promises_page |= data[at] == PROMISES_PAGE;
}

static void take_promises(struct facts *f, const uint8_t *data, uint32_t len)
{
	if (page_end(data, len, PROMISES_PAGE) < 28 || memcmp(data + 4, "FARBLOCK", 8) != 0)
		return;
	f->promises = data[12];
	f->server = get_be64(data + 20);
}

// MODE SENSE(6) of the caching page.
static void take_caching(struct facts *f, const uint8_t *data, uint32_t len)
{
	identity_caching(&f->identity, data, len);
	if (len < 3)
		return;
	f->disk.has_fua = data[2] & DPOFUA;
	f->disk.is_read_only = data[2] & WP;
}

static void take_capacity_10(struct facts *f, const uint8_t *data, uint32_t len)
{
	identity_capacity_10(&f->identity, data, len);
}

static void take_capacity_16(struct facts *f, const uint8_t *data, uint32_t len)
{
	identity_capacity_16(&f->identity, data, len);
	if (len < 16)
		return;
	f->physical_exponent = data[13] & 0xf;
	f->disk.is_thin = data[14] & 0x80;
	f->disk.reads_zeroes = (data[14] & 0xc0) == 0xc0;
}

const struct facts_step facts_steps[] = {
	// clang-format off
	{SCSI_TEST_UNIT_READY, {0}, 0, false, false, NULL},
	{SCSI_INQUIRY, {.len = 36}, 36, false, false, take_inquiry},
	{SCSI_INQUIRY, {.len = FACTS_DATA_MAX, .flags = 1, .page = 0x83}, FACTS_DATA_MAX, true, false, take_designators},
	{SCSI_INQUIRY, {.len = 252, .flags = 1, .page = 0x80}, 252, true, false, take_serial},
	{SCSI_INQUIRY, {.len = 64, .flags = 1, .page = 0x86}, 64, true, false, take_extended},
	{SCSI_INQUIRY, {.len = 64, .flags = 1, .page = 0xb0}, 64, true, false, take_limits},
	{SCSI_INQUIRY, {.len = 64, .flags = 1, .page = 0xb1}, 64, true, false, take_characteristics},
	{SCSI_INQUIRY, {.len = 64, .flags = 1, .page = 0xb2}, 64, true, false, take_provisioning},
	{SCSI_INQUIRY, {.len = 252, .flags = 1, .page = 0x00}, 252, true, false, take_pages},
	{SCSI_INQUIRY, {.len = 64, .flags = 1, .page = PROMISES_PAGE}, 64, true, true, take_promises},
	{SCSI_MODE_SENSE_6, {.len = 192, .flags = 8, .page = 8}, 192, true, false, take_caching},
	{SCSI_READ_CAPACITY_10, {0}, 8, false, false, take_capacity_10},
	{SCSI_READ_CAPACITY_16, {.len = 32}, 32, true, false, take_capacity_16},
	// clang-format on
};
const unsigned facts_step_count = sizeof facts_steps / sizeof *facts_steps;

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// Limits in blocks become bytes. Zero is "no limit reported" (SBC-4 6.6.4).
static void evaluate_limits(struct facts *f)
{
	struct disk_facts *d = &f->disk;
	uint32_t bs = d->block_size, blocks = TRANSFER_MAX / bs;
	if (f->transfer_blocks)
		blocks = (uint32_t)least(blocks, f->transfer_blocks);
	d->transfer_max = blocks * bs;
	d->transfer_optimal = f->optimal_blocks <= blocks ? f->optimal_blocks * bs : 0;
	if (f->has_unmap && f->unmap_blocks && f->unmap_descriptors)
		d->unmap_max =
			least((uint64_t)f->unmap_blocks * bs, UINT32_MAX / bs * (uint64_t)bs);
	d->unmap_granularity = (uint32_t)least((uint64_t)f->granularity_blocks * bs,
					       UINT32_MAX / bs * (uint64_t)bs);
	if (f->has_write_same || f->write_same_blocks)
		d->zeroes_max = least(f->write_same_blocks ? f->write_same_blocks : WRITE_SAME_MAX,
				      UINT32_MAX / bs) *
				bs;
}

int facts_evaluate(struct facts *f, struct err *e)
{
	const struct identity *i = &f->identity;
	struct disk_facts *d = &f->disk;
	if (!i->has_inquiry)
		return err_set(e, -EPROTO, "INQUIRY: short answer: less than 32 bytes");
	if (i->type & 0xe0)
		return err_set(e, -ENXIO, "no such LUN");
	if (i->type != TYPE_DISK)
		return err_set(e, -EMEDIUMTYPE, "not a disk (device type 0x%02x)", i->type);
	if (i->block_size < 512 || i->block_size > 65536 || i->block_size & (i->block_size - 1))
		return err_set(e, -EPROTO, "READ CAPACITY: unsupported block size: %u bytes",
			       i->block_size);
	if (!i->blocks)
		return err_set(e, -EPROTO, "READ CAPACITY: no number of blocks");
	if (i->blocks > INT64_MAX / i->block_size)
		return err_set(e, -EPROTO, "READ CAPACITY: invalid number of blocks: %lu",
			       (unsigned long)i->blocks);
	d->blocks = i->blocks;
	d->block_size = i->block_size;
	d->physical_block_size =
		(uint32_t)least((uint64_t)d->block_size << f->physical_exponent, 1u << 20);
	d->has_write_cache = !i->has_caching || i->has_write_cache;
	evaluate_limits(f);
	d->zeroes_fast = f->has_write_same && d->reads_zeroes && d->zeroes_max;
	return 0;
}

// ---- extents ----

enum { STATUS_DEALLOCATED = 1, STATUS_ANCHORED = 2 };

// Adds one, or lengthens the last one if it is of the same kind. Returns the number of extents.
static unsigned extent_add(struct disk_extent *to, unsigned n, struct disk_extent e)
{
	if (n && to[n - 1].is_hole == e.is_hole && to[n - 1].is_zero == e.is_zero) {
		to[n - 1].len += e.len;
		return n;
	}
	to[n] = e;
	return n + 1;
}

unsigned facts_extents(const struct disk_facts *d, void *data, uint32_t len, uint64_t offset,
		       uint64_t bytes)
{
	struct disk_extent *to = data; // each at or before the descriptor that it comes from
	const uint8_t *p = data;
	uint64_t lba = offset / d->block_size, end = lba + bytes / d->block_size;
	uint64_t size = len < 8 ? 0 : least(len, 4ull + get_be32(p));
	unsigned n = 0;
	for (p += 8, size -= size < 8 ? size : 8; size >= 16 && lba < end; p += 16, size -= 16) {
		uint64_t first = get_be64(p), blocks = get_be32(p + 8);
		uint8_t status = p[12] & 0xf;
		if (first > lba || blocks <= lba - first)
			break;
		blocks = least(blocks - (lba - first), end - lba);
		bool is_mapped = status != STATUS_DEALLOCATED && status != STATUS_ANCHORED;
		n = extent_add(to, n,
			       (struct disk_extent){ .len = blocks * d->block_size,
						     .is_hole = status == STATUS_DEALLOCATED,
						     .is_zero = !is_mapped && d->reads_zeroes });
		lba += blocks;
	}
	return n ? n : extent_add(to, 0, (struct disk_extent){ .len = bytes });
}
