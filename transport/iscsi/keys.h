// SPDX-License-Identifier: BSD-2-Clause
// Every text key as a row of one table, what a side is willing to accept (struct iscsi_offer) and
// the result of the negotiation (struct iscsi_params). RFC 7143 §6.2, §13; RFC 7144 §9; RFC 7145 §6
// for the rows that apply to RDMA only.
//
// Pure functions over caller-owned structs: any thread, nothing blocks, nothing allocates.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/iscsi/text.h"

enum iscsi_key_id {
	ISCSI_KEY_AUTH_METHOD,
	ISCSI_KEY_CHAP_A,
	ISCSI_KEY_CHAP_I,
	ISCSI_KEY_CHAP_C,
	ISCSI_KEY_CHAP_N,
	ISCSI_KEY_CHAP_R,
	ISCSI_KEY_INITIATOR_NAME,
	ISCSI_KEY_INITIATOR_ALIAS,
	ISCSI_KEY_TARGET_NAME,
	ISCSI_KEY_TARGET_ALIAS,
	ISCSI_KEY_TARGET_ADDRESS,
	ISCSI_KEY_TARGET_PORTAL_GROUP_TAG,
	ISCSI_KEY_SESSION_TYPE,
	ISCSI_KEY_SEND_TARGETS,
	ISCSI_KEY_HEADER_DIGEST,
	ISCSI_KEY_DATA_DIGEST,
	ISCSI_KEY_MAX_CONNECTIONS,
	ISCSI_KEY_INITIAL_R2T,
	ISCSI_KEY_IMMEDIATE_DATA,
	ISCSI_KEY_MAX_RECV_DATA_SEGMENT_LENGTH,
	ISCSI_KEY_MAX_XMIT_DATA_SEGMENT_LENGTH, // a local limit, never on the wire
	ISCSI_KEY_MAX_BURST_LENGTH,
	ISCSI_KEY_FIRST_BURST_LENGTH,
	ISCSI_KEY_DEFAULT_TIME2WAIT,
	ISCSI_KEY_DEFAULT_TIME2RETAIN,
	ISCSI_KEY_MAX_OUTSTANDING_R2T,
	ISCSI_KEY_DATA_PDU_IN_ORDER,
	ISCSI_KEY_DATA_SEQUENCE_IN_ORDER,
	ISCSI_KEY_ERROR_RECOVERY_LEVEL,
	ISCSI_KEY_TASK_REPORTING,
	ISCSI_KEY_PROTOCOL_LEVEL,
	ISCSI_KEY_IF_MARKER,
	ISCSI_KEY_OF_MARKER,
	ISCSI_KEY_IF_MARK_INT,
	ISCSI_KEY_OF_MARK_INT,
	ISCSI_KEY_NODE_ARCHITECTURE,
	ISCSI_KEY_RDMA_EXTENSIONS,
	ISCSI_KEY_TARGET_RECV_DATA_SEGMENT_LENGTH,
	ISCSI_KEY_INITIATOR_RECV_DATA_SEGMENT_LENGTH,
	ISCSI_KEY_MAX_OUTSTANDING_UNEXPECTED_PDUS,
	ISCSI_KEY_MAX_AHS_LENGTH,
	ISCSI_KEY_TAGGED_BUFFER_ONLY,
	ISCSI_KEY_ISER_HELLO_REQUIRED,
	ISCSI_KEY_COUNT
};

enum iscsi_key_kind {
	ISCSI_KIND_STRING,  // declared; handled by the login code
	ISCSI_KIND_DECLARE, // declared number or boolean, without an answer
	ISCSI_KIND_LIST,    // the first offered value that the answering side accepts
	ISCSI_KIND_MIN,
	ISCSI_KIND_MAX,
	ISCSI_KIND_AND,
	ISCSI_KIND_OR,
	ISCSI_KIND_OBSOLETE, // answered with the row's text
};
enum { // who may send it
	ISCSI_BY_INITIATOR = 1,
	ISCSI_BY_TARGET = 2,
	ISCSI_BY_BOTH = 3,
};
enum { // in which stage it may be sent
	ISCSI_IN_SECURITY = 1,
	ISCSI_IN_OPERATIONAL = 2,
	ISCSI_IN_FULL_FEATURE = 4,
	ISCSI_IN_LOGIN = 3,
};
enum {
	ISCSI_KEY_LEADING = 1,	     // only on the leading connection of a session
	ISCSI_KEY_NOT_DISCOVERY = 2, // meaningless in a discovery session
	ISCSI_KEY_RDMA = 4,	     // only where the transport is RDMA (RFC 7145)
	ISCSI_KEY_TCP = 8,	     // not negotiated where the transport is RDMA
	ISCSI_KEY_CONFIG = 16,	     // can be set in an offer
	ISCSI_KEY_WHEN_SET = 32,     // an initiator offers it only if it differs from standard
	ISCSI_KEY_BOOL = 64,	     // DECLARE: Yes or No
};

struct iscsi_key {
	const char *name;
	enum iscsi_key_kind kind;
	uint8_t by, in, flags;
	uint32_t standard;	   // the result if neither side sends it (list: index of the value)
	uint32_t lo, hi;	   // legal numbers on the wire
	uint32_t ours;		   // our default in an offer (list: packed)
	uint32_t ours_lo, ours_hi; // values that an offer can be set to
	const char *const *values; // LIST: legal values, NULL-ended. OBSOLETE: [0] is the answer
	uint16_t value_max;	   // longest value in bytes
	uint16_t dest;		   // where in struct iscsi_params, or ISCSI_NO_DEST
	const char *help;	   // one line for a shell, CONFIG rows only
};
#define ISCSI_NO_DEST UINT16_MAX
extern const struct iscsi_key iscsi_keys[ISCSI_KEY_COUNT];

