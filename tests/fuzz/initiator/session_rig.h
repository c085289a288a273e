// SPDX-License-Identifier: BSD-2-Clause
// Shared by fuzzers of the initiator after the login: a session on a worker of its own, with
// commands, an abort and a ping in flight. For any input every command must end once, and its valid
// data and sense must be within its memory.
#pragma once

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "core/worker.h"
#include "initiator/scsi_cdb.h"
#include "initiator/iscsi/session_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CMDS_MAX = 4 };

static struct worker *worker;
static struct ini_session *session;
static struct scsi_cmd cmds[CMDS_MAX];
static uint8_t *memory[CMDS_MAX];
static int cmd_count, done_count;
static struct scsi_tmf tmf;
static struct ini_ping ping;
static const uint8_t *input;
static size_t input_len;
static sem_t over;

static void on_cmd(struct scsi_cmd *c)
{
	done_count++;
	if (c->data_len > c->len || c->sense_len > SCSI_SENSE_MAX)
		abort();
}

static void on_tmf(struct scsi_tmf *t)
{
}

static void on_ping(struct ini_ping *p)
{
}

static void on_closed(struct scsi_session *s, const struct err *why)
{
	scsi_session_free(s);
}

// A session without a connection; freed is called when it has ended.
static inline void make_session(const struct scsi_session_ops *ops)
{
	struct ini_config c;
	struct err e;
	ini_config_init(&c);
	memcpy(c.login.initiator_name, "iqn.a:i", 8);
	memcpy(c.login.target_name, "iqn.a:t", 8);
	c.portal_count = 1;
	c.replacement_timeout = 0;
	struct scsi_session *scsi;
	if (ini_session_new(&scsi, worker, &c, ops, NULL, &e) < 0)
		abort();
	session = ini_of(scsi);
}

// As if it had just logged in, over dm, with session->info.params.
static inline void enter_full_feature(struct dmi *dm)
{
	dm->sns = (struct dmi_sns){
		.cmd_sn = 1, .exp_cmd_sn = 1, .max_cmd_sn = 16, .exp_stat_sn = 1
	};
	struct err e;
	dm->ops->full_feature(dm, &session->info.params);
	if (command_open(session, &e) < 0)
		abort();
	session_enter_up(session);
}

// Exactly len bytes of memory, so that AddressSanitizer detects an overrun.
static inline void submit(enum scsi_op op, uint32_t len)
{
	struct scsi_args args = { .len = 1 };
	struct scsi_cmd *c = &cmds[cmd_count];
	memory[cmd_count++] = calloc(1, len ? len : 1);
	scsi_cmd_set(c, 0, op, op == SCSI_TEST_UNIT_READY ? NULL : &args, memory[cmd_count - 1],
		     len);
	c->done = on_cmd;
	scsi_cmd_submit(&session->scsi, c);
}

// Sends the submitted commands, an abort of the last one, and a ping.
static inline void pump(void)
{
	scsi_session_pump(&session->scsi);
	tmf = (struct scsi_tmf){ .function = SCSI_TMF_ABORT_TASK,
				 .cmd = &cmds[cmd_count - 1],
				 .done = on_tmf };
	scsi_tmf_submit(&session->scsi, &tmf);
	ping = (struct ini_ping){ .done = on_ping };
	ini_ping(&session->scsi, &ping);
}

static void stop(void)
{
	worker_free(worker);
}

// One worker for all inputs; creating one takes longer than most of them.
static inline void start(void)
{
	struct worker_options o = { .name = "fuzz", .cpu = -1 };
	struct err e;
	sem_init(&over, 0, 0);
	if (worker_new(&worker, &o, &e) < 0 || worker_start(worker, &e) < 0)
		abort();
	atexit(stop);
}

// Runs begin on the worker, with the input; until over.
static inline void run(void (*begin)(struct msg *m), const uint8_t *data, size_t size)
{
	struct msg m = { .fn = begin };
	input = data;
	input_len = size;
	cmd_count = done_count = 0;
	worker_post(worker, &m);
	while (sem_wait(&over) < 0)
		; // EINTR
}

static inline void finish(void)
{
	if (done_count != cmd_count)
		abort();
	for (int i = 0; i < cmd_count; i++)
		free(memory[i]);
}
