// SPDX-License-Identifier: BSD-2-Clause
// Commands that a write-protected path may send to a pass-through device: those that read, and
// those that position a tape for reading (SPC-5 6, SBC-4 5, SSC-4 7, MMC-6 6, SMC-3 6). Opcodes
// have a different meaning for each type of device, and for the device all paths are one initiator,
// so even RELEASE would end a reservation of another path. Constant; any thread.
#include "target/scsi/passthru/passthru.h"

#define TYPE(n) (UINT32_C(1) << (n))
#define ACTION	TYPE

enum {
	DISC = TYPE(0x05), // CD, DVD
	TAPE = TYPE(0x01),
	CHANGER = TYPE(0x08),
	ZONED = TYPE(0x00) | TYPE(0x14),
	// Direct access, write once, optical memory, simplified, host-managed zoned.
	DISK = ZONED | TYPE(0x04) | TYPE(0x07) | TYPE(0x0e),
};
#define EVERY UINT32_MAX // device type, service action

// clang-format off
static const struct {
	uint8_t opcode;
	uint32_t types, actions;
} allowed[] = {
	{ 0x00, EVERY, EVERY }, // TEST UNIT READY
	{ 0x03, EVERY, EVERY }, // REQUEST SENSE
	{ 0x12, EVERY, EVERY }, // INQUIRY
	{ 0x1a, EVERY, EVERY }, // MODE SENSE(6)
	{ 0x1c, EVERY, EVERY }, // RECEIVE DIAGNOSTIC RESULTS
	{ 0x4d, EVERY, EVERY }, // LOG SENSE
	{ 0x5a, EVERY, EVERY }, // MODE SENSE(10)
	{ 0x5e, EVERY, EVERY }, // PERSISTENT RESERVE IN
	{ 0x84, EVERY, ACTION(0x03) }, // RECEIVE COPY OPERATING PARAMETERS
	{ 0x8c, EVERY, EVERY }, // READ ATTRIBUTE
	// MAINTENANCE IN, which is SEND KEY to a disc drive: identifying information, target port
	// groups, operation codes, task management functions, timestamp.
	{ 0xa3, ~(uint32_t)DISC,
	  ACTION(0x05) | ACTION(0x0a) | ACTION(0x0c) | ACTION(0x0d) | ACTION(0x0f) },

	{ 0x08, DISK | TAPE, EVERY }, // READ(6)
	{ 0x25, DISK | DISC, EVERY }, // READ CAPACITY(10)
	{ 0x28, DISK | DISC, EVERY }, // READ(10)
	{ 0x2f, DISK | DISC, EVERY }, // VERIFY(10)
	{ 0x34, DISK | TAPE, EVERY }, // PRE-FETCH(10), READ POSITION
	{ 0x35, DISK, EVERY }, // SYNCHRONIZE CACHE(10)
	{ 0x37, DISK, EVERY }, // READ DEFECT DATA(10)
	{ 0x88, DISK | TAPE, EVERY }, // READ(16)
	{ 0x8f, DISK | TAPE, EVERY }, // VERIFY(16)
	{ 0x90, DISK, EVERY }, // PRE-FETCH(16)
	{ 0x91, DISK | TAPE, EVERY }, // SYNCHRONIZE CACHE(16), SPACE(16)
	{ 0x95, ZONED, ACTION(0x00) }, // REPORT ZONES
	{ 0x9e, DISK, ACTION(0x10) | ACTION(0x12) }, // READ CAPACITY(16), GET LBA STATUS
	{ 0xa8, DISK | DISC, EVERY }, // READ(12)
	{ 0xaf, DISK, EVERY }, // VERIFY(12)
	{ 0xb7, DISK, EVERY }, // READ DEFECT DATA(12)

	{ 0x01, TAPE, EVERY }, // REWIND
	{ 0x05, TAPE, EVERY }, // READ BLOCK LIMITS
	{ 0x0f, TAPE, EVERY }, // READ REVERSE(6)
	{ 0x11, TAPE, EVERY }, // SPACE(6)
	{ 0x13, TAPE, EVERY }, // VERIFY(6)
	{ 0x2b, TAPE, EVERY }, // LOCATE(10)
	{ 0x44, TAPE, EVERY }, // REPORT DENSITY SUPPORT
	{ 0x81, TAPE, EVERY }, // READ REVERSE(16)
	{ 0x92, TAPE, EVERY }, // LOCATE(16)

	{ 0x23, DISC, EVERY }, // READ FORMAT CAPACITIES
	{ 0x42, DISC, EVERY }, // READ SUB-CHANNEL
	{ 0x43, DISC, EVERY }, // READ TOC/PMA/ATIP
	{ 0x46, DISC, EVERY }, // GET CONFIGURATION
	{ 0x4a, DISC, EVERY }, // GET EVENT STATUS NOTIFICATION
	{ 0x51, DISC, EVERY }, // READ DISC INFORMATION
	{ 0x52, DISC, EVERY }, // READ TRACK INFORMATION
	{ 0x5c, DISC, EVERY }, // READ BUFFER CAPACITY
	{ 0xac, DISC, EVERY }, // GET PERFORMANCE
	{ 0xad, DISC, EVERY }, // READ DISC STRUCTURE
	{ 0xb9, DISC, EVERY }, // READ CD MSF
	{ 0xbd, DISC, EVERY }, // MECHANISM STATUS
	{ 0xbe, DISC, EVERY }, // READ CD

	{ 0xb8, CHANGER, EVERY }, // READ ELEMENT STATUS
};
// clang-format on

bool passthru_is_harmless(uint8_t device_type, const uint8_t *cdb)
{
	uint32_t type = TYPE(device_type & 0x1f), action = ACTION(cdb[1] & 0x1f);
	for (unsigned i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
		if (allowed[i].opcode == cdb[0])
			return (allowed[i].types & type) && (allowed[i].actions & action);
	}
	return false;
}
