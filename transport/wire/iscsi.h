// SPDX-License-Identifier: BSD-2-Clause
// iSCSI on the wire: opcodes, flags, the layout of every basic header segment and the codes
// in them. Constants and layouts only; all multi-byte fields are big-endian byte arrays to be
// read and written with be.h. RFC 7143 §11, with the additions of RFC 7144.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	ISCSI_BHS_LEN = 48,
	ISCSI_AHS_MAX = 255 * 4,	    // TotalAHSLength is one byte of 4-byte words
	ISCSI_DATA_LEN_MAX = (1 << 24) - 1, // DataSegmentLength is 24 bits
	ISCSI_DIGEST_LEN = 4,		    // CRC32C [RFC 7143 §13.1]
	ISCSI_PORT = 3260,		    // [RFC 7143 §4.2.7.3]
	ISCSI_VERSION = 0,		    // the only version [RFC 7143 §11.12.4]
	ISCSI_LOGIN_DATA_MAX = 8192, // any login PDU, regardless of declarations [RFC 7143 §13.12]
	ISCSI_NAME_MAX = 223,	     // bytes of an iSCSI name [RFC 7143 §4.2.7.2]
	ISCSI_KEY_MAX = 63,	     // bytes of a text key [RFC 7143 §6.1]
	ISCSI_VALUE_MAX = 255,	     // bytes of a text value, unless the key says otherwise
	ISCSI_BINARY_MAX = 1024,     // bytes of a decoded CHAP value [RFC 7143 §12.1.3]
	ISCSI_CDB_LEN = 16,	     // in the BHS; more needs an AHS
	ISCSI_ISID_LEN = 6,
};
#define ISCSI_TAG_NONE UINT32_C(0xffffffff) // ITT, TTT: reserved value

// Opcodes. Byte 0 of the BHS is ISCSI_I | opcode [RFC 7143 §11.2.1.2].
enum iscsi_opcode {
	ISCSI_OP_NOP_OUT = 0x00, // initiator to target
	ISCSI_OP_SCSI_CMD = 0x01,
	ISCSI_OP_TMF_REQ = 0x02,
	ISCSI_OP_LOGIN_REQ = 0x03,
	ISCSI_OP_TEXT_REQ = 0x04,
	ISCSI_OP_DATA_OUT = 0x05,
	ISCSI_OP_LOGOUT_REQ = 0x06,
	ISCSI_OP_SNACK = 0x10,
	ISCSI_OP_NOP_IN = 0x20, // target to initiator
	ISCSI_OP_SCSI_RSP = 0x21,
	ISCSI_OP_TMF_RSP = 0x22,
	ISCSI_OP_LOGIN_RSP = 0x23,
	ISCSI_OP_TEXT_RSP = 0x24,
	ISCSI_OP_DATA_IN = 0x25,
	ISCSI_OP_LOGOUT_RSP = 0x26,
	ISCSI_OP_R2T = 0x31,
	ISCSI_OP_ASYNC = 0x32,
	ISCSI_OP_REJECT = 0x3f,
	ISCSI_OP_MASK = 0x3f,
};
#define ISCSI_I 0x40 // byte 0: immediate delivery
#define ISCSI_F 0x80 // byte 1: final; must be 1 in PDUs that have no use for it

