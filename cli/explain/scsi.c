// SPDX-License-Identifier: BSD-2-Clause
// SCSI: status (SAM-5 5.3.1), and sense (SPC-5 4.5) as farblockd uses it: key << 16 | ASC << 8 |
// ASCQ. libsgutils2 names all other sense codes.
#include "cli/explain/explain.h"

// clang-format off
static const struct explain_row status_rows[] = {
	{ 0x00, "GOOD", "the command completed", "no action needed" },
	{ 0x02, "CHECK CONDITION", "the command failed, or the disk reports an event: the sense data has the details", "explain the sense (key/asc/ascq)" },
	{ 0x04, "CONDITION MET", "PRE-FETCH: the blocks fit into the cache", "no action needed" },
	{ 0x08, "BUSY", "no memory for the command at the moment", "no action needed: initiators retry; if it persists, raise --pool-mem" },
	{ 0x18, "RESERVATION CONFLICT", "another initiator holds a reservation", "check the persistent reservations of the disk (sg_persist -r); a cluster's fencing sets them on purpose" },
	{ 0x28, "TASK SET FULL", "more commands than the disk accepts at once", "use a smaller queue depth at the initiator" },
	{ 0x30, "ACA ACTIVE", "an auto contingent allegiance is active; farblockd has none", "send CLEAR ACA from the initiator" },
	{ 0x40, "TASK ABORTED", "another initiator aborted the command (TAS=1), or the disk was reset", "find what resets the disk: often a timeout at the other initiator" },
	{ 0 },
};
#define S(key, asc, ascq) ((uint32_t)(key) << 16 | (asc) << 8 | (ascq))
static const struct explain_row sense_rows[] = {
	{ S(0x2, 0x04, 0x1b), "sanitize in progress", "SANITIZE overwrites the disk; commands wait until it completes", "wait; top shows the progress" },
	{ S(0x2, 0x3a, 0x00), "medium not present", "the removable medium was ejected (START STOP UNIT)", "load it: sg_start --load" },
	{ S(0x3, 0x0c, 0x00), "write error", "the underlying storage failed to write", "check dmesg and SMART of the machine that runs farblockd, and free space of its file system" },
	{ S(0x3, 0x11, 0x00), "unrecovered read error", "the underlying storage failed to read", "check dmesg and SMART of the machine that runs farblockd" },
	{ S(0x3, 0x31, 0x00), "medium format corrupted", "a sanitize operation was interrupted: the contents of blocks are undefined", "sanitize again" },
	{ S(0x3, 0x31, 0x03), "sanitize command failed", "the last SANITIZE did not complete", "sanitize again, or use EXIT FAILURE MODE where it was allowed" },
	{ S(0x4, 0x44, 0x00), "internal target failure", "unspecified error of the target", "read the log of farblockd" },
	{ S(0x5, 0x0e, 0x03), "invalid field in command information unit", "the PDU's fields contradict the CDB", "update the initiator" },
	{ S(0x5, 0x1a, 0x00), "parameter list length error", "the data that came with the command is too short or too long", "update the initiator" },
	{ S(0x5, 0x20, 0x00), "invalid command operation code", "the disk does not support this command, or an attribute disables it (emulate_*)", "no action needed: the option is optional; else check get attribute" },
	{ S(0x5, 0x21, 0x00), "logical block address out of range", "the address is beyond the end of the disk: the disk may have shrunk, or its partition table belongs to a larger disk", "rescan at the initiator; compare sizes" },
	{ S(0x5, 0x24, 0x00), "invalid field in CDB", "the disk does not support an option of the command", "no action needed: the option is optional; get attribute shows what is disabled" },
	{ S(0x5, 0x25, 0x00), "logical unit not supported", "no LUN of this number is mapped for this initiator", "check ls of its ACL; create a mapped LUN; rescan at the initiator" },
	{ S(0x5, 0x26, 0x00), "invalid field in parameter list", "a value in the command's data is not valid", "update the initiator" },
	{ S(0x6, 0x28, 0x00), "medium may have changed", "a medium was loaded", "no action needed" },
	{ S(0x6, 0x29, 0x00), "power on or reset", "the first command of a session, or after a reset", "no action needed: initiators continue" },
	{ S(0x6, 0x29, 0x07), "I_T nexus loss", "the session was lost and has been re-established", "no action needed; check the network if it recurs" },
	{ S(0x6, 0x2a, 0x01), "mode parameters changed", "another initiator sent MODE SELECT", "no action needed" },
	{ S(0x6, 0x2a, 0x03), "reservations preempted", "another initiator preempted the persistent reservation", "no action needed if a cluster's fencing did this" },
	{ S(0x6, 0x2a, 0x06), "asymmetric access state changed", "ALUA: a path changed its state", "no action needed: multipath follows" },
	{ S(0x6, 0x2a, 0x09), "capacity data has changed", "the size of the disk has changed", "rescan at the initiator" },
	{ S(0x6, 0x38, 0x07), "thin provisioning soft threshold reached", "the underlying storage is almost full", "add space, or unmap unused blocks" },
	{ S(0x6, 0x3f, 0x0e), "reported LUNs data has changed", "LUNs were added or removed", "rescan at the initiator" },
	{ S(0x7, 0x27, 0x00), "write protected", "the mapped LUN, the LUN or the storage is read-only", "look for ro in ls; set write_protect=false, or create the storage without readonly" },
	{ S(0x7, 0x27, 0x02), "logical unit software write protected", "SWP is set in the control mode page", "run sdparm --clear=SWP at the initiator" },
	{ S(0x7, 0x27, 0x07), "space allocation failed write protect", "the underlying storage is full", "add space, or unmap unused blocks" },
	{ S(0xa, 0x0d, 0x00), "third party device failure", "EXTENDED COPY: source or destination failed", "read the sense of the failed side, which the same data contains, and the log of farblockd" },
	{ S(0xb, 0x0c, 0x0c), "unexpected unsolicited data", "the initiator sent data that it was not allowed to send", "update the initiator" },
	{ S(0xb, 0x0c, 0x0d), "not enough unsolicited data", "the initiator announced more data than it sent", "update the initiator" },
	{ S(0xb, 0x11, 0x13), "read error, failed retransmission request", "ErrorRecoveryLevel 0 does not support SNACK", "no action needed: the initiator logs in again" },
	{ S(0xb, 0x47, 0x05), "protocol service CRC error", "a data digest was wrong: the data was damaged in transit", "check cable, switch and network card" },
	{ S(0xb, 0x4b, 0x00), "data phase error", "the data did not arrive as negotiated", "update the initiator; over RDMA check the fabric" },
	{ S(0xb, 0x4e, 0x00), "overlapped commands attempted", "two commands have the same tag", "update the initiator" },
	{ S(0xe, 0x1d, 0x00), "miscompare during verify operation", "COMPARE AND WRITE or VERIFY: the disk holds other data", "for COMPARE AND WRITE no action needed: another initiator holds the lock" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_status = { "status", "SCSI status", 2, status_rows };
const struct explain_table explain_sense = { "sense", "SCSI sense", 6, sense_rows };
