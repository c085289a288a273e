// SPDX-License-Identifier: BSD-2-Clause
// The queue of a session in front of its protocol's window.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/worker.h"
#include "initiator/scsi_cdb.h"
#include "initiator/scsi_protocol.h"

enum { CMDS = 4 };

static struct {
	struct scsi_session s;
	struct scsi_cmd cmds[CMDS];
	unsigned room, sent;
} r;

static unsigned on_room(struct scsi_session *s)
{
	return r.room;
}

// The connection is lost while a command is being sent.
static void on_send(struct scsi_session *s, struct scsi_cmd *c)
{
	c->sent = c;
	r.sent++;
	r.room = 0;
}

static void on_done(struct scsi_cmd *c)
{
}

static void a_window_that_closes_while_a_command_is_sent_stops_the_others(void **state)
{
	static const struct scsi_protocol protocol = { .room = on_room, .send = on_send };
	static const struct scsi_session_ops ops = { 0 };
	struct worker_options options = { .name = "test", .cpu = -1, .pool_bytes = 1 << 20 };
	struct worker *w;
	struct err e;

	assert_int_equal(worker_new(&w, &options, &e), 0);
	scsi_session_init(&r.s, w, &protocol, &ops, NULL);
	r.s.queue_depth = CMDS;
	for (int i = 0; i < CMDS; i++) {
		scsi_cmd_init(&r.cmds[i], 0);
		r.cmds[i].done = on_done;
		assert_int_equal(scsi_cmd_submit(&r.s, &r.cmds[i]), 0);
	}
	r.room = CMDS;
	scsi_session_pump(&r.s);
	assert_int_equal(r.sent, 1);
	worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_that_closes_while_a_command_is_sent_stops_the_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
