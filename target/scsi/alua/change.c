// SPDX-License-Identifier: BSD-2-Clause
// A change of access states (SPC-4 5.15.2.6): with a delay through the state transitioning; saved
// to a file; reported to initiators by unit attention. LU's home worker.
#include "target/scsi/alua/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/scsi/alua/saved.h"
#include "target/scsi/ua.h"

// The group whose state changes, or NULL: unchanged, or deleted meanwhile.
static struct alua_attr *target(struct alua_change *c, unsigned slot)
{
	struct alua_slot *s = &c->home.lu->alua->slots[slot];
	if (c->states[slot] == ALUA_KEEP || alua_load(&s->id) != c->ids[slot])
		return NULL;
	return &s->attr;
}

static void set_states(struct alua_change *c, bool is_final)
{
	for (unsigned i = 0; i < ALUA_GROUPS_MAX; i++) {
		struct alua_attr *attr = target(c, i);
		if (!attr)
			continue;
		uint32_t state = is_final ? c->states[i] : ALUA_TRANSITIONING;
		__atomic_store_n(&attr->alua_access_state, state, __ATOMIC_RELAXED);
		__atomic_store_n(&attr->alua_access_status, c->is_explicit ? 1 : 2,
				 __ATOMIC_RELAXED);
	}
	alua_refresh_plain(c->home.lu);
}

static void change_end(struct alua_change *c)
{
	free(c->text);
	c->text = NULL;
	if (!c->only_writes)
		ua_raise_lu(c->home.lu, UA_ALUA_CHANGED, c->except);
	home_change_end(&c->home);
}

static void file_write(struct offload *o)
{
	struct alua_change *c = container_of(o, struct alua_change, offload);
	c->result = alua_saved_write(c->home.lu, c->text, c->text_len);
}

static void file_written(struct offload *o)
{
	change_end(container_of(o, struct alua_change, offload));
}

static bool is_kept(struct alua_change *c)
{
	if (c->only_writes)
		return c->home.lu->state_dir;
	for (unsigned i = 0; i < ALUA_GROUPS_MAX; i++) {
		const struct alua_attr *attr = target(c, i);
		if (attr && alua_load(&attr->alua_write_metadata))
			return c->home.lu->state_dir;
	}
	return false;
}

static void change_settle(struct timer *t)
{
	struct alua_change *c = container_of(t, struct alua_change, timer);
	set_states(c, true);
	if (!is_kept(c)) {
		change_end(c);
		return;
	}
	c->text = alua_saved_format(c->home.lu->alua, &c->text_len);
	if (!c->text) {
		c->result = -EIO;
		change_end(c);
		return;
	}
	c->offload.work = file_write;
	c->offload.done = file_written;
	offload_submit(&c->offload);
}

static uint32_t delay_msecs(struct alua_change *c)
{
	uint32_t longest = 0;
	for (unsigned i = 0; i < ALUA_GROUPS_MAX; i++) {
		const struct alua_attr *attr = target(c, i);
		if (!attr || alua_load(&attr->alua_access_state) == c->states[i])
			continue;
		uint32_t delay = alua_load(&attr->trans_delay_msecs);
		longest = delay > longest ? delay : longest;
	}
	return longest;
}

static void change_begin(struct home_change *h)
{
	struct alua_change *c = container_of(h, struct alua_change, home);
	uint32_t delay = delay_msecs(c);
	timer_init(&c->timer, change_settle);
	if (!delay) {
		change_settle(&c->timer);
		return;
	}
	set_states(c, false);
	timer_arm(c->home.lu->home, &c->timer, (uint64_t)delay * 1000);
}

void alua_change_init(struct alua_change *c, struct lu *lu, void (*ended)(struct home_change *c))
{
	memset(c, 0, sizeof *c);
	c->home.lu = lu;
	c->home.run = change_begin;
	c->home.ended = ended;
	memset(c->states, ALUA_KEEP, sizeof c->states);
	for (unsigned i = 0; i < lu->alua->nslots; i++)
		c->ids[i] = alua_load(&lu->alua->slots[i].id);
}

void alua_change_start(struct alua_change *c)
{
	home_change_start(&c->home, c->home.lu, &c->home.lu->alua->changes);
}
