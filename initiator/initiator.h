// SPDX-License-Identifier: BSD-2-Clause
// The initiator as a library: sessions, SCSI commands, task management, discovery. RFC 7143.
//
// A session belongs to one worker. Unless noted otherwise, functions are called on that worker's
// thread, do not block, and report by callback on the same thread. sync.h has blocking calls for
// other threads.
//
// The target is not trusted: its responses are checked against their commands, and only the first
// task.data_len bytes of a command's memory are valid. Over RDMA its writes are invisible: it may
// change all of a read's memory until done.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/worker.h"
#include "transport/iscsi/datamover_initiator.h"
#include "transport/iscsi/login.h"
#include "transport/iscsi/sendtargets.h"
#include "transport/tcp/addr.h"

struct ini_session;
struct rnic_provider;

enum { INI_PORTALS_MAX = 8, INI_PROVIDERS_MAX = 2, INI_QUEUE_DEPTH_MAX = DMI_TASKS_MAX };

// Times in seconds. The names of open-iscsi's node settings, and its defaults.
struct ini_config {
	// Names, credentials, offer. An ISID of zeros is replaced by a random one; the session sets
	// tsih, itt and cmd_sn itself.
	struct login_config login;
	struct tcp_addr portals[INI_PORTALS_MAX]; // tried in this order
	unsigned portal_count;
	// Use iSER, over the first of these that reaches a portal. None: TCP.
	const struct rnic_provider *providers[INI_PROVIDERS_MAX];
	unsigned provider_count;
	unsigned queue_depth;	      // limit of commands in flight
	unsigned connect_timeout;     // of one connection
	unsigned login_timeout;	      // from connected to full feature phase
	unsigned command_timeout;     // then the command is aborted; 0: never
	unsigned abort_timeout;	      // for the response to a task management request
	unsigned logout_timeout;      // then the connection is just closed
	unsigned noop_out_interval;   // idle time before a ping; 0: never
	unsigned noop_out_timeout;    // without a response the connection is closed
	unsigned replacement_timeout; // how long to retry a lost session; 0: not at all
};

// Fills in the defaults; names, portals and credentials remain to be set.
void ini_config_init(struct ini_config *c);

// Absent slots do nothing. All slots may call every function here, even ini_session_free().
struct ini_ops {
	// Logged in: the first time, and after each loss.
	void (*up)(struct ini_session *s);
	// The connection is lost; commands wait while the session is retried.
	void (*down)(struct ini_session *s, const struct err *why);
	// Another attempt follows, because the session was lost or the last attempt failed with
	// why; the session ends after the given seconds. Not called for a login that the target
	// requested.
	void (*retry)(struct ini_session *s, const struct err *why, unsigned seconds);
	// An asynchronous SCSI event: sense_len bytes of sense data [RFC 7143 11.9.1, event 0].
	void (*async)(struct ini_session *s, const uint8_t *sense, size_t sense_len);
	// The session has ended and all commands are done; called once. why->code is 0 after a
	// requested logout. Call ini_session_free(), here or later.
	void (*closed)(struct ini_session *s, const struct err *why);
	// The last callback, after ini_session_free: the memory is freed, no message is pending.
	void (*freed)(void *arg);
};

// Creates a session and starts to log in. config is copied. ops must outlive the session. -EINVAL
// with a text: invalid configuration (names, credentials); -ENOMEM.
int ini_session_new(struct ini_session **ret, struct worker *w, const struct ini_config *config,
		    const struct ini_ops *ops, void *arg, struct err *e);

// Logs out; closed follows, possibly at once. Unfinished commands end with -ESHUTDOWN.
void ini_session_logout(struct ini_session *s);

// Ends commands that were not sent yet with -ECANCELED; those in flight end by themselves and are
// not retried; new ones are refused. The session remains, for a logout.
void ini_session_cancel(struct ini_session *s);

// Ends the session at once and frees it in a later round; of ini_ops only freed follows. Commands
// end with -ESHUTDOWN: over TCP inside this call; over RDMA, where the peer may still access their
// memory, when the connection is closed, and before freed. NULL is fine.
void ini_session_free(struct ini_session *s);

void *ini_session_arg(const struct ini_session *s);
bool ini_session_is_up(const struct ini_session *s);

// The negotiated values and the peer. Valid since the first up.
struct ini_session_info {
	struct iscsi_params params;
	uint16_t tsih;
	int tpgt; // -1: not declared
	char target_alias[LOGIN_ALIAS_MAX + 1];
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT];
	char transport[32];  // "TCP", "iSER (device)"
	unsigned redirects;  // followed for this connection
	unsigned reconnects; // since the session started
};
void ini_session_info(const struct ini_session *s, struct ini_session_info *ret);

// ---- commands ----

