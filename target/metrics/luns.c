// SPDX-License-Identifier: BSD-2-Clause
// LUNs with their disks, for joins with the metrics of disks; portals.
#include "target/metrics/metrics.h"

// clang-format off
static const struct family lun = { "farblock_lun", "info", NULL,
	"LUN of a target and the disk behind it; join on backstore." };
static const struct family portal = { "farblock_portal_up", "gauge", NULL,
	"1 if the portal is listening, 0 if not." };
// clang-format on

void metrics_luns(FILE *out, const struct snapshot *s)
{
	char tpg[12], number[12];
	metric_family(out, &lun);
	for (unsigned i = 0; i < s->lun_count; i++) {
		const struct label labels[] = {
			{"target", s->luns[i].target },
			  { "tpg",	   tpg },
			  { "lun",number },
			{ "backstore",   s->luns[i].disk },
			  { 0      },
		};
		snprintf(tpg, sizeof tpg, "%u", s->luns[i].tpg);
		snprintf(number, sizeof number, "%u", s->luns[i].number);
		metric_info(out, &lun, labels);
	}
	metric_family(out, &portal);
	for (unsigned i = 0; i < s->portal_count; i++) {
		const struct label labels[] = {
			{"target",  s->portals[i].target },
			{ "tpg",	 tpg },
			{ "portal",s->portals[i].name },
			{ 0},
		};
		snprintf(tpg, sizeof tpg, "%u", s->portals[i].tpg);
		metric_number(out, &portal, labels, s->portals[i].is_up);
	}
}
