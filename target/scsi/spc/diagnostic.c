// SPDX-License-Identifier: BSD-2-Clause
// SEND DIAGNOSTIC and RECEIVE DIAGNOSTIC RESULTS (SPC-4 6.42, 6.28). Task's worker.
#include "target/scsi/spc/commands.h"
#include "target/scsi/task_status.h"
#include "transport/wire/be.h"

// The default self-test: the response is the test. There are no diagnostic pages to send.
void send_diagnostic_run(struct task *t)
{
	if (t->cdb[1] & 0xe0) // SELF-TEST CODE
		task_invalid_cdb(t, 1, 7);
	else if (get_be16(t->cdb + 3))
		task_invalid_cdb(t, 3, -1);
	else
		task_good(t);
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
