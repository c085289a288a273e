// SPDX-License-Identifier: BSD-2-Clause
// SCSI for the initiator: CDBs built from one row per command, sense data parsed and formatted.
// Pure functions, any thread, nothing blocks. SPC-5, SBC-4.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "initiator/scsi.h"

enum scsi_op {
	SCSI_TEST_UNIT_READY,
	SCSI_REQUEST_SENSE,
	SCSI_INQUIRY,
	SCSI_MODE_SENSE_6,
	SCSI_MODE_SENSE_10,
	SCSI_START_STOP_UNIT,
	SCSI_REPORT_LUNS,
	SCSI_PR_IN,
	SCSI_PR_OUT,
	SCSI_READ_CAPACITY_10,
	SCSI_READ_CAPACITY_16,
	SCSI_GET_LBA_STATUS,
	SCSI_READ_10,
	SCSI_READ_16,
	SCSI_WRITE_10,
	SCSI_WRITE_16,
	SCSI_VERIFY_10,
	SCSI_VERIFY_16,
	SCSI_SYNCHRONIZE_CACHE_10,
	SCSI_SYNCHRONIZE_CACHE_16,
	SCSI_WRITE_SAME_10,
	SCSI_WRITE_SAME_16,
	SCSI_UNMAP,
	SCSI_COMPARE_AND_WRITE,
	SCSI_REPORT_OPCODES,
	SCSI_REPORT_PORT_GROUPS,
	SCSI_REMOVE_I_T_NEXUS,
	SCSI_EXTENDED_COPY,
	SCSI_POPULATE_TOKEN, // lba: the list identifier, of these three
	SCSI_WRITE_USING_TOKEN,
	SCSI_RECEIVE_TOKEN_INFO,
	SCSI_OP_MAX,
};

// SAM status codes.
enum {
	SCSI_GOOD = 0x00,
	SCSI_CHECK_CONDITION = 0x02,
	SCSI_CONDITION_MET = 0x04,
	SCSI_BUSY = 0x08,
	SCSI_RESERVATION_CONFLICT = 0x18,
	SCSI_TASK_SET_FULL = 0x28,
};

// The variable fields of a CDB; a field that the command does not have must be 0.
struct scsi_args {
	uint64_t lba;
	uint32_t len;  // blocks, or bytes of the allocation or parameter list
	uint8_t flags; // ORed into byte 1: EVPD, FUA (0x08), UNMAP (0x08), a PR service action
	uint8_t page;  // byte 2: page code, or scope and type of PERSISTENT RESERVE OUT
};

// Builds a CDB. -ERANGE: lba or len do not fit into that command; -EINVAL: the command does not
// have a field.
int scsi_cdb(uint8_t cdb[SCSI_CDB_LEN], enum scsi_op op, const struct scsi_args *args);

// The command's name in the standards.
const char *scsi_op_name(enum scsi_op op);

// Initialises c as a command for lun that transfers bytes of data in op's direction. Returns as
// scsi_cdb().
int scsi_cmd_set(struct scsi_cmd *c, uint16_t lun, enum scsi_op op, const struct scsi_args *args,
		 void *data, uint32_t bytes);

struct scsi_sense {
	uint8_t key, asc, ascq;
	bool is_deferred;
};

// Reads len bytes of sense data, fixed or descriptor format. False: another format, or too short.
bool scsi_sense_parse(const uint8_t *sense, size_t len, struct scsi_sense *ret);

const char *scsi_status_text(uint8_t status);
const char *scsi_sense_key_text(uint8_t key);

// The failure of a command as text: "MEDIUM ERROR, unrecovered read error (03/11/00)". Empty: it
// did not fail.
void scsi_cmd_text(const struct scsi_cmd *c, char *ret, size_t size);

// True if the command succeeded: with status GOOD or CONDITION MET.
bool scsi_cmd_is_good(const struct scsi_cmd *c);

// True if the device server does not have the command or VPD page: ILLEGAL REQUEST, or CHECK
// CONDITION that reports no error, without sense data as istgt answers an INQUIRY of an unknown
// page, or with NO SENSE as SPDK does.
bool scsi_cmd_is_refused(const struct scsi_cmd *c);

// True if the target has no such logical unit: LOGICAL UNIT NOT SUPPORTED.
bool scsi_cmd_is_absent(const struct scsi_cmd *c);
