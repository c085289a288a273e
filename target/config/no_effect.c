// SPDX-License-Identifier: BSD-2-Clause
// Settings that are accepted for compatibility with targetcli but have no effect: `set` warns.
// Control thread.
#include <string.h>
#include <strings.h>

#include "target/config/model.h"

static bool lacks_cache(const struct storage *s)
{
	return !s->lu->bs->limits.has_write_cache;
}

static bool lacks_unmap(const struct storage *s)
{
	return !s->lu->bs->limits.can_unmap;
}

static bool lacks_space(const struct storage *s)
{
	uint64_t used, total;
	return backstore_space(s->lu->bs, &used, &total) < 0;
}

// Attributes that depend on the backstore.
static const struct {
	const char *name;
	bool (*lacks)(const struct storage *s);
	const char *why;
} conditions[] = {
	{"emulate_write_cache",	 lacks_cache, "this storage has no volatile write cache"	 },
	{ "emulate_tpu",		 lacks_unmap, "this storage cannot unmap"		  },
	{ "emulate_tpws",		  lacks_unmap, "this storage cannot unmap"		   },
	{ "thin_threshold_percent", lacks_space, "this storage does not report its used space"},
};

// Attributes with an effect on a pass-through device.
static bool is_of_pass_through(const char *name)
{
	return !strcmp(name, "queue_depth") || !strcmp(name, "emulate_tas") ||
	       !strcmp(name, "emulate_ua_intlck_ctrl");
}

static const char *of_storage(const struct storage *s, const char *name)
{
	if (s->type && s->type->is_passthrough && !is_of_pass_through(name))
		return "the device itself answers";
	for (size_t i = 0; s->lu && i < sizeof conditions / sizeof *conditions; i++)
		if (!strcmp(conditions[i].name, name) && conditions[i].lacks(s))
			return conditions[i].why;
	return NULL;
}

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
	if (!why && n->class == &storage_class)
		why = of_storage(NODE_OF(const struct storage, n), row->name);
	return why;
}
