// SPDX-License-Identifier: BSD-2-Clause
// SRP as a protocol of sessions (initiator/scsi.h): configuration and login, several channels to
// one nexus, aborts, retries. T10 SRP 4, 5.
//
// A session belongs to one worker. Unless noted otherwise, functions are called on that worker's
// thread, do not block, and report by callback on the same thread.
#pragma once

#include "core/err.h"
#include "initiator/scsi.h"
#include "transport/srp/initiator.h"
#include "transport/tcp/addr.h"

struct rnic_provider;

enum {
	SRPS_PORTALS_MAX = 8,
	SRPS_PROVIDERS_MAX = 2,
	SRPS_CHANNELS_MAX = 16,
	SRPS_QUEUE_DEPTH_MAX = SRPS_CHANNELS_MAX * SRPI_TASKS_MAX,
	SRPS_PORT = 3261,
};

// Times in seconds.
struct srps_config {
	uint8_t initiator[SRP_PORT_ID_LEN], target[SRP_PORT_ID_LEN];
	struct tcp_addr portals[SRPS_PORTALS_MAX]; // tried in this order
	unsigned portal_count;
	struct tcp_addr local; // to connect from, if has_local
	bool has_local;
	const struct rnic_provider
		*providers[SRPS_PROVIDERS_MAX]; // the first that reaches a portal
	unsigned provider_count;
	unsigned channels;	      // wanted; fewer if the target refuses a further one
	unsigned channel_depth;	      // limit of commands in flight of a channel
	unsigned queue_depth;	      // ... of all
	uint32_t it_iu_len;	      // limit of own IUs; 0: none
	unsigned connect_timeout;     // of one channel, with its login
	unsigned command_timeout;     // then the command is aborted; 0: never
	unsigned abort_timeout;	      // for the response to ABORT TASK
	unsigned ping_interval;	      // without anything received, then a ping; 0: never
	unsigned ping_timeout;	      // without anything received after it the session is lost
	unsigned logout_timeout;      // then the channels are just closed
	unsigned replacement_timeout; // how long to retry a lost session; 0: not at all
};

// Fills in the defaults; port identifiers, portals and providers remain to be set.
void srps_config_init(struct srps_config *c);

// Creates a session and starts to log in: a scsi_open_fn, config is a struct srps_config. -EINVAL
// with a text: invalid configuration; -ENOMEM.
int srps_session_new(struct scsi_session **ret, struct worker *w, const void *config,
		     const struct scsi_session_ops *ops, void *arg, struct err *e);

// What the logins agreed on. Valid since the first up.
struct srps_info {
	char peer[TCP_ADDR_TEXT], local[TCP_ADDR_TEXT]; // of the first channel
	char transport[32];				// "SRP (device)"
	unsigned channels, channels_wanted;
	struct err fewer;	  // why there are fewer; code 0: there are not
	struct srp_accept accept; // of the first channel
	uint32_t immediate_max;	  // bytes; 0: no immediate data
	uint8_t initiator[SRP_PORT_ID_LEN], target[SRP_PORT_ID_LEN];
};
void srps_session_info(const struct scsi_session *s, struct srps_info *ret);
