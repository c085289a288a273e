// SPDX-License-Identifier: BSD-2-Clause
// Watched logical units of a session, on its worker. A check is a sequence of commands, sent before
// all others, which are held: a waiting write must not reach an unidentified disk. It starts with
// TEST UNIT READY, which fetches the unit attentions, and starts again if the session is lost
// meanwhile. SAM-5 5.14, 6.3.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/identity.h"
#include "initiator/scsi_cdb.h"
#include "initiator/scsi_protocol.h"

#define KEY_NOT_READY	   2
#define KEY_UNIT_ATTENTION 6
#define WAIT_US		   50000 // for a unit that is busy or becoming ready
#define WAITS_MAX	   100
#define LONG_WAIT_US	   500000 // after so many
#define ATTENTIONS_MAX	   32	  // in one check

struct scsi_watch {
	struct scsi_watch *next;
	struct scsi_session *session;
	uint16_t lun;
	uint8_t address[8]; // the same
	const struct scsi_watch_ops *ops;
	void *arg;
	bool is_ready, is_stale;
	bool is_holding, is_out, is_again_due;
	unsigned step, waits, attentions_seen;
	unsigned attentions; // ATTENTION_*, until they are evaluated
	struct identity identity, found;
	struct scsi_cmd cmd;
	struct timer timer;
	uint8_t data[IDENTITY_DATA_MAX];
};

static const struct step {
	enum scsi_op op;
	struct scsi_args args;
	uint32_t bytes;
	bool is_optional; // may be refused
	void (*take)(struct identity *i, const uint8_t *data, uint32_t len);
} steps[] = {
	// clang-format off
	{SCSI_TEST_UNIT_READY, {0}, 0, false, NULL},
	{SCSI_INQUIRY, {.len = 36}, 36, false, identity_inquiry},
	{SCSI_INQUIRY, {.len = 2048, .flags = 1, .page = 0x83}, 2048, true, identity_designators},
	{SCSI_INQUIRY, {.len = 252, .flags = 1, .page = 0x80}, 252, true, identity_serial},
	{SCSI_INQUIRY, {.len = 64, .flags = 1, .page = 0x86}, 64, true, identity_extended},
	{SCSI_MODE_SENSE_6, {.len = 192, .flags = 8, .page = 8}, 192, true, identity_caching},
	{SCSI_READ_CAPACITY_10, {0}, 8, false, identity_capacity_10},
	{SCSI_READ_CAPACITY_16, {.len = 32}, 32, true, identity_capacity_16},
	// clang-format on
};
#define STEP_COUNT (sizeof steps / sizeof *steps)

static void hold(struct scsi_watch *w)
{
	w->session->holds += !w->is_holding;
	w->is_holding = true;
}

static void release(struct scsi_watch *w)
{
	w->session->holds -= w->is_holding;
	w->is_holding = false;
	scsi_session_pump_later(w->session);
}

// --- the end of a check ---

static void judge(struct scsi_watch *w, enum scsi_lu_change change, struct err *why, bool can_go_on)
{
	err_prefix(why, "LUN %u", w->lun);
	if (w->ops->changed(w->arg, change, why) && can_go_on)
		return;
	w->is_stale = true;
	w->session->stale_count++;
	scsi_session_fail_lun(w->session, w->address, -ESTALE);
}

static void ready(struct scsi_watch *w, const struct err *why)
{
	w->is_ready = true;
	w->identity = w->found;
	w->attentions = 0;
	release(w);
	w->ops->ready(w->arg, why);
}

static void look_done(struct scsi_watch *w)
{
	struct err why = { 0 };
	if (!w->is_ready) {
		ready(w, &why);
		return;
	}
	enum scsi_lu_change change = identity_compare(&w->identity, &w->found, w->attentions, &why);
	w->attentions = 0;
	// Commands built for another block size would access other bytes.
	if (change != SCSI_LU_SAME)
		judge(w, change, &why, w->found.block_size == w->identity.block_size);
	w->identity = w->found;
	release(w);
}

