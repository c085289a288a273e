// SPDX-License-Identifier: BSD-2-Clause
// Asymmetric access states of a path. Pure functions. SPC-5 5.17, 6.36.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum alua_state {
	ALUA_OPTIMIZED = 0,
	ALUA_NON_OPTIMIZED = 1,
	ALUA_STANDBY = 2,
	ALUA_UNAVAILABLE = 3,
	ALUA_LBA_DEPENDENT = 4,
	ALUA_OFFLINE = 14,
	ALUA_TRANSITIONING = 15,
	ALUA_UNREPORTED = 254, // the unit has states, but reports none of this port's group
	ALUA_NONE = 255,       // the unit has no states
};

const char *alua_text(enum alua_state s);

// The state of a target port group in a response to REPORT TARGET PORT GROUPS (extended header or
// not). False: the response does not have that group.
bool alua_find(const uint8_t *data, uint32_t len, bool is_extended, uint16_t group,
	       enum alua_state *ret, bool *ret_is_preferred);

// How good a path is, smaller is better; ALUA_USELESS: it does not serve I/O.
enum { ALUA_USELESS = 255 };
unsigned alua_rank(enum alua_state s, bool is_preferred);
