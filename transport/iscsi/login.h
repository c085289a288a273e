// SPDX-License-Identifier: BSD-2-Clause
// The login phase of both roles as state machines: one PDU in, one PDU out. No I/O, no
// threads, no clock; the caller reads and writes PDUs and owns the timer.
// RFC 7143 §6.3, §9.2.1, §11.12, §11.13.
//
// A struct login belongs to the thread that runs the connection. It is large (about 32 KiB) and
// needed only until the login ends: allocate it, log in, copy login_params, login_done, free.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/iscsi/chap.h"
#include "transport/iscsi/keys.h"
#include "transport/iscsi/pdu.h"
#include "transport/iscsi/text.h"
#include "transport/wire/iscsi.h"

enum {
	LOGIN_TEXT_MAX = 16384,	  // of one text, all its PDUs joined
	LOGIN_EXCHANGES_MAX = 32, // PDUs from the peer in one login
	LOGIN_ALIAS_MAX = 255,
	LOGIN_ADDRESS_MAX = 255,
};

enum login_outcome {
	LOGIN_CONTINUE,	    // send the PDU, then wait for the peer's next
	LOGIN_WAIT,	    // target: nothing to send until login_target_resume
	LOGIN_FULL_FEATURE, // target: send the PDU. Both: login_params apply after it
	LOGIN_REFUSED,	    // target: send the PDU, then close
	LOGIN_DROP,	    // target: close without a response
	LOGIN_REDIRECT,	    // initiator: close, log in at the address
	LOGIN_FAILED,	    // initiator: close
};

// The result of a step. text points into the login and is valid until the next call on it.
struct login_reply {
	enum login_outcome outcome;
	bool has_pdu;
	uint8_t bhs[ISCSI_BHS_LEN]; // complete, DataSegmentLength included
	const char *text;	    // unpadded
	uint32_t text_len;
	uint16_t status; // enum iscsi_login_status; initiator: as received
	struct err err;	 // REFUSED, DROP, REDIRECT, FAILED: the reason, for log and metrics
};

// Who logs in where. Names are normalised (name.h). Strings belong to the login.
struct login_names {
	char initiator_name[ISCSI_NAME_MAX + 1];
	char initiator_alias[LOGIN_ALIAS_MAX + 1];
	char target_name[ISCSI_NAME_MAX + 1]; // empty: an unnamed discovery session
	bool is_discovery;
	uint8_t isid[ISCSI_ISID_LEN];
	uint16_t tsih; // 0: requests a new session
	uint16_t cid;
};

// The name of a login status ("authentication failure"), for logs; never NULL.
const char *login_status_text(int status);

// ---- target ----

// What admit grants.
struct login_terms {
	struct iscsi_offer offer; // initialised with our defaults
	// Authentication. user empty: that direction has no credentials.
	bool is_auth_required;	     // CHAP is required
	struct chap_creds initiator; // credentials that the initiator must prove
	struct chap_creds target;    // credentials that we prove on request (mutual)
	unsigned chap_algs;	     // CHAP_BIT mask, CHAP_ALGS_ALL at first
	uint16_t tpgt;
	char target_alias[LOGIN_ALIAS_MAX + 1];
	// Not empty: redirects the initiator there (host[:port]) and ends the login.
	char redirect[LOGIN_ADDRESS_MAX + 1];
	bool is_redirect_permanent;
};

// What attach grants. Preset for a new session: tsih 0, the window after the login's CmdSN.
struct login_session {
	uint16_t tsih; // must become nonzero
	uint32_t exp_cmd_sn, max_cmd_sn;
};

// Both are called by login_target_step(), on its thread; they must not block, free the login or
// call it.
struct login_target_ops {
	// Called once, when the names are known and before any authentication: look-up, ACL,
	// limits. Must not affect existing sessions. 0, or an enum iscsi_login_status with the
	// reason in e.
	int (*admit)(void *arg, const struct login_names *names, struct login_terms *ret,
		     struct err *e);
	// Called once, after authentication and negotiation: session matching, reinstatement, TSIH.
	// 0; a status as above; or -EINPROGRESS: the role then calls login_target_resume() later
	// (not from inside attach).
	int (*attach)(void *arg, const struct login_names *names, const struct iscsi_params *params,
		      struct login_session *ret, struct err *e);
};

// What the login proved, whatever was required.
struct login_proof {
	unsigned alg;	// enum chap_alg of the initiator's proof; 0: no proof
	bool is_mutual; // we authenticated ourselves too, on its request
};

enum login_auth_state { // private
	LOGIN_AUTH_START,
	LOGIN_AUTH_METHOD,    // CHAP is negotiated; the algorithm is next
	LOGIN_AUTH_CHALLENGE, // our challenge (target), our CHAP_A (initiator) was sent
	LOGIN_AUTH_RESPONSE,  // initiator: our response was sent
	LOGIN_AUTH_DONE,
};

