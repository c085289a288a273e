// SPDX-License-Identifier: BSD-2-Clause
// The border of the initiator: a session takes SCSI commands with a scatter list and tells of its
// loss and return, of unit attentions and of logical units that were replaced. What stands above
// (farblock-initiator's verbs, bench) knows nothing of the protocol below, which implements
// scsi_protocol.h: iSCSI over TCP and iSER in initiator/iscsi/, SRP in initiator/srp/.
//
// A session belongs to one worker. Unless noted otherwise, functions are called on that worker's
// thread, do not block, and report by callback on the same thread. sync.h has blocking calls for
// other threads.
//
// The target is not trusted: its responses are checked against their commands, and only the first
// data_len bytes of a command's memory are valid. Over RDMA its writes are invisible: it may
// change all of a read's memory until done.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/worker.h"

struct scsi_session;

enum {
	SCSI_CDB_LEN = 16,
	SCSI_SENSE_MAX = 252, // SPC: 8 bytes and an ADDITIONAL SENSE LENGTH of 244
	SCSI_LUN_MAX = 16383, // flat space addressing [SAM-5 4.7.7.3]
	SCSI_ADDRESS_TEXT = 80,
	SCSI_PORT_TEXT = 320, // of the name of a port
};

// ---- sessions ----

// What a session tells its owner, on its worker. Absent slots do nothing. All slots may call every
// function here, even scsi_session_free().
struct scsi_session_ops {
	// Logged in: the first time, and after each loss.
	void (*up)(struct scsi_session *s);
	// The session is lost; commands wait while it is retried.
	void (*down)(struct scsi_session *s, const struct err *why);
	// Another attempt follows, because the session was lost or the last attempt failed with
	// why; the session ends after the given seconds. Not called for a login that the target
	// requested.
	void (*retry)(struct scsi_session *s, const struct err *why, unsigned seconds);
	// An asynchronous SCSI event: sense_len bytes of sense data, valid during the call.
	void (*async)(struct scsi_session *s, const uint8_t *sense, size_t sense_len);
	// The session has ended and all commands are done; called once. why->code is 0 after a
	// requested logout; of a login that the target refuses -EKEYREJECTED (authorization),
	// -ECONNABORTED (for now) or -ENXIO (for good). Call scsi_session_free(), here or later.
	void (*closed)(struct scsi_session *s, const struct err *why);
	// The last callback, after scsi_session_free: the memory is freed, no message is pending.
	void (*freed)(void *arg);
};

// How a protocol creates a session and starts to log in. config is the protocol's own and is
// copied; ops must outlive the session. An error with a text: no callback follows.
typedef int scsi_open_fn(struct scsi_session **ret, struct worker *w, const void *config,
			 const struct scsi_session_ops *ops, void *arg, struct err *e);

// Logs out; closed follows, possibly at once. Unfinished commands end with -ESHUTDOWN.
void scsi_session_logout(struct scsi_session *s);

// Ends commands that were not sent yet with -ECANCELED; those in flight end by themselves and are
// not retried; new ones are refused. The session remains, for a logout.
void scsi_session_cancel(struct scsi_session *s);

// Ends commands that wait to be sent with -ENOTCONN, so that they can go another way; those of the
// library itself, and those whose memory the protocol still has, remain.
void scsi_session_withdraw(struct scsi_session *s);

// Ends the session at once and frees it in a later round; of scsi_session_ops only freed follows.
// Commands end with -ESHUTDOWN: inside this call or, over RDMA, where the peer may still access
// their memory, when the connection is closed, and before freed. NULL is fine.
void scsi_session_free(struct scsi_session *s);

void *scsi_session_arg(const struct scsi_session *s);
bool scsi_session_is_up(const struct scsi_session *s);

struct scsi_session_info {
	char peer[SCSI_ADDRESS_TEXT], local[SCSI_ADDRESS_TEXT]; // "192.0.2.1:3260"
	unsigned reconnects;					// since the session started
	bool is_redirected;					// by the target, in its last login
};
// Valid since the first up.
void scsi_session_info(const struct scsi_session *s, struct scsi_session_info *ret);
// A property of a session: its key and a text or (text NULL) a number; both valid during the call.
typedef void scsi_say(void *arg, const char *key, const char *text, uint64_t number);
// Says what the session is, for people: "transport", "target", "portal" and "initiator" of
// all protocols, times in seconds, what is the protocol's own, and since the first up what was
// negotiated. Never a secret.
void scsi_session_describe(const struct scsi_session *s, scsi_say *say, void *arg);
// How often data of a command of that size crosses the network one after the other: at least 1.
unsigned scsi_session_round_trips(const struct scsi_session *s, uint32_t bytes, bool is_write);

