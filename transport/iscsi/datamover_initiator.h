// SPDX-License-Identifier: BSD-2-Clause
// The interface between the iSCSI initiator and the mover of its PDUs and data (RFC 5047 4, 6),
// the counterpart of datamover.h: the role knows sessions, the command window and retries; the
// mover knows how a command's memory becomes immediate data, Data-Outs and Data-Ins.
// Names begin with dmi_: see datamover.h.
//
// The target is not trusted: a PDU that does not belong to a command in flight, or does
// not fit into that command's memory, closes the connection.
//
// Everything here runs on the worker that owns the connection; nothing blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "transport/iscsi/keys.h"
#include "transport/iscsi/pdu.h"
#include "transport/tcp/addr.h"

struct dmi;

enum {
	DMI_TASKS_MAX = 1024, // commands in flight on one connection
	DMI_SENSE_MAX = 252,  // SPC: 8 bytes and an ADDITIONAL SENSE LENGTH of 244
	// Initiator task tags with this bit are the role's own (NOP, Text, Logout, task
	// management); the mover gives those without it to commands.
	DMI_ROLE_TAG = 0x40000000,
};

// The serial numbers of the session. The role sets them after the login; the mover puts them into
// outgoing PDUs and updates them from incoming ones [RFC 7143 4.2.2].
struct dmi_sns {
	uint32_t cmd_sn;		 // of the next command
	uint32_t exp_cmd_sn, max_cmd_sn; // the target's window
	uint32_t exp_stat_sn;
};

// A SCSI command in flight. The role owns its memory and allocates dm->task_size bytes more
// directly behind it: the mover's room, which it initialises in ops->command.
struct dmi_task {
	// Set by the role, constant from ops->command until up->done.
	_Alignas(8) const uint8_t *lun; // 8 bytes, as on the wire
	const uint8_t *cdb;		// ISCSI_CDB_LEN bytes
	uint8_t attr;			// ISCSI_ATTR_*
	bool is_read, is_write;
	struct sg *sg; // len bytes, the source or destination of the data
	uint32_t nsg, len;

	// The result; valid in up->done if res is 0.
	uint8_t response; // ISCSI_RSP_*
	uint8_t status;	  // SAM status
	uint8_t residual_flags;
	uint32_t residual;
	uint32_t data_len; // valid bytes of data-in, from the beginning
	uint16_t sense_len;
	uint8_t *sense; // set by the role: room for DMI_SENSE_MAX bytes

	// Set by the mover, valid until up->done: what task management refers to.
	uint32_t itt, cmd_sn;
};

// What the mover calls. All slots are required. The mover has finished with a PDU or a task before
// it passes it up, and looks at it no more. The role may call every op from inside every slot, free
// in closed only; another slot is then called while the first one runs.
struct dmi_up {
	// The mover no longer refers to the task or its memory. res 0: the target responded, see
	// the result; -ECANCELED: dropped; -ENOMEM: its memory could not be registered, nothing was
	// sent; -EPIPE: the connection is lost, closed follows, and ops->command must not be called
	// again.
	void (*done)(struct dmi *dm, struct dmi_task *t, int res);
	// Any other PDU, complete; its serial numbers are processed. data: pdu->data_len bytes and
	// a NUL. Negative: close the connection for the reason in e.
	int (*control)(struct dmi *dm, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		       const uint8_t *data, struct err *e);
	// The command window has opened further.
	void (*window)(struct dmi *dm);
	// The connection is closed; called once, after up->done of every task. The role calls free,
	// here or later.
	void (*closed)(struct dmi *dm, const struct err *e);
};

// What the role calls.
struct dmi_ops {
	// Sends a SCSI command with the next CmdSN, and the unsolicited data that the parameters
	// permit. The role has checked the window and dm->tasks_max. up->done follows, never from
	// inside this call.
	void (*command)(struct dmi *dm, struct dmi_task *t);
	// Sends any other PDU; data is copied. The mover fills in ExpStatSN and CmdSN, which
	// advances unless the PDU is immediate. Login requests are complete: with is_login the
	// mover does not change the numbers.
	void (*send)(struct dmi *dm, const uint8_t bhs[ISCSI_BHS_LEN], const void *data,
		     uint32_t len, bool is_login);
	// Drops a task whose abort the target has confirmed. up->done follows, possibly at once.
	void (*drop)(struct dmi *dm, struct dmi_task *t);
	// Login is over: params hold from the next PDU on. dm->sns is set. Copied.
	void (*full_feature)(struct dmi *dm, const struct iscsi_params *params);
	// Sends queued PDUs now instead of at the end of the round.
	void (*flush)(struct dmi *dm);
	// Closes the connection; up->done for every task and up->closed follow, possibly at once.
	// why->code 0: in order, as nothing that was sent can have an effect any more; else what
	// the kernel has not sent yet is dropped (stream_set_orderly()).
	void (*close)(struct dmi *dm, const struct err *why);
	// The connection is closed. Frees dm in a later round.
	void (*free)(struct dmi *dm);
	// When the last byte arrived, on worker_now()'s clock.
	uint64_t (*last_rx)(struct dmi *dm);
};

// A connection as the role sees it; the mover's struct begins with it.
struct dmi {
	const struct dmi_ops *ops;
	const struct dmi_up *up;
	void *role;
	struct dmi_sns sns;
	uint32_t task_size;    // bytes of room behind each dmi_task; set by the mover, constant
	const char *transport; // "TCP", "iSER (device)"
	unsigned tasks_max;    // limit of commands in flight, up to DMI_TASKS_MAX
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT];
};
