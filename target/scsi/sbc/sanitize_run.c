// SPDX-License-Identifier: BSD-2-Clause
// The operation behind SANITIZE (SBC-4 4.11), on the logical unit's home worker: waits until no
// admitted command accesses the medium any more, then processes the blocks in slices, one per round
// of the worker's loop, and flushes. It holds a reference of the unit.
#include "target/scsi/sbc/sanitize_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "target/scsi/io_log.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_part.h"
#include "target/scsi/lu_round.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/medium.h"
#include "target/scsi/opcode.h"
#include "target/scsi/sbc/sanitize_mark.h"
#include "target/scsi/taskset.h"

#define PATTERN_BYTES (256u << 10) // of the buffer; a slice repeats it
#define REPEATS	      4u
#define ERASE_BYTES   (64u << 20) // unmapped or zeroed in one slice
#define PATTERN_MAX   4096u	  // the longest block
#define PHASES	      2u	  // of BLOCK ERASE: zeroes what unmapping does not zero

struct sanitize {
	int refs;	// atomic
	unsigned state; // enum sanitize_state, atomic
	struct lu *lu;
	enum sanitize_method method;
	bool inverts, ause;
	unsigned passes, pass;
	uint64_t blocks, at; // of the medium; of this pass
	uint8_t pattern[PATTERN_MAX];
	uint32_t pattern_len;
	enum bs_op erase[PHASES]; // of BLOCK ERASE, one a pass
	struct sanitize_mark mark;
	struct lu_round drain;
	struct msg msg;
	struct buf *buf;
	struct buf_wait buf_wait;
	uint32_t buf_used; // whole blocks in buf
	struct sg sg[REPEATS];
	struct bs_io io;
	uint64_t slice; // blocks in flight
};

struct sanitize *sanitize_new(const struct sanitize_plan *plan)
{
	struct sanitize *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->refs = 1;
	s->method = plan->method;
	s->passes = plan->passes;
	s->inverts = plan->inverts;
	s->ause = plan->ause;
	s->pattern_len = plan->pattern_len < PATTERN_MAX ? plan->pattern_len : PATTERN_MAX;
	if (s->pattern_len)
		memcpy(s->pattern, plan->pattern, s->pattern_len);
	return s;
}

void sanitize_put(struct sanitize *s)
{
	if (s && __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0)
		free(s);
}

