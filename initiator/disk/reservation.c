// SPDX-License-Identifier: BSD-2-Clause
// The reservation of a disk that one host uses: Write Exclusive - Registrants Only, and a key for
// each path. A path whose key was preempted cannot write any more (fence.c). Paths register one
// after the other, each after its check: who has registered and reserved is looked at first, so
// that another host is noticed and not fought. At the end all is taken away. On the disk's worker.
// SPC-4 5.12, 6.15, 6.16.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/disk/disk_priv.h"
#include "initiator/pr.h"

#define WAIT_US		100000 // for a unit that is busy or becoming ready
#define WAITS_MAX	300
#define ATTENTIONS_MAX	32
#define ROUNDS_MAX	5
#define LOOKS_MAX	30   // while another host begins, sees this one, and leaves
#define PREEMPT_SECONDS 3600 // for as long as its storage takes
#define RELEASE_SECONDS 5

enum step { KEYS, RESERVATION, REGISTER, PREEMPT, RESERVE, DONE, RELEASE_KEYS, RELEASE };

// ---- keys ----

static uint32_t hash(uint32_t h, const char *text) // FNV-1a, with its end
{
	do
		h = (h ^ (uint8_t)*text) * 0x01000193u;
	while (*text++);
	return h;
}

uint64_t reservation_key(const struct disk *d, const struct scsi_nexus *n)
{
	uint32_t h = hash(hash(0x811c9dc5u, n->initiator), n->target);
	return (uint64_t)d->reservation.host << 32 | (h ? h : 1);
}

static bool has(const uint64_t *keys, unsigned count, uint64_t key)
{
	for (unsigned i = 0; i < count; i++)
		if (keys[i] == key)
			return true;
	return false;
}

static bool is_own(const struct reservation *r, uint64_t key)
{
	return has(r->own, r->own_count, key);
}

static bool is_of_host(const struct reservation *r, uint64_t key)
{
	return key >> 32 == r->host;
}

// Of a path that is logged in: with that its former nexus has ended.
static bool is_of_session(const struct disk *d, uint64_t key)
{
	for (unsigned i = 0; i < d->path_count; i++) {
		const struct disk_path *p = &d->paths[i];
		if (p->session && p->was_up && scsi_session_is_up(p->session) &&
		    reservation_key(d, &p->nexus.nexus) == key)
			return true;
	}
	return false;
}

// Two paths of a key could not be told apart.
static int add_own(struct disk_path *p, struct err *e)
{
	struct disk *d = p->disk;
	struct reservation *r = &d->reservation;
	uint64_t key = reservation_key(d, &p->nexus.nexus);
	for (unsigned i = 0; i < d->path_count; i++) {
		const struct scsi_nexus *other = &d->paths[i].nexus.nexus;
		if (other->protocol && !scsi_nexus_is_same(other, &p->nexus.nexus) &&
		    reservation_key(d, other) == key)
			return err_set(e, -EEXIST,
				       "%s has the same key (give one of both another --isid)",
				       d->paths[i].config.name);
	}
	if (is_own(r, key))
		return 0;
	if (r->own_count == DISK_NEXUSES_MAX)
		return err_set(e, -ENOSPC, "more than %d keys (detach, and attach again)",
			       DISK_NEXUSES_MAX);
	r->own[r->own_count++] = key;
	return 0;
}

// ---- the end of a registration ----

static void start_next(struct disk *d);
static void run(struct disk *d);

static void tell(struct disk *d, const struct err *why)
{
	struct reservation *r = &d->reservation;
	if (r->is_told || d->is_closing)
		return;
	r->is_told = true;
	if (d->ops.reserved)
		d->ops.reserved(d->arg, why);
}

// Once all paths that are up have registered.
static void tell_reserved(struct disk *d)
{
	static const struct err none;
	if (!d->reservation.is_held)
		return;
	for (unsigned i = 0; i < d->path_count; i++)
		if (d->paths[i].wants_registration)
			return;
	tell(d, &none);
}

