// SPDX-License-Identifier: BSD-2-Clause
// SET TARGET PORT GROUPS (SPC-4 6.45): explicit ALUA. The whole list is checked before any
// state changes; the command ends when the new states are in force.
#include "target/scsi/alua/change.h"
#include "target/scsi/alua/commands.h"
#include "target/scsi/handler.h"
#include "target/scsi/nexus_lun.h"
#include "transport/wire/be.h"

enum {
	ALUA_EXPLICIT = 2, // in alua_access_type
	SENSE_SET_GROUPS_FAILED = SENSE(SK_HARDWARE_ERROR, 0x67, 0x0a),
};

struct set_groups { // the task's scratch
	struct alua_change change;
	struct task *task;
};

static void set_changed(struct home_change *c)
{
	task_home_done(container_of(c, struct set_groups, change.home)->task);
}

static void set_at_home(struct task *t)
{
	struct set_groups *s = t->scratch;
	alua_change_start(&s->change);
}

static void set_finish(struct task *t)
{
	const struct set_groups *s = t->scratch;
	if (s->change.result)
		task_check(t, SENSE_SET_GROUPS_FAILED, NULL);
	else
		task_good(t);
}

// Checks the descriptor at d, 4 bytes. Returns the invalid byte, or -1.
static int take_descriptor(struct alua_change *c, const uint8_t *d)
{
	const struct lu *lu = c->home.lu;
	unsigned slot = alua_slot_of(lu, get_be16(d + 2));
	if (slot == ALUA_GROUPS_MAX)
		return 2;
	const struct alua_attr *a = &lu->alua->slots[slot].attr;
	if (!(alua_load(&a->alua_access_type) & ALUA_EXPLICIT) || !alua_can_enter(a, d[0] & 15))
		return 0;
	c->states[slot] = d[0] & 15;
	return -1;
}

static void fetched(struct task *t)
{
	const uint8_t *list = task_params(t);
	uint32_t len = get_be32(t->cdb + 6);
	struct set_groups *s = task_scratch(t, sizeof *s);
	if (!s)
		return;
	s->task = t;
	alua_change_init(&s->change, t->lu, set_changed);
	s->change.is_explicit = true;
	s->change.except = t->nexus;
	for (uint32_t at = 4; at < len; at += 4) {
		int bad = take_descriptor(&s->change, list + at);
		if (bad >= 0) {
			task_invalid_param(t, at + (unsigned)bad, -1);
			return;
		}
	}
	task_at_home(t, set_at_home, set_finish);
}

void set_target_port_groups_run(struct task *t)
{
	uint32_t len = get_be32(t->cdb + 6);
	if (!(alua_tpgs(t->lu, t->nl->alua_group) & 0x20))
		task_check(t, SENSE_INVALID_OPCODE, NULL);
	else if (!len)
		task_good(t);
	else if (len < 4 || len % 4 || len > 4 + 4 * ALUA_GROUPS_MAX)
		task_check(t, SENSE_PARAM_LIST_LENGTH, NULL);
	else
		task_fetch_params(t, len, fetched);
}

bool alua_is_settable(const struct lu *lu)
{
	const struct alua *a = lu->alua;
	for (unsigned i = 0; lu_setting(&lu->attr.alua_support) && i < a->nslots; i++)
		if (alua_load(&a->slots[i].id) != ALUA_SLOT_FREE &&
		    alua_load(&a->slots[i].attr.alua_access_type) & ALUA_EXPLICIT)
			return true;
	return false;
}
