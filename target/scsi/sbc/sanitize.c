// SPDX-License-Identifier: BSD-2-Clause
// SANITIZE (SBC-4 5.28, 4.11): OVERWRITE, BLOCK ERASE, CRYPTOGRAPHIC ERASE, EXIT FAILURE MODE.
// Nothing is encrypted here, so there is no key to change: a cryptographic erase (no block can be
// read any more) is done by a block erase. This file has the commands, on the task's worker; the
// operation is in sanitize_run.c and belongs to the logical unit: aborts, resets and lost
// nexuses only end the command.
//
// Only blocks that a logical unit can access are erased: holes punched into a file and blocks
// remapped by a device may keep old data on the medium below. A restart of the program makes the
// operation fail: it does not resume, and the failure is recorded if the data persists.
#include "target/scsi/medium.h"

#include <stdlib.h>
#include <string.h>

#include "target/scsi/handler.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/sanitize_run.h"
#include "transport/wire/be.h"

#define WAIT_USEC 5000 // between checks of a command that waits for the end

// CDB byte 1; bit 6 is ZNR, which only zoned devices know.
enum { SAN_AUSE = 0x20, SAN_ZNR = 0x40, SAN_IMMED = 0x80 };
// Parameter list byte 0 of OVERWRITE.
enum { OVERWRITE_COUNT = 0x1f, OVERWRITE_TEST = 0x60, OVERWRITE_INVERT = 0x80 };

// Polls, so that an abort never waits for the medium: with IMMED=0 for the end, else until the
// operation is recorded.
struct sanitize_wait {
	struct timer timer;
	struct msg msg; // to the home worker and back; task_at_home() would lose job on an abort
	struct task *t;
	struct sanitize *job;
};

// Ends t with the sense for the current state.
static void refuse(struct task *t)
{
	struct sense_extra x;
	uint32_t state = sanitize_state(t->lu);
	// It may have ended meanwhile.
	if (state == SANITIZE_IDLE || state == SANITIZE_FAILED)
		state = 1;
	uint32_t code = sanitize_sense(state, &x);
	task_check(t, code, &x);
}

static void wait_look(struct timer *timer)
{
	struct sanitize_wait *w = container_of(timer, struct sanitize_wait, timer);
	struct task *t = w->t;
	enum sanitize_state state = sanitize_state_of(w->job);
	bool is_immed = t->cdb[1] & SAN_IMMED;
	if (!t->is_aborted &&
	    (state == SANITIZE_STARTING || (state == SANITIZE_RUNNING && !is_immed))) {
		timer_arm(task_worker(t), timer, WAIT_USEC);
		return;
	}
	sanitize_put(w->job);
	if (t->is_aborted || state == SANITIZE_DONE || (state == SANITIZE_RUNNING && is_immed))
		task_good(t);
	else
		task_check(t, SENSE_SANITIZE_FAILED, NULL);
}

static void start_done(struct msg *m)
{
	struct sanitize_wait *w = container_of(m, struct sanitize_wait, msg);
	struct task *t = w->t;
	timer_init(&w->timer, wait_look);
	if (!w->job)
		refuse(t);
	else
		wait_look(&w->timer);
}

// Home worker. job becomes NULL when another one runs.
static void start_at_home(struct msg *m)
{
	struct sanitize_wait *w = container_of(m, struct sanitize_wait, msg);
	if (!sanitize_start(w->t->lu, w->job)) {
		sanitize_put(w->job);
		w->job = NULL;
	}
	m->fn = start_done;
	worker_post(task_worker(w->t), m);
}

static void operation_start(struct task *t, const struct sanitize_plan *plan)
{
	struct sanitize_wait *w = calloc(1, sizeof *w);
	t->scratch = w;
	if (w)
		w->job = sanitize_new(plan);
	if (!w || !w->job) {
		task_finish(t, STATUS_BUSY);
		return;
	}
	w->t = t;
	w->msg.fn = start_at_home;
	worker_post(t->lu->home, &w->msg);
}

