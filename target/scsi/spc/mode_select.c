// SPDX-License-Identifier: BSD-2-Clause
// MODE SELECT(6) and (10) (SPC-4 6.9, 6.10). The list is checked on the task's worker, the
// values change on the LU's home worker.
#include "target/scsi/handler.h"
#include "target/scsi/spc/commands.h"
#include "target/scsi/spc/mode.h"
#include "target/scsi/ua.h"
#include "transport/wire/be.h"

struct mode_change {
	struct mode_values values;
	bool is_changed, cache_ends;
};

static void select_at_home(struct task *t)
{
	struct mode_change *c = t->home_result;
	struct mode_values now = mode_current(t->lu);
	c->is_changed = now.d_sense != c->values.d_sense || now.swp != c->values.swp ||
			now.wce != c->values.wce;
	c->cache_ends = now.wce && !c->values.wce;
	mode_set(t->lu, &c->values);
	task_home_done(t);
}

static void select_applied(struct task *t)
{
	const struct mode_change *c = t->home_result;
	if (c->is_changed)
		ua_raise_lu(t->lu, UA_MODE_CHANGED, t->nexus);
	// The cache is flushed before it is reported as off (SBC-3 6.5.5).
	if (c->cache_ends)
		task_io(t, BS_FLUSH, 0, 0, 0, task_good);
	else
		task_good(t);
}

static void select_list(struct task *t)
{
	struct mode_change *c = task_scratch(t, sizeof *c);
	if (!c)
		return;
	t->home_result = c;
	c->values = mode_current(t->lu);
	unsigned byte = 0;
	uint32_t code = mode_select_parse(t->lu, task_params(t), t->fetch_len, t->cdb[0] == 0x55,
					  &c->values, &byte);
	if (code)
		task_check_param(t, code, (int)byte);
	else
		task_at_home(t, select_at_home, select_applied);
}

static void mode_select(struct task *t, uint32_t len)
{
	if (t->cdb[1] & 0x01) { // SP: no page can be saved
		task_invalid_cdb(t, 1, 0);
		return;
	}
	if (!(t->cdb[1] & 0x10)) { // PF: only the standard's page format is supported
		task_invalid_cdb(t, 1, 4);
		return;
	}
	if (!len)
		task_good(t);
	else
		task_fetch_params(t, len, select_list);
}

void mode_select6_run(struct task *t)
{
	mode_select(t, t->cdb[4]);
}

void mode_select10_run(struct task *t)
{
	mode_select(t, get_be16(t->cdb + 7));
}
