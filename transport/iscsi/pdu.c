// SPDX-License-Identifier: BSD-2-Clause
// Checks a received header: one row per opcode with its receiver, phases, properties and check of
// flags. RFC 7143 §11.
#include "transport/iscsi/pdu.h"

#include <errno.h>
#include <string.h>

#include "transport/wire/be.h"

enum {
	IN_LOGIN = 1 << ISCSI_PHASE_LOGIN,
	IN_DISCOVERY = 1 << ISCSI_PHASE_DISCOVERY,
	IN_FFP = 1 << ISCSI_PHASE_FULL_FEATURE,
	HAS_AHS = 1,
	HAS_DATA = 2,
	HAS_ITT = 4, // the tag must not be the reserved value
};

struct row {
	uint8_t role; // enum iscsi_role of the receiver
	uint8_t phases;
	uint8_t has;
	const char *name;
	// 0 or the reason for a Reject; an initiator closes the connection instead.
	int (*check)(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause);
};

static int fail(const char **ret_cause, int reason, const char *cause)
{
	*ret_cause = cause;
	return reason;
}

static uint32_t itt_of(const uint8_t *bhs)
{
	return get_be32(bhs + offsetof(struct iscsi_bhs, itt));
}

static uint32_t ttt_of(const uint8_t *bhs)
{
	return get_be32(bhs + offsetof(struct iscsi_nop_out, ttt));
}

static int check_nop_out(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (itt_of(bhs) == ISCSI_TAG_NONE && !pdu->is_immediate)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "no task tag, but not immediate");
	return 0;
}

static int check_scsi_cmd(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (!(bhs[1] & (ISCSI_F | ISCSI_CMD_W)))
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "neither F nor W is set");
	return 0;
}

static int check_text(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (bhs[1] & ISCSI_F && bhs[1] & ISCSI_TEXT_C)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "F and C are both set");
	return 0;
}

static int check_text_rsp(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (!(bhs[1] & ISCSI_F) && ttt_of(bhs) == ISCSI_TAG_NONE)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "not final, but no target tag");
	return check_text(bhs, pdu, ret_cause);
}

static int check_login(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (bhs[1] & ISCSI_LOGIN_T && bhs[1] & ISCSI_LOGIN_C)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "T and C are both set");
	return 0;
}

// Error recovery level 0 does not retransmit.
static int check_snack(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	return fail(ret_cause, ISCSI_REJECT_SNACK, "ErrorRecoveryLevel is 0");
}

static int check_nop_in(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (itt_of(bhs) == ISCSI_TAG_NONE && pdu->data_len)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "unsolicited, but has data");
	return 0;
}

static int check_scsi_rsp(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	const uint8_t ou = ISCSI_RSP_OVERFLOW | ISCSI_RSP_UNDERFLOW;
	const uint8_t bidi = ISCSI_RSP_BIDI_OVERFLOW | ISCSI_RSP_BIDI_UNDERFLOW;
	if (!(bhs[1] & ISCSI_F))
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "F is not set");
	if ((bhs[1] & ou) == ou || (bhs[1] & bidi) == bidi)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL,
			    "overflow and underflow are both set");
	return 0;
}

static int check_data_in(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	const uint8_t ou = ISCSI_RSP_OVERFLOW | ISCSI_RSP_UNDERFLOW;
	if (bhs[1] & ISCSI_DATA_A)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "A is set at ErrorRecoveryLevel 0");
	if (bhs[1] & ISCSI_DATA_S && !(bhs[1] & ISCSI_F))
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "status before the last PDU");
	if (bhs[1] & ou && ((bhs[1] & ou) == ou || !(bhs[1] & ISCSI_DATA_S)))
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL,
			    "both residual flags, or residual without status");
	return 0;
}

static int check_r2t(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (ttt_of(bhs) == ISCSI_TAG_NONE)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "no target tag");
	if (!get_be32(bhs + offsetof(struct iscsi_r2t, desired_len)))
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "requests no data");
	return 0;
}

static int check_async(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (bhs[offsetof(struct iscsi_async, event)] == ISCSI_ASYNC_SCSI && pdu->data_len < 2)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "SCSI event without sense");
	return 0;
}

static int check_reject(const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (pdu->data_len < ISCSI_BHS_LEN)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "rejected header is missing");
	return 0;
}

