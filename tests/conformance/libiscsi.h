// SPDX-License-Identifier: BSD-2-Clause
// Private to libiscsi.c and calls.c: what stands beside a context of libiscsi.
#pragma once

#include <dlfcn.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>

#include "session.h"

#define EXPORTED   __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name)) // libiscsi's

struct iscsi_pdu;
int iscsi_queue_pdu(struct iscsi_context *iscsi, struct iscsi_pdu *pdu); // libiscsi's, as well

// A command or a request of the program.
struct call {
	struct cs_call way;
	struct list link;
	struct scsi_task *task;
	uint8_t *memory;
	enum iscsi_task_mgmt_funcs function;
	iscsi_command_cb done;
	void *arg;
};

struct context {
	struct context *next;
	struct iscsi_context *of;
	struct cs_address address;
	struct cs_session *session; // NULL: libiscsi has it
	void *transport;	    // libiscsi's
	bool has_ended, has_reset;
	int lun;
	unsigned timeout;
	uint32_t tags;
	struct list queued, sent;
	struct list ended; // freed when no request refers to them
	unsigned requests;
	iscsi_command_cb done; // of a login or logout, called by the next iscsi_service()
	void *arg;
	char error[CS_TEXT];
};

// The context of a session of ours; NULL: the session is libiscsi's.
struct context *context_ours(const struct iscsi_context *iscsi);

// calls.c
// call has come back from the session: calls the program back, and ends it.
void call_over(struct context *c, struct call *call);
// Frees call as soon as no request refers to it.
void call_end(struct context *c, struct call *call);