// Byte 1 of SCSI Command [RFC 7143 §11.3.1]
enum {
	ISCSI_CMD_R = 0x40,
	ISCSI_CMD_W = 0x20,
	ISCSI_CMD_ATTR_MASK = 0x07,
	ISCSI_ATTR_UNTAGGED = 0,
	ISCSI_ATTR_SIMPLE = 1,
	ISCSI_ATTR_ORDERED = 2,
	ISCSI_ATTR_HEAD_OF_QUEUE = 3,
	ISCSI_ATTR_ACA = 4,
	ISCSI_CMD_PRIORITY_MASK = 0xf0, // byte 2 [RFC 7144 §5.1.1]
};
// Byte 1 of SCSI Response [RFC 7143 §11.4.1], and of Data-In (O and U only) [§11.7.2]
enum {
	ISCSI_RSP_BIDI_OVERFLOW = 0x10,
	ISCSI_RSP_BIDI_UNDERFLOW = 0x08,
	ISCSI_RSP_OVERFLOW = 0x04,
	ISCSI_RSP_UNDERFLOW = 0x02,
	ISCSI_DATA_S = 0x01, // Data-In: carries status
	ISCSI_DATA_A = 0x40, // Data-In: requests a DataACK, ERL >= 1
};
// Byte 2 of SCSI Response [RFC 7143 §11.4.3]
enum {
	ISCSI_RSP_COMPLETED = 0x00,
	ISCSI_RSP_TARGET_FAILURE = 0x01,
};
// Byte 1 of Text [RFC 7143 §11.10] and Login [RFC 7143 §11.12]
enum {
	ISCSI_TEXT_C = 0x40,
	ISCSI_LOGIN_T = 0x80,
	ISCSI_LOGIN_C = 0x40,
	ISCSI_LOGIN_CSG_MASK = 0x0c,
	ISCSI_LOGIN_CSG_SHIFT = 2,
	ISCSI_LOGIN_NSG_MASK = 0x03,
};
enum iscsi_stage { // CSG and NSG [RFC 7143 §11.12.3]
	ISCSI_STAGE_SECURITY = 0,
	ISCSI_STAGE_OPERATIONAL = 1,
	ISCSI_STAGE_FULL_FEATURE = 3,
};

// Task management: byte 1 of the request, ISCSI_F | function [RFC 7143 §11.5.1, RFC 7144 §6.3]
enum iscsi_tmf {
	ISCSI_TMF_MASK = 0x7f,
	ISCSI_TMF_ABORT_TASK = 1,
	ISCSI_TMF_ABORT_TASK_SET = 2,
	ISCSI_TMF_CLEAR_ACA = 3,
	ISCSI_TMF_CLEAR_TASK_SET = 4,
	ISCSI_TMF_LUN_RESET = 5,
	ISCSI_TMF_TARGET_WARM_RESET = 6,
	ISCSI_TMF_TARGET_COLD_RESET = 7,
	ISCSI_TMF_TASK_REASSIGN = 8,
	ISCSI_TMF_QUERY_TASK = 9, // the following with protocol level 2
	ISCSI_TMF_QUERY_TASK_SET = 10,
	ISCSI_TMF_I_T_NEXUS_RESET = 11,
	ISCSI_TMF_QUERY_ASYNC_EVENT = 12,
};
enum iscsi_tmf_response { // byte 2 of the response [RFC 7143 §11.6.1, RFC 7144 §6.4]
	ISCSI_TMF_RSP_COMPLETE = 0,
	ISCSI_TMF_RSP_NO_TASK = 1,
	ISCSI_TMF_RSP_NO_LUN = 2,
	ISCSI_TMF_RSP_STILL_ALLEGIANT = 3,
	ISCSI_TMF_RSP_REASSIGN_UNSUPPORTED = 4,
	ISCSI_TMF_RSP_UNSUPPORTED = 5,
	ISCSI_TMF_RSP_NOT_AUTHORIZED = 6,
	ISCSI_TMF_RSP_SUCCEEDED = 7, // protocol level 2
	ISCSI_TMF_RSP_REJECTED = 255,
};

// Login status: class << 8 | detail [RFC 7143 §11.13.5]
enum iscsi_login_status {
	ISCSI_LOGIN_OK = 0x0000,
	ISCSI_LOGIN_MOVED_TEMPORARILY = 0x0101,
	ISCSI_LOGIN_MOVED_PERMANENTLY = 0x0102,
	ISCSI_LOGIN_INITIATOR_ERROR = 0x0200,
	ISCSI_LOGIN_AUTH_FAILED = 0x0201,
	ISCSI_LOGIN_FORBIDDEN = 0x0202,
	ISCSI_LOGIN_NOT_FOUND = 0x0203,
	ISCSI_LOGIN_TARGET_REMOVED = 0x0204,
	ISCSI_LOGIN_VERSION = 0x0205,
	ISCSI_LOGIN_TOO_MANY_CONNECTIONS = 0x0206,
	ISCSI_LOGIN_MISSING_PARAMETER = 0x0207,
	ISCSI_LOGIN_CANNOT_INCLUDE = 0x0208,
	ISCSI_LOGIN_SESSION_TYPE = 0x0209,
	ISCSI_LOGIN_NO_SESSION = 0x020a,
	ISCSI_LOGIN_INVALID_REQUEST = 0x020b,
	ISCSI_LOGIN_TARGET_ERROR = 0x0300,
	ISCSI_LOGIN_UNAVAILABLE = 0x0301,
	ISCSI_LOGIN_OUT_OF_RESOURCES = 0x0302,
};
#define ISCSI_LOGIN_CLASS(status)   ((uint8_t)((status) >> 8))
#define ISCSI_LOGIN_CLASS_REDIRECT  1
#define ISCSI_LOGIN_CLASS_INITIATOR 2
#define ISCSI_LOGIN_CLASS_TARGET    3