// The fields are private to login*.c.
struct login {
	const struct login_target_ops *ops;
	void *arg;
	struct login_names names;
	struct login_terms terms;
	struct iscsi_params params;
	struct login_session session;
	bool has_started, has_names, has_sent_tag, has_declared, is_waiting, is_over;
	uint8_t stage, next_stage;
	bool wants_transit;
	unsigned exchanges;
	uint32_t itt, cmd_sn, stat_sn;
	uint32_t window;   // commands
	uint64_t answered; // bit per key: negotiated in an earlier text
	uint64_t offered;  // initiator: bit per key that we sent
	enum login_auth_state auth;
	unsigned alg;
	struct login_proof proof;	 // target
	struct chap_challenge challenge; // ours
	struct chap_challenge peer_challenge;
	// initiator only
	char target_alias[LOGIN_ALIAS_MAX + 1];
	uint16_t tpgt;
	bool has_tpgt;
	char redirect[LOGIN_ADDRESS_MAX + 1];

	uint32_t in_len; // text joined so far while C is set
	struct text_out out;
	char in[LOGIN_TEXT_MAX];
	char out_buf[ISCSI_LOGIN_DATA_MAX];
};

// Prepares l for a connection's first Login Request. stat_sn: StatSN of the first response. window:
// commands that a new session may have in flight (at least 1). ops and arg must outlive l.
void login_target_init(struct login *l, const struct login_target_ops *ops, void *arg,
		       uint32_t stat_sn, uint32_t window);

// Processes one PDU (opcodes other than Login Request are refused) with len bytes of text, received
// completely; len must be its DataSegmentLength. Fills ret and returns ret->outcome. After REFUSED,
// DROP and FULL_FEATURE only login_done may follow.
enum login_outcome login_target_step(struct login *l, const uint8_t bhs[ISCSI_BHS_LEN],
				     const void *text, size_t len, struct login_reply *ret);

// Ends a WAIT. status: 0 with the session granted, or an enum iscsi_login_status with the
// reason in why (session may be NULL then). DROP if the login has ended meanwhile (a PDU arrived,
// or login_target_refuse() was called): the role then ends the session.
enum login_outcome login_target_resume(struct login *l, int status,
				       const struct login_session *session, const struct err *why,
				       struct login_reply *ret);

// Target: it waits for login_target_resume(), and has not ended otherwise.
bool login_is_waiting(const struct login *l);

// The response to a peer whose login cannot continue, with the reason (timer, shutdown, limits).
// Possible after the first request; DROP before it.
enum login_outcome login_target_refuse(struct login *l, int status, const struct err *why,
				       struct login_reply *ret);

// ---- initiator ----

struct login_config {
	char initiator_name[ISCSI_NAME_MAX + 1];
	char initiator_alias[LOGIN_ALIAS_MAX + 1]; // empty: not sent
	char target_name[ISCSI_NAME_MAX + 1];	   // empty with is_discovery
	bool is_discovery;
	uint8_t isid[ISCSI_ISID_LEN];
	uint16_t tsih, cid;
	uint32_t itt, cmd_sn;
	struct iscsi_offer offer;
	struct chap_creds initiator; // our credentials; empty: no authentication offered
	struct chap_creds target;    // the target's credentials (mutual); empty: one-way
	unsigned chap_algs;	     // CHAP_ALGS_OFFER when in doubt
};

// Copies the configuration. -EINVAL with a text: names missing or malformed, mutual without
// one-way credentials, one secret for both directions.
int login_initiator_init(struct login *l, const struct login_config *c, struct err *e);

// The first request. Always CONTINUE.
enum login_outcome login_initiator_start(struct login *l, struct login_reply *ret);

// Processes one response. CONTINUE: send the PDU. FULL_FEATURE: nothing to send. REDIRECT: see
// login_redirect(); ret->status: temporarily or permanently. FAILED: ret->err and ret->status (0:
// the target violated the protocol or failed to authenticate).
enum login_outcome login_initiator_step(struct login *l, const uint8_t bhs[ISCSI_BHS_LEN],
					const void *text, size_t len, struct login_reply *ret);

// The address of REDIRECT: host[:port], as received.
const char *login_redirect(const struct login *l);

// ---- both, after FULL_FEATURE (names also in attach) ----

const struct iscsi_params *login_params(const struct login *l);
const struct login_names *login_names(const struct login *l);
const struct login_session *login_session(const struct login *l);
// Target; after FULL_FEATURE.
const struct login_proof *login_proof(const struct login *l);

// The StatSN of the next response (target), or the next one expected (initiator).
uint32_t login_stat_sn(const struct login *l);

// What the target declared (initiator). Alias empty, -1: not declared.
const char *login_target_alias(const struct login *l);
int login_tpgt(const struct login *l);

// Wipes every secret. l holds no other resource.
void login_done(struct login *l);
