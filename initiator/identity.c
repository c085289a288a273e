// SPDX-License-Identifier: BSD-2-Clause
// See identity.h. Responses are parsed up to the received length, not the one they claim.
#include "initiator/identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/wire/be.h"

#define V_SUP 0x01
#define WCE   0x04

// --- reading ---

void identity_inquiry(struct identity *i, const uint8_t *data, uint32_t len)
{
	if (len < 32)
		return;
	i->has_inquiry = true;
	i->type = data[0];
	memcpy(i->vendor_product, data + 8, sizeof i->vendor_product);
}

// The bytes of a VPD page after its header; 0 if it is another page, as of a unit that ignores
// EVPD.
static uint32_t page_len(const uint8_t *data, uint32_t len, uint8_t page)
{
	if (len < 4 || data[1] != page)
		return 0;
	uint32_t claimed = get_be16(data + 2), room = len - 4;
	return claimed < room ? claimed : room;
}

// T10, EUI-64, NAA, name and UUID. Ports and port groups change with the path, and a
// vendor-specific designator need not be unique (SPC-4 7.8.6).
static bool is_unique(const uint8_t *d)
{
	uint8_t type = d[1] & 0xf, association = d[1] >> 4 & 3;
	return !association && (type == 1 || type == 2 || type == 3 || type == 8 || type == 10);
}

void identity_designators(struct identity *i, const uint8_t *data, uint32_t len)
{
	uint32_t end = 4 + page_len(data, len, 0x83);
	for (uint32_t at = 4; at + 4 <= end && at + 4 + data[at + 3] <= end;) {
		uint32_t n = 4u + data[at + 3];
		if (is_unique(data + at) && i->designators_len + n <= sizeof i->designators) {
			memcpy(i->designators + i->designators_len, data + at, n);
			i->designators_len += n;
		}
		at += n;
	}
}

void identity_serial(struct identity *i, const uint8_t *data, uint32_t len)
{
	uint32_t n = page_len(data, len, 0x80);
	i->serial_len = n < sizeof i->serial ? n : sizeof i->serial;
	memcpy(i->serial, data + 4, i->serial_len);
}

void identity_extended(struct identity *i, const uint8_t *data, uint32_t len)
{
	if (page_len(data, len, 0x86) < 3)
		return;
	i->has_volatile = data[6] & V_SUP;
}

void identity_caching(struct identity *i, const uint8_t *data, uint32_t len)
{
	uint32_t at = len < 4 ? 4 : 4u + data[3]; // after the block descriptors
	if (at + 3 > len || (data[at] & 0x3f) != 0x08)
		return;
	i->has_caching = true;
	i->has_write_cache = data[at + 2] & WCE;
}

void identity_capacity_16(struct identity *i, const uint8_t *data, uint32_t len)
{
	if (len < 12)
		return;
	i->blocks = get_be64(data) + 1;
	i->block_size = get_be32(data + 8);
}

// FFFFFFFFh refers to READ CAPACITY(16) (SBC-4 5.20.2): no number.
void identity_capacity_10(struct identity *i, const uint8_t *data, uint32_t len)
{
	if (len < 8)
		return;
	uint32_t last = get_be32(data);
	i->blocks = last == UINT32_MAX ? 0 : (uint64_t)last + 1;
	i->block_size = get_be32(data + 4);
}

// --- evaluation ---

// No field reports that a medium is durable. A unit that reports its write cache as off
// acknowledges only what is on its medium (SBC-3 6.4.5), unless it reports volatile storage; V_SUP
// is zero also for units that do not say (SPC-4 7.8.7), and units older than VPD page 86h are such.
// Any other unit may lose acknowledged writes at a power on.
bool identity_is_durable(const struct identity *i)
{
	return !i->has_volatile && i->has_caching && !i->has_write_cache;
}

// SPC-4 annex D, SAM-5 6.3. The first matching row applies. A logical unit reset and the loss of a
// nexus end commands without loss of data; the other codes of 29h include a power on.
static const struct {
	uint8_t asc;
	int ascq; // -1: any
	unsigned attentions;
} attentions_of[] = {
	{0x29,	0x03, ATTENTION_LOOK		     },
	{ 0x29, 0x05, ATTENTION_LOOK		     },
	{ 0x29, 0x06, ATTENTION_LOOK		     },
	{ 0x29, 0x07, ATTENTION_LOOK		     },
	{ 0x29, -1,   ATTENTION_LOOK | ATTENTION_POWER_ON},
	{ 0x28, 0x00, ATTENTION_LOOK | ATTENTION_MEDIUM	},
	{ 0x3f, 0x03, ATTENTION_LOOK		     },
	{ 0x3f, 0x0e, ATTENTION_LOOK		     },
};