// A SCSI command. The caller owns the memory and must not access it from ini_cmd_submit() until
// done.
struct ini_cmd {
	// Set by the caller: lun, cdb, attr (0 is untagged), is_read or is_write, sg, nsg, len;
	// then the result: see struct dmi_task. ini_cmd_init() and scsi_cdb.h fill most of it.
	struct dmi_task task;
	struct sg one;	  // for ini_cmd_data
	bool is_once;	  // never retried (after a lost connection, a unit attention)
	bool is_ahead;	  // of the library itself: overtakes held commands
	unsigned timeout; // seconds; 0: from the configuration
	// The command has ended. It may be submitted again from inside.
	void (*done)(struct ini_cmd *c);
	void *arg;
	// 0: the target responded, see task.status. -ETIMEDOUT, -ECANCELED (aborted), -ENOTCONN
	// (the session could not be restored, or is_once), -ESHUTDOWN, -EPROTO (rejected by the
	// target), -EREMOTEIO (iSCSI response other than "completed"), -ENOMEM (over RDMA: no
	// memory could be registered for it; it was not sent), -ESTALE (its logical unit has
	// changed: ini_watch).
	int res;

	// private
	struct ini_session *session;
	struct list link;
	uint64_t deadline_ns;
	unsigned tries;
	bool is_with_mover, is_timed_out, is_abort_sent;
	int why;
};

// Zeroes c and sets the logical unit: 0 to 255 in peripheral, up to 16383 in flat space addressing
// [SAM-5 4.7.7]. Any thread.
void ini_cmd_init(struct ini_cmd *c, uint16_t lun);

// Sets a single piece of memory as c's data buffer. Any thread.
void ini_cmd_data(struct ini_cmd *c, void *data, uint32_t len, bool is_write);

// Queues c; done follows, never from inside. -ENOTCONN: the session has ended; -ESTALE: the logical
// unit has changed (ini_watch); -ECANCELED: after ini_session_cancel(); -EINVAL: both directions,
// or a list shorter than len. After an error done is not called.
int ini_cmd_submit(struct ini_session *s, struct ini_cmd *c);

// ---- watching a logical unit ----

// What a session found at a LUN that it used before.
enum ini_lu_change {
	INI_LU_SAME,
	// The same disk was powered on or reset, and it does not report that neither its medium nor
	// its write cache is volatile: acknowledged data may be lost.
	INI_LU_RESTARTED,
	// Another disk, another size or medium; or it can no longer be identified.
	INI_LU_REPLACED,
};

struct ini_watch_ops {
	// The unit is identified, or cannot be (why->code); called once.
	void (*ready)(void *arg, const struct err *why);
	// It has changed, as described by why. True: its commands continue on the changed unit
	// (unless the block size differs). False: they end with -ESTALE from now on.
	bool (*changed)(void *arg, enum ini_lu_change change, const struct err *why);
};

// Watches a logical unit: after a lost session, or a unit attention that requires it, checks
// whether it is the same disk with all acknowledged data, by identity (VPD pages 83h and 80h),
// size, unit attentions and caching. Until then all commands of the session wait. ops must outlive
// the session; its functions must not free it. -EBUSY: already watched; -ENOTCONN, -ENOMEM.
int ini_watch(struct ini_session *s, uint16_t lun, const struct ini_watch_ops *ops, void *arg);

// ---- task management ----

// ABORT TASK (cmd set) and LOGICAL UNIT RESET (lun). One is on the wire at a time.
struct ini_tmf {
	uint8_t function; // ISCSI_TMF_ABORT_TASK, _LUN_RESET
	struct ini_cmd *cmd;
	uint8_t lun[8];
	void (*done)(struct ini_tmf *t);
	void *arg;
	// 0: response is the target's response (RFC 7143 11.6.1); else -ETIMEDOUT, -ENOTCONN.
	int res;
	uint8_t response;

	struct list link; // private
};

// Queues t; done follows, never from inside. Aborted commands end before it, with -ECANCELED.
// -ENOTCONN: not logged in; -ESRCH: cmd is not in flight; -EINVAL.
int ini_tmf_submit(struct ini_session *s, struct ini_tmf *t);

// ---- ping ----

struct ini_ping {
	void (*done)(struct ini_ping *p);
	void *arg;
	int res; // 0, -ETIMEDOUT, -ENOTCONN
	uint64_t rtt_ns;

	uint64_t sent_ns; // private
};

// Sends a NOP-Out; done follows with its response. -ENOTCONN: not logged in; -EBUSY: one is
// outstanding.
int ini_ping(struct ini_session *s, struct ini_ping *p);

// ---- discovery ----

struct ini_discovery;

struct ini_discovery_ops {
	// One target at one address, in the target's order. All strings are checked: normalised
	// names, hosts without blanks or control characters.
	void (*found)(struct ini_discovery *d, const struct sendtargets_record *r);
	// Finished; called once. why->code is 0 on success. d is freed after this call.
	void (*done)(struct ini_discovery *d, const struct err *why);
};

enum { INI_DISCOVERY_TEXT_MAX = 4 << 20 }; // bytes of the response

// Discovers the targets of a portal: discovery session, SendTargets=All, logout. Sets session type
// and target name of the configuration. Both ops are required.
int ini_discovery_new(struct ini_discovery **ret, struct worker *w, const struct ini_config *config,
		      const struct ini_discovery_ops *ops, void *arg, struct err *e);
void *ini_discovery_arg(const struct ini_discovery *d);
