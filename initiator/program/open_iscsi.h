// SPDX-License-Identifier: BSD-2-Clause
// What open-iscsi's files have of CHAP: a target's record, DIR/nodes/TARGET/..., else the defaults
// in DIR/iscsid.conf, "node.session.auth.authmethod = CHAP" and so on; for discovery
// discovery.sendtargets.auth in iscsid.conf. The program's thread; blocks on the file system.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "transport/iscsi/chap.h"

#define OPEN_ISCSI_DIR "/etc/iscsi"

// Holds secrets: wipe it with chap_wipe().
struct open_iscsi_auth {
	bool has_method, is_chap; // authmethod is there; it is CHAP
	char user[CHAP_USER_MAX + 1], secret[CHAP_SECRET_MAX + 1];
	char mutual_user[CHAP_USER_MAX + 1], mutual_secret[CHAP_SECRET_MAX + 1];
	char algs[128]; // empty: not given
};

// Takes the lines of a file that begin with prefix, "node.session.auth."; others and comments are
// skipped, a later line replaces an earlier one, "<empty>" is no value. what begins messages.
// -EINVAL with a text and the line, never with a secret: a value is too long.
int open_iscsi_parse(struct open_iscsi_auth *ret, const char *text, size_t len, const char *prefix,
		     const char *what, struct err *e);

// Reads the files of dir. target "": for discovery. portal: "host,port", whose record is preferred.
// is_chap is false if none has CHAP. Negative with a text: a file is wrong or cannot be read.
int open_iscsi_auth(struct open_iscsi_auth *ret, const char *dir, const char *target,
		    const char *portal, struct err *e);
