// SPDX-License-Identifier: BSD-2-Clause
// Target port groups of a logical unit, see alua.h: creates, changes and deletes groups on the
// control thread, and assigns target ports.
#include "target/scsi/alua/alua.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/scsi/alua/change.h"
#include "target/scsi/alua/saved.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_part.h"

static void store(uint32_t *field, uint32_t v)
{
	__atomic_store_n(field, v, __ATOMIC_RELAXED);
}

static struct alua_slot *slot_named(struct lu *lu, const char *name)
{
	struct alua *a = lu->alua;
	for (unsigned i = 0; i < a->nslots; i++)
		if (alua_load(&a->slots[i].id) != ALUA_SLOT_FREE && !strcmp(a->slots[i].name, name))
			return &a->slots[i];
	return NULL;
}

// Group names are used in file names and paths.
static bool is_good_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-_.:");
	return len && len < ALUA_NAME_MAX && !name[len] && name[0] != '.';
}

// Field by field, for concurrent readers (all are uint32_t).
static void store_attr(struct alua_attr *to, const struct alua_attr *from)
{
	const uint32_t *word = (const uint32_t *)from;
	uint32_t *out = (uint32_t *)to;
	for (size_t i = 0; i < sizeof *from / sizeof *word; i++)
		store(&out[i], word[i]);
}

static int slot_fill(struct lu *lu, const char *name, uint32_t id, struct err *e)
{
	struct alua *a = lu->alua;
	unsigned i = 0;
	while (i < a->nslots && alua_load(&a->slots[i].id) != ALUA_SLOT_FREE)
		i++;
	if (i == ALUA_GROUPS_MAX)
		return err_set(e, -ENOSPC, "%s: ALUA group %s: create: limit of %d groups reached",
			       lu->name, name, ALUA_GROUPS_MAX);
	struct alua_slot *s = &a->slots[i];
	struct alua_attr attr;
	attr_defaults(alua_group_rows, &attr);
	attr.tg_pt_gp_id = id;
	store_attr(&s->attr, &attr); // a reader may still use the slot's former id
	snprintf(s->name, sizeof s->name, "%s", name);
	s->order = a->next_order++;
	__atomic_store_n(&s->id, id, __ATOMIC_RELEASE);
	if (i == a->nslots)
		__atomic_store_n(&a->nslots, i + 1, __ATOMIC_RELEASE);
	alua_refresh_plain(lu);
	return 0;
}

int alua_group_new(struct lu *lu, const char *name, uint32_t id, struct err *e)
{
	if (!is_good_name(name))
		return err_set(e, -EINVAL,
			       "%s: ALUA group: create: invalid name (letters, digits, "
			       "- _ . : and at most %d of them)",
			       lu->name, ALUA_NAME_MAX - 1);
	if (!id || id > 65535)
		return err_set(e, -EINVAL,
			       "%s: ALUA group %s: create: id %u is not in "
			       "1..65535",
			       lu->name, name, id);
	if (slot_named(lu, name) || alua_slot_of(lu, id) != ALUA_GROUPS_MAX)
		return err_set(e, -EEXIST,
			       "%s: ALUA group %s: create: name or id %u is "
			       "taken",
			       lu->name, name, id);
	return slot_fill(lu, name, id, e);
}

static void restore_state(const struct alua *a, struct alua_attr *attr)
{
	for (uint32_t i = 0; attr->alua_write_metadata && i < a->nsaved; i++)
		if (a->saved[i].id == attr->tg_pt_gp_id) {
			attr->alua_access_state = a->saved[i].state;
			attr->alua_access_status = a->saved[i].status;
		}
}

int alua_group_configure(struct lu *lu, const char *name, const struct alua_attr *attr,
			 struct err *e)
{
	struct alua_slot *s = slot_named(lu, name);
	if (!s)
		return err_set(e, -ENOENT, "%s: no ALUA group %s", lu->name, name);
	struct alua_attr next = *attr;
	next.tg_pt_gp_id = alua_load(&s->id);
	restore_state(lu->alua, &next);
	uint32_t state = next.alua_access_state;
	bool can_enter = alua_can_enter(&next, state);
	if (!can_enter)
		next.alua_access_state = alua_load(&s->attr.alua_access_state);
	store_attr(&s->attr, &next);
	alua_refresh_plain(lu);
	if (can_enter)
		return 0;
	return err_set(e, -EINVAL, "%s: ALUA group %s: state %u is not supported", lu->name, name,
		       state);
}

static unsigned members(struct lu *lu, uint32_t id)
{
	unsigned n = 0;
	pthread_mutex_lock(&lu->lock);
	for (uint32_t i = 0; i < lu->alua->nports; i++)
		n += lu->alua->ports[i].group == id;
	pthread_mutex_unlock(&lu->lock);
	return n;
}

int alua_group_free(struct lu *lu, const char *name, struct err *e)
{
	struct alua_slot *s = slot_named(lu, name);
	if (!s)
		return err_set(e, -ENOENT, "%s: ALUA group %s: delete: no such group", lu->name,
			       name);
	if (!s->id)
		return err_set(e, -EPERM,
			       "%s: ALUA group %s: delete: the default group cannot be deleted",
			       lu->name, name);
	unsigned n = members(lu, s->id);
	if (n)
		return err_set(e, -EBUSY,
			       "%s: ALUA group %s: delete: in use by %u port%s (move "
			       "ports to another group first)",
			       lu->name, name, n, n == 1 ? "" : "s");
	store(&s->id, ALUA_SLOT_FREE);
	alua_refresh_plain(lu);
	return 0;
}