// ---- nexuses ----

enum { SCSI_NEXUS_SRP = 4, SCSI_NEXUS_ISCSI = 5 }; // SPC-5 7.6.1

// An I_T nexus by its SCSI port names. iSCSI: "NAME,i,0xISID" and "NAME,t,0xTPGT" (RFC 7143 4.4.2);
// of a target that does not tell its portal group "NAME,t,ADDRESS". SRP: 32 hex digits each.
struct scsi_nexus {
	uint8_t protocol; // 0: the protocol has no names of ports
	char initiator[SCSI_PORT_TEXT], target[SCSI_PORT_TEXT];
};
// The nexus of the session, or of the last one while it logs in again. Valid since the first up.
void scsi_session_nexus(const struct scsi_session *s, struct scsi_nexus *ret);
bool scsi_nexus_is_same(const struct scsi_nexus *a, const struct scsi_nexus *b); // any thread
// Its initiator's TransportID (SPC-5 7.6.4) for parameter lists; the length, a multiple of 4, or 0:
// there is none, or size is too small. Any thread.
uint32_t scsi_nexus_transport_id(const struct scsi_nexus *n, uint8_t *ret, uint32_t size);

// Ends a nexus that was lost: a session with its names logs in at the portal to which via is
// connected, and out again. Whether commands of the lost nexus have left the storage when the
// target answers is the target's promise. RFC 7143 6.3.5, T10 SRP 5.4.
struct scsi_fence;
struct scsi_fence_ops { // both are required; on the worker of via, never from inside a call
	// The login has succeeded (why->code 0) or has not. Called once, unless cancelled.
	void (*done)(void *arg, const struct err *why);
	// Nothing is left of the fence. Always called, after done.
	void (*gone)(void *arg);
};
// -EOPNOTSUPP with a text: via's target port or initiator is another one; others: no callback
// follows. ops must outlive the fence.
int scsi_fence_new(struct scsi_fence **ret, struct scsi_session *via, const struct scsi_nexus *lost,
		   const struct scsi_fence_ops *ops, void *arg, struct err *e);
// Before done: ends the attempt; gone follows.
void scsi_fence_cancel(struct scsi_fence *f);

// A session that is lost does not log in as long as it is paused: it would end the fence's.
void scsi_session_pause(struct scsi_session *s, bool is_paused);
// Whether the target has confirmed a logout: no command of the session can be executed any more.
bool scsi_session_is_settled(const struct scsi_session *s);

// ---- commands ----

enum scsi_attr { // task attributes [SAM-5 8.9]
	SCSI_ATTR_UNTAGGED,
	SCSI_ATTR_SIMPLE,
	SCSI_ATTR_ORDERED,
	SCSI_ATTR_HEAD_OF_QUEUE,
	SCSI_ATTR_ACA,
};

// A SCSI command. The caller owns the memory and must not access it from scsi_cmd_submit() until
// done. scsi_cmd_init() and scsi_cdb.h fill most of it.
struct scsi_cmd {
	// Set by the caller.
	uint8_t lun[8]; // as in SAM-5 4.7
	uint8_t cdb[SCSI_CDB_LEN];
	uint8_t attr; // enum scsi_attr
	bool is_read, is_write;
	bool is_once;	// never retried (after a lost session, a unit attention)
	bool is_unsafe; // never sent again once it was handed to a connection that was lost
	bool is_ahead;	// of the library itself: overtakes held commands
	struct sg *sg;	// len bytes, the source or destination of the data
	uint32_t nsg, len;
	struct sg one;	  // for scsi_cmd_data
	unsigned timeout; // seconds; 0: that of the session
	// The command has ended. It may be submitted again from inside.
	void (*done)(struct scsi_cmd *c);
	void *arg;

	// 0: the target responded, see status. -ETIMEDOUT, -ECANCELED (aborted), -ENOTCONN (the
	// session could not be restored, or is_once), -ESHUTDOWN, -EPROTO (rejected by the target),
	// -EREMOTEIO (the target could not execute it), -ENOMEM (over RDMA: no memory could be
	// registered for it; it was not sent), -ESTALE (its logical unit has changed: scsi_watch).
	int res;
	// With res: the command was handed to the connection, which ended before an answer: the
	// target may execute it, also later (disk/fence.c).
	bool is_unanswered;
	// The target's response.
	uint8_t status;		// SAM status
	bool is_under, is_over; // residual bytes were not transferred, or would not fit
	uint32_t residual;
	uint32_t data_len; // valid bytes of data-in, from the beginning
	uint16_t sense_len;
	uint8_t sense[SCSI_SENSE_MAX];
	char refusal[48]; // with -EREMOTEIO: the code of the protocol, in words

