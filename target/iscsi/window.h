// SPDX-License-Identifier: BSD-2-Clause
// The command window: the order of CmdSNs, and PDUs held for an earlier one. RFC 7143 4.2.2.1. The
// connection's worker.
#pragma once

#include "target/iscsi/conn.h"

struct cmd;

// A PDU that arrived before an earlier CmdSN, or the place of one aborted before its turn.
struct held_pdu {
	struct list link; // conn->held, ascending by CmdSN
	uint32_t cmd_sn;
	bool is_aborted; // nothing to run: its CmdSN counts as received
	uint32_t data_len;
	struct cmd *cmd; // a SCSI command instead of the rest
	struct iscsi_pdu pdu;
	uint8_t bhs[ISCSI_BHS_LEN];
	uint8_t data[];
};

// Classifies a PDU's CmdSN; WINDOW_TAKE: the window has moved.
enum window_order { WINDOW_TAKE, WINDOW_HOLD, WINDOW_DROP };
enum window_order window_order(struct conn *c, const uint8_t *bhs, bool is_immediate);
// The same without moving the window.
enum window_order window_look(struct conn *c, const uint8_t *bhs, bool is_immediate);
// Runs what was held for the CmdSNs that are due now, by c->run_held; after window_turn_ns the rest
// in the next round.
void window_run_held(struct conn *c);
extern uint64_t window_turn_ns;
// Holds a PDU, or a command instead of it, until its turn. -ENOMEM.
int window_hold(struct conn *c, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		const uint8_t *data, struct cmd *cmd);
void window_drop_held(struct conn *c);
void window_unhold(struct conn *c, struct cmd *cmd); // it ends before its turn
// Counts a missing CmdSN as received; its PDU is dropped when it arrives. -EEXIST: it is waiting
// for its turn; -ENOMEM.
int window_skip(struct conn *c, uint32_t sn);
// The peer has sent a PDU of the full feature phase: the response opens the full window.
void window_widen(struct conn *c);