#define T ISCSI_ROLE_TARGET
#define I ISCSI_ROLE_INITIATOR
// A discovery session permits only Text and Logout [RFC 7143 §4.3, §7.4.3]. clang-format off
static const struct row rows[ISCSI_OP_MASK + 1] = {
	[ISCSI_OP_NOP_OUT] = {T,  IN_FFP,		  HAS_DATA,			    "NOP-Out",		       check_nop_out },
	[ISCSI_OP_SCSI_CMD] = { T, IN_FFP,		   HAS_AHS | HAS_DATA | HAS_ITT, "SCSI Command",
				check_scsi_cmd										     },
	[ISCSI_OP_TMF_REQ] = { T, IN_FFP,		  HAS_ITT,			   "Task Management Request",  NULL	   },
	[ISCSI_OP_LOGIN_REQ] = { T, IN_LOGIN,	      HAS_DATA,			"Login Request",		 check_login   },
	[ISCSI_OP_TEXT_REQ] = { T, IN_FFP | IN_DISCOVERY, HAS_DATA | HAS_ITT,	      "Text Request",
				check_text											 },
	[ISCSI_OP_DATA_OUT] = { T, IN_FFP,		   HAS_DATA | HAS_ITT,	       "Data-Out",		   NULL		},
	[ISCSI_OP_LOGOUT_REQ] = { T, IN_FFP | IN_DISCOVERY, HAS_ITT,			     "Logout Request",	       NULL	    },
	[ISCSI_OP_SNACK] = { T, IN_FFP,		0,				   "SNACK Request",	    check_snack	},
	[ISCSI_OP_NOP_IN] = { I, IN_FFP | IN_DISCOVERY, HAS_DATA,			  "NOP-In",		    check_nop_in	 },
	[ISCSI_OP_SCSI_RSP] = { I, IN_FFP,		   HAS_DATA | HAS_ITT,	       "SCSI Response",		check_scsi_rsp},
	[ISCSI_OP_TMF_RSP] = { I, IN_FFP,		  HAS_ITT,			   "Task Management Response", NULL	    },
	[ISCSI_OP_LOGIN_RSP] = { I, IN_LOGIN,	      HAS_DATA,			"Login Response",		  check_login   },
	[ISCSI_OP_TEXT_RSP] = { I, IN_FFP | IN_DISCOVERY, HAS_DATA | HAS_ITT,	      "Text Response",
				check_text_rsp										     },
	[ISCSI_OP_DATA_IN] = { I, IN_FFP,		  HAS_DATA | HAS_ITT,	      "Data-In",			 check_data_in },
	[ISCSI_OP_LOGOUT_RSP] = { I, IN_FFP | IN_DISCOVERY, HAS_ITT,			     "Logout Response",		NULL	     },
	[ISCSI_OP_R2T] = { I, IN_FFP,		      HAS_ITT,		       "R2T",		      check_r2t	},
	[ISCSI_OP_ASYNC] = { I, IN_FFP | IN_DISCOVERY, HAS_DATA,			 "Async Message",		  check_async   },
	[ISCSI_OP_REJECT] = { I, IN_FFP | IN_DISCOVERY, HAS_DATA,			  "Reject",		    check_reject	 },
};
// clang-format on
#undef T
#undef I

static const struct row *find_row(uint8_t opcode)
{
	const struct row *r = &rows[opcode & ISCSI_OP_MASK];
	return r->name ? r : NULL;
}

const char *iscsi_opcode_name(uint8_t opcode)
{
	const struct row *r = find_row(opcode);
	return r ? r->name : "unknown";
}

void iscsi_pdu_decode(const uint8_t bhs[ISCSI_BHS_LEN], struct iscsi_pdu *ret)
{
	ret->opcode = bhs[0] & ISCSI_OP_MASK;
	ret->is_immediate = bhs[0] & ISCSI_I;
	ret->ahs_len = bhs[offsetof(struct iscsi_bhs, ahs_len)] * 4u;
	ret->data_len = get_be24(bhs + offsetof(struct iscsi_bhs, data_len));
	ret->pad_len = -ret->data_len & 3;
}

