// SPDX-License-Identifier: BSD-2-Clause
// Unit attentions (SAM-5 5.14): pending ones are bits of a mask in each nexus_lun, lowest
// bit reported first. Only the nexus's worker touches the mask; ua_raise_* send messages.
#pragma once

#include <stdint.h>

struct lu;
struct nexus;
struct nexus_lun;

typedef uint32_t ua_mask;

enum ua {
	UA_POWER_ON,		    // 29/00
	UA_DEVICE_RESET,	    // 29/03
	UA_NEXUS_LOSS,		    // 29/07
	UA_MEDIUM_CHANGED,	    // 28/00
	UA_MODE_CHANGED,	    // 2A/01
	UA_RESERVATIONS_PREEMPTED,  // 2A/03
	UA_RESERVATIONS_RELEASED,   // 2A/04
	UA_REGISTRATIONS_PREEMPTED, // 2A/05
	UA_ALUA_CHANGED,	    // 2A/06
	UA_ALUA_FAILED,		    // 2A/07
	UA_CAPACITY_CHANGED,	    // 2A/09
	UA_COMMANDS_CLEARED,	    // 2F/00 by another initiator
	UA_INQUIRY_CHANGED,	    // 3F/03
	UA_LUNS_CHANGED,	    // 3F/0E
	UA_THIN_SOFT_THRESHOLD,	    // 38/07
	UA_CLEARED_BY_PROTOCOL,	    // 47/7F
	UA_PREVIOUS_BUSY,	    // 2C/07, with UA_INTLCK_CTRL 11b
	UA_PREVIOUS_FULL,	    // 2C/08
	UA_PREVIOUS_CONFLICT,	    // 2C/09
	UA_MAX
};

// Sense code (SENSE()) of a unit attention.
uint32_t ua_code(enum ua u);

// Sets it for one nexus; nexus's worker.
void ua_set(struct nexus_lun *nl, enum ua u);
// Removes the most urgent one from the mask; UA_MAX: none pending.
enum ua ua_take(struct nexus_lun *nl);
// The most urgent one, which stays pending; UA_MAX: none.
enum ua ua_peek(const struct nexus_lun *nl);

// Raises it for every nexus of the LU but one (NULL: for every nexus). Any worker or the
// control thread; other workers get a message. except is compared by nexus id, so it may be freed
// meanwhile.
void ua_raise_lu(struct lu *lu, enum ua u, const struct nexus *except);
