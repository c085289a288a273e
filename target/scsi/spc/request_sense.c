// SPDX-License-Identifier: BSD-2-Clause
// TEST UNIT READY and REQUEST SENSE (SPC-4 6.47, 6.39): the condition of the logical unit. Task's
// worker.
#include "target/scsi/lu_state.h"
#include "target/scsi/medium.h"
#include "target/scsi/spc/commands.h"
#include "target/scsi/task_status.h"
#include "target/scsi/ua.h"

// server/submit.c has checked that the medium is ready.
void test_unit_ready_run(struct task *t)
{
	task_good(t);
}

// The current condition, in order of urgency (SPC-4 6.39); clears a unit attention.
static uint32_t sense_now(struct task *t, struct sense_extra *x)
{
	if (!t->lu)
		return SENSE_LUN_NOT_SUPPORTED;
	enum ua u = ua_take(t->nl);
	if (u != UA_MAX)
		return ua_code(u);
	if (t->lu->is_absent)
		return SENSE_BECOMING_READY;
	uint32_t sanitize = __atomic_load_n(&t->lu->sanitize, __ATOMIC_RELAXED);
	if (sanitize)
		return sanitize_sense(sanitize, x);
	if (__atomic_load_n(&t->lu->medium, __ATOMIC_RELAXED) != LU_MEDIUM_PRESENT)
		return SENSE_MEDIUM_NOT_PRESENT;
	return SENSE(SK_NO_SENSE, 0, 0);
}

void request_sense_run(struct task *t)
{
	uint8_t sense[SENSE_MAX];
	struct sense_extra x = { 0 };
	uint32_t code = sense_now(t, &x);
	unsigned n = sense_encode(sense, code, &x, t->cdb[1] & 0x01);
	task_reply(t, sense, n, t->cdb[4]);
}
