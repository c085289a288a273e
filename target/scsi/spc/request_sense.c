// SPDX-License-Identifier: BSD-2-Clause
// Small commands of every device: TEST UNIT READY, REQUEST SENSE, PREVENT ALLOW MEDIUM REMOVAL
// and the diagnostic commands (SPC-4 6). Task's worker.
#include <string.h>

#include "target/scsi/lu.h"
#include "target/scsi/medium.h"
#include "target/scsi/nexus.h"
#include "target/scsi/spc/commands.h"
#include "target/scsi/task.h"
#include "transport/wire/be.h"

// server/submit.c has checked that the medium is ready.
void test_unit_ready_run(struct task *t)
{
	task_finish(t, STATUS_GOOD);
}

// The current condition, in order of urgency (SPC-4 6.39); clears a unit attention.
static uint32_t sense_now(struct task *t, struct sense_extra *x)
{
	if (!t->lu)
		return SENSE_LUN_NOT_SUPPORTED;
	enum ua u = ua_take(t->nl);
	if (u != UA_MAX)
		return ua_code(u);
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

bool prevent_allow_is_available(const struct lu *lu)
{
	return lu_setting(&lu->attr.removable);
}

void prevent_allow_run(struct task *t)
{
	uint8_t prevent = t->cdb[4] & 0x03;
	if (prevent & 0x02) { // obsolete: media changers
		task_invalid_cdb(t, 4, 1);
		return;
	}
	if (!prevent) {
		nexus_lun_allow_removal(t->nl);
	} else if (!t->nl->prevents_removal) {
		t->nl->prevents_removal = true;
		__atomic_add_fetch(&t->lu->prevented, 1, __ATOMIC_RELAXED);
	}
	task_finish(t, STATUS_GOOD);
}

// The default self-test: the response is the test. There are no diagnostic pages to send.
void send_diagnostic_run(struct task *t)
{
	if (t->cdb[1] & 0xe0) // SELF-TEST CODE
		task_invalid_cdb(t, 1, 7);
	else if (get_be16(t->cdb + 3))
		task_invalid_cdb(t, 3, -1);
	else
		task_finish(t, STATUS_GOOD);
}

// Supported Diagnostic Pages lists itself (SPC-4 7.2.6).
void receive_diagnostic_run(struct task *t)
{
	static const uint8_t page[] = { 0x00, 0x00, 0x00, 0x01, 0x00 };
	if (t->cdb[2])
		task_invalid_cdb(t, 2, -1);
	else
		task_reply(t, page, sizeof page, get_be16(t->cdb + 3));
}
