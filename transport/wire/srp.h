// SPDX-License-Identifier: BSD-2-Clause
// SRP on the wire: information units (IU), buffer descriptors, the login as the connection
// manager's private data. Constants and layouts only; multi-byte fields are big-endian byte arrays
// to be read and written with be.h. T10 SRP-r16a; immediate data, and the login's layout for
// RDMA-CM, are those of Linux.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum srp_opcode {
	// Initiator to target.
	SRP_LOGIN_REQ = 0x00,
	SRP_TSK_MGMT = 0x01,
	SRP_CMD = 0x02,
	SRP_I_LOGOUT = 0x03,
	SRP_CRED_RSP = 0x41,
	SRP_AER_RSP = 0x42,
	// Target to initiator.
	SRP_T_LOGOUT = 0x80,
	SRP_CRED_REQ = 0x81,
	SRP_AER_REQ = 0x82,
	SRP_LOGIN_RSP = 0xc0,
	SRP_RSP = 0xc1,
	SRP_LOGIN_REJ = 0xc2,
};

enum {
	SRP_PORT_ID_LEN = 16,
	SRP_LOGIN_REQ_LEN = 64,	   // private data of IB-CM
	SRP_LOGIN_REQ_CM_LEN = 56, // private data of RDMA-CM
	SRP_LOGIN_RSP_LEN = 52,
	SRP_LOGIN_REJ_LEN = 32,
	SRP_TSK_MGMT_LEN = 48,
	SRP_CMD_LEN = 48,     // without additional CDB and descriptors
	SRP_RSP_LEN = 36,     // without response data and sense data
	SRP_SHORT_LEN = 16,   // I_LOGOUT, T_LOGOUT, CRED_REQ, CRED_RSP, AER_RSP
	SRP_AER_REQ_LEN = 36, // without sense data
	SRP_DIRECT_LEN = 16,
	SRP_INDIRECT_LEN = 20, // without the descriptors of its table
	SRP_IMMEDIATE_LEN = 4,
	SRP_RSP_DATA_LEN = 4, // response data of a task management response, or of a refused IU
	SRP_IU_MIN = 64,      // of the initiator's IUs: what every target accepts
	SRP_CDB_LEN = 16,
};

// Formats of buffer descriptors, in a nibble of CMD and as bits 1 << format of the login.
enum {
	SRP_NO_DATA = 0,
	SRP_DIRECT = 1,
	SRP_INDIRECT = 2,
	SRP_IMMEDIATE = 3, // data-out only
	SRP_FMT_DIRECT = 1 << SRP_DIRECT,
	SRP_FMT_INDIRECT = 1 << SRP_INDIRECT,
};

// req_flags of LOGIN_REQ.
enum {
	SRP_MULTICHAN_MASK = 0x03,
	SRP_MULTICHAN_SINGLE = 0x00, // other channels of the nexus end
	SRP_MULTICHAN_MULTI = 0x01,  // they continue
	SRP_LOGOUT_SOLNT = 0x10,     // T_LOGOUT, CRED_REQ, AER_REQ: solicited, please
	SRP_CRED_SOLNT = 0x20,
	SRP_AER_SOLNT = 0x40,
	SRP_IMMED_REQUESTED = 0x80,
};

// rsp_flags of LOGIN_RSP.
enum {
	SRP_MULTICHAN_NONE = 0x00,	 // there was no other channel
	SRP_MULTICHAN_TERMINATED = 0x01, // others have ended
	SRP_MULTICHAN_MAINTAINED = 0x02, // others continue
	SRP_IMMED_SUPPORTED = 0x80,
};

// sol_not of CMD and TSK_MGMT.
enum {
	SRP_SCSOLNT = 0x02, // a successful response is to be solicited
	SRP_UCSOLNT = 0x04, // ... an unsuccessful one
};

enum srp_rej_reason {
	SRP_REJ_UNABLE_TO_ESTABLISH = 0x00010000,
	SRP_REJ_INSUFFICIENT_RESOURCES = 0x00010001,
	SRP_REJ_IU_TOO_LARGE = 0x00010002,
	SRP_REJ_NO_SUCH_PORT = 0x00010003, // unable to associate channel with I_T nexus
	SRP_REJ_UNSUPPORTED_FORMAT = 0x00010004,
	SRP_REJ_MULTICHAN_UNSUPPORTED = 0x00010005,
	SRP_REJ_CHANNEL_LIMIT = 0x00010006,
};

