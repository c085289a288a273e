// SPDX-License-Identifier: BSD-2-Clause
// SCSI: status (SAM-5 5.3.1), and sense (SPC-5 4.5) as farblockd means it: key << 16 | ASC << 8 |
// ASCQ. Names of all other sense codes are libsgutils2's.
#include "cli/explain.h"

// clang-format off
static const struct explain_row status_rows[] = {
	{ 0x00, "GOOD", "the command is done", "nothing" },
	{ 0x02, "CHECK CONDITION", "the command failed or there is news: the sense data says what", "explain the sense (key/asc/ascq)" },
	{ 0x04, "CONDITION MET", "PRE-FETCH: the blocks fit into the cache", "nothing" },
	{ 0x08, "BUSY", "no memory for the command just now", "none needed: initiators try again; if it lasts, a larger --pool-mem" },
	{ 0x18, "RESERVATION CONFLICT", "another initiator holds a reservation", "persistent reservations of the disk: sg_persist -r; a cluster's fencing does this on purpose" },
	{ 0x28, "TASK SET FULL", "more commands than the disk takes at once", "a smaller queue depth at the initiator" },
	{ 0x30, "ACA ACTIVE", "an auto contingent allegiance stands; farblockd has none", "CLEAR ACA at the initiator" },
	{ 0x40, "TASK ABORTED", "another initiator has aborted the command (TAS=1), or the disk was reset", "look who resets: a timeout at the other initiator" },
	{ 0 },
};
#define S(key, asc, ascq) ((uint32_t)(key) << 16 | (asc) << 8 | (ascq))
static const struct explain_row sense_rows[] = {
	{ S(0x2, 0x04, 0x1b), "sanitize in progress", "SANITIZE overwrites the disk; commands wait until it is done", "top shows how far it is" },
	{ S(0x2, 0x3a, 0x00), "medium not present", "the removable medium was ejected (START STOP UNIT)", "load it: sg_start --load" },
	{ S(0x3, 0x0c, 0x00), "write error", "the storage below failed to write", "dmesg and SMART of the machine that runs farblockd; free space of its file system" },
	{ S(0x3, 0x11, 0x00), "unrecovered read error", "the storage below failed to read", "dmesg and SMART of the machine that runs farblockd" },
	{ S(0x3, 0x31, 0x00), "medium format corrupted", "a sanitize operation was cut off: blocks are undefined", "sanitize again" },
	{ S(0x3, 0x31, 0x03), "sanitize command failed", "the last SANITIZE did not end", "sanitize again, or EXIT FAILURE MODE where it was allowed" },
	{ S(0x4, 0x44, 0x00), "internal target failure", "an error with no better code", "the log of farblockd" },
	{ S(0x5, 0x0e, 0x03), "invalid field in command information unit", "the PDU's fields and the CDB do not go together", "update the initiator" },
	{ S(0x5, 0x1a, 0x00), "parameter list length error", "the data that came with the command is too short or too long", "update the initiator" },
	{ S(0x5, 0x20, 0x00), "invalid command operation code", "the disk does not know this command, or it is switched off (emulate_*)", "none needed: initiators do without; else get attribute" },
	{ S(0x5, 0x21, 0x00), "logical block address out of range", "beyond the disk's end: it may have shrunk, or a partition table is of a larger disk", "rescan at the initiator; compare sizes" },
	{ S(0x5, 0x24, 0x00), "invalid field in CDB", "an option of the command that the disk does not have", "none needed: initiators do without; get attribute for what is switched off" },
	{ S(0x5, 0x25, 0x00), "logical unit not supported", "no LUN with this number is mapped for this initiator", "ls of its ACL; create a mapped LUN; rescan at the initiator" },
	{ S(0x5, 0x26, 0x00), "invalid field in parameter list", "a value in the command's data is not possible", "update the initiator" },
	{ S(0x6, 0x28, 0x00), "medium may have changed", "a medium was loaded", "none needed" },
	{ S(0x6, 0x29, 0x00), "power on or reset", "the first command of a session, or after a reset", "none needed: initiators go on" },
	{ S(0x6, 0x29, 0x07), "I_T nexus loss", "the session was lost and is back", "none needed; look at the network if it happens often" },
	{ S(0x6, 0x2a, 0x01), "mode parameters changed", "MODE SELECT of another initiator", "none needed" },
	{ S(0x6, 0x2a, 0x03), "reservations preempted", "another initiator has taken the persistent reservation", "a cluster's fencing does this on purpose" },
	{ S(0x6, 0x2a, 0x06), "asymmetric access state changed", "ALUA: a path changed its state", "none needed: multipath follows" },
	{ S(0x6, 0x2a, 0x09), "capacity data has changed", "the disk has another size now", "rescan at the initiator" },
	{ S(0x6, 0x38, 0x07), "thin provisioning soft threshold reached", "the storage below is getting full", "add space, or unmap what is not used" },
	{ S(0x6, 0x3f, 0x0e), "reported LUNs data has changed", "LUNs were added or taken away", "rescan at the initiator" },
	{ S(0x7, 0x27, 0x00), "write protected", "the mapped LUN, the LUN or the storage is read-only", "ls: ro; set write_protect=false, or create the storage without readonly" },
	{ S(0x7, 0x27, 0x02), "logical unit software write protected", "SWP is set in the control mode page", "sdparm --clear=SWP at the initiator" },
	{ S(0x7, 0x27, 0x07), "space allocation failed write protect", "the storage below is full", "add space, or unmap what is not used" },
	{ S(0xa, 0x0d, 0x00), "third party device failure", "EXTENDED COPY: source or destination failed", "the sense of the failed side is in the same data; the log of farblockd" },
	{ S(0xb, 0x0c, 0x0c), "unexpected unsolicited data", "the initiator has sent data that it was not to send", "update the initiator" },
	{ S(0xb, 0x0c, 0x0d), "not enough unsolicited data", "the initiator announced more data than it sent", "update the initiator" },
	{ S(0xb, 0x11, 0x13), "read error, failed retransmission request", "SNACK is not possible with ErrorRecoveryLevel 0", "none needed: the initiator logs in anew" },
	{ S(0xb, 0x47, 0x05), "protocol service CRC error", "a data digest was wrong: damaged on the way", "look at cable, switch and network card" },
	{ S(0xb, 0x4b, 0x00), "data phase error", "data did not come as was agreed", "update the initiator; over RDMA look at the fabric" },
	{ S(0xb, 0x4e, 0x00), "overlapped commands attempted", "one tag for two commands", "update the initiator" },
	{ S(0xe, 0x1d, 0x00), "miscompare during verify operation", "COMPARE AND WRITE or VERIFY: the disk holds something else", "for COMPARE AND WRITE that is how a lock is found taken" },
	{ 0 },
};
// clang-format on

const struct explain_table explain_status = { "status", "SCSI status", 2, status_rows };
const struct explain_table explain_sense = { "sense", "SCSI sense", 6, sense_rows };
