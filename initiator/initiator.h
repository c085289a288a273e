// SPDX-License-Identifier: BSD-2-Clause
// The initiator as a library: sessions, SCSI commands, task management, discovery. RFC 7143.
//
// A session lives on one worker. Unless a function says otherwise it is called on that worker's
// thread, does not block, and reports by callback on the same thread. Programs with a thread of
// their own find blocking calls in sync.h.
//
// The target is not trusted: what it answers was checked against the command it belongs to, and
// of the command's memory only the first task.data_len bytes count. Over RDMA nobody here sees
// what it writes: all of a read's memory is its own until done.
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
	// Names, credentials, offer. An ISID of zeros is replaced by a random one; tsih, itt and
	// cmd_sn are the session's own business.
	struct login_config login;
	struct tcp_addr portals[INI_PORTALS_MAX]; // tried in this order
	unsigned portal_count;
	// Speak iSER, over the first of these that reaches a portal. None: TCP.
	const struct rnic_provider *providers[INI_PROVIDERS_MAX];
	unsigned provider_count;
	unsigned queue_depth;	      // commands in flight at most
	unsigned connect_timeout;     // of one connection
	unsigned login_timeout;	      // from the connection to full feature phase
	unsigned command_timeout;     // then the command is aborted; 0: never
	unsigned abort_timeout;	      // for the answer to a task management request
	unsigned logout_timeout;      // then the connection is just closed
	unsigned noop_out_interval;   // of silence before a ping; 0: never
	unsigned noop_out_timeout;    // without an answer the connection is given up
	unsigned replacement_timeout; // how long to retry a lost session; 0: not at all
};

// Fills in the defaults; names, portals and credentials remain to be set.
void ini_config_init(struct ini_config *c);

// Absent slots do nothing. All slots may call every function here, ini_session_free included.
struct ini_ops {
	// Logged in: the first time, and after every loss.
	void (*up)(struct ini_session *s);
	// The connection is lost; commands wait while the session is tried again.
	void (*down)(struct ini_session *s, const struct err *why);
	// Another attempt follows, because the session was lost or the last attempt failed with
	// why; the session ends in so many seconds. Not for a login that the target asked for.
	void (*retry)(struct ini_session *s, const struct err *why, unsigned seconds);
	// An asynchronous SCSI event: sense_len bytes of sense data [RFC 7143 11.9.1, event 0].
	void (*async)(struct ini_session *s, const uint8_t *sense, size_t sense_len);
	// The session has ended and all commands are done, once. why->code is 0 after a requested
	// logout. ini_session_free is still to be called, here or later.
	void (*closed)(struct ini_session *s, const struct err *why);
	// The last callback, after ini_session_free: the memory is freed, no message is pending.
	void (*freed)(void *arg);
};

// Makes a session and begins to log in. config is copied. ops must outlive the session. -EINVAL
// with a text: the configuration cannot work (names, credentials); -ENOMEM.
int ini_session_new(struct ini_session **ret, struct worker *w, const struct ini_config *config,
		    const struct ini_ops *ops, void *arg, struct err *e);

// Logs out; closed follows, possibly at once. Unfinished commands end with -ESHUTDOWN.
void ini_session_logout(struct ini_session *s);

// Ends commands that were not sent yet with -ECANCELED; those in flight end by themselves, but are
// not sent again, and no others are taken. The session stays, to be logged out of.
void ini_session_cancel(struct ini_session *s);

// Ends the session at once and frees it in a later round; of ini_ops only freed comes after that.
// Commands end with -ESHUTDOWN: over TCP inside this call; over RDMA, where the peer may still
// reach their memory, when the connection is closed, and before freed. NULL is fine.
void ini_session_free(struct ini_session *s);

void *ini_session_arg(const struct ini_session *s);
bool ini_session_is_up(const struct ini_session *s);

// What was negotiated, and with whom. Valid since the first up.
struct ini_session_info {
	struct iscsi_params params;
	uint16_t tsih;
	int tpgt; // -1: not said
	char target_alias[LOGIN_ALIAS_MAX + 1];
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT];
	char transport[32];  // "TCP", "iSER (device)"
	unsigned redirects;  // followed on the way to this connection
	unsigned reconnects; // since the session began
};
void ini_session_info(const struct ini_session *s, struct ini_session_info *ret);

// ---- commands ----

// A SCSI command. The caller owns the memory and leaves it alone from ini_cmd_submit until done.
struct ini_cmd {
	// The caller's: lun, cdb, attr (0 is untagged), is_read or is_write, sg, nsg, len; then
	// the answer: see struct dmi_task. ini_cmd_init and scsi_cdb.h fill most of it.
	struct dmi_task task;
	struct sg one;	  // for ini_cmd_data
	bool is_once;	  // never sent a second time (after a lost connection, a unit attention)
	bool is_ahead;	  // the library's own: passes those that are held
	unsigned timeout; // seconds; 0: the configuration's
	// The command is over. It may be submitted again from inside.
	void (*done)(struct ini_cmd *c);
	void *arg;
	// 0: the target answered; task.status says what. -ETIMEDOUT, -ECANCELED (aborted),
	// -ENOTCONN (the session could not be restored, or is_once), -ESHUTDOWN, -EPROTO
	// (rejected by the target), -EREMOTEIO (iSCSI response other than "completed"), -ENOMEM
	// (over RDMA: no memory could be registered for it; it was not sent), -ESTALE (its logical
	// unit has changed: ini_watch).
	int res;

