// SPDX-License-Identifier: BSD-2-Clause
// The number of connections, in total and per address: see peer_limits.h. Under a lock; the limits
// change only at start, on the control thread.
#include "target/fabric/peer_limits.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/fds.h"
#include "core/log.h"

// Connections reserved for newcomers: one in RESERVE, and some for descriptors opened after the
// limit was set.
#define RESERVE	    16
#define RESERVE_MIN 16

struct peer_count {
	struct peer_count *next;
	struct tcp_addr addr;
	unsigned count;
};

static pthread_mutex_t peers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct peer_count *peers;
static unsigned connections;
static struct peer_limits limits = {
	.connections = 16384,
	.connections_per_address = 4096,
	.logins_in_progress = 1024,
};

void peer_limits_fit(const char *who)
{
	unsigned used = fds_in_use(), mark = fds_mark(FDS_CONNECTIONS);
	unsigned room = mark > used ? mark - used : 1;
	if (limits.connections <= room)
		return;
	log_warn("%s: limit of %u connections instead of %u: of %u file descriptors "
		 "%u are in use and %u reserved for storage and administration (raise "
		 "LimitNOFILE or ulimit -n)",
		 who, room, limits.connections, fds_limit(), used, fds_limit() - mark);
	limits.connections = room;
}

void peer_limits_get(struct peer_limits *ret)
{
	*ret = limits;
}

const char *peers_enter(const struct tcp_addr *peer)
{
	const char *why = NULL;
	pthread_mutex_lock(&peers_lock);
	struct peer_count *n = peers;
	while (n && !tcp_addr_same_ip(&n->addr, peer))
		n = n->next;
	if (connections >= limits.connections) {
		why = "limit of connections reached";
	} else if (n && n->count >= limits.connections_per_address) {
		why = "limit of connections of one address reached";
	} else if (!n && (n = calloc(1, sizeof *n))) {
		n->addr = *peer;
		n->next = peers;
		peers = n;
	} else if (!n) {
		why = "out of memory";
	}
	if (!why) {
		n->count++;
		connections++;
	}
	pthread_mutex_unlock(&peers_lock);
	return why;
}

bool peers_are_crowded(unsigned ending)
{
	pthread_mutex_lock(&peers_lock);
	uint32_t spare = limits.connections / RESERVE + RESERVE_MIN;
	bool ret = connections + spare > limits.connections + ending;
	pthread_mutex_unlock(&peers_lock);
	return ret;
}

void peers_leave(const struct tcp_addr *peer)
{
	pthread_mutex_lock(&peers_lock);
	connections--;
	for (struct peer_count **n = &peers; *n; n = &(*n)->next) {
		if (!tcp_addr_same_ip(&(*n)->addr, peer))
			continue;
		if (!--(*n)->count) {
			struct peer_count *gone = *n;
			*n = gone->next;
			free(gone);
		}
		break;
	}
	pthread_mutex_unlock(&peers_lock);
}