// Logout: byte 1 of the request, ISCSI_F | reason [RFC 7143 §11.14.1]
enum iscsi_logout_reason {
	ISCSI_LOGOUT_MASK = 0x7f,
	ISCSI_LOGOUT_CLOSE_SESSION = 0,
	ISCSI_LOGOUT_CLOSE_CONNECTION = 1,
	ISCSI_LOGOUT_RECOVERY = 2,
};
enum iscsi_logout_response { // [RFC 7143 §11.15.1]
	ISCSI_LOGOUT_RSP_OK = 0,
	ISCSI_LOGOUT_RSP_NO_CID = 1,
	ISCSI_LOGOUT_RSP_NO_RECOVERY = 2,
	ISCSI_LOGOUT_RSP_CLEANUP_FAILED = 3,
};

// SNACK: byte 1, ISCSI_F | type [RFC 7143 §11.16.1]
enum iscsi_snack_type {
	ISCSI_SNACK_MASK = 0x0f,
	ISCSI_SNACK_DATA_R2T = 0,
	ISCSI_SNACK_STATUS = 1,
	ISCSI_SNACK_DATA_ACK = 2,
	ISCSI_SNACK_R_DATA = 3,
};

enum iscsi_async_event { // [RFC 7143 §11.9.1, §4.2.3.4 for 5]
	ISCSI_ASYNC_SCSI = 0,
	ISCSI_ASYNC_LOGOUT = 1,
	ISCSI_ASYNC_DROP_CONNECTION = 2,
	ISCSI_ASYNC_DROP_SESSION = 3,
	ISCSI_ASYNC_RENEGOTIATE = 4,
	ISCSI_ASYNC_TASKS_TERMINATED = 5,
	ISCSI_ASYNC_VENDOR = 255,
};

enum iscsi_reject_reason { // [RFC 7143 §11.17.1]
	ISCSI_REJECT_DATA_DIGEST = 0x02,
	ISCSI_REJECT_SNACK = 0x03,
	ISCSI_REJECT_PROTOCOL = 0x04,
	ISCSI_REJECT_NOT_SUPPORTED = 0x05,
	ISCSI_REJECT_TOO_MANY_IMMEDIATE = 0x06,
	ISCSI_REJECT_TASK_IN_PROGRESS = 0x07,
	ISCSI_REJECT_INVALID_DATA_ACK = 0x08,
	ISCSI_REJECT_INVALID_FIELD = 0x09,
	ISCSI_REJECT_LONG_OP_RESOURCES = 0x0a,
	ISCSI_REJECT_DEPRECATED = 0x0b,
	ISCSI_REJECT_WAITING_FOR_LOGOUT = 0x0c,
};

// Additional header segments [RFC 7143 §11.2.2]
enum iscsi_ahs_type {
	ISCSI_AHS_EXTENDED_CDB = 1, // length = bytes of CDB beyond 16, plus 1
	ISCSI_AHS_BIDI_READ_LEN = 2,
};
struct iscsi_ahs {
	uint8_t len[2]; // 0: bytes from byte 3 on, without pad
	uint8_t type;	// 2
	uint8_t spec;	// 3: reserved for both types; the rest follows
};
_Static_assert(sizeof(struct iscsi_ahs) == 4, "iscsi_ahs");

// ISID: types of its first byte [RFC 7143 §11.12.5]
enum {
	ISCSI_ISID_TYPE_MASK = 0xc0,
	ISCSI_ISID_TYPE_OUI = 0x00,
	ISCSI_ISID_TYPE_EN = 0x40,
	ISCSI_ISID_TYPE_RANDOM = 0x80,
};

