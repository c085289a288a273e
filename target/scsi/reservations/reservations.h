// SPDX-License-Identifier: BSD-2-Clause
// Persistent reservations (SPC-4 5.13, 6.15, 6.16) and RESERVE/RELEASE (SPC-2 7.21).
//
// Registrations and the reservation are one immutable, refcounted table, struct pr_view. The LU's
// home worker creates the next table from the last one, writes it to the APTPL file if requested,
// stores it in pr_state under lu->lock and passes it to every channel in a round; then the command
// completes. Commands run one after the other, FIFO.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/lu.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/nexus.h"
#include "target/scsi/opcode.h"
#include "target/scsi/reservations/transport_id.h"
#include "target/scsi/task.h"

enum pr_type {
	PR_NONE = 0,
	PR_WE = 1,    // Write Exclusive
	PR_EA = 3,    // Exclusive Access
	PR_WE_RO = 5, // ... Registrants Only
	PR_EA_RO = 6,
	PR_WE_AR = 7, // ... All Registrants
	PR_EA_AR = 8,
};

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

#define PR_REGS_MAX 1024 // registrations of one LU
#define PR_TIDS_MAX 64	 // TransportIDs in one SPEC_I_PT list
#define PR_PORT_MAX 240	 // target port name with its NUL
#define PR_NOBODY   UINT32_MAX

// An I_T nexus for reservations: it outlives sessions and restarts.
struct pr_port {
	struct pr_tid tid;
	char target_port[PR_PORT_MAX]; // target port name, lower case; may be empty
	uint16_t relative_port;	       // RELATIVE TARGET PORT IDENTIFIER
};

struct pr_reg {
	uint64_t key;
	struct pr_port port;
	bool all_tg_pt; // through any target port
};

// Immutable once published.
struct pr_view {
	int refs;	  // atomic
	uint64_t version; // unique in this process
	uint32_t generation;
	uint8_t type;	    // enum pr_type; PR_NONE: no reservation
	bool aptpl;	    // survives power loss
	bool enforce_isids; // attribute enforce_pr_isids when it was created
	uint32_t holder;    // index of the holder; PR_NOBODY if none or all registrants hold it
	uint32_t count;
	struct pr_reg regs[];
};

// The current table; the caller gets a reference. Any thread.
struct pr_view *pr_view_of(struct lu *lu);
void pr_view_put(struct pr_view *v); // any thread; NULL is fine

// --- The I/O path: rules.c ---------------------------------------------------------

bool pr_conflict_slow(const struct lu_channel *c, struct nexus_lun *nl,
		      const struct opcode_row *row, const struct task *t);

// True: the command ends with RESERVATION CONFLICT. Nexus's worker.
static inline bool pr_conflict(const struct lu_channel *c, struct nexus_lun *nl,
			       const struct opcode_row *row, const struct task *t)
{
	if (__builtin_expect(!c->pr && !c->reserved_by, 1))
		return false;
	return pr_conflict_slow(c, nl, row, t);
}

// --- For the part's own files ---------------------------------------------------------

static inline bool pr_type_is_valid(unsigned type)
{
	return type == PR_WE || type == PR_EA || (type >= PR_WE_RO && type <= PR_EA_AR);
}

static inline bool pr_type_is_all_registrants(unsigned type)
{
	return type == PR_WE_AR || type == PR_EA_AR;
}

// True for the types whose end is reported to the other registrants.
static inline bool pr_type_is_shared(unsigned type)
{
	return type >= PR_WE_RO;
}

// Fills *ret from the nexus. False: no usable TransportID.
bool pr_port_of_nexus(struct pr_port *ret, const struct nexus *n);
// Index of the registration that covers port, PR_NOBODY: none.
uint32_t pr_find(const struct pr_view *v, const struct pr_port *port);
bool pr_is_holder(const struct pr_view *v, uint32_t index);

// A copy of from (NULL: empty) with room for extra more registrations; one reference. NULL:
// no memory.
struct pr_view *pr_view_copy(const struct pr_view *from, uint32_t extra);
struct pr_view *pr_view_get(struct pr_view *v);
void pr_view_remove(struct pr_view *v, uint32_t index);

// A PERSISTENT RESERVE OUT command, parsed.
struct pr_request {
	enum pr_out_action action;
	uint8_t scope, type;
	uint64_t key, sa_key;
	bool spec_i_pt, all_tg_pt, aptpl, unreg;
	uint16_t move_port; // REGISTER AND MOVE: RELATIVE TARGET PORT IDENTIFIER
	char move_port_name[PR_PORT_MAX];
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

// The table as an APTPL file: text of *ret_len bytes, free(). NULL: no memory.
char *pr_store_format(const struct pr_view *v, size_t *ret_len);
// -EBADMSG: damaged; -ENOMEM.
int pr_store_parse(struct pr_view **ret, const char *text, size_t len);
// Reads the file of lu. 0 with *ret NULL: no file; a damaged one is renamed and ignored. Control
// thread; blocks.
int pr_store_load(struct pr_view **ret, const struct lu *lu, struct err *e);

// A change of state at the home worker. Embedded in its owner.
struct pr_op {
	struct list link;
	struct lu *lu;
	void (*run)(struct pr_op *op);	 // called on its turn; must call pr_op_end()
	void (*ended)(struct pr_op *op); // the owner gets the memory back
	bool is_started;
	struct lu_round round;
};

struct pr_state {
	struct pr_view *view; // changed under lu->lock
	uint64_t reserved_by; // RESERVE(6/10): nexus id; changed under lu->lock
	struct list queue;    // struct pr_op, the first one runs. Home worker
	bool is_draining;
	// A reservation by RESERVE that ends with its nexus or a reset.
	uint64_t lost;		  // the nexus's id, PR_LOST_ANY on reset, 0 none; atomic
	bool is_posted;		  // release_msg is in flight; atomic
	struct msg release_msg;	  // to the home worker
	struct pr_op release;	  // home worker
	bool is_releasing, again; // it is queued; and again after that
	struct lu *lu;
};
#define PR_LOST_ANY UINT64_MAX

// Whether a RESERVE is in force. A channel may be out of date: the end of a nexus reaches the
// workers by messages.
static inline bool pr_is_reserved(const struct pr_state *st)
{
	uint64_t by = __atomic_load_n(&st->reserved_by, __ATOMIC_ACQUIRE);
	return by && by != __atomic_load_n(&st->lost, __ATOMIC_ACQUIRE);
}

// Queues op; lu, run and ended are set. Home worker, with a reference to lu held till ended.
void pr_op_start(struct pr_op *op);
void pr_op_end(struct pr_op *op);
// Applies reserved_by on all channels, then ends op. Home worker.
void pr_publish_reserved(struct pr_op *op, uint64_t nexus_id);

extern const struct lu_part pr_part;
