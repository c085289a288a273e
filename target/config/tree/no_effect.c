// SPDX-License-Identifier: BSD-2-Clause
// Settings that are accepted for compatibility with targetcli but have no effect: `set` warns.
// Control thread.
#include <string.h>
#include <strings.h>

#include "target/config/tree/settings.h"

// Common reasons.
static const char *by_name(const char *name)
{
	static const char *const reasons[][2] = {
		{"AuthMethod",		"the attribute authentication decides"	       },
		{ "DefaultTime2Retain", "tasks end with their connection"		  },
		{ "IFMarkInt",	       "RFC 7143 has no markers"			 },
		{ "IFMarker",	      "RFC 7143 has no markers"				},
		{ "OFMarkInt",	       "RFC 7143 has no markers"			 },
		{ "OFMarker",	      "RFC 7143 has no markers"				},
		{ "cache_dynamic_acls", "generated ACLs keep no state"		       },
		{ "default_erl",	 "only level 0 is supported"			     },
		{ "emulate_dpo",	 "emulate_fua_write decides"			     },
		{ "emulate_fua_read",   "emulate_fua_write decides"			  },
		{ "fabric_prot_type",   "protection information is not supported"		},
		{ "pi_prot_format",	    "protection information is not supported"	      },
		{ "pi_prot_type",	  "protection information is not supported"	    },
		{ "pi_prot_verify",	    "protection information is not supported"	      },
		{ "t10_pi",		    "protection information is not supported"	      },
		{ "unmap_zeroes_data",  "the storage decides what unmapped blocks read as"},
	};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (!strcmp(reasons[i][0], name))
			return reasons[i][1];
	return NULL;
}

const char *no_effect_here(const struct attr_row *row)
{
	const char *why = by_name(row->name);
	return why || !(row->flags & ATTR_IGNORED) ? why : "it belongs to the kernel's target";
}

const char *no_effect(const struct node *n, const struct attr_row *row, const char *text)
{
	if (!strcasecmp(text, row->default_text ? row->default_text : ""))
		return NULL;
	const char *why = no_effect_here(row);
	return why || !n->class->no_effect ? why : n->class->no_effect(n, row);
}