// Copies each setting; the home worker may be changing one (all are uint32_t).
static void load_attr(const struct alua_attr *from, struct alua_attr *ret)
{
	const uint32_t *word = (const uint32_t *)from;
	uint32_t *out = (uint32_t *)ret;
	for (size_t i = 0; i < sizeof *from / sizeof *word; i++)
		out[i] = alua_load(&word[i]);
}

int alua_group_at(struct lu *lu, unsigned index, char name[ALUA_NAME_MAX], struct alua_attr *ret,
		  unsigned *ret_members)
{
	const struct alua *a = lu->alua;
	const struct alua_slot *found = NULL;
	for (uint32_t order = 0; order < a->next_order && !found; order++)
		for (unsigned i = 0; i < a->nslots; i++)
			if (a->slots[i].order == order &&
			    alua_load(&a->slots[i].id) != ALUA_SLOT_FREE && !index--)
				found = &a->slots[i];
	if (!found)
		return -ENOENT;
	if (name)
		memcpy(name, found->name, ALUA_NAME_MAX);
	if (ret)
		load_attr(&found->attr, ret);
	if (ret_members)
		*ret_members = members(lu, found->id);
	return 0;
}

// A change of state by the administrator.
struct implicit {
	struct alua_change change;
	struct msg msg;
	void (*done)(void *arg, int result);
	void *arg;
};

static void implicit_report(struct msg *m)
{
	struct implicit *im = container_of(m, struct implicit, msg);
	if (im->done)
		im->done(im->arg, im->change.result);
	lu_put(im->change.home.lu);
	free(im);
}

static void implicit_done(struct home_change *c)
{
	struct implicit *im = container_of(c, struct implicit, change.home);
	im->msg.fn = implicit_report;
	worker_post(c->lu->control ? c->lu->control : c->lu->home, &im->msg);
}

static void implicit_start(struct msg *m)
{
	alua_change_start(&container_of(m, struct implicit, msg)->change);
}

// s NULL: no state changes.
static int start_change(struct lu *lu, const struct alua_slot *s, uint32_t state,
			void (*done)(void *arg, int result), void *arg, struct err *e)
{
	struct implicit *im = calloc(1, sizeof *im);
	if (!im)
		return err_set(e, -ENOMEM, "%s: ALUA: no memory", lu->name);
	alua_change_init(&im->change, lu_get(lu), implicit_done);
	if (s)
		im->change.states[s - lu->alua->slots] = (uint8_t)state;
	im->change.only_writes = !s;
	im->done = done;
	im->arg = arg;
	im->msg.fn = implicit_start;
	worker_post(lu->home, &im->msg);
	return 0;
}

static int set_state(struct lu *lu, const struct alua_slot *s, uint32_t state,
		     void (*done)(void *arg, int result), void *arg, struct err *e)
{
	if (!(alua_load(&s->attr.alua_access_type) & 1))
		return err_set(e, -EPERM,
			       "%s: ALUA group %s: set alua_access_state: implicit "
			       "changes are off (alua_access_type 1 or 3)",
			       lu->name, s->name);
	if (!alua_can_enter(&s->attr, state))
		return err_set(e, -EINVAL,
			       "%s: ALUA group %s: set alua_access_state: %u is not a "
			       "supported state",
			       lu->name, s->name, state);
	return start_change(lu, s, state, done, arg, e);
}

int alua_group_set(struct lu *lu, const char *name, const struct attr_row *row, const char *text,
		   void (*done)(void *arg, int result), void *arg, struct err *e)
{
	struct alua_slot *s = slot_named(lu, name);
	struct alua_attr next;
	if (!s)
		return err_set(e, -ENOENT, "%s: ALUA group %s: set: no such group", lu->name, name);
	if (row->flags & ATTR_READONLY)
		return err_set(e, -EPERM, "%s: ALUA group %s: set %s: read-only", lu->name, name,
			       row->name);
	load_attr(&s->attr, &next);
	int res = attr_set(row, &next, text, e);
	if (res)
		return err_prefix(e, "%s: ALUA group %s: set", lu->name, name);
	if (row->offset == offsetof(struct alua_attr, alua_access_state) &&
	    next.alua_access_state != alua_load(&s->attr.alua_access_state))
		return set_state(lu, s, next.alua_access_state, done, arg, e);
	bool is_kept = next.alua_write_metadata != alua_load(&s->attr.alua_write_metadata);
	// Every row is of a 32-bit field.
	store((uint32_t *)((char *)&s->attr + row->offset),
	      *(const uint32_t *)((const char *)&next + row->offset));
	alua_refresh_plain(lu);
	if (is_kept)
		return start_change(lu, NULL, 0, done, arg, e);
	if (done)
		done(arg, 0);
	return 0;
}

// --- The part ---------------------------------------------------------------------------

static int attach(struct lu *lu, struct err *e)
{
	struct alua *a = calloc(1, sizeof *a);
	if (!a)
		return err_set(e, -ENOMEM, "%s: ALUA: out of memory", lu->name);
	a->is_plain = 1;
	list_init(&a->changes.changes);
	lu->alua = a;
	alua_saved_load(lu);
	return slot_fill(lu, ALUA_DEFAULT_GROUP, 0, e);
}

static void detach(struct lu *lu)
{
	struct alua *a = lu->alua;
	for (uint32_t i = 0; a && i < a->nports; i++)
		free(a->ports[i].name);
	if (a)
		free(a->ports);
	free(a);
	lu->alua = NULL;
}

const struct lu_part alua_part = { .attach = attach, .detach = detach };