	// private
	struct scsi_session *session;
	struct list link;
	void *sent; // the protocol's part while it has the command; NULL: it has not
	uint64_t deadline_ns;
	unsigned tries;
	bool is_flying, is_timed_out, is_abort_sent;
	bool is_ungranted; // timed out while the target took no more commands
	int why;
};

// Zeroes c and sets the logical unit: 0 to 255 in peripheral, up to SCSI_LUN_MAX in flat space
// addressing [SAM-5 4.7.7]. Any thread.
void scsi_cmd_init(struct scsi_cmd *c, uint16_t lun);

// Sets a single piece of memory as c's data buffer. Any thread.
void scsi_cmd_data(struct scsi_cmd *c, void *data, uint32_t len, bool is_write);

// Queues c; done follows, never from inside. -ENOTCONN: the session has ended; -ESTALE: the logical
// unit has changed (scsi_watch); -ECANCELED: after scsi_session_cancel(); -EINVAL: both directions,
// or a list shorter than len. After an error done is not called.
int scsi_cmd_submit(struct scsi_session *s, struct scsi_cmd *c);

// ---- task management [SAM-5 7] ----

enum scsi_tmf_function {
	SCSI_TMF_ABORT_TASK,
	SCSI_TMF_ABORT_TASK_SET,
	SCSI_TMF_CLEAR_TASK_SET,
	SCSI_TMF_LUN_RESET,
	SCSI_TMF_TARGET_WARM_RESET, // iSCSI alone has resets of a target
	SCSI_TMF_TARGET_COLD_RESET, // ... after this one it may end the session
	SCSI_TMF_COUNT,
};

enum scsi_tmf_response {
	SCSI_TMF_COMPLETE,
	SCSI_TMF_NO_TASK, // ABORT TASK: the command had ended
	SCSI_TMF_NO_LUN,
	SCSI_TMF_UNSUPPORTED, // by the target, or not sent because the protocol does not have it
	SCSI_TMF_REJECTED,
};

// A request. The caller owns the memory, and that of cmd, until done.
struct scsi_tmf {
	enum scsi_tmf_function function;
	struct scsi_cmd *cmd; // of ABORT TASK, else NULL
	uint8_t lun[8];	      // of functions for a logical unit
	void (*done)(struct scsi_tmf *t);
	void *arg;
	// 0: see response; -ETIMEDOUT, -ENOTCONN.
	int res;
	enum scsi_tmf_response response;

	struct list link; // private
};

// Queues t; one is on the wire at a time. done follows, never from inside. Commands that it aborts
// end before it, with -ECANCELED. -ENOTCONN: the session is not up; -ESRCH: cmd is not in flight;
// -EINVAL.
int scsi_tmf_submit(struct scsi_session *s, struct scsi_tmf *t);

// ---- watching a logical unit ----

// What a session found at a LUN that it used before.
enum scsi_lu_change {
	SCSI_LU_SAME,
	// The same disk was powered on or reset, and it does not report that neither its medium nor
	// its write cache is volatile: acknowledged data may be lost.
	SCSI_LU_RESTARTED,
	// Another disk, another block size or medium; or it can no longer be identified.
	SCSI_LU_REPLACED,
	// The same disk, by its designators or serial number, with more or fewer blocks.
	SCSI_LU_GREW,
	SCSI_LU_SHRANK,
};

// On the session's worker. All slots but attention are required; none may free the session.
struct scsi_watch_ops {
	// The unit is identified, or cannot be (why->code); called once.
	void (*ready)(void *arg, const struct err *why);
	// It has changed, as described by why. True: its commands continue on the changed unit
	// (unless the block size differs). False: they end with -ESTALE from now on.
	bool (*changed)(void *arg, enum scsi_lu_change change, const struct err *why);
	// A unit attention that a check has fetched, of which no command will tell.
	void (*attention)(void *arg, uint8_t asc, uint8_t ascq);
};

// Watches a logical unit: after a lost session, or a unit attention that requires it, checks
// whether it is the same disk with all acknowledged data, by identity (VPD pages 83h and 80h),
// size, unit attentions and caching. Until then all commands of the session wait. ops must outlive
// the session. -EBUSY: already watched; -ENOTCONN, -ENOMEM.
int scsi_watch(struct scsi_session *s, uint16_t lun, const struct scsi_watch_ops *ops, void *arg);
// The watched unit has another size, of which its user knows: that is not a change any more.
void scsi_watch_resize(struct scsi_session *s, uint16_t lun, uint64_t blocks);