// The session ended before the unit was identified.
static void never_ready(struct scsi_watch *w)
{
	struct err why = w->session->end_why;
	if (!why.code)
		err_set(&why, w->session->is_cancelled ? -ECANCELED : -ESHUTDOWN,
			"LUN %u: the session was closed", w->lun);
	ready(w, &why);
}

static void unidentified(struct scsi_watch *w, struct err *why)
{
	if (w->is_ready) {
		judge(w, SCSI_LU_REPLACED, why, true);
		release(w);
		return;
	}
	err_prefix(why, "LUN %u", w->lun);
	ready(w, why);
}

static void look_failed(struct scsi_watch *w, const struct scsi_cmd *c)
{
	char text[240];
	struct err why;
	scsi_cmd_text(c, text, sizeof text);
	if (scsi_cmd_is_absent(c) && !w->is_ready) {
		err_set(&why, -ESRCH, "no LUN %u (the luns command lists them)", w->lun);
		ready(w, &why);
		return;
	}
	err_set(&why, c->res ? c->res : -EIO, "%s: %s", scsi_op_name(steps[w->step].op), text);
	unidentified(w, &why);
}

// --- a check ---

static void on_done(struct scsi_cmd *c);

static void send_step(struct scsi_watch *w)
{
	const struct step *step = &steps[w->step];
	memset(w->data, 0, step->bytes);
	scsi_cmd_set(&w->cmd, w->lun, step->op, &step->args, w->data, step->bytes);
	w->cmd.is_once = true; // its unit attentions are ours
	w->cmd.is_ahead = true;
	w->cmd.done = on_done;
	w->cmd.arg = w;
	w->is_out = scsi_cmd_submit(w->session, &w->cmd) == 0;
}

static void look(struct scsi_watch *w)
{
	hold(w);
	timer_cancel(w->session->worker, &w->timer);
	w->is_again_due = w->is_out;
	if (w->is_out)
		return;
	w->found = (struct identity){ 0 };
	w->step = w->waits = w->attentions_seen = 0;
	send_step(w);
}

static void on_timer(struct timer *t)
{
	struct scsi_watch *w = container_of(t, struct scsi_watch, timer);
	if (w->session->is_up)
		send_step(w);
}

static bool is_sense(const struct scsi_cmd *c, uint8_t key, struct scsi_sense *ret)
{
	return !c->res && c->status == SCSI_CHECK_CONDITION &&
	       scsi_sense_parse(c->sense, c->sense_len, ret) && ret->key == key;
}

// A transient condition: a unit that is busy, becoming ready (04/01) or changes its access state.
static bool is_waiting(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	if (is_sense(c, KEY_NOT_READY, &s))
		return s.asc == 0x04 && (s.ascq == 0x01 || s.ascq == 0x0a);
	return !c->res && (c->status == SCSI_BUSY || c->status == SCSI_TASK_SET_FULL);
}

// Its port group is in standby, unavailable or offline (SPC-5 5.17.2).
static bool is_inaccessible(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return is_sense(c, KEY_NOT_READY, &s) && s.asc == 0x04 &&
	       (s.ascq == 0x0b || s.ascq == 0x0c || s.ascq == 0x12);
}

// The unit is slow: its session ends if it is silent.
static bool is_late(const struct scsi_watch *w, const struct scsi_cmd *c)
{
	return c->res == -ETIMEDOUT && w->is_ready;
}

// Neither condition says that a known unit is another one: it is identified later, and no command
// reaches it before. One that is not known is given up.
static bool can_wait(const struct scsi_watch *w, const struct scsi_cmd *c)
{
	return (is_waiting(c) && (w->is_ready || w->waits < WAITS_MAX)) ||
	       (is_inaccessible(c) && w->is_ready) || is_late(w, c);
}

static void next_step(struct scsi_watch *w)
{
	struct err why;
	if (++w->step < STEP_COUNT) {
		send_step(w);
	} else if (w->found.has_inquiry) {
		look_done(w);
	} else {
		err_set(&why, -EPROTO, "INQUIRY: short answer: less than 32 bytes");
		unidentified(w, &why);
	}
}

