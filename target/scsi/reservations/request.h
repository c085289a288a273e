// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE OUT: the parameter list, and the effect on the table. Pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/reservations/table.h"
#include "target/scsi/sense.h"

enum pr_out_action {
	PR_OUT_REGISTER,
	PR_OUT_RESERVE,
	PR_OUT_RELEASE,
	PR_OUT_CLEAR,
	PR_OUT_PREEMPT,
	PR_OUT_PREEMPT_ABORT,
	PR_OUT_REGISTER_IGNORE,
	PR_OUT_REGISTER_MOVE,
	PR_OUT_MAX
};

#define PR_TIDS_MAX 64 // TransportIDs in one SPEC_I_PT list

// A PERSISTENT RESERVE OUT command, parsed.
struct pr_request {
	enum pr_out_action action;
	uint8_t scope, type;
	uint64_t key, sa_key;
	bool spec_i_pt, all_tg_pt, aptpl, unreg;
	uint16_t move_port; // REGISTER AND MOVE: RELATIVE TARGET PORT IDENTIFIER
	char move_port_name[PR_PORT_MAX];
	uint8_t move_protocol; // of that port
	uint32_t ntids;
	struct pr_tid *tids; // owned
};
// Parses CDB and parameter list (len bytes) of action. 0, or a SENSE() code; *ret_field is then the
// invalid byte of the list, -1: the error is in the CDB.
uint32_t pr_request_parse(struct pr_request *ret, const uint8_t *cdb, const uint8_t *list,
			  uint32_t len, int *ret_field);
void pr_request_done(struct pr_request *r);

// Attributes of the LU that change the result.
struct pr_policy {
	bool can_persist;   // there is a state_dir
	bool force_aptpl;   // attribute force_pr_aptpl
	bool enforce_isids; // attribute enforce_pr_isids
};

// Effect on the nexuses of one registration of the old table: a unit attention (enum ua, or
// PR_EFFECT_NONE) and PR_EFFECT_ABORT.
enum { PR_EFFECT_NONE = 0x7f, PR_EFFECT_ABORT = 0x80 };
struct pr_result {
	enum scsi_status status; // GOOD, RESERVATION CONFLICT or CHECK CONDITION
	uint32_t sense;
	struct pr_view *view; // GOOD: the next table, one reference
	uint8_t *effects;     // GOOD: for each registration of the old table; free()
	bool has_effects;     // one of them is not PR_EFFECT_NONE
};
// Applies r, received through the nexus self, to old (NULL: empty). Pure.
void pr_apply(struct pr_result *ret, const struct pr_view *old, const struct pr_request *r,
	      const struct pr_port *self, const struct pr_policy *policy);
