// SPDX-License-Identifier: BSD-2-Clause
// The initiator's end of an RDMA channel of SRP: logs in, sends commands with descriptors of their
// memory or with immediate data, checks responses, keeps the credits. T10 SRP 4, 5, 6.
//
// A channel belongs to one worker: every function is called there, none blocks, and every callback
// comes from its loop, never from inside a function of this header but srpi_drop().
#pragma once

#include "core/buf.h"
#include "transport/rdma/rnic.h"
#include "transport/srp/iu.h"
#include "transport/srp/login.h"

struct srpi_channel;

enum {
	SRPI_SENSE_MAX = 252,
	SRPI_TASKS_MAX = 128, // in flight
};

// A command. The caller owns the memory until done.
struct srpi_task {
	// Set by the caller.
	uint8_t lun[8];
	uint8_t cdb[SRP_CDB_LEN];
	uint8_t attr; // SRP_ATTR_*
	bool is_read, is_write;
	const struct sg *sg;
	uint32_t nsg, len;

	// The response, valid in done with res 0 but for code.
	uint8_t status;
	uint8_t code; // RSP_CODE, with res -EREMOTEIO
	bool is_under, is_over;
	uint32_t residual;
	uint32_t data_len; // valid bytes of data-in
	uint16_t sense_len;
	uint8_t sense[SRPI_SENSE_MAX];

	// private
	void *slot; // while it is in flight
	uint64_t tag;
};

// What a channel calls. All slots are required.
struct srpi_up {
	// Logged in.
	void (*up)(struct srpi_channel *ch, const struct srp_accept *a);
	// A command has ended: the peer can no longer access its memory. res: 0; -EPIPE the
	// connection is lost; -EREMOTEIO the target refused the IU; -ENOMEM it was not sent.
	void (*done)(struct srpi_channel *ch, struct srpi_task *t, int res);
	// The answer to srpi_task_mgmt(): code, or negative: -EPIPE.
	void (*tmf_done)(struct srpi_channel *ch, int code);
	// AER_REQ; it has been answered.
	void (*event)(struct srpi_channel *ch, const uint8_t lun[8], const uint8_t *sense,
		      uint32_t len);
	// There may be room for more commands, and not because one has ended.
	void (*room)(struct srpi_channel *ch);
	// The connection is closed, every command has ended. why: -ECONNREFUSED with the reason of
	// the LOGIN_REJ in words ... srpi_free() follows, here or later.
	void (*closed)(struct srpi_channel *ch, const struct err *why);
};

struct srpi_options {
	const struct rnic_provider *provider;
	const struct tcp_addr *peer, *local; // local may be NULL
	uint8_t initiator[SRP_PORT_ID_LEN], target[SRP_PORT_ID_LEN];
	bool is_additional; // a further channel of the nexus (SRP_MULTICHAN_MULTI)
	uint8_t number;	    // of the channel in the nexus: tags are unique in that
	bool has_no_immediate;
	uint32_t it_iu_len;    // 0: what the own IUs need
	uint32_t tasks;	       // wanted in flight; 0: SRPI_TASKS_MAX
	uint64_t timeout_usec; // of the login
};

// Starts to connect and log in: up or closed follows. After an error no callback follows.
int srpi_new(struct srpi_channel **ret, struct worker *w, const struct srpi_options *o,
	     const struct srpi_up *up, void *role, struct err *e);
void srpi_free(struct srpi_channel *ch); // after closed; NULL is fine
void *srpi_role(const struct srpi_channel *ch);

// Commands that may be sent now: one credit is kept for task management.
unsigned srpi_room(const struct srpi_channel *ch);
// Sends t, for which there is room. done follows.
void srpi_send(struct srpi_channel *ch, struct srpi_task *t);
// Sends a task management request; one at a time. t: the task of ABORT TASK, else NULL. -EBUSY: one
// is under way, or there is no credit; -EPIPE: the connection is closing.
int srpi_task_mgmt(struct srpi_channel *ch, enum srp_tmf function, const uint8_t lun[8],
		   const struct srpi_task *t);
// t, which was aborted, gets no response any more: done with res, here or when it was sent.
void srpi_drop(struct srpi_channel *ch, struct srpi_task *t, int res);
// Closes: is_logout: after sending I_LOGOUT, for as long as the peer takes, unless this is called
// again without. closed follows, and done of every task before it.
void srpi_close(struct srpi_channel *ch, bool is_logout, const struct err *why);

struct srpi_info {
	const struct tcp_addr *peer_addr, *local_addr;
	const char *transport;	  // "SRP (siw0)"
	struct srp_accept accept; // once it is up
	uint32_t reject;	  // enum srp_rej_reason of the LOGIN_REJ; 0: none
};
void srpi_info(const struct srpi_channel *ch, struct srpi_info *ret);
// When bytes of the peer last arrived, as of worker_now(); over an adapter: a message. 0: never.
uint64_t srpi_last_rx(const struct srpi_channel *ch);
// Longest data that srpi_send() sends as immediate data; 0: none.
uint32_t srpi_immediate_max(const struct srpi_channel *ch);
