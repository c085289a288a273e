// SPDX-License-Identifier: BSD-2-Clause
// The settings of a target port group as attribute rows, under targetcli's names. Constant.
#include "target/scsi/alua/alua.h"

#define ROW(field, ...)                                                                            \
	{                                                                                          \
		.name = #field, .offset = offsetof(struct alua_attr, field), __VA_ARGS__           \
	}
#define SUPPORT(field, text)                                                                       \
	ROW(field, .type = ATTR_BOOL, .max = 1, .default_text = "1", .help = text)

const struct attr_row alua_group_rows[] = {
	ROW(tg_pt_gp_id, .type = ATTR_UINT, .max = 65535, .default_text = "0",
	    .flags = ATTR_READONLY | ATTR_GIVEN,
	    .help = "number of the group in REPORT TARGET PORT GROUPS"),
	ROW(alua_access_state, .type = ATTR_UINT, .max = 15, .default_text = "0",
	    .help = "0 active/optimized, 1 active/non-optimized, 2 standby, 3 unavailable, "
		    "14 offline"),
	ROW(alua_access_status, .type = ATTR_UINT, .max = 2, .default_text = "0",
	    .help = "last change of state: 0 none, 1 explicit, 2 implicit"),
	ROW(alua_access_type, .type = ATTR_UINT, .max = 3, .default_text = "3",
	    .help = "permitted state changes: 0 none, 1 implicit, 2 explicit, 3 both"),
	ROW(alua_write_metadata, .type = ATTR_BOOL, .max = 1, .default_text = "0",
	    .help = "1: a restart restores the last state, 0: the configured one"),
	ROW(preferred, .type = ATTR_BOOL, .max = 1, .default_text = "0",
	    .help = "PREF bit: initiators should prefer this group"),
	ROW(nonop_delay_msecs, .type = ATTR_UINT, .max = 10000, .default_text = "100", .unit = "ms",
	    .help = "delay of every command while active/non-optimized"),
	ROW(trans_delay_msecs, .type = ATTR_UINT, .max = 30000, .default_text = "0", .unit = "ms",
	    .help = "time that a change of state takes"),
	ROW(implicit_trans_secs, .type = ATTR_UINT, .max = 255, .default_text = "0", .unit = "s",
	    .help = "time that initiators should allow for an implicit transition"),
	SUPPORT(alua_support_offline, "1: support the state offline"),
	SUPPORT(alua_support_standby, "1: support the state standby"),
	SUPPORT(alua_support_transitioning, "1: support the state transitioning"),
	SUPPORT(alua_support_active_nonoptimized, "1: support the state active/non-optimized"),
	SUPPORT(alua_support_unavailable, "1: support the state unavailable"),
	SUPPORT(alua_support_active_optimized, "1: support the state active/optimized"),
	ROW(alua_support_lba_dependent, .type = ATTR_BOOL, .max = 1, .default_text = "0",
	    .flags = ATTR_READONLY, .help = "always 0: states do not depend on the LBA"),
	{ 0 },
};