// The row of a key seen on the wire, or -1 (MaxXmitDataSegmentLength is not on the wire).
int iscsi_key_find(const char *name, size_t len);

enum iscsi_task_reporting { // RFC 7143 §13.23
	ISCSI_TASK_REPORTING_RFC3720,
	ISCSI_TASK_REPORTING_RESPONSE_FENCE,
	ISCSI_TASK_REPORTING_FAST_ABORT,
};

// The negotiated values: all that the data path needs. Lengths in bytes, times in seconds. Over
// RDMA the two *_data limits are those of the control-type PDUs (RFC 7145 §6.2).
struct iscsi_params {
	uint32_t max_recv_data; // longest data segment that the peer may send
	uint32_t max_send_data; // longest data segment that we may send
	uint32_t max_burst;
	uint32_t first_burst; // never above max_burst
	uint32_t max_outstanding_r2t;
	uint32_t max_connections;
	uint32_t time2wait, time2retain;
	uint32_t erl;
	uint32_t protocol_level;			// 1: RFC 7143, 2: RFC 7144
	uint32_t target_recv_data, initiator_recv_data; // iSER
	uint32_t max_unexpected_pdus; // iSER, as declared by the initiator; 0: no limit
	bool header_digest, data_digest;
	bool initial_r2t, immediate_data;
	bool data_pdu_in_order, data_sequence_in_order;
	bool rdma_extensions;
	bool tagged_solicited_only; // iSER: advertised memory begins after unsolicited data
	bool is_hello_required;	    // iSER: full feature phase begins with Hello and HelloReply
	bool is_discovery;
	uint8_t task_reporting; // enum iscsi_task_reporting
};

// One result by its key; the standard's value for keys without a field in struct iscsi_params.
uint32_t iscsi_key_load(unsigned id, const struct iscsi_params *p);
void iscsi_key_store(unsigned id, struct iscsi_params *p, uint32_t value);

// The standard's values, in force where nothing is negotiated.
void iscsi_params_init(struct iscsi_params *p);

// What one side is willing to accept. Filled by iscsi_offer_init and iscsi_offer_set.
struct iscsi_offer {
	uint32_t
		value[ISCSI_KEY_COUNT]; // lists: up to four (index + 1) bytes, first in the low one
	bool is_rdma;			// the connection is iSER: offer and require its keys
};

// Our defaults, for TCP.
void iscsi_offer_init(struct iscsi_offer *o);

// Sets one value by its key's name, in the form of a shell or a saved file ("262144", "Yes",
// "CRC32C,None"). -ENOENT: no such key, or not settable. -EINVAL, -ERANGE: e lists the accepted
// values.
int iscsi_offer_set(struct iscsi_offer *o, const char *name, const char *value, struct err *e);

// Writes the value of a CONFIG key as iscsi_offer_set takes it. 0, -ENOENT or -ENOSPC.
int iscsi_offer_get(const struct iscsi_offer *o, const char *name, char *ret, size_t size);

// A CONFIG key as text, for help, completion and documentation.
struct iscsi_offer_row {
	const char *name;
	const char *type; // "number", "boolean" or "list"
	char def[32], range[64];
	const char *help;
};

// Walks the CONFIG keys: *at starts at 0. False at the end.
bool iscsi_offer_next(unsigned *at, struct iscsi_offer_row *ret);

// The known keys of one text, in the order of arrival. Pointers go into that text.
struct iscsi_key_set {
	const char *value[ISCSI_KEY_COUNT]; // NULL: absent
	uint8_t order[ISCSI_KEY_COUNT];	    // ids; MaxBurstLength before FirstBurstLength
	unsigned count;
};

// Limit of keys, known or not, in one text.
enum { ISCSI_TEXT_KEYS_MAX = 128 };

// Collects len bytes of text. Unknown keys are answered NotUnderstood into unknown (may be
// NULL: they are dropped), unless their value is itself such an answer. -EPROTO: malformed, a
// duplicate key, a value too long, too many keys; -ENOSPC: unknown is full.
int iscsi_keys_collect(const void *text, size_t len, struct iscsi_key_set *ret,
		       struct text_out *unknown, struct err *e);

// Answers the offered value for key id by our own offer, appends the answer to out (if the kind has
// one) and stores the result. Illegal or unacceptable values are answered with Reject and leave the
// standard value; a malformed declaration is -EPROTO. -ENOSPC: out is full.
int iscsi_key_answer(unsigned id, const char *value, const struct iscsi_offer *o,
		     struct iscsi_params *p, struct text_out *out, struct err *e);

// Whether an initiator sends key id in its operational text.
bool iscsi_key_is_proposed(unsigned id, const struct iscsi_offer *o, bool is_discovery,
			   bool is_leading);

// Appends our offer of key id (initiator).
int iscsi_key_propose(unsigned id, const struct iscsi_offer *o, struct text_out *out);

// Processes the peer's answer to our offer of id; value is NULL if there was no answer. -EPROTO:
// our offer does not allow this answer.
int iscsi_key_accept(unsigned id, const char *value, const struct iscsi_offer *o,
		     struct iscsi_params *p, struct err *e);

// Makes the results consistent with each other (FirstBurstLength up to MaxBurstLength, our own
// limits) and with the offer. -EPROTO: a result that the offer excludes, such as no digest where
// one is required.
int iscsi_params_settle(struct iscsi_params *p, const struct iscsi_offer *o, unsigned role_by,
			struct err *e);
