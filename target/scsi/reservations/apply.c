// SPDX-License-Identifier: BSD-2-Clause
// PERSISTENT RESERVE OUT as a function from one table to the next (SPC-4 5.13.7 to 5.13.11).
// Pure; each service action is one function in the table at the end, working on a copy.
#include "target/scsi/reservations/request.h"

#include <stdlib.h>
#include <string.h>

#include "target/scsi/ua.h"

enum {
	SENSE_INSUFFICIENT_REGISTRATIONS = SENSE(SK_ILLEGAL_REQUEST, 0x55, 0x04),
	SENSE_INVALID_RELEASE = SENSE(SK_ILLEGAL_REQUEST, 0x26, 0x04),
	SENSE_NO_MEMORY = SENSE(SK_ILLEGAL_REQUEST, 0x55, 0x03), // INSUFFICIENT RESOURCES
};

// A command in progress.
struct apply {
	const struct pr_request *r;
	const struct pr_port *port; // of its nexus
	const struct pr_policy *policy;
	const struct pr_view *old; // NULL: empty
	struct pr_view *v;	   // the copy that becomes the next table
	uint32_t self;		   // index in v, PR_NOBODY: not registered
	uint32_t room;		   // registrations that v can take
	uint32_t *origin;	   // index in old of each registration of v, PR_NOBODY: new
	uint8_t *effects;	   // by index in old
	struct pr_result *ret;
};

static void conflict(struct apply *a)
{
	a->ret->status = STATUS_RESERVATION_CONFLICT;
}

static void check(struct apply *a, uint32_t sense)
{
	a->ret->status = STATUS_CHECK_CONDITION;
	a->ret->sense = sense;
}

// Notifies registration i of v, unless it is the nexus of the command.
static void tell_nexus(struct apply *a, uint32_t i, enum ua ua)
{
	if (i != a->self && a->origin[i] != PR_NOBODY)
		a->effects[a->origin[i]] =
			(uint8_t)((a->effects[a->origin[i]] & PR_EFFECT_ABORT) | ua);
}

static void tell_others(struct apply *a, enum ua ua)
{
	for (uint32_t i = 0; i < a->v->count; i++)
		tell_nexus(a, i, ua);
}

static void drop_registration(struct apply *a, uint32_t i)
{
	memmove(a->origin + i, a->origin + i + 1,
		(size_t)(a->v->count - i - 1) * sizeof a->origin[0]);
	pr_view_remove(a->v, i);
	if (a->self == i)
		a->self = PR_NOBODY;
	else if (a->self != PR_NOBODY && a->self > i)
		a->self--;
}

static void release(struct apply *a)
{
	a->v->type = PR_NONE;
	a->v->holder = PR_NOBODY;
}

static void reserve(struct apply *a, uint8_t type)
{
	a->v->type = type;
	a->v->holder = pr_type_is_all_registrants(type) ? PR_NOBODY : a->self;
}

// Adds a registration at the end. False: the table is full.
static bool add_registration(struct apply *a, uint64_t key, const struct pr_port *port,
			     bool all_tg_pt)
{
	struct pr_view *v = a->v;
	if (v->count >= PR_REGS_MAX || v->count >= a->room) {
		check(a, SENSE_INSUFFICIENT_REGISTRATIONS);
		return false;
	}
	a->origin[v->count] = PR_NOBODY;
	v->regs[v->count++] = (struct pr_reg){ .key = key, .port = *port, .all_tg_pt = all_tg_pt };
	return true;
}

// Registration i is removed by its own nexus.
static void unregister(struct apply *a, uint32_t i)
{
	struct pr_view *v = a->v;
	bool was_holder = v->holder == i;
	if (was_holder && pr_type_is_shared(v->type))
		tell_others(a, UA_RESERVATIONS_RELEASED);
	drop_registration(a, i);
	if (was_holder || (pr_type_is_all_registrants(v->type) && !v->count))
		release(a);
}

// Merges the other registrations of the same initiator port into a->self's, which then covers every
// target port.
static void widen(struct apply *a)
{
	struct pr_view *v = a->v;
	v->regs[a->self].all_tg_pt = true;
	for (uint32_t i = v->count; i-- > 0;) {
		if (i == a->self ||
		    !pr_tid_equal(&v->regs[i].port.tid, &a->port->tid, v->enforce_isids))
			continue;
		bool was_holder = v->holder == i;
		drop_registration(a, i);
		if (was_holder)
			v->holder = a->self;
	}
}