// Reasons of T_LOGOUT.
enum srp_logout_reason {
	SRP_LOGOUT_NO_REASON = 0,
	SRP_LOGOUT_INACTIVE = 1,
	SRP_LOGOUT_INVALID_IU = 2,
	SRP_LOGOUT_SPURIOUS_RSP = 3,
	SRP_LOGOUT_NEW_LOGIN = 4,
	SRP_LOGOUT_NO_TARGET_PORT = 5,
	SRP_LOGOUT_UNSUPPORTED_FORMAT = 6,
	SRP_LOGOUT_BAD_MESSAGE = 7,
	SRP_LOGOUT_BAD_MULTICHAN = 8,
};

enum srp_tmf {
	SRP_TMF_ABORT_TASK = 0x01,
	SRP_TMF_ABORT_TASK_SET = 0x02,
	SRP_TMF_CLEAR_TASK_SET = 0x04,
	SRP_TMF_LUN_RESET = 0x08,
	SRP_TMF_CLEAR_ACA = 0x40,
};

// RSP_CODE, byte 3 of the response data.
enum srp_rsp_code {
	SRP_RSP_COMPLETE = 0,
	SRP_RSP_INVALID_FIELDS = 2,
	SRP_RSP_TMF_UNSUPPORTED = 4,
	SRP_RSP_TMF_FAILED = 5,
};

// flags of RSP.
enum {
	SRP_RSPVALID = 0x01,
	SRP_SNSVALID = 0x02,
	SRP_DOOVER = 0x04,
	SRP_DOUNDER = 0x08,
	SRP_DIOVER = 0x10,
	SRP_DIUNDER = 0x20,
};

// Task attributes of CMD.
enum {
	SRP_ATTR_SIMPLE = 0,
	SRP_ATTR_HEAD_OF_QUEUE = 1,
	SRP_ATTR_ORDERED = 2,
	SRP_ATTR_ACA = 4,
	SRP_ATTR_MASK = 7,
};

struct srp_direct_desc {
	uint8_t va[8];	// 0
	uint8_t key[4]; // 8
	uint8_t len[4]; // 12
};
_Static_assert(sizeof(struct srp_direct_desc) == SRP_DIRECT_LEN, "srp_direct_desc");

// The table's descriptors follow, at least those that fit into the IU.
struct srp_indirect_desc {
	struct srp_direct_desc table; // 0: the whole table in the initiator's memory
	uint8_t len[4];		      // 16: of the data
};
_Static_assert(sizeof(struct srp_indirect_desc) == SRP_INDIRECT_LEN, "srp_indirect_desc");

struct srp_login_req {
	uint8_t opcode;			    // 0
	uint8_t rsvd1[7];		    // 1
	uint8_t tag[8];			    // 8
	uint8_t req_it_iu_len[4];	    // 16
	uint8_t rsvd2[4];		    // 20
	uint8_t req_buf_fmt[2];		    // 24
	uint8_t req_flags;		    // 26
	uint8_t rsvd3;			    // 27
	uint8_t imm_data_offset[2];	    // 28
	uint8_t rsvd4[2];		    // 30
	uint8_t initiator[SRP_PORT_ID_LEN]; // 32
	uint8_t target[SRP_PORT_ID_LEN];    // 48
};
_Static_assert(sizeof(struct srp_login_req) == SRP_LOGIN_REQ_LEN, "srp_login_req");
_Static_assert(offsetof(struct srp_login_req, imm_data_offset) == 28, "imm_data_offset");

struct srp_login_req_cm {
	uint8_t tag[8];			    // 0
	uint8_t req_buf_fmt[2];		    // 8
	uint8_t req_flags;		    // 10
	uint8_t opcode;			    // 11
	uint8_t req_it_iu_len[4];	    // 12
	uint8_t initiator[SRP_PORT_ID_LEN]; // 16
	uint8_t target[SRP_PORT_ID_LEN];    // 32
	uint8_t imm_data_offset[2];	    // 48
	uint8_t rsvd[6];		    // 50
};
_Static_assert(sizeof(struct srp_login_req_cm) == SRP_LOGIN_REQ_CM_LEN, "srp_login_req_cm");

struct srp_login_rsp {
	uint8_t opcode;		  // 0
	uint8_t rsvd1[3];	  // 1
	uint8_t req_lim_delta[4]; // 4
	uint8_t tag[8];		  // 8
	uint8_t max_it_iu_len[4]; // 16
	uint8_t max_ti_iu_len[4]; // 20
	uint8_t buf_fmt[2];	  // 24
	uint8_t rsp_flags;	  // 26
	uint8_t rsvd2[25];	  // 27
};
_Static_assert(sizeof(struct srp_login_rsp) == SRP_LOGIN_RSP_LEN, "srp_login_rsp");

struct srp_login_rej {
	uint8_t opcode;	    // 0
	uint8_t rsvd1[3];   // 1
	uint8_t reason[4];  // 4
	uint8_t tag[8];	    // 8
	uint8_t rsvd2[8];   // 16
	uint8_t buf_fmt[2]; // 24
	uint8_t rsvd3[6];   // 26
};
_Static_assert(sizeof(struct srp_login_rej) == SRP_LOGIN_REJ_LEN, "srp_login_rej");

