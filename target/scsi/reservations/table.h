// SPDX-License-Identifier: BSD-2-Clause
// The registrations and the reservation of a logical unit (SPC-4 5.13) as one table, which is
// immutable once published. view.c
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "target/scsi/nexus.h"
#include "target/scsi/reservations/transport_id.h"

enum pr_type {
	PR_NONE = 0,
	PR_WE = 1,    // Write Exclusive
	PR_EA = 3,    // Exclusive Access
	PR_WE_RO = 5, // ... Registrants Only
	PR_EA_RO = 6,
	PR_WE_AR = 7, // ... All Registrants
	PR_EA_AR = 8,
};

#define PR_REGS_MAX 1024 // registrations of one LU
#define PR_PORT_MAX 240	 // target port name with its NUL
#define PR_NOBODY   UINT32_MAX

// An I_T nexus for reservations: it outlives sessions and restarts.
struct pr_port {
	struct pr_tid tid;
	char target_port[PR_PORT_MAX]; // target port name, lower case; may be empty
	uint16_t relative_port;	       // RELATIVE TARGET PORT IDENTIFIER
};

struct pr_reg {
	uint64_t key;
	struct pr_port port;
	bool all_tg_pt; // through any target port
};

// Immutable once published.
struct pr_view {
	int refs;	  // atomic
	uint64_t version; // unique in this process
	uint32_t generation;
	uint8_t type;	    // enum pr_type; PR_NONE: no reservation
	bool aptpl;	    // survives power loss
	bool enforce_isids; // attribute enforce_pr_isids when it was created
	uint32_t holder;    // index of the holder; PR_NOBODY if none or all registrants hold it
	uint32_t count;
	struct pr_reg regs[];
};

void pr_view_put(struct pr_view *v); // any thread; NULL is fine

static inline bool pr_type_is_valid(unsigned type)
{
	return type == PR_WE || type == PR_EA || (type >= PR_WE_RO && type <= PR_EA_AR);
}

static inline bool pr_type_is_all_registrants(unsigned type)
{
	return type == PR_WE_AR || type == PR_EA_AR;
}

// True for the types whose end is reported to the other registrants.
static inline bool pr_type_is_shared(unsigned type)
{
	return type >= PR_WE_RO;
}

// Fills *ret from the nexus. False: no usable TransportID.
bool pr_port_of_nexus(struct pr_port *ret, const struct nexus *n);
// Index of the registration that covers port, PR_NOBODY: none.
uint32_t pr_find(const struct pr_view *v, const struct pr_port *port);
bool pr_is_holder(const struct pr_view *v, uint32_t index);

// A copy of from (NULL: empty) with room for extra more registrations; one reference. NULL:
// no memory.
struct pr_view *pr_view_copy(const struct pr_view *from, uint32_t extra);
struct pr_view *pr_view_get(struct pr_view *v);
void pr_view_remove(struct pr_view *v, uint32_t index);