static int judge(const struct row *r, enum iscsi_role role, enum iscsi_phase phase,
		 const uint8_t *bhs, const struct iscsi_pdu *pdu, const char **ret_cause)
{
	if (!r)
		return fail(ret_cause, ISCSI_REJECT_NOT_SUPPORTED, "unknown opcode");
	if (r->role != role)
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "wrong direction");
	if (!(r->phases & (1 << phase)))
		return fail(ret_cause, ISCSI_REJECT_PROTOCOL, "not allowed in this phase");
	if (pdu->ahs_len && !(r->has & HAS_AHS))
		return fail(ret_cause, ISCSI_REJECT_INVALID_FIELD, "AHS not allowed");
	if (pdu->data_len && !(r->has & HAS_DATA))
		return fail(ret_cause, ISCSI_REJECT_INVALID_FIELD, "data not allowed");
	if (r->has & HAS_ITT && itt_of(bhs) == ISCSI_TAG_NONE)
		return fail(ret_cause, ISCSI_REJECT_INVALID_FIELD, "no initiator task tag");
	return r->check ? r->check(bhs, pdu, ret_cause) : 0;
}

int iscsi_pdu_check(enum iscsi_role role, enum iscsi_phase phase, const uint8_t bhs[ISCSI_BHS_LEN],
		    uint32_t max_data, struct iscsi_pdu *ret, struct err *e)
{
	iscsi_pdu_decode(bhs, ret);
	const struct row *r = find_row(ret->opcode);
	const char *name = r ? r->name : "PDU";
	if (ret->data_len > max_data)
		return err_set(e, -EPROTO, "%s 0x%02x: data segment of %u bytes (at most %u)", name,
			       ret->opcode, ret->data_len, max_data);
	const char *cause = "";
	int reason = judge(r, role, phase, bhs, ret, &cause);
	if (!reason)
		return 0;
	err_set(e, -EPROTO, "%s 0x%02x: %s", name, ret->opcode, cause);
	// Only a target sends Reject, and never during a login.
	bool must_close = role == ISCSI_ROLE_INITIATOR || phase == ISCSI_PHASE_LOGIN ||
			  ret->opcode == ISCSI_OP_LOGIN_REQ;
	return must_close ? -EPROTO : reason;
}

static int parse_one(const uint8_t *ahs, uint32_t len, struct iscsi_ahs_info *ret, struct err *e)
{
	switch (ahs[offsetof(struct iscsi_ahs, type)]) {
	case ISCSI_AHS_EXTENDED_CDB:
		if (ret->cdb_ext || len < 2 || len - 1 > ISCSI_CDB_MAX - ISCSI_CDB_LEN) {
			err_set(e, -EPROTO, "AHS: extended CDB is invalid (%u bytes) or repeated",
				len);
			return ISCSI_REJECT_INVALID_FIELD;
		}
		ret->cdb_ext = ahs + sizeof(struct iscsi_ahs);
		ret->cdb_ext_len = len - 1;
		return 0;
	case ISCSI_AHS_BIDI_READ_LEN:
		if (ret->has_bidi_read || len != 5) {
			err_set(e, -EPROTO,
				"AHS: bidirectional read length is invalid (%u bytes) or repeated",
				len);
			return ISCSI_REJECT_INVALID_FIELD;
		}
		ret->has_bidi_read = true;
		ret->bidi_read_len = get_be32(ahs + sizeof(struct iscsi_ahs));
		return 0;
	default:
		err_set(e, -EPROTO, "AHS: unknown type %u", ahs[2]);
		return ISCSI_REJECT_NOT_SUPPORTED;
	}
}

int iscsi_ahs_parse(const uint8_t *ahs, size_t len, struct iscsi_ahs_info *ret, struct err *e)
{
	*ret = (struct iscsi_ahs_info){ 0 };
	while (len) {
		// AHSLength counts from byte 3 on; each AHS is padded to four bytes.
		size_t own = len >= sizeof(struct iscsi_ahs) ? get_be16(ahs) : 0;
		size_t whole = (own + 3 + 3) & ~(size_t)3;
		if (!own || whole > len) {
			err_set(e, -EPROTO, "AHS: %zu bytes exceed the %zu left in the header", own,
				len);
			return ISCSI_REJECT_INVALID_FIELD;
		}
		int rc = parse_one(ahs, (uint32_t)own, ret, e);
		if (rc)
			return rc;
		ahs += whole;
		len -= whole;
	}
	return 0;
}