// I_LOGOUT, CRED_RSP, AER_RSP; T_LOGOUT, where value is the reason; CRED_REQ, where it is
// req_lim_delta.
struct srp_short {
	uint8_t opcode;	  // 0
	uint8_t sol_not;  // 1
	uint8_t rsvd[2];  // 2
	uint8_t value[4]; // 4
	uint8_t tag[8];	  // 8
};
_Static_assert(sizeof(struct srp_short) == SRP_SHORT_LEN, "srp_short");

struct srp_tsk_mgmt {
	uint8_t opcode;	     // 0
	uint8_t sol_not;     // 1
	uint8_t rsvd1[6];    // 2
	uint8_t tag[8];	     // 8
	uint8_t rsvd2[4];    // 16
	uint8_t lun[8];	     // 20
	uint8_t rsvd3[2];    // 28
	uint8_t function;    // 30
	uint8_t rsvd4;	     // 31
	uint8_t task_tag[8]; // 32
	uint8_t rsvd5[8];    // 40
};
_Static_assert(sizeof(struct srp_tsk_mgmt) == SRP_TSK_MGMT_LEN, "srp_tsk_mgmt");

// Additional CDB bytes, descriptors of data-out, descriptors of data-in follow.
struct srp_cmd {
	uint8_t opcode;		  // 0
	uint8_t sol_not;	  // 1
	uint8_t rsvd1[3];	  // 2
	uint8_t buf_fmt;	  // 5: data-out << 4 | data-in
	uint8_t out_count;	  // 6: descriptors of an indirect table in this IU
	uint8_t in_count;	  // 7
	uint8_t tag[8];		  // 8
	uint8_t rsvd2[4];	  // 16
	uint8_t lun[8];		  // 20
	uint8_t rsvd3;		  // 28
	uint8_t attr;		  // 29
	uint8_t rsvd4;		  // 30
	uint8_t add_cdb_len;	  // 31: & ~3: bytes
	uint8_t cdb[SRP_CDB_LEN]; // 32
};
_Static_assert(sizeof(struct srp_cmd) == SRP_CMD_LEN, "srp_cmd");
_Static_assert(offsetof(struct srp_cmd, lun) == 20, "srp_cmd.lun");
_Static_assert(offsetof(struct srp_cmd, cdb) == 32, "srp_cmd.cdb");

// Response data and sense data follow.
struct srp_rsp {
	uint8_t opcode;		  // 0
	uint8_t sol_not;	  // 1
	uint8_t rsvd1[2];	  // 2
	uint8_t req_lim_delta[4]; // 4
	uint8_t tag[8];		  // 8
	uint8_t rsvd2[2];	  // 16
	uint8_t flags;		  // 18
	uint8_t status;		  // 19
	uint8_t out_residual[4];  // 20
	uint8_t in_residual[4];	  // 24
	uint8_t sense_len[4];	  // 28
	uint8_t rsp_len[4];	  // 32
};
_Static_assert(sizeof(struct srp_rsp) == SRP_RSP_LEN, "srp_rsp");
_Static_assert(offsetof(struct srp_rsp, status) == 19, "srp_rsp.status");

// Sense data follows.
struct srp_aer_req {
	uint8_t opcode;		  // 0
	uint8_t sol_not;	  // 1
	uint8_t rsvd1[2];	  // 2
	uint8_t req_lim_delta[4]; // 4
	uint8_t tag[8];		  // 8
	uint8_t rsvd2[4];	  // 16
	uint8_t lun[8];		  // 20
	uint8_t sense_len[4];	  // 28
	uint8_t rsvd3[4];	  // 32
};
_Static_assert(sizeof(struct srp_aer_req) == SRP_AER_REQ_LEN, "srp_aer_req");

// Discovery, farblock's own: page C0h of vital product data. Entries follow, each with its NUL:
// "ib.", 32 hex digits, a blank, the portals with commas between them.
struct srp_list_page {
	uint8_t type;	      // 0: SRP_LIST_TYPE
	uint8_t page_code;    // 1
	uint8_t page_len[2];  // 2: of what follows
	uint8_t signature[8]; // 4: "farblock"
	uint8_t version;      // 12
	uint8_t flags;	      // 13: SRP_LIST_CUT
	uint8_t rsvd[2];      // 14
};
_Static_assert(sizeof(struct srp_list_page) == 16, "srp_list_page");
enum {
	SRP_LIST_TYPE = 0x3f, // no device is connected to this logical unit
	SRP_LIST_CUT = 0x01,  // not all targets are listed
};