// The checks of all service actions. False: the task has ended.
static bool sanitize_check(struct task *t)
{
	if (t->cdb[1] & SAN_ZNR) {
		task_invalid_cdb(t, 1, 6);
		return false;
	}
	for (unsigned i = 2; i <= 6; i++) {
		if (t->cdb[i]) {
			task_invalid_cdb(t, i, -1);
			return false;
		}
	}
	uint32_t state = sanitize_state(t->lu);
	if (state != SANITIZE_IDLE && state != SANITIZE_FAILED) {
		refuse(t);
		return false;
	}
	if (__atomic_load_n(&t->lu->medium, __ATOMIC_RELAXED) == LU_MEDIUM_EJECTED) {
		task_check(t, SENSE_MEDIUM_NOT_PRESENT, NULL);
		return false;
	}
	return true;
}

// An operation without AUSE that failed may only be followed by one without (SBC-4 4.11.3).
static bool ause_check(struct task *t)
{
	if (sanitize_state(t->lu) == SANITIZE_FAILED && (t->cdb[1] & SAN_AUSE) &&
	    !__atomic_load_n(&t->lu->sanitize_ause, __ATOMIC_RELAXED)) {
		task_invalid_cdb(t, 1, 5);
		return false;
	}
	return true;
}

static bool has_no_list(struct task *t)
{
	if (get_be16(t->cdb + 7) == 0)
		return true;
	task_invalid_cdb(t, 7, -1);
	return false;
}

static void overwrite_params(struct task *t)
{
	const uint8_t *p = task_params(t);
	uint32_t len = get_be16(t->cdb + 7), pattern = get_be16(p + 2);
	if (p[0] & OVERWRITE_TEST) {
		task_invalid_param(t, 0, 6);
	} else if ((p[0] & OVERWRITE_COUNT) == 0) {
		task_invalid_param(t, 0, 4);
	} else if (p[1]) {
		task_invalid_param(t, 1, -1);
	} else if (pattern == 0 || pattern > t->lu->block_size || pattern > len - 4) {
		task_invalid_param(t, 2, -1);
	} else {
		struct sanitize_plan plan = {
			.method = SANITIZE_OVERWRITE,
			.passes = p[0] & OVERWRITE_COUNT,
			.inverts = p[0] & OVERWRITE_INVERT,
			.ause = t->cdb[1] & SAN_AUSE,
			.pattern = p + 4,
			.pattern_len = pattern,
		};
		operation_start(t, &plan);
	}
}

void sanitize_overwrite_run(struct task *t)
{
	if (!sanitize_check(t) || !ause_check(t))
		return;
	uint32_t len = get_be16(t->cdb + 7);
	if (len < 5 || len > t->lu->block_size + 4)
		task_invalid_cdb(t, 7, -1);
	else
		task_fetch_params(t, len, overwrite_params);
}

void sanitize_block_erase_run(struct task *t)
{
	if (!sanitize_check(t) || !ause_check(t) || !has_no_list(t))
		return;
	struct sanitize_plan plan = {
		.method = SANITIZE_BLOCK_ERASE,
		.passes = 1,
		.ause = t->cdb[1] & SAN_AUSE,
	};
	operation_start(t, &plan);
}

struct exit {
	struct sanitize_exit exit;
	struct task *t;
};

static void exited(struct sanitize_exit *x)
{
	task_home_done(container_of(x, struct exit, exit)->t);
}

static void exit_at_home(struct task *t)
{
	struct exit *x = t->scratch;
	x->exit.done = exited;
	sanitize_exit_failure(&x->exit, t->lu);
}

static void exit_done(struct task *t)
{
	const struct exit *x = t->scratch;
	if (!x->exit.is_allowed)
		task_invalid_cdb(t, 1, 4); // the service action: AUSE was not set
	else if (x->exit.mark.result < 0)
		task_check(t, SENSE_INTERNAL_FAILURE, NULL);
	else
		task_good(t);
}

void sanitize_exit_run(struct task *t)
{
	if (!sanitize_check(t) || !has_no_list(t))
		return;
	struct exit *x = task_scratch(t, sizeof *x);
	if (!x)
		return;
	x->t = t;
	task_at_home(t, exit_at_home, exit_done);
}