unsigned identity_attention(uint8_t asc, uint8_t ascq)
{
	for (size_t i = 0; i < sizeof attentions_of / sizeof *attentions_of; i++)
		if (attentions_of[i].asc == asc &&
		    (attentions_of[i].ascq < 0 || attentions_of[i].ascq == ascq))
			return attentions_of[i].attentions;
	return 0;
}

static bool has_designator(const struct identity *i, const uint8_t *d)
{
	uint32_t n = 4u + d[3];
	for (uint32_t at = 0; at < i->designators_len; at += 4u + i->designators[at + 3])
		if (at + n <= i->designators_len && !memcmp(i->designators + at, d, n))
			return true;
	return false;
}

// New firmware may add designators; the old ones must remain.
static bool has_designators(const struct identity *before, const struct identity *after)
{
	for (uint32_t at = 0; at < before->designators_len; at += 4u + before->designators[at + 3])
		if (!has_designator(after, before->designators + at))
			return false;
	return true;
}

static bool is_blank(const uint8_t *text, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (text[i] && text[i] != ' ')
			return false;
	return true;
}

// One of zeroes or spaces was never set. A T10 designator begins with the vendor (SPC-4 7.8.6.4).
static bool names_a_unit(const uint8_t *d)
{
	uint32_t skip = (d[1] & 0xf) == 1 ? 8 : 0;
	return d[3] > skip && !is_blank(d + 4 + skip, d[3] - skip);
}

// A serial number that is not available is of spaces (SPC-4 7.8.15).
static bool has_serial(const struct identity *i)
{
	return !is_blank(i->serial, i->serial_len);
}

bool identity_has_name(const struct identity *i)
{
	return identity_shares_name(i, i);
}

bool identity_shares_name(const struct identity *a, const struct identity *b)
{
	if (has_serial(a) && a->serial_len == b->serial_len &&
	    !memcmp(a->serial, b->serial, a->serial_len))
		return true;
	for (uint32_t at = 0; at < a->designators_len; at += 4u + a->designators[at + 3])
		if (names_a_unit(a->designators + at) && has_designator(b, a->designators + at))
			return true;
	return false;
}

static bool is_same_disk(const struct identity *before, const struct identity *after)
{
	return before->type == after->type &&
	       !memcmp(before->vendor_product, after->vendor_product,
		       sizeof before->vendor_product) &&
	       before->serial_len == after->serial_len &&
	       !memcmp(before->serial, after->serial, before->serial_len) &&
	       has_designators(before, after);
}

// The serial number, for a terminal.
static const char *name_of(const struct identity *i, char ret[48])
{
	size_t n = 0;
	for (uint32_t at = 0; at < i->serial_len && n < 47; at++)
		if (i->serial[at] > 0x20 && i->serial[at] < 0x7f)
			ret[n++] = (char)i->serial[at];
	ret[n] = 0;
	return n ? ret : "no serial number";
}

static enum scsi_lu_change change_size(const struct identity *before, const struct identity *after,
				       enum scsi_lu_change change, struct err *why)
{
	err_set(why, -ESTALE, "the size changed from %lu blocks of %u bytes to %lu of %u",
		(unsigned long)before->blocks, before->block_size, (unsigned long)after->blocks,
		after->block_size);
	return change;
}

// A unit that has no name is known by its size alone.
static enum scsi_lu_change judge_size(const struct identity *before, const struct identity *after,
				      struct err *why)
{
	bool has_name = before->designators_len || before->serial_len;
	return change_size(before, after,
			   !has_name			    ? SCSI_LU_REPLACED
			   : before->blocks < after->blocks ? SCSI_LU_GREW
							    : SCSI_LU_SHRANK,
			   why);
}

enum scsi_lu_change identity_compare(const struct identity *before, const struct identity *after,
				     unsigned attentions, struct err *why)
{
	char old[48], new[48];
	if (!is_same_disk(before, after)) {
		err_set(why, -ESTALE, "another disk (%s, not %s)", name_of(after, new),
			name_of(before, old));
		return SCSI_LU_REPLACED;
	}
	if (before->block_size != after->block_size)
		return change_size(before, after, SCSI_LU_REPLACED, why);
	if (attentions & ATTENTION_MEDIUM) {
		err_set(why, -ESTALE, "the medium may have changed");
		return SCSI_LU_REPLACED;
	}
	if (!(attentions & ATTENTION_POWER_ON) ||
	    (identity_is_durable(before) && identity_is_durable(after)))
		return before->blocks == after->blocks ? SCSI_LU_SAME
						       : judge_size(before, after, why);
	err_set(why, -ESTALE, "the disk restarted and %s: acknowledged writes may be lost",
		after->has_volatile || after->has_write_cache
			? "its storage is volatile"
			: "does not report whether it has a volatile write cache");
	return SCSI_LU_RESTARTED;
}
