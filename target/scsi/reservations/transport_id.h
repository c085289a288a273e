// SPDX-License-Identifier: BSD-2-Clause
// TransportIDs (SPC-4 7.6.4): the name of an initiator port in PERSISTENT RESERVE commands
// and in APTPL files. Kept in a canonical form, so that equal ports have equal bytes. Pure
// functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The longest is iSCSI: 4 bytes, a name of 223, ",i,0x", 12 digits, NUL, padding.
#define PR_TID_MAX 248

struct pr_tid {
	uint16_t len;	   // of bytes
	uint16_t name_len; // iSCSI: length of the node name in bytes[4..]; else 0
	bool has_isid;	   // iSCSI: TPID FORMAT 01b, a port, not a node
	uint8_t bytes[PR_TID_MAX];
};

// Parses the TransportID at p, of which len bytes may be read. *ret_used is its whole length.
// -EINVAL: malformed, or of a protocol other than iSCSI and SRP.
int pr_tid_parse(struct pr_tid *ret, const uint8_t *p, size_t len, size_t *ret_used);

// Writes the TransportID of an iSCSI initiator port, "iqn...,i,0x000000000000", into out, which is
// zeroed and has PR_TID_MAX bytes. Returns its length.
unsigned pr_tid_put_iscsi(uint8_t *out, const char *port);

enum { PR_TID_SRP_LEN = 24 };
// The same of an SRP initiator port. Returns PR_TID_SRP_LEN.
unsigned pr_tid_put_srp(uint8_t *out, const uint8_t port_id[16]);

// Whether both name the same port. Without enforce_isid, or if one names only a node, only iSCSI
// names are compared.
bool pr_tid_equal(const struct pr_tid *a, const struct pr_tid *b, bool enforce_isid);