static void register_tids(struct apply *a)
{
	for (uint32_t i = 0; i < a->r->ntids; i++) {
		struct pr_port port = *a->port;
		port.tid = a->r->tids[i];
		if (pr_find(a->v, &port) == PR_NOBODY &&
		    !add_registration(a, a->r->sa_key, &port, a->r->all_tg_pt))
			return;
	}
}

static bool names_itself(const struct apply *a)
{
	for (uint32_t i = 0; i < a->r->ntids; i++)
		if (pr_tid_equal(&a->r->tids[i], &a->port->tid, a->v->enforce_isids))
			return true;
	return false;
}

static void set_aptpl(struct apply *a)
{
	if (a->r->aptpl && !a->policy->can_persist)
		check(a, SENSE_INVALID_FIELD_PARAM);
	else
		a->v->aptpl = a->policy->can_persist && (a->r->aptpl || a->policy->force_aptpl);
}

static void run_register(struct apply *a)
{
	const struct pr_request *r = a->r;
	bool ignores = r->action == PR_OUT_REGISTER_IGNORE;
	if (!ignores && r->key != (a->self == PR_NOBODY ? 0 : a->v->regs[a->self].key)) {
		conflict(a);
		return;
	}
	if (r->spec_i_pt && (ignores || a->self != PR_NOBODY || names_itself(a))) {
		check(a, SENSE_INVALID_FIELD_PARAM);
		return;
	}
	a->v->generation++;
	set_aptpl(a);
	if (!r->sa_key) {
		if (a->self != PR_NOBODY)
			unregister(a, a->self);
		return;
	}
	if (a->self != PR_NOBODY) {
		a->v->regs[a->self].key = r->sa_key;
	} else {
		if (!add_registration(a, r->sa_key, a->port, false))
			return;
		a->self = a->v->count - 1;
	}
	if (r->all_tg_pt)
		widen(a);
	if (r->spec_i_pt)
		register_tids(a);
}

static void run_reserve(struct apply *a)
{
	struct pr_view *v = a->v;
	if (a->r->scope || !pr_type_is_valid(a->r->type))
		check(a, SENSE_INVALID_FIELD_CDB);
	else if (!v->type)
		reserve(a, a->r->type);
	else if (!pr_is_holder(v, a->self) || v->type != a->r->type)
		conflict(a);
}

static void run_release(struct apply *a)
{
	struct pr_view *v = a->v;
	if (!v->type || !pr_is_holder(v, a->self))
		return;
	if (a->r->scope || a->r->type != v->type) {
		check(a, SENSE_INVALID_RELEASE);
		return;
	}
	if (pr_type_is_shared(v->type))
		tell_others(a, UA_RESERVATIONS_RELEASED);
	release(a);
}

static void run_clear(struct apply *a)
{
	tell_others(a, UA_RESERVATIONS_PREEMPTED);
	release(a);
	a->v->count = 0;
	a->v->generation++;
}

// Removes the registrations with key (0: all), except spared; notifies their nexuses and, on
// PREEMPT AND ABORT, aborts their tasks. Returns their number.
static uint32_t preempt_keys(struct apply *a, uint64_t key, bool spares_self)
{
	uint32_t n = 0;
	for (uint32_t i = a->v->count; i-- > 0;) {
		if (key && a->v->regs[i].key != key)
			continue;
		n++;
		uint32_t origin = a->origin[i];
		tell_nexus(a, i, UA_REGISTRATIONS_PREEMPTED);
		if (a->r->action == PR_OUT_PREEMPT_ABORT && origin != PR_NOBODY)
			a->effects[origin] |= PR_EFFECT_ABORT;
		if (!spares_self || i != a->self)
			drop_registration(a, i);
	}
	return n;
}

