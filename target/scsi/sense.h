// SPDX-License-Identifier: BSD-2-Clause
// Sense data: the additional sense codes of this target, and their encoding in fixed and descriptor
// format (SPC-5 4.5). Pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sense_key {
	SK_NO_SENSE = 0x0,
	SK_RECOVERED = 0x1,
	SK_NOT_READY = 0x2,
	SK_MEDIUM_ERROR = 0x3,
	SK_HARDWARE_ERROR = 0x4,
	SK_ILLEGAL_REQUEST = 0x5,
	SK_UNIT_ATTENTION = 0x6,
	SK_DATA_PROTECT = 0x7,
	SK_BLANK_CHECK = 0x8,
	SK_COPY_ABORTED = 0xa,
	SK_ABORTED_COMMAND = 0xb,
	SK_MISCOMPARE = 0xe,
};

// key << 16 | ASC << 8 | ASCQ
#define SENSE(key, asc, ascq) ((uint32_t)(key) << 16 | (asc) << 8 | (ascq))
enum {
	SENSE_INVALID_OPCODE = SENSE(SK_ILLEGAL_REQUEST, 0x20, 0x00),
	SENSE_LBA_RANGE = SENSE(SK_ILLEGAL_REQUEST, 0x21, 0x00),
	SENSE_INVALID_FIELD_CDB = SENSE(SK_ILLEGAL_REQUEST, 0x24, 0x00),
	SENSE_LUN_NOT_SUPPORTED = SENSE(SK_ILLEGAL_REQUEST, 0x25, 0x00),
	SENSE_INVALID_FIELD_PARAM = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x00),
	SENSE_PARAM_LIST_LENGTH = SENSE(SK_ILLEGAL_REQUEST, 0x1a, 0x00),
	SENSE_INVALID_FIELD_IU = SENSE(SK_ILLEGAL_REQUEST, 0x0e, 0x03),
	SENSE_WRITE_PROTECTED = SENSE(SK_DATA_PROTECT, 0x27, 0x00),
	SENSE_SW_WRITE_PROTECTED = SENSE(SK_DATA_PROTECT, 0x27, 0x02),
	SENSE_SPACE_ALLOC_FAILED = SENSE(SK_DATA_PROTECT, 0x27, 0x07),
	SENSE_READ_ERROR = SENSE(SK_MEDIUM_ERROR, 0x11, 0x00),
	SENSE_WRITE_ERROR = SENSE(SK_MEDIUM_ERROR, 0x0c, 0x00),
	SENSE_MEDIUM_CORRUPTED = SENSE(SK_MEDIUM_ERROR, 0x31, 0x00),
	SENSE_SANITIZE_FAILED = SENSE(SK_MEDIUM_ERROR, 0x31, 0x03),
	SENSE_INTERNAL_FAILURE = SENSE(SK_HARDWARE_ERROR, 0x44, 0x00),
	SENSE_MISCOMPARE = SENSE(SK_MISCOMPARE, 0x1d, 0x00),
	SENSE_MEDIUM_NOT_PRESENT = SENSE(SK_NOT_READY, 0x3a, 0x00),
	SENSE_BECOMING_READY = SENSE(SK_NOT_READY, 0x04, 0x01),
	SENSE_NOT_READY_SANITIZE = SENSE(SK_NOT_READY, 0x04, 0x1b),
	SENSE_UNEXPECTED_UNSOLICITED = SENSE(SK_ABORTED_COMMAND, 0x0c, 0x0c),
	SENSE_INCORRECT_DATA_AMOUNT = SENSE(SK_ABORTED_COMMAND, 0x0c, 0x0d),
	SENSE_SERVICE_CRC_ERROR = SENSE(SK_ABORTED_COMMAND, 0x47, 0x05),
	SENSE_SNACK_REJECTED = SENSE(SK_ABORTED_COMMAND, 0x11, 0x13),
	SENSE_DATA_PHASE_ERROR = SENSE(SK_ABORTED_COMMAND, 0x4b, 0x00),
	SENSE_OVERLAPPED_COMMANDS = SENSE(SK_ABORTED_COMMAND, 0x4e, 0x00),
};

enum scsi_status {
	STATUS_GOOD = 0x00,
	STATUS_CHECK_CONDITION = 0x02,
	STATUS_CONDITION_MET = 0x04,
	STATUS_BUSY = 0x08,
	STATUS_RESERVATION_CONFLICT = 0x18,
	STATUS_TASK_SET_FULL = 0x28,
	STATUS_ACA_ACTIVE = 0x30,
	STATUS_TASK_ABORTED = 0x40,
};

// Additional data of a code.
struct sense_extra {
	bool has_information;
	uint64_t information;	// LBA, or byte offset of a miscompare
	bool has_field_pointer; // sense-key specific: byte (and bit) of CDB or parameters
	bool is_field_in_cdb;
	uint16_t field_byte;
	int8_t field_bit; // -1: none
	bool has_progress;
	uint16_t progress; // of 65536
};

#define SENSE_MAX 64

// Encodes code into out; descriptor chooses the format (the LU's D_SENSE). extra may be
// NULL. Returns the length: 18 for fixed, 8..SENSE_MAX for descriptor format.
unsigned sense_encode(uint8_t out[SENSE_MAX], uint32_t code, const struct sense_extra *extra,
		      bool descriptor);