static void end(struct disk *d)
{
	struct reservation *r = &d->reservation;
	r->path->wants_registration = false;
	r->path = NULL;
	r->is_released |= r->step >= RELEASE_KEYS;
	timer_cancel(d->worker, &r->wait);
	if (d->is_closing) {
		d->events->idle(d);
		return;
	}
	tell_reserved(d);
	start_next(d);
}

static void finish(struct disk *d)
{
	struct reservation *r = &d->reservation;
	struct disk_path *p = r->path;
	r->is_held = true;
	p->is_registered = true;
	list_for_each (it, &d->lost) {
		struct disk_lost *l = list_entry(it, struct disk_lost, link);
		l->is_unregistered = !has(r->keys, r->key_count, reservation_key(d, &l->id.nexus));
	}
	end(d);
	d->events->fenced(d);
}

// Nothing is changed any more at a disk that another host uses.
static void fail(struct disk *d, struct err *why)
{
	struct disk_path *p = d->reservation.path;
	bool is_first = !d->reservation.is_held;
	err_prefix(why, "LUN %u: reservation", p->config.lun);
	end(d);
	if (d->is_closing || is_first) {
		tell(d, why);
		return;
	}
	p->is_held = false;
	path_set_state(p, DISK_PATH_FAULTY, why); // gets another session later
}

static void taken(struct disk *d)
{
	d->reservation.is_taken = true;
	notice_set(d, DISK_TAKEN);
	end(d);
	d->events->taken(d);
	d->events->fenced(d);
}

// ---- what others have ----

static void refuse(struct disk *d, uint64_t key, uint8_t type)
{
	struct err why;
	char what[64] = "registered";
	if (d->reservation.is_held) {
		taken(d);
		return;
	}
	if (type)
		snprintf(what, sizeof what, "reserved it (%s)", pr_type_name(type));
	err_set(&why, -EBUSY,
		"the disk is in use by another %s, which has %s with key 0x%llx "
		"(--fence reservation is for disks of one host: farblock-initiator reserve URL "
		"report names it; clear what is left of it there, or attach with --fence auto)",
		is_of_host(&d->reservation, key) ? "program of this host" : "host", what,
		(unsigned long long)key);
	fail(d, &why);
}

// A host that begins registers before it finds the disk reserved, and then takes its key away.
static bool looks_again(struct disk *d)
{
	struct reservation *r = &d->reservation;
	if (!r->is_held || r->looks++ == LOOKS_MAX)
		return false;
	timer_arm(d->worker, &r->wait, WAIT_US);
	return true;
}

static void refuse_long_list(struct disk *d)
{
	struct err why;
	if (d->reservation.is_held) {
		taken(d);
		return;
	}
	err_set(&why, -EPROTO,
		"READ KEYS: the list is longer than %d keys (farblock-initiator reserve URL report "
		"shows them; clear what is left there, or attach with --fence auto)",
		RESERVATION_KEYS_MAX);
	fail(d, &why);
}

// False: refused, or looked at again.
static bool judge_keys(struct disk *d, const struct pr_list *l)
{
	struct reservation *r = &d->reservation;
	uint64_t own = reservation_key(d, &r->path->nexus.nexus), key;
	r->dead_count = r->key_count = 0;
	for (uint32_t i = 0; pr_key_at(l, i, &key); i++) {
		bool is_known = is_own(r, key) || (!r->is_held && is_of_host(r, key));
		if (!is_known || i == RESERVATION_KEYS_MAX) {
			if (!looks_again(d))
				refuse(d, key, 0);
			return false;
		}
		r->keys[r->key_count++] = key;
		if (is_own(r, key) || key == own)
			continue;
		if (is_of_session(d, key) && r->own_count < DISK_NEXUSES_MAX)
			r->own[r->own_count++] = key;
		else
			r->dead[r->dead_count++] = key;
	}
	if (l->is_cut)
		refuse_long_list(d);
	return !l->is_cut;
}