// Common fields [RFC 7143 §11.2.1]
struct iscsi_bhs {
	uint8_t opcode;	     // 0: ISCSI_I | opcode
	uint8_t flags;	     // 1: ISCSI_F | per opcode
	uint8_t spec1[2];    // 2
	uint8_t ahs_len;     // 4: in 4-byte words
	uint8_t data_len[3]; // 5: without pad and digests
	uint8_t lun[8];	     // 8: or per opcode
	uint8_t itt[4];	     // 16
	uint8_t spec2[28];   // 20
};
_Static_assert(sizeof(struct iscsi_bhs) == ISCSI_BHS_LEN, "iscsi_bhs");
_Static_assert(offsetof(struct iscsi_bhs, itt) == 16, "iscsi_bhs.itt");

// NOP-Out [RFC 7143 §11.18]
struct iscsi_nop_out {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t rsvd1[2];	// 2
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t lun[8];		// 8: that of the NOP-In it answers
	uint8_t itt[4];		// 16
	uint8_t ttt[4];		// 20
	uint8_t cmd_sn[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t rsvd2[16];	// 32
};
_Static_assert(sizeof(struct iscsi_nop_out) == ISCSI_BHS_LEN, "iscsi_nop_out");
_Static_assert(offsetof(struct iscsi_nop_out, itt) == 16, "iscsi_nop_out.itt");
_Static_assert(offsetof(struct iscsi_nop_out, cmd_sn) == 24, "iscsi_nop_out.cmd_sn");
_Static_assert(offsetof(struct iscsi_nop_out, exp_stat_sn) == 28, "iscsi_nop_out.exp_stat_sn");

// NOP-In [RFC 7143 §11.19]
struct iscsi_nop_in {
	uint8_t opcode;	       // 0
	uint8_t flags;	       // 1
	uint8_t rsvd1[2];      // 2
	uint8_t ahs_len;       // 4
	uint8_t data_len[3];   // 5
	uint8_t lun[8];	       // 8: valid with ttt only
	uint8_t itt[4];	       // 16
	uint8_t ttt[4];	       // 20
	uint8_t stat_sn[4];    // 24
	uint8_t exp_cmd_sn[4]; // 28
	uint8_t max_cmd_sn[4]; // 32
	uint8_t rsvd2[12];     // 36
};
_Static_assert(sizeof(struct iscsi_nop_in) == ISCSI_BHS_LEN, "iscsi_nop_in");
_Static_assert(offsetof(struct iscsi_nop_in, itt) == 16, "iscsi_nop_in.itt");
_Static_assert(offsetof(struct iscsi_nop_in, stat_sn) == 24, "iscsi_nop_in.stat_sn");

// SCSI Command [RFC 7143 §11.3, RFC 7144 §5.1.1]
struct iscsi_scsi_cmd {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t priority;	// 2: high nibble, protocol level 2
	uint8_t rsvd1;		// 3
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t lun[8];		// 8
	uint8_t itt[4];		// 16
	uint8_t edtl[4];	// 20: expected data transfer length
	uint8_t cmd_sn[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t cdb[16];	// 32
};
_Static_assert(sizeof(struct iscsi_scsi_cmd) == ISCSI_BHS_LEN, "iscsi_scsi_cmd");
_Static_assert(offsetof(struct iscsi_scsi_cmd, itt) == 16, "iscsi_scsi_cmd.itt");
_Static_assert(offsetof(struct iscsi_scsi_cmd, cmd_sn) == 24, "iscsi_scsi_cmd.cmd_sn");
_Static_assert(offsetof(struct iscsi_scsi_cmd, exp_stat_sn) == 28, "iscsi_scsi_cmd.exp_stat_sn");
_Static_assert(offsetof(struct iscsi_scsi_cmd, cdb) == 32, "iscsi_scsi_cmd.cdb");

// SCSI Response [RFC 7143 §11.4, RFC 7144 §5.2]
struct iscsi_scsi_rsp {
	uint8_t opcode;		  // 0
	uint8_t flags;		  // 1
	uint8_t response;	  // 2
	uint8_t status;		  // 3
	uint8_t ahs_len;	  // 4
	uint8_t data_len[3];	  // 5
	uint8_t status_qual[2];	  // 8: protocol level 2, else 0
	uint8_t rsvd1[6];	  // 10
	uint8_t itt[4];		  // 16
	uint8_t snack_tag[4];	  // 20
	uint8_t stat_sn[4];	  // 24
	uint8_t exp_cmd_sn[4];	  // 28
	uint8_t max_cmd_sn[4];	  // 32
	uint8_t exp_data_sn[4];	  // 36
	uint8_t bidi_residual[4]; // 40
	uint8_t residual[4];	  // 44
};
_Static_assert(sizeof(struct iscsi_scsi_rsp) == ISCSI_BHS_LEN, "iscsi_scsi_rsp");
_Static_assert(offsetof(struct iscsi_scsi_rsp, itt) == 16, "iscsi_scsi_rsp.itt");
_Static_assert(offsetof(struct iscsi_scsi_rsp, stat_sn) == 24, "iscsi_scsi_rsp.stat_sn");
_Static_assert(offsetof(struct iscsi_scsi_rsp, exp_data_sn) == 36, "iscsi_scsi_rsp.exp_data_sn");
_Static_assert(offsetof(struct iscsi_scsi_rsp, residual) == 44, "iscsi_scsi_rsp.residual");

// Task Management Function Request [RFC 7143 §11.5]
struct iscsi_tmf_req {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t rsvd1[2];	// 2
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t lun[8];		// 8
	uint8_t itt[4];		// 16
	uint8_t ref_itt[4];	// 20
	uint8_t cmd_sn[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t ref_cmd_sn[4];	// 32
	uint8_t exp_data_sn[4]; // 36
	uint8_t rsvd2[8];	// 40
};
_Static_assert(sizeof(struct iscsi_tmf_req) == ISCSI_BHS_LEN, "iscsi_tmf_req");
_Static_assert(offsetof(struct iscsi_tmf_req, itt) == 16, "iscsi_tmf_req.itt");
_Static_assert(offsetof(struct iscsi_tmf_req, cmd_sn) == 24, "iscsi_tmf_req.cmd_sn");
_Static_assert(offsetof(struct iscsi_tmf_req, exp_stat_sn) == 28, "iscsi_tmf_req.exp_stat_sn");
_Static_assert(offsetof(struct iscsi_tmf_req, exp_data_sn) == 36, "iscsi_tmf_req.exp_data_sn");

// Task Management Function Response [RFC 7143 §11.6, RFC 7144 §5.3]
struct iscsi_tmf_rsp {
	uint8_t opcode;	       // 0
	uint8_t flags;	       // 1
	uint8_t response;      // 2
	uint8_t rsvd1;	       // 3
	uint8_t ahs_len;       // 4
	uint8_t data_len[3];   // 5
	uint8_t info[3];       // 8: additional response information, protocol level 2
	uint8_t rsvd2[5];      // 11
	uint8_t itt[4];	       // 16
	uint8_t rsvd3[4];      // 20
	uint8_t stat_sn[4];    // 24
	uint8_t exp_cmd_sn[4]; // 28
	uint8_t max_cmd_sn[4]; // 32
	uint8_t rsvd4[12];     // 36
};
_Static_assert(sizeof(struct iscsi_tmf_rsp) == ISCSI_BHS_LEN, "iscsi_tmf_rsp");
_Static_assert(offsetof(struct iscsi_tmf_rsp, itt) == 16, "iscsi_tmf_rsp.itt");
_Static_assert(offsetof(struct iscsi_tmf_rsp, stat_sn) == 24, "iscsi_tmf_rsp.stat_sn");

// Login Request [RFC 7143 §11.12]
struct iscsi_login_req {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t version_max;	// 2
	uint8_t version_min;	// 3
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t isid[6];	// 8
	uint8_t tsih[2];	// 14
	uint8_t itt[4];		// 16
	uint8_t cid[2];		// 20
	uint8_t rsvd1[2];	// 22
	uint8_t cmd_sn[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t rsvd2[16];	// 32
};
_Static_assert(sizeof(struct iscsi_login_req) == ISCSI_BHS_LEN, "iscsi_login_req");
_Static_assert(offsetof(struct iscsi_login_req, isid) == 8, "iscsi_login_req.isid");
_Static_assert(offsetof(struct iscsi_login_req, itt) == 16, "iscsi_login_req.itt");
_Static_assert(offsetof(struct iscsi_login_req, cmd_sn) == 24, "iscsi_login_req.cmd_sn");
_Static_assert(offsetof(struct iscsi_login_req, exp_stat_sn) == 28, "iscsi_login_req.exp_stat_sn");

// Login Response [RFC 7143 §11.13]
struct iscsi_login_rsp {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t version_max;	// 2
	uint8_t version_active; // 3
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t isid[6];	// 8
	uint8_t tsih[2];	// 14
	uint8_t itt[4];		// 16
	uint8_t rsvd1[4];	// 20
	uint8_t stat_sn[4];	// 24
	uint8_t exp_cmd_sn[4];	// 28
	uint8_t max_cmd_sn[4];	// 32
	uint8_t status_class;	// 36
	uint8_t status_detail;	// 37
	uint8_t rsvd2[10];	// 38
};
_Static_assert(sizeof(struct iscsi_login_rsp) == ISCSI_BHS_LEN, "iscsi_login_rsp");
_Static_assert(offsetof(struct iscsi_login_rsp, isid) == 8, "iscsi_login_rsp.isid");
_Static_assert(offsetof(struct iscsi_login_rsp, itt) == 16, "iscsi_login_rsp.itt");
_Static_assert(offsetof(struct iscsi_login_rsp, stat_sn) == 24, "iscsi_login_rsp.stat_sn");
_Static_assert(offsetof(struct iscsi_login_rsp, status_class) == 36,
	       "iscsi_login_rsp.status_class");

// Text Request [RFC 7143 §11.10]
struct iscsi_text_req {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t rsvd1[2];	// 2
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t lun[8];		// 8
	uint8_t itt[4];		// 16
	uint8_t ttt[4];		// 20
	uint8_t cmd_sn[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t rsvd2[16];	// 32
};
_Static_assert(sizeof(struct iscsi_text_req) == ISCSI_BHS_LEN, "iscsi_text_req");
_Static_assert(offsetof(struct iscsi_text_req, itt) == 16, "iscsi_text_req.itt");
_Static_assert(offsetof(struct iscsi_text_req, cmd_sn) == 24, "iscsi_text_req.cmd_sn");
_Static_assert(offsetof(struct iscsi_text_req, exp_stat_sn) == 28, "iscsi_text_req.exp_stat_sn");

// Text Response [RFC 7143 §11.11]
struct iscsi_text_rsp {
	uint8_t opcode;	       // 0
	uint8_t flags;	       // 1
	uint8_t rsvd1[2];      // 2
	uint8_t ahs_len;       // 4
	uint8_t data_len[3];   // 5
	uint8_t lun[8];	       // 8
	uint8_t itt[4];	       // 16
	uint8_t ttt[4];	       // 20
	uint8_t stat_sn[4];    // 24
	uint8_t exp_cmd_sn[4]; // 28
	uint8_t max_cmd_sn[4]; // 32
	uint8_t rsvd2[12];     // 36
};
_Static_assert(sizeof(struct iscsi_text_rsp) == ISCSI_BHS_LEN, "iscsi_text_rsp");
_Static_assert(offsetof(struct iscsi_text_rsp, itt) == 16, "iscsi_text_rsp.itt");
_Static_assert(offsetof(struct iscsi_text_rsp, stat_sn) == 24, "iscsi_text_rsp.stat_sn");

// SCSI Data-Out [RFC 7143 §11.7]
struct iscsi_data_out {
	uint8_t opcode;		  // 0
	uint8_t flags;		  // 1
	uint8_t rsvd1[2];	  // 2
	uint8_t ahs_len;	  // 4
	uint8_t data_len[3];	  // 5
	uint8_t lun[8];		  // 8
	uint8_t itt[4];		  // 16
	uint8_t ttt[4];		  // 20: ISCSI_TAG_NONE when unsolicited
	uint8_t rsvd2[4];	  // 24
	uint8_t exp_stat_sn[4];	  // 28
	uint8_t rsvd3[4];	  // 32
	uint8_t data_sn[4];	  // 36
	uint8_t buffer_offset[4]; // 40
	uint8_t rsvd4[4];	  // 44
};
_Static_assert(sizeof(struct iscsi_data_out) == ISCSI_BHS_LEN, "iscsi_data_out");
_Static_assert(offsetof(struct iscsi_data_out, itt) == 16, "iscsi_data_out.itt");
_Static_assert(offsetof(struct iscsi_data_out, exp_stat_sn) == 28, "iscsi_data_out.exp_stat_sn");
_Static_assert(offsetof(struct iscsi_data_out, data_sn) == 36, "iscsi_data_out.data_sn");
_Static_assert(offsetof(struct iscsi_data_out, buffer_offset) == 40,
	       "iscsi_data_out.buffer_offset");

// SCSI Data-In [RFC 7143 §11.7]
struct iscsi_data_in {
	uint8_t opcode;		  // 0
	uint8_t flags;		  // 1
	uint8_t rsvd1;		  // 2
	uint8_t status;		  // 3: with ISCSI_DATA_S only
	uint8_t ahs_len;	  // 4
	uint8_t data_len[3];	  // 5
	uint8_t lun[8];		  // 8: with ISCSI_DATA_A only
	uint8_t itt[4];		  // 16
	uint8_t ttt[4];		  // 20: with ISCSI_DATA_A only, else ISCSI_TAG_NONE
	uint8_t stat_sn[4];	  // 24: with ISCSI_DATA_S only
	uint8_t exp_cmd_sn[4];	  // 28
	uint8_t max_cmd_sn[4];	  // 32
	uint8_t data_sn[4];	  // 36
	uint8_t buffer_offset[4]; // 40
	uint8_t residual[4];	  // 44: with ISCSI_DATA_S only
};
_Static_assert(sizeof(struct iscsi_data_in) == ISCSI_BHS_LEN, "iscsi_data_in");
_Static_assert(offsetof(struct iscsi_data_in, itt) == 16, "iscsi_data_in.itt");
_Static_assert(offsetof(struct iscsi_data_in, stat_sn) == 24, "iscsi_data_in.stat_sn");
_Static_assert(offsetof(struct iscsi_data_in, data_sn) == 36, "iscsi_data_in.data_sn");
_Static_assert(offsetof(struct iscsi_data_in, buffer_offset) == 40, "iscsi_data_in.buffer_offset");
_Static_assert(offsetof(struct iscsi_data_in, residual) == 44, "iscsi_data_in.residual");

// Ready To Transfer [RFC 7143 §11.8]
struct iscsi_r2t {
	uint8_t opcode;		  // 0
	uint8_t flags;		  // 1
	uint8_t rsvd1[2];	  // 2
	uint8_t ahs_len;	  // 4
	uint8_t data_len[3];	  // 5
	uint8_t lun[8];		  // 8
	uint8_t itt[4];		  // 16
	uint8_t ttt[4];		  // 20
	uint8_t stat_sn[4];	  // 24: the next one, not advanced
	uint8_t exp_cmd_sn[4];	  // 28
	uint8_t max_cmd_sn[4];	  // 32
	uint8_t r2t_sn[4];	  // 36
	uint8_t buffer_offset[4]; // 40
	uint8_t desired_len[4];	  // 44
};
_Static_assert(sizeof(struct iscsi_r2t) == ISCSI_BHS_LEN, "iscsi_r2t");
_Static_assert(offsetof(struct iscsi_r2t, itt) == 16, "iscsi_r2t.itt");
_Static_assert(offsetof(struct iscsi_r2t, stat_sn) == 24, "iscsi_r2t.stat_sn");
_Static_assert(offsetof(struct iscsi_r2t, buffer_offset) == 40, "iscsi_r2t.buffer_offset");
_Static_assert(offsetof(struct iscsi_r2t, desired_len) == 44, "iscsi_r2t.desired_len");

// Asynchronous Message [RFC 7143 §11.9]
struct iscsi_async {
	uint8_t opcode;	       // 0
	uint8_t flags;	       // 1
	uint8_t rsvd1[2];      // 2
	uint8_t ahs_len;       // 4
	uint8_t data_len[3];   // 5
	uint8_t lun[8];	       // 8
	uint8_t itt[4];	       // 16: ISCSI_TAG_NONE
	uint8_t rsvd2[4];      // 20
	uint8_t stat_sn[4];    // 24
	uint8_t exp_cmd_sn[4]; // 28
	uint8_t max_cmd_sn[4]; // 32
	uint8_t event;	       // 36
	uint8_t vcode;	       // 37
	uint8_t param1[2];     // 38
	uint8_t param2[2];     // 40
	uint8_t param3[2];     // 42
	uint8_t rsvd3[4];      // 44
};
_Static_assert(sizeof(struct iscsi_async) == ISCSI_BHS_LEN, "iscsi_async");
_Static_assert(offsetof(struct iscsi_async, itt) == 16, "iscsi_async.itt");
_Static_assert(offsetof(struct iscsi_async, stat_sn) == 24, "iscsi_async.stat_sn");
_Static_assert(offsetof(struct iscsi_async, event) == 36, "iscsi_async.event");

// Logout Request [RFC 7143 §11.14]
struct iscsi_logout_req {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t rsvd1[2];	// 2
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t rsvd2[8];	// 8
	uint8_t itt[4];		// 16
	uint8_t cid[2];		// 20
	uint8_t rsvd3[2];	// 22
	uint8_t cmd_sn[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t rsvd4[16];	// 32
};
_Static_assert(sizeof(struct iscsi_logout_req) == ISCSI_BHS_LEN, "iscsi_logout_req");
_Static_assert(offsetof(struct iscsi_logout_req, itt) == 16, "iscsi_logout_req.itt");
_Static_assert(offsetof(struct iscsi_logout_req, cmd_sn) == 24, "iscsi_logout_req.cmd_sn");
_Static_assert(offsetof(struct iscsi_logout_req, exp_stat_sn) == 28,
	       "iscsi_logout_req.exp_stat_sn");

// Logout Response [RFC 7143 §11.15]
struct iscsi_logout_rsp {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t response;	// 2
	uint8_t rsvd1;		// 3
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t rsvd2[8];	// 8
	uint8_t itt[4];		// 16
	uint8_t rsvd3[4];	// 20
	uint8_t stat_sn[4];	// 24
	uint8_t exp_cmd_sn[4];	// 28
	uint8_t max_cmd_sn[4];	// 32
	uint8_t rsvd4[4];	// 36
	uint8_t time2wait[2];	// 40
	uint8_t time2retain[2]; // 42
	uint8_t rsvd5[4];	// 44
};
_Static_assert(sizeof(struct iscsi_logout_rsp) == ISCSI_BHS_LEN, "iscsi_logout_rsp");
_Static_assert(offsetof(struct iscsi_logout_rsp, itt) == 16, "iscsi_logout_rsp.itt");
_Static_assert(offsetof(struct iscsi_logout_rsp, stat_sn) == 24, "iscsi_logout_rsp.stat_sn");
_Static_assert(offsetof(struct iscsi_logout_rsp, time2wait) == 40, "iscsi_logout_rsp.time2wait");

// SNACK Request [RFC 7143 §11.16]
struct iscsi_snack {
	uint8_t opcode;		// 0
	uint8_t flags;		// 1
	uint8_t rsvd1[2];	// 2
	uint8_t ahs_len;	// 4
	uint8_t data_len[3];	// 5
	uint8_t lun[8];		// 8
	uint8_t itt[4];		// 16
	uint8_t ttt[4];		// 20: or SNACK tag
	uint8_t rsvd2[4];	// 24
	uint8_t exp_stat_sn[4]; // 28
	uint8_t rsvd3[8];	// 32
	uint8_t beg_run[4];	// 40
	uint8_t run_len[4];	// 44
};
_Static_assert(sizeof(struct iscsi_snack) == ISCSI_BHS_LEN, "iscsi_snack");
_Static_assert(offsetof(struct iscsi_snack, itt) == 16, "iscsi_snack.itt");
_Static_assert(offsetof(struct iscsi_snack, exp_stat_sn) == 28, "iscsi_snack.exp_stat_sn");
_Static_assert(offsetof(struct iscsi_snack, run_len) == 44, "iscsi_snack.run_len");

// Reject; its data is the header of the bad PDU [RFC 7143 §11.17]
struct iscsi_reject {
	uint8_t opcode;	       // 0
	uint8_t flags;	       // 1
	uint8_t reason;	       // 2
	uint8_t rsvd1;	       // 3
	uint8_t ahs_len;       // 4
	uint8_t data_len[3];   // 5
	uint8_t rsvd2[8];      // 8
	uint8_t itt[4];	       // 16: ISCSI_TAG_NONE
	uint8_t rsvd3[4];      // 20
	uint8_t stat_sn[4];    // 24
	uint8_t exp_cmd_sn[4]; // 28
	uint8_t max_cmd_sn[4]; // 32
	uint8_t data_sn[4];    // 36
	uint8_t rsvd4[8];      // 40
};
_Static_assert(sizeof(struct iscsi_reject) == ISCSI_BHS_LEN, "iscsi_reject");
_Static_assert(offsetof(struct iscsi_reject, itt) == 16, "iscsi_reject.itt");
_Static_assert(offsetof(struct iscsi_reject, stat_sn) == 24, "iscsi_reject.stat_sn");
_Static_assert(offsetof(struct iscsi_reject, data_sn) == 36, "iscsi_reject.data_sn");
