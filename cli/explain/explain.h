// SPDX-License-Identifier: BSD-2-Clause
// Codes with their causes and cures: tables, one file per protocol.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct explain_row {
	uint32_t code;
	const char *name, *cause, *cure;
};

// Rows end with a NULL name.
struct explain_table {
	const char *kind;  // the word that selects it: "login", "reject"
	const char *title; // "iSCSI login status"
	unsigned digits;   // hexadecimal digits of a code; 0: decimal
	const struct explain_row *rows;
};

extern const struct explain_table explain_login, explain_reject;  // explain_iscsi.c
extern const struct explain_table explain_conn, explain_iscsiadm; // explain_open_iscsi.c
extern const struct explain_table explain_srp, explain_cm;	  // explain_rdma.c
extern const struct explain_table explain_status, explain_sense;  // explain_scsi.c
extern const struct explain_table explain_errno, explain_exit;	  // explain_own.c

// The tables above, ends with NULL.
extern const struct explain_table *const explain_tables[];

enum { EXPLAIN_MAX = 16 };
struct explain_hit {
	const struct explain_table *table;
	struct explain_row row;
	char name[160]; // replaces row.name if not empty
};
// Looks up text: "0201", "0x0201", "5/24/00", "05 24 00", "reject 09", "EBUSY", words of a
// name, a line of a log with "conn error (1020)" or "iscsiadm: initiator reported error (24",
// or of ib_srp with "REJECTED, reason 0x00010003" or "REJ reason 0x8".
// Returns the number of entries, at most max. Pure.
unsigned explain_find(const char *text, struct explain_hit *out, unsigned max);
// Formats the code: "0201", "5/24/00".
void explain_code_text(const struct explain_hit *h, char out[24]);
