// SPDX-License-Identifier: BSD-2-Clause
// iSCSI as a protocol of sessions (initiator/scsi.h): configuration and login, ping,
// discovery, over TCP and iSER. RFC 7143.
//
// A session belongs to one worker. Unless noted otherwise, functions are called on that worker's
// thread, do not block, and report by callback on the same thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/worker.h"
#include "initiator/scsi.h"
#include "transport/iscsi/datamover_initiator.h"
#include "transport/iscsi/login.h"
#include "transport/iscsi/sendtargets.h"
#include "transport/tcp/addr.h"

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
	unsigned noop_out_timeout;    // without anything received after it the session is lost
	unsigned replacement_timeout; // how long to retry a lost session; 0: not at all
};

// Fills in the defaults; names, portals and credentials remain to be set.
void ini_config_init(struct ini_config *c);

// Creates a session and starts to log in: a scsi_open_fn, config is a struct ini_config. -EINVAL
// with a text: invalid configuration (names, credentials); -ENOMEM.
int ini_session_new(struct scsi_session **ret, struct worker *w, const void *config,
		    const struct scsi_session_ops *ops, void *arg, struct err *e);

// The negotiated values and the peer. Valid since the first up.
struct ini_session_info {
	struct iscsi_params params;
	uint16_t tsih;
	int tpgt; // -1: not declared
	char target_alias[LOGIN_ALIAS_MAX + 1];
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT];
	char transport[32]; // "TCP", "iSER (device)"
	unsigned redirects; // followed for this connection
};
void ini_session_info(const struct scsi_session *s, struct ini_session_info *ret);

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
int ini_ping(struct scsi_session *s, struct ini_ping *p);

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
