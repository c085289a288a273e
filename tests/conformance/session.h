// SPDX-License-Identifier: BSD-2-Clause
// A session of farblock's initiator for a program that waits for descriptors: commands are handed
// to the session's worker, and come back when a descriptor is readable. All functions are called on
// the program's thread.
#pragma once

#include <semaphore.h>

#include "initiator/scsi.h"

enum { CS_TEXT = 224 }; // of a name, with its end

// Where to log in, and as whom.
struct cs_address {
	char portal[CS_TEXT];	 // "host:port"
	char target[CS_TEXT];	 // "iqn....", or over SRP "ib." and 32 hex digits
	char initiator[CS_TEXT]; // "iqn...."; over SRP the port is derived from it
	// Tells sessions of one name apart over SRP: the first half of the port, as the ISID does.
	uint8_t extension;
	bool is_iser;
};
bool cs_is_srp(const struct cs_address *a);

struct cs_session;

// A SCSI command or a task management request. Which of both is set by the caller, but for done and
// arg.
struct cs_call {
	bool is_tmf;
	struct scsi_cmd cmd;
	struct scsi_tmf tmf;

	struct cs_session *session; // private
	struct msg msg;
	struct list link;
};

// Logs in. A negative errno with a text.
int cs_open(struct cs_session **ret, const struct cs_address *a, struct err *e);
// Ends the session: all calls come back. is_logout: in order; else the connections are closed.
void cs_end(struct cs_session *s, bool is_logout);
void cs_free(struct cs_session *s); // after cs_end(), when all calls were taken

int cs_fd(const struct cs_session *s); // readable if a call may have come back
void cs_submit(struct cs_session *s, struct cs_call *c);
struct cs_call *cs_take(struct cs_session *s); // NULL: none has come back
// Until fd is readable.
void cs_wait(const struct cs_session *s);

// address.c: what the session is opened with. A negative errno with a text.
struct cs_config;
int cs_config_new(struct cs_config **ret, const struct cs_address *a, struct err *e);
int cs_config_open(const struct cs_config *c, struct scsi_session **ret, struct worker *w,
		   const struct scsi_session_ops *ops, void *arg, struct err *e);