static bool judge_reservation(struct disk *d, const struct pr_list *l)
{
	struct reservation *r = &d->reservation;
	struct pr_reservation found;
	r->must_reserve = !pr_reservation_parse(l, &found);
	if (r->must_reserve || (found.type == PR_TYPE_WRITE_REGISTRANTS && !found.scope &&
				has(r->keys, r->key_count, found.key)))
		return true;
	refuse(d, found.key, found.type);
	return false;
}

// ---- commands ----

static void on_done(struct scsi_cmd *c);

static void set_in(struct reservation *r, uint8_t action)
{
	struct scsi_args args = { .len = sizeof r->data, .flags = action };
	memset(r->data, 0, sizeof r->data);
	scsi_cmd_set(&r->cmd, r->path->config.lun, SCSI_PR_IN, &args, r->data, sizeof r->data);
}

static void set_out(struct reservation *r, uint8_t action, uint64_t key, uint64_t service_key)
{
	struct scsi_args args = {
		.len = PR_OUT_LEN,
		.flags = action,
		.page = action == PR_RESERVE || action == PR_PREEMPT_AND_ABORT
				? PR_TYPE_WRITE_REGISTRANTS
				: 0,
	};
	pr_out_build(r->data, key, service_key);
	scsi_cmd_set(&r->cmd, r->path->config.lun, SCSI_PR_OUT, &args, r->data, PR_OUT_LEN);
}

// The first path also asks whether the target has PREEMPT AND ABORT, with a key that nobody has
// registered: the answer is a conflict.
static void set_preempt(struct disk *d, uint64_t key)
{
	struct reservation *r = &d->reservation;
	uint64_t nobody = key ^ 1;
	while (has(r->keys, r->key_count, nobody) || nobody == key)
		nobody += 2;
	set_out(r, PR_PREEMPT_AND_ABORT, key, r->dead_count ? r->dead[r->dead_count - 1] : nobody);
	r->cmd.timeout = PREEMPT_SECONDS;
}

static void set_command(struct disk *d)
{
	struct reservation *r = &d->reservation;
	uint64_t key = reservation_key(d, &r->path->nexus.nexus);
	switch ((enum step)r->step) {
	case KEYS:
	case RELEASE_KEYS:
		set_in(r, PR_READ_KEYS);
		break;
	case RESERVATION:
		set_in(r, PR_READ_RESERVATION);
		break;
	case REGISTER:
		set_out(r, PR_REGISTER_AND_IGNORE, 0, key);
		break;
	case PREEMPT:
		set_preempt(d, key);
		break;
	case RESERVE:
		set_out(r, PR_RESERVE, key, 0);
		break;
	case RELEASE: // what was never reserved is not cleared
		set_out(r, r->is_held ? PR_CLEAR : PR_REGISTER_AND_IGNORE, r->is_held ? key : 0, 0);
		break;
	case DONE:
		break;
	}
	if (r->step >= RELEASE_KEYS)
		r->cmd.timeout = RELEASE_SECONDS;
}

static void submit(struct disk *d)
{
	struct reservation *r = &d->reservation;
	set_command(d);
	r->cmd.is_once = true;
	r->cmd.done = on_done;
	r->cmd.arg = d;
	r->is_out = scsi_cmd_submit(r->path->session, &r->cmd) == 0;
	if (!r->is_out)
		end(d); // its session has ended
}

static void on_wait(struct timer *t)
{
	submit(container_of(t, struct disk, reservation.wait));
}

static void begin(struct disk *d, struct disk_path *p, enum step first)
{
	struct reservation *r = &d->reservation;
	r->path = p;
	r->step = first;
	r->rounds = r->waits = r->attentions = r->looks = 0;
	run(d);
}

static void start_next(struct disk *d)
{
	for (unsigned i = 0; i < d->path_count && !d->reservation.path; i++)
		if (d->paths[i].wants_registration)
			begin(d, &d->paths[i], KEYS);
}

// ---- steps ----