// Transfers the reservation (SPC-4 5.13.11.2.3).
static void preempt_reservation(struct apply *a)
{
	uint8_t before = a->v->type;
	if (a->r->scope || !pr_type_is_valid(a->r->type)) {
		check(a, SENSE_INVALID_FIELD_CDB);
		return;
	}
	release(a);
	preempt_keys(a, a->r->sa_key, true);
	if (before != a->r->type)
		tell_others(a, UA_RESERVATIONS_RELEASED);
	reserve(a, a->r->type);
}

static void run_preempt(struct apply *a)
{
	struct pr_view *v = a->v;
	uint64_t key = a->r->sa_key;
	bool is_shared = pr_type_is_all_registrants(v->type);
	bool names_holder = v->type && (is_shared ? !key : v->regs[v->holder].key == key);
	v->generation++;
	if (names_holder) {
		preempt_reservation(a);
	} else if (!key) {
		check(a, SENSE_INVALID_FIELD_PARAM);
	} else if (!preempt_keys(a, key, false)) {
		conflict(a);
	} else if (is_shared && !v->count) {
		release(a);
	}
}

static void run_move(struct apply *a)
{
	const struct pr_request *r = a->r;
	struct pr_view *v = a->v;
	struct pr_port to = { .tid = r->tids[0], .relative_port = r->move_port };
	memcpy(to.target_port, r->move_port_name, sizeof to.target_port);
	if (!pr_is_holder(v, a->self) || pr_type_is_all_registrants(v->type)) {
		conflict(a);
		return;
	}
	uint32_t there = pr_find(v, &to);
	// iSCSI and SRP initiator ports cannot use each other's target ports.
	if (!r->sa_key || there == a->self || (to.tid.bytes[0] & 15) != r->move_protocol) {
		check(a, SENSE_INVALID_FIELD_PARAM);
		return;
	}
	v->generation++;
	set_aptpl(a);
	if (there == PR_NOBODY) {
		if (!add_registration(a, r->sa_key, &to, false))
			return;
		there = v->count - 1;
	}
	v->regs[there].key = r->sa_key;
	v->holder = there;
	if (r->unreg)
		drop_registration(a, a->self);
}

static const struct {
	void (*run)(struct apply *a);
	bool needs_key; // of a registered nexus, else conflict
} actions[PR_OUT_MAX] = {
	[PR_OUT_REGISTER] = {run_register,  false},
	[PR_OUT_RESERVE] = { run_reserve,  true },
	[PR_OUT_RELEASE] = { run_release,  true },
	[PR_OUT_CLEAR] = { run_clear,    true },
	[PR_OUT_PREEMPT] = { run_preempt,  true },
	[PR_OUT_PREEMPT_ABORT] = { run_preempt,	true },
	[PR_OUT_REGISTER_IGNORE] = { run_register, false},
	[PR_OUT_REGISTER_MOVE] = { run_move,     true },
};

void pr_apply(struct pr_result *ret, const struct pr_view *old, const struct pr_request *r,
	      const struct pr_port *self, const struct pr_policy *policy)
{
	uint32_t count = old ? old->count : 0, room = count + 1 + r->ntids;
	struct apply a = { .r = r, .port = self, .policy = policy, .old = old, .ret = ret };
	*ret = (struct pr_result){ .status = STATUS_GOOD };
	a.room = room;
	a.v = pr_view_copy(old, 1 + r->ntids);
	a.origin = malloc(room * sizeof a.origin[0]);
	a.effects = malloc(count + 1);
	if (!a.v || !a.origin || !a.effects) {
		check(&a, SENSE_NO_MEMORY);
		goto end;
	}
	for (uint32_t i = 0; i < count; i++)
		a.origin[i] = i;
	memset(a.effects, PR_EFFECT_NONE, count + 1);
	a.v->enforce_isids = policy->enforce_isids;
	a.self = pr_find(a.v, self);
	if (actions[r->action].needs_key &&
	    (a.self == PR_NOBODY || a.v->regs[a.self].key != r->key))
		conflict(&a);
	else
		actions[r->action].run(&a);
end:
	free(a.origin);
	if (ret->status == STATUS_GOOD) {
		ret->view = a.v;
		ret->effects = a.effects;
		for (uint32_t i = 0; i < count && !ret->has_effects; i++)
			ret->has_effects = a.effects[i] != PR_EFFECT_NONE;
	} else {
		pr_view_put(a.v);
		free(a.effects);
	}
}
