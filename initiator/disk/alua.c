// SPDX-License-Identifier: BSD-2-Clause
// See alua.h.
#include "initiator/disk/alua.h"

#include <stddef.h>

#include "transport/wire/be.h"

#define PREFERRED 0x80

static const struct {
	uint8_t state, rank;
	const char *text;
} rows[] = {
	{ALUA_OPTIMIZED,	  0,	     "active/optimized"	},
	{ ALUA_NONE,	     0,		""			   },
	{ ALUA_LBA_DEPENDENT, 2,		 "LBA dependent"	 },
	{ ALUA_NON_OPTIMIZED, 4,		 "active/non-optimized"},
	{ ALUA_UNREPORTED,	   6,	      "state not reported"  },
	{ ALUA_STANDBY,	ALUA_USELESS, "standby"		},
	{ ALUA_UNAVAILABLE,   ALUA_USELESS, "unavailable"		},
	{ ALUA_OFFLINE,	ALUA_USELESS, "offline"		},
	{ ALUA_TRANSITIONING, ALUA_USELESS, "transitioning"	    },
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

const char *alua_text(enum alua_state s)
{
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].state == s)
			return rows[i].text;
	return "unknown state";
}

unsigned alua_rank(enum alua_state s, bool is_preferred)
{
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (rows[i].state == s)
			return rows[i].rank == ALUA_USELESS ? ALUA_USELESS
							    : rows[i].rank + !is_preferred;
	return ALUA_USELESS;
}

bool alua_find(const uint8_t *data, uint32_t len, bool is_extended, uint16_t group,
	       enum alua_state *ret, bool *ret_is_preferred)
{
	if (len < 4)
		return false;
	uint64_t claimed = 4 + (uint64_t)get_be32(data);
	uint32_t end = claimed < len ? (uint32_t)claimed : len;
	for (uint32_t at = is_extended ? 8 : 4; at <= end && end - at >= 8;
	     at += 8 + 4u * data[at + 7]) {
		if (get_be16(data + at + 2) != group)
			continue;
		*ret = data[at] & 0xf;
		*ret_is_preferred = data[at] & PREFERRED;
		return true;
	}
	return false;
}