// Skips what is not needed.
static void run(struct disk *d)
{
	struct reservation *r = &d->reservation;
	struct err why;
	if (r->step == REGISTER && add_own(r->path, &why) < 0) {
		fail(d, &why);
		return;
	}
	if (r->step == PREEMPT && r->is_held)
		r->step++;
	if (r->step == RESERVE && !r->must_reserve)
		r->step++;
	if (r->step == DONE)
		finish(d);
	else
		submit(d);
}

static void next(struct disk *d)
{
	struct reservation *r = &d->reservation;
	if (r->step == PREEMPT && r->dead_count && --r->dead_count) {
		submit(d);
		return;
	}
	r->step++;
	run(d);
}

static void answer(struct disk *d, const struct scsi_cmd *c)
{
	struct reservation *r = &d->reservation;
	struct pr_list l;
	struct err why;
	bool is_list = r->step == KEYS || r->step == RESERVATION || r->step == RELEASE_KEYS;
	if (is_list && !pr_list_parse(&l, r->data, c->data_len)) {
		err_set(&why, -EPROTO, "PERSISTENT RESERVE IN: the answer is too short");
		fail(d, &why);
	} else if (r->step == RELEASE) {
		r->own_count = 0; // nothing is left
		end(d);
	} else if (r->step == PREEMPT && r->dead_count) {
		if (r->ended_count < RESERVATION_KEYS_MAX)
			r->ended[r->ended_count++] = r->dead[r->dead_count - 1];
		next(d);
	} else if (!is_list ||
		   (r->step == RESERVATION ? judge_reservation(d, &l) : judge_keys(d, &l))) {
		next(d);
	}
}

// INSUFFICIENT REGISTRATION RESOURCES.
static bool is_full(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return !c->res && c->status == SCSI_CHECK_CONDITION &&
	       scsi_sense_parse(c->sense, c->sense_len, &s) && s.asc == 0x55 && s.ascq == 0x04;
}

static bool is_missing(const struct reservation *r, const struct scsi_cmd *c)
{
	return !c->res && scsi_cmd_is_refused(c) && !is_full(c) &&
	       (r->step == KEYS || r->step == PREEMPT || r->step == REGISTER);
}

static void failed(struct disk *d, const struct scsi_cmd *c)
{
	const struct reservation *r = &d->reservation;
	static const char *const names[] = { "READ KEYS", "READ RESERVATION",
					     "REGISTER AND IGNORE EXISTING KEY",
					     "PREEMPT AND ABORT", "RESERVE" };
	struct err why;
	char text[200];
	if (r->step >= RELEASE_KEYS) {
		end(d);
		return;
	}
	scsi_cmd_text(c, text, sizeof text);
	err_set(&why,
		is_missing(r, c) ? -EOPNOTSUPP
		: c->res	 ? c->res
				 : -EIO,
		"%s: %.80s%s", names[r->step], text,
		is_missing(r, c) ? " (the target cannot do what --fence reservation needs: attach "
				   "with --fence auto)"
		: is_full(c)	 ? " (the target has no room for another key: farblock-initiator "
				   "reserve URL report shows them; remove what is left there)"
				 : "");
	fail(d, &why);
}

static bool is_waiting(const struct scsi_cmd *c, const struct scsi_sense *s)
{
	if (c->status == SCSI_BUSY || c->status == SCSI_TASK_SET_FULL)
		return true;
	return s->key == 2 && s->asc == 0x04 && (s->ascq == 0x01 || s->ascq == 0x0a);
}

static void judge(struct disk *d, const struct scsi_cmd *c)
{
	struct reservation *r = &d->reservation;
	struct scsi_sense s = { 0 };
	bool is_conflict = c->status == SCSI_RESERVATION_CONFLICT;
	if (c->status == SCSI_CHECK_CONDITION)
		scsi_sense_parse(c->sense, c->sense_len, &s);
	if (scsi_cmd_is_good(c)) {
		answer(d, c);
	} else if (s.key == 6 && r->attentions++ < ATTENTIONS_MAX) {
		submit(d);
	} else if (is_waiting(c, &s) && r->waits++ < WAITS_MAX) {
		timer_arm(d->worker, &r->wait, WAIT_US);
	} else if (is_conflict && r->step == PREEMPT) {
		next(d); // the key is registered no more
	} else if (is_conflict && r->step == RESERVE && r->rounds++ < ROUNDS_MAX) {
		r->step = KEYS;
		run(d);
	} else {
		failed(d, c);
	}
}