static void answered(struct scsi_watch *w, const struct scsi_cmd *c)
{
	const struct step *step = &steps[w->step];
	struct scsi_sense s;
	if (is_sense(c, KEY_UNIT_ATTENTION, &s) && w->attentions_seen++ < ATTENTIONS_MAX) {
		w->attentions |= identity_attention(s.asc, s.ascq);
		if (w->ops->attention)
			w->ops->attention(w->arg, s.asc, s.ascq);
		send_step(w);
	} else if (w->step == 0 && is_inaccessible(c)) {
		next_step(w); // in standby it answers what identifies it
	} else if (can_wait(w, c)) {
		timer_arm(w->session->worker, &w->timer,
			  w->waits++ < WAITS_MAX ? WAIT_US : LONG_WAIT_US);
	} else if (scsi_cmd_is_good(c)) {
		if (step->take)
			step->take(&w->found, w->data, c->data_len);
		next_step(w);
	} else if (step->is_optional && scsi_cmd_is_refused(c)) {
		next_step(w);
	} else {
		look_failed(w, c);
	}
}

static void on_done(struct scsi_cmd *c)
{
	struct scsi_watch *w = c->arg;
	w->is_out = false;
	if (w->session->is_ended || w->session->is_cancelled) {
		if (!w->is_ready)
			never_ready(w);
	} else if (w->is_again_due) {
		look(w);
	} else if (c->res != -ENOTCONN) { // else the session is lost: watch_up()
		answered(w, c);
	}
}

// --- called by the session ---

static void watch_up(struct scsi_session *s)
{
	for (struct scsi_watch *w = s->watches; w; w = w->next)
		if (!w->is_stale)
			look(w);
}

static struct scsi_watch *find(struct scsi_session *s, const uint8_t lun[8])
{
	for (struct scsi_watch *w = s->watches; w; w = w->next)
		if (!memcmp(w->address, lun, sizeof w->address))
			return w;
	return NULL;
}

static bool watch_attention(struct scsi_session *s, const struct scsi_cmd *c)
{
	struct scsi_sense sense;
	struct scsi_watch *w;
	if (!s->watches || c->is_ahead || !is_sense(c, KEY_UNIT_ATTENTION, &sense))
		return false;
	unsigned attentions = identity_attention(sense.asc, sense.ascq);
	if (!attentions || !(w = find(s, c->lun)) || w->is_stale)
		return false;
	w->attentions |= attentions;
	if (!w->is_holding)
		look(w);
	return true;
}

static bool watch_refuses(struct scsi_session *s, const uint8_t lun[8])
{
	const struct scsi_watch *w = find(s, lun);
	return w && w->is_stale;
}

static void watch_end(struct scsi_session *s)
{
	for (struct scsi_watch *w = s->watches; w; w = w->next) {
		timer_cancel(s->worker, &w->timer);
		if (!w->is_ready && !w->is_out)
			never_ready(w);
	}
}

static void watch_free(struct scsi_session *s)
{
	while (s->watches) {
		struct scsi_watch *w = s->watches;
		s->watches = w->next;
		free(w);
	}
}

static const struct scsi_watcher watcher = { .up = watch_up,
					     .attention = watch_attention,
					     .refuses = watch_refuses,
					     .end = watch_end,
					     .free = watch_free };

int scsi_watch(struct scsi_session *s, uint16_t lun, const struct scsi_watch_ops *ops, void *arg)
{
	struct scsi_cmd address;
	scsi_cmd_init(&address, lun);
	if (s->is_ended)
		return -ENOTCONN;
	if (find(s, address.lun))
		return -EBUSY;
	struct scsi_watch *w = calloc(1, sizeof *w);
	if (!w)
		return -ENOMEM;
	w->session = s;
	w->lun = lun;
	memcpy(w->address, address.lun, sizeof w->address);
	w->ops = ops;
	w->arg = arg;
	timer_init(&w->timer, on_timer);
	w->next = s->watches;
	s->watches = w;
	s->watcher = &watcher;
	look(w);
	return 0;
}

void scsi_watch_resize(struct scsi_session *s, uint16_t lun, uint64_t blocks)
{
	struct scsi_cmd address;
	scsi_cmd_init(&address, lun);
	struct scsi_watch *w = find(s, address.lun);
	if (w && w->is_ready)
		w->identity.blocks = blocks;
}