	// private
	struct ini_session *session;
	struct list link;
	uint64_t deadline_ns;
	unsigned tries;
	bool is_with_mover, is_timed_out, is_abort_sent;
	int why;
};

// Zeroes c and sets the logical unit: 0 to 255 in peripheral, to 16383 in flat addressing [SAM-5
// 4.7.7]. Any thread.
void ini_cmd_init(struct ini_cmd *c, uint16_t lun);

// Gives c one piece of memory to read into or write from. Any thread.
void ini_cmd_data(struct ini_cmd *c, void *data, uint32_t len, bool is_write);

// Queues c; done follows, never from inside. -ENOTCONN: the session is over; -ESTALE: the logical
// unit has changed (ini_watch); -ECANCELED: after ini_session_cancel; -EINVAL: both directions at
// once, or a list shorter than len. Then done is not called.
int ini_cmd_submit(struct ini_session *s, struct ini_cmd *c);

// ---- watching a logical unit ----

// What a session found behind a LUN that it had used before.
enum ini_lu_change {
	INI_LU_SAME,
	// The same disk was powered on or reset, and its medium or its write cache is volatile, or
	// it does not say that neither is: what it acknowledged may be lost.
	INI_LU_RESTARTED,
	// Another disk, another size or medium; or it cannot be identified any more.
	INI_LU_REPLACED,
};

struct ini_watch_ops {
	// The unit is identified, or cannot be (why->code); once.
	void (*ready)(void *arg, const struct err *why);
	// It has changed, which why tells. True: its commands go on, on the unit as it is now (but
	// not when the block size is another one). False: they end with -ESTALE, from now on.
	bool (*changed)(void *arg, enum ini_lu_change change, const struct err *why);
};

// Whether the session comes back to the same disk, and with all that it acknowledged, is not known
// before it is looked at: identity (VPD pages 83h and 80h), size, unit attentions, caching. From
// now on a logical unit is looked at whenever the session was lost or a unit attention asks for
// it, and until then all commands of the session wait. ops must outlive the session; its functions
// do not free it. -EBUSY: it is watched already; -ENOTCONN, -ENOMEM.
int ini_watch(struct ini_session *s, uint16_t lun, const struct ini_watch_ops *ops, void *arg);

// ---- task management ----

// ABORT TASK (cmd set) and LOGICAL UNIT RESET (lun). One is on the wire at a time.
struct ini_tmf {
	uint8_t function; // ISCSI_TMF_ABORT_TASK, _LUN_RESET
	struct ini_cmd *cmd;
	uint8_t lun[8];
	void (*done)(struct ini_tmf *t);
	void *arg;
	// 0: response holds the target's answer (RFC 7143 11.6.1); else -ETIMEDOUT, -ENOTCONN.
	int res;
	uint8_t response;

	struct list link; // private
};

// Queues t; done follows, never from inside. The commands that it aborts end before, with
// -ECANCELED. -ENOTCONN: not logged in; -ESRCH: cmd is not in flight; -EINVAL.
int ini_tmf_submit(struct ini_session *s, struct ini_tmf *t);

// ---- ping ----

struct ini_ping {
	void (*done)(struct ini_ping *p);
	void *arg;
	int res; // 0, -ETIMEDOUT, -ENOTCONN
	uint64_t rtt_ns;

	uint64_t sent_ns; // private
};

// Sends a NOP-Out and waits for its answer. -ENOTCONN: not logged in; -EBUSY: one is out.
int ini_ping(struct ini_session *s, struct ini_ping *p);

// ---- discovery ----

struct ini_discovery;

struct ini_discovery_ops {
	// One target at one address, in the target's order. All strings are checked: names
	// normalised, hosts without blanks or control characters.
	void (*found)(struct ini_discovery *d, const struct sendtargets_record *r);
	// Finished, once; why->code is 0 on success. d is freed after this call.
	void (*done)(struct ini_discovery *d, const struct err *why);
};

enum { INI_DISCOVERY_TEXT_MAX = 4 << 20 }; // bytes of one answer

// Asks a portal for its targets: discovery session, SendTargets=All, logout. The configuration's
// session type and target name are set here. Both ops are required.
int ini_discovery_new(struct ini_discovery **ret, struct worker *w, const struct ini_config *config,
		      const struct ini_discovery_ops *ops, void *arg, struct err *e);
void *ini_discovery_arg(const struct ini_discovery *d);
