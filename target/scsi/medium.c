// SPDX-License-Identifier: BSD-2-Clause
// The state of the medium, see medium.h.
#include "target/scsi/medium.h"

#include "target/scsi/handler.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/opcode.h"
#include "target/scsi/taskset.h"

uint32_t sanitize_sense(uint32_t state, struct sense_extra *ret_extra)
{
	*ret_extra = (struct sense_extra){ 0 };
	if (state == SANITIZE_FAILED)
		return SENSE_SANITIZE_FAILED;
	ret_extra->has_progress = true;
	ret_extra->progress = (uint16_t)(state - 1);
	return SENSE_NOT_READY_SANITIZE;
}

uint32_t sanitize_state(const struct lu *lu)
{
	return __atomic_load_n(&lu->sanitize, __ATOMIC_RELAXED);
}

bool sanitize_may_be_left(const struct lu *lu)
{
	return __atomic_load_n(&lu->sanitize_ause, __ATOMIC_RELAXED);
}

unsigned sanitize_percent(uint32_t state)
{
	return (state - 1) * 100 / 65536;
}

void sanitize_stop(struct lu *lu)
{
	__atomic_store_n(&lu->sanitize_stops, true, __ATOMIC_RELAXED);
}

bool medium_check(struct task *t)
{
	uint32_t sanitize = __atomic_load_n(&t->lu->sanitize, __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&t->lu->medium, __ATOMIC_RELAXED) != LU_MEDIUM_PRESENT) {
		task_check(t, SENSE_MEDIUM_NOT_PRESENT, NULL);
		return false;
	}
	if (sanitize) {
		struct sense_extra x;
		uint32_t code = sanitize_sense(sanitize, &x);
		task_check(t, code, &x);
		return false;
	}
	return true;
}

void task_continue(struct task *t)
{
	t->state = TASK_RUNNING;
	if (t->in_place) // others wait for it already
		t->next(t);
	else if ((!(t->row->flags & OP_MEDIUM) || medium_check(t)) &&
		 taskset_enter_range(t, t->next))
		t->next(t);
}

void task_claim(struct task *t, uint64_t lba, uint64_t blocks, void (*next)(struct task *t))
{
	t->lba = lba;
	t->blocks = blocks;
	lu_round_recheck(t);
	if (taskset_enter_range(t, next))
		next(t);
}
