// SPDX-License-Identifier: BSD-2-Clause
// What the device server asks the protocol of an I_T nexus for (SAM-5 4.8). Every slot runs on the
// nexus's worker.
#pragma once

#include <stdint.h>

struct nexus;

// The name of a nexus, by which others refer to it.
struct nexus_name {
	uint16_t relative_port;		// of the target port
	uint16_t transport_id_len;	// bytes of transport_id
	uint8_t transport_id[64 + 256]; // as in struct nexus_info
};

enum { NEXUS_REMOVALS_MAX = 32 }; // names of one removal
struct nexus_removal;		  // the protocol's: under way

struct nexus_ops {
	// A unit attention (above all REPORTED LUNS DATA HAS CHANGED) became pending: the protocol
	// may send an asynchronous event (iSCSI Async Message event 0). May be NULL: no-op.
	void (*notice)(struct nexus *n, uint16_t lun, uint32_t sense_code);
	// Other nexuses have waited too long for memory of a disk that n's transport still uses:
	// the protocol must end the session. Called once. May be NULL.
	void (*overdue)(struct nexus *n, uint32_t seconds);
	// Removes the nexuses with these names, at most NEXUS_REMOVALS_MAX, which are copied: ends
	// their sessions, of whatever protocol they are, and calls done on n's worker when nothing
	// of them can reach the storage any more, also of those that were ending already. bad: the
	// first one that n may not remove, or n itself; then none was removed; -1: done. Never
	// called from inside. NULL: no memory, or n has too many under way. May be NULL: n can
	// remove none.
	struct nexus_removal *(*remove)(struct nexus *n, const struct nexus_name *names,
					unsigned count, void (*done)(void *arg, int bad),
					void *arg);
	// done will not be called: what asked for the removal waits no longer.
	void (*remove_cancel)(struct nexus_removal *r);
};
