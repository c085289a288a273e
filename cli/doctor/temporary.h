// SPDX-License-Identifier: BSD-2-Clause
// The objects that the self-test needs for some seconds. Blocks.
#pragma once

#include "cli/doctor/doctor.h"

enum { DOCTOR_ISCSI, DOCTOR_SRP, DOCTOR_PROTOCOLS };
enum { DOCTOR_PORTALS_TRIED = 16 }; // of a protocol
#define DOCTOR_USER "doctor"	    // of CHAP

struct temporary {
	struct doctor *d;
	// doctor_portals() of each protocol, of which the first ones are tried.
	struct json_object *portals[DOCTOR_PROTOCOLS];
	// With these farblock-initiator is admitted: of CHAP, and the port identifier of SRP.
	char secret[25], port[34];
};

// tree: of the daemon.
void temporary_init(struct temporary *t, struct doctor *d, struct json_object *tree);
void temporary_done(struct temporary *t);
// Creates credentials, and with them the RAM disk and the targets.
int temporary_create(struct temporary *t, struct err *e);
// Deletes them, also those of a self-test that was killed. -ENOENT: there are none.
int temporary_delete(struct temporary *t, struct err *e);
// The name of a protocol's target as a URL has it; its LUN is 0.
const char *temporary_url(unsigned protocol);
