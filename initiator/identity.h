// SPDX-License-Identifier: BSD-2-Clause
// The identity of a logical unit, and whether it keeps acknowledged data, from its responses. Pure
// functions. SPC-4 6.6, 7.8; SBC-3 5.16, 6.4.5.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "initiator/scsi.h"

enum { IDENTITY_DATA_MAX = 2048 }; // limit of bytes of a response

struct identity {
	bool has_inquiry; // the standard INQUIRY data is known
	uint8_t type;
	uint8_t vendor_product[24];
	uint8_t designators[512]; // of the unit itself; VPD page 83h
	uint32_t designators_len;
	uint8_t serial[128]; // VPD page 80h
	uint32_t serial_len;
	uint64_t blocks;
	uint32_t block_size;
	bool has_volatile;		   // VPD page 86h, V_SUP
	bool has_caching, has_write_cache; // mode page 08h, WCE
};

// Each parses a response of len bytes; one that is too short leaves its fields unchanged.
void identity_inquiry(struct identity *i, const uint8_t *data, uint32_t len);
void identity_designators(struct identity *i, const uint8_t *data, uint32_t len);
void identity_serial(struct identity *i, const uint8_t *data, uint32_t len);
void identity_extended(struct identity *i, const uint8_t *data, uint32_t len);
void identity_caching(struct identity *i, const uint8_t *data, uint32_t len); // MODE SENSE(6)
void identity_capacity_16(struct identity *i, const uint8_t *data, uint32_t len);
void identity_capacity_10(struct identity *i, const uint8_t *data, uint32_t len);

// Whether the unit reports a designator or a serial number, and whether both report one that is
// equal. What is blank, or only a vendor's name, names no unit.
bool identity_has_name(const struct identity *i);
bool identity_shares_name(const struct identity *a, const struct identity *b);

// Whether acknowledged writes survive a power on.
bool identity_is_durable(const struct identity *i);

// What a unit attention means for the unit's data.
enum {
	ATTENTION_LOOK = 1,	// it may be another unit
	ATTENTION_POWER_ON = 2, // volatile data is lost
	ATTENTION_MEDIUM = 4,	// the medium may have been changed
};
unsigned identity_attention(uint8_t asc, uint8_t ascq); // 0: nothing

// Compares before and after, with the reported attentions (ATTENTION_*). why: set unless it is the
// same.
enum scsi_lu_change identity_compare(const struct identity *before, const struct identity *after,
				     unsigned attentions, struct err *why);
