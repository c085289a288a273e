// SPDX-License-Identifier: BSD-2-Clause
// START STOP UNIT (SBC-3 5.25). There is no motor: power conditions and START without LOEJ are
// accepted without effect, except that a stop flushes the cache. A unit made NOT READY (04/02) by a
// stop would be lost to all of its initiators when one of them shuts down, and sd of Linux starts
// it again only with allow_restart. LOEJ ejects and loads the medium of a removable unit. The home
// worker, which alone changes lu->medium, asks every worker whether a nexus prevents removal, which
// also prevents loading.
#include "target/scsi/handler.h"
#include "target/scsi/lu_channel.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/sbc/commands.h"
#include "target/scsi/sbc/walk.h"
#include "target/scsi/ua.h"

#define SENSE_REMOVAL_PREVENTED SENSE(SK_ILLEGAL_REQUEST, 0x53, 0x02)

// CDB byte 4.
enum { SSU_START = 0x01, SSU_LOEJ = 0x02, SSU_NO_FLUSH = 0x04, SSU_POWER = 0xf0 };

struct start_stop {
	struct sbc_walk walk;
	struct lu_round round;
	uint8_t to;	   // enum lu_medium
	bool is_prevented; // atomic: set by any worker
};

static struct start_stop *start_stop_of(const struct task *t)
{
	return t->scratch;
}

static void move_ask(struct lu_channel *c, struct lu_round *r)
{
	struct start_stop *s = container_of(r, struct start_stop, round);
	list_for_each (it, &c->nexus_luns) {
		if (list_entry(it, struct nexus_lun, channel_link)->prevents_removal)
			__atomic_store_n(&s->is_prevented, true, __ATOMIC_RELEASE);
	}
}

// All nexuses except the one that loads are notified.
static void move_asked(struct lu_round *r)
{
	struct start_stop *s = container_of(r, struct start_stop, round);
	struct task *t = s->walk.t;
	if (!__atomic_load_n(&s->is_prevented, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&t->lu->medium, s->to, __ATOMIC_RELAXED);
		if (s->to == LU_MEDIUM_PRESENT)
			ua_raise_lu(t->lu, UA_MEDIUM_CHANGED, t->nexus);
	}
	task_home_done(t);
}

static const struct lu_round_ops move_round = {
	.each = move_ask,
	.done = move_asked,
};

// Home worker. No-op if the medium is in the requested state.
static void move_at_home(struct task *t)
{
	struct start_stop *s = start_stop_of(t);
	if (__atomic_load_n(&t->lu->medium, __ATOMIC_RELAXED) == s->to) {
		task_home_done(t);
		return;
	}
	lu_round_start(&s->round, t->lu, &move_round);
}

static void move_done(struct task *t)
{
	if (__atomic_load_n(&start_stop_of(t)->is_prevented, __ATOMIC_ACQUIRE))
		task_check(t, SENSE_REMOVAL_PREVENTED, NULL);
	else
		task_good(t);
}

static void move_flushed(struct sbc_walk *w)
{
	struct start_stop *s = (struct start_stop *)w;
	s->to = w->t->cdb[4] & SSU_START ? LU_MEDIUM_PRESENT : LU_MEDIUM_EJECTED;
	task_at_home(w->t, move_at_home, move_done);
}

// IMMED needs no early status: at most a flush is due.
static void flush_then(struct task *t, void (*next)(struct sbc_walk *w))
{
	struct start_stop *s = sbc_walk_new(t, sizeof *s);
	if (!s)
		return;
	bool is_present = __atomic_load_n(&t->lu->medium, __ATOMIC_RELAXED) == LU_MEDIUM_PRESENT;
	if (is_present && !(t->cdb[4] & SSU_NO_FLUSH) && lu_bs(t->lu)->limits.has_write_cache)
		sbc_walk_io(&s->walk, BS_FLUSH, NULL, 0, 0, 0, 0, next);
	else
		next(&s->walk);
}

static void load_or_eject(struct task *t)
{
	if (!__atomic_load_n(&t->lu->attr.removable, __ATOMIC_RELAXED))
		task_invalid_cdb(t, 4, 1);
	else
		flush_then(t, move_flushed);
}

void start_stop_run(struct task *t)
{
	if (__atomic_load_n(&t->lu->sanitize, __ATOMIC_RELAXED))
		task_check(t, SENSE_NOT_READY_SANITIZE, NULL);
	else if (t->cdb[4] & SSU_POWER)
		task_good(t); // LOEJ and START are then ignored
	else if (t->cdb[4] & SSU_LOEJ)
		load_or_eject(t);
	else if (t->cdb[4] & SSU_START)
		task_good(t);
	else
		flush_then(t, sbc_walk_finish);
}