// A path that is lost begins again after its next check.
static void on_done(struct scsi_cmd *c)
{
	struct disk *d = c->arg;
	struct reservation *r = &d->reservation;
	bool is_release = r->step >= RELEASE_KEYS;
	r->is_out = false;
	if ((d->is_closing && !is_release) || !r->path->wants_registration || c->res == -ENOTCONN ||
	    c->res == -ESHUTDOWN || c->res == -ECANCELED)
		end(d);
	else if (c->res)
		failed(d, c);
	else
		judge(d, c);
}

// ---- the border ----

void reservation_init(struct disk *d)
{
	timer_init(&d->reservation.wait, on_wait);
}

static void want(struct disk_path *p)
{
	p->wants_registration = true;
	start_next(p->disk);
}

void disk_reserve(struct disk *d, uint32_t host)
{
	struct reservation *r = &d->reservation;
	r->is_on = true;
	r->host = host ? host : 1;
	for (unsigned i = 0; i < d->path_count; i++)
		if (d->paths[i].state == DISK_PATH_UP)
			d->paths[i].wants_registration = true;
	start_next(d);
}

bool reservation_path_checked(struct disk_path *p)
{
	const struct reservation *r = &p->disk->reservation;
	if (!r->is_on || r->is_taken || p->is_registered || p->disk->is_closing ||
	    alua_rank(p->alua, false) == ALUA_USELESS)
		return false;
	want(p);
	return !p->is_registered;
}

bool reservation_conflict(struct disk_path *p)
{
	const struct reservation *r = &p->disk->reservation;
	if (!r->is_on || r->is_taken)
		return false;
	path_unregistered(p);
	return true;
}

void reservation_path_down(struct disk_path *p)
{
	struct disk *d = p->disk;
	struct reservation *r = &d->reservation;
	p->wants_registration = p->is_registered = false;
	if (!r->is_on)
		return;
	if (r->path == p && !r->is_out)
		end(d);
	else
		tell_reserved(d);
}

bool reservation_is_taken(const struct disk *d)
{
	return d->reservation.is_taken;
}

bool reservation_has_ended(const struct disk *d, const struct scsi_nexus *n)
{
	const struct reservation *r = &d->reservation;
	return has(r->ended, r->ended_count, reservation_key(d, n));
}

bool reservation_release(struct disk *d)
{
	struct reservation *r = &d->reservation;
	struct disk_path *by = NULL;
	if (!r->is_on || !r->own_count || r->is_taken || r->is_released)
		return false;
	for (unsigned i = 0; i < d->path_count; i++) {
		struct disk_path *p = &d->paths[i];
		if (p->flying_count)
			return true;
		if (p->session && scsi_session_is_up(p->session) && !p->is_leaving &&
		    is_own(r, reservation_key(d, &p->nexus.nexus)) &&
		    (!by || (p->is_registered && !by->is_registered)))
			by = p;
	}
	if (r->is_out || r->is_releasing)
		return true;
	if (!by)
		return false;
	timer_cancel(d->worker, &r->wait);
	r->is_releasing = true;
	by->wants_registration = true;
	// Before the disk was reserved only one path has registered; others' keys do not matter.
	begin(d, by, r->is_held ? RELEASE_KEYS : RELEASE);
	return true;
}

void reservation_close(struct disk *d)
{
	timer_cancel(d->worker, &d->reservation.wait);
}

bool disk_is_left_reserved(const struct disk *d)
{
	return d->reservation.is_on && d->reservation.own_count;
}