enum sanitize_state sanitize_state_of(const struct sanitize *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

// Release order: a thread that sees the unit idle must see the writes, too.
static void state_publish(struct lu *lu, uint32_t state)
{
	__atomic_store_n(&lu->sanitize, state, __ATOMIC_RELEASE);
}

static void sanitize_ended(struct sanitize *s, int res)
{
	struct lu *lu = s->lu;
	state_publish(lu, res < 0 ? SANITIZE_FAILED : SANITIZE_IDLE);
	__atomic_store_n(&s->state, res < 0 ? SANITIZE_BROKEN : SANITIZE_DONE, __ATOMIC_RELEASE);
	sanitize_put(s);
	lu_put(lu);
}

static void unmarked(struct sanitize_mark *m)
{
	sanitize_ended(container_of(m, struct sanitize, mark), m->result);
}

// The mark of one that failed stays.
static void sanitize_finished(struct sanitize *s, int res)
{
	buf_put(s->buf);
	s->buf = NULL;
	if (res < 0) {
		sanitize_ended(s, res);
		return;
	}
	s->mark.is_set = false;
	s->mark.done = unmarked;
	sanitize_mark(&s->mark);
}

static void flushed(struct bs_io *io, int res)
{
	struct sanitize *s = container_of(io, struct sanitize, io);
	io_log_note(s->lu, io, res);
	sanitize_finished(s, res);
}

static void slice_submit(struct sanitize *s, enum bs_op op, void (*done)(struct bs_io *io, int res))
{
	unsigned shift = s->lu->block_shift;
	s->io.op = op;
	s->io.flags = 0;
	s->io.offset = s->at << shift;
	s->io.length = s->slice << shift;
	s->io.sg = op == BS_WRITE ? s->sg : NULL;
	if (op != BS_WRITE)
		s->io.nsg = 0;
	s->io.done = done;
	backstore_submit(lu_bs(s->lu), &s->io);
}

static void note_progress(struct sanitize *s)
{
	uint64_t permille = s->blocks ? s->at * 1000 / s->blocks : 1000;
	uint64_t done = (s->pass * 1000ull + permille) * 65535 / (s->passes * 1000ull);
	state_publish(s->lu, 1 + (uint32_t)(done < 65535 ? done : 65535));
}

static void slice_next(struct msg *m);

static void slice_done(struct bs_io *io, int res)
{
	struct sanitize *s = container_of(io, struct sanitize, io);
	io_log_note(s->lu, io, res);
	if (res < 0) {
		sanitize_finished(s, res);
		return;
	}
	s->at += s->slice;
	note_progress(s);
	s->msg.fn = slice_next;
	worker_post(s->lu->home, &s->msg);
}

// Fills the buffer with blocks of this pass's pattern, repeated within each block.
static void pattern_fill(struct sanitize *s)
{
	uint32_t size = s->lu->block_size;
	uint8_t flip = s->inverts && s->pass % 2 ? 0xff : 0;
	uint8_t *p = s->buf->addr;
	for (uint32_t i = 0; i < size; i++)
		p[i] = s->pattern[i % s->pattern_len] ^ flip;
	s->buf_used = PATTERN_BYTES / size * size;
	struct worker *w = s->lu->home;
	for (uint32_t done = size; done < s->buf_used;) {
		uint32_t n = done < s->buf_used - done ? done : s->buf_used - done;
		buf_copy(w, p + done, p, n);
		done += n;
	}
}

static void overwrite_slice(struct sanitize *s)
{
	unsigned shift = s->lu->block_shift;
	uint64_t left = s->blocks - s->at, most = (uint64_t)s->buf_used * REPEATS >> shift;
	s->slice = left < most ? left : most;
	uint64_t len = s->slice << shift;
	s->io.nsg = 0;
	while (len) {
		uint32_t n = len < s->buf_used ? (uint32_t)len : s->buf_used;
		s->sg[s->io.nsg++] = (struct sg){ .addr = s->buf->addr, .len = n, .buf = s->buf };
		len -= n;
	}
	slice_submit(s, BS_WRITE, slice_done);
}

static void erase_slice(struct sanitize *s)
{
	uint64_t left = s->blocks - s->at, most = ERASE_BYTES >> s->lu->block_shift;
	s->slice = left < most ? left : most;
	slice_submit(s, s->erase[s->pass], slice_done);
}

static void slice_next(struct msg *m)
{
	struct sanitize *s = container_of(m, struct sanitize, msg);
	if (__atomic_load_n(&s->lu->sanitize_stops, __ATOMIC_RELAXED)) {
		sanitize_finished(s, -ECANCELED);
		return;
	}
	if (s->at == s->blocks) {
		s->at = 0;
		if (++s->pass == s->passes) {
			s->slice = 0;
			slice_submit(s, BS_FLUSH, flushed);
			return;
		}
		if (s->method == SANITIZE_OVERWRITE)
			pattern_fill(s);
	}
	if (s->method == SANITIZE_OVERWRITE)
		overwrite_slice(s);
	else
		erase_slice(s);
}

static void buffer_get(struct buf_wait *wait)
{
	struct sanitize *s = container_of(wait, struct sanitize, buf_wait);
	s->buf = buf_get(s->lu->home, PATTERN_BYTES);
	if (!s->buf) {
		buf_wait_add(s->lu->home, wait, buffer_get);
		return;
	}
	pattern_fill(s);
	slice_next(&s->msg);
}

static void marked(struct sanitize_mark *m)
{
	struct sanitize *s = container_of(m, struct sanitize, mark);
	if (m->result < 0) {
		sanitize_finished(s, m->result);
		return;
	}
	__atomic_store_n(&s->state, SANITIZE_RUNNING, __ATOMIC_RELEASE);
	const struct bs_limits *limits = &lu_bs(s->lu)->limits;
	s->blocks = lu_capacity(s->lu);
	if (s->method == SANITIZE_OVERWRITE) {
		buffer_get(&s->buf_wait);
		return;
	}
	s->passes = 0;
	if (!limits->unmap_zeroes)
		s->erase[s->passes++] = BS_WRITE_ZEROES;
	s->erase[s->passes++] = BS_UNMAP;
	slice_next(&s->msg);
}

static void drained(struct lu_round *r)
{
	struct sanitize *s = container_of(r, struct sanitize, drain);
	s->mark = (struct sanitize_mark){
		.lu = s->lu, .is_set = true, .ause = s->ause, .done = marked
	};
	sanitize_mark(&s->mark);
}

// New commands are refused. Those that wait for their turn, for data or for memory will be refused
// later; those that wait for frozen blocks were admitted.
static bool drain_awaits(const struct lu_round *r, const struct task *t)
{
	if ((t->state == TASK_WAITS_TURN && !t->has_begun) || task_has_yet_to_begin(t))
		return false;
	return t->row && (t->row->flags & OP_MEDIUM);
}

static const struct lu_round_ops drain_round = {
	.awaits = drain_awaits,
	.done = drained,
};

bool sanitize_start(struct lu *lu, struct sanitize *s)
{
	uint32_t state = __atomic_load_n(&lu->sanitize, __ATOMIC_RELAXED);
	if (state != SANITIZE_IDLE && state != SANITIZE_FAILED)
		return false;
	__atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
	s->lu = lu_get(lu);
	pthread_mutex_lock(&lu->lock);
	__atomic_store_n(&lu->sanitize_ause, s->ause, __ATOMIC_RELAXED);
	state_publish(lu, 1);
	pthread_mutex_unlock(&lu->lock);
	lu_note_write(lu, 0, lu_capacity(lu));
	lu_round_start(&s->drain, lu, &drain_round);
	return true;
}

static void failure_mode_left(struct sanitize_mark *m)
{
	struct sanitize_exit *x = container_of(m, struct sanitize_exit, mark);
	state_publish(m->lu, m->result < 0 ? SANITIZE_FAILED : SANITIZE_IDLE);
	x->done(x);
}

void sanitize_exit_failure(struct sanitize_exit *x, struct lu *lu)
{
	x->is_allowed = true;
	x->mark = (struct sanitize_mark){ .lu = lu, .done = failure_mode_left };
	if (__atomic_load_n(&lu->sanitize, __ATOMIC_RELAXED) != SANITIZE_FAILED) {
		x->done(x);
	} else if (!__atomic_load_n(&lu->sanitize_ause, __ATOMIC_RELAXED)) {
		x->is_allowed = false;
		x->done(x);
	} else {
		state_publish(lu, 1); // no other one starts meanwhile
		sanitize_mark(&x->mark);
	}
}
