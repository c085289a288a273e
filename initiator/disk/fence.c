// SPDX-License-Identifier: BSD-2-Clause
// Fences: no write comes back. A write that was sent and not answered may still be executed, from
// the sender's socket, the network, the target's buffers or its storage. Its blocks are recorded
// with the nexus that carried it. Until the target cannot execute anything of that nexus any more,
// no write of these blocks is sent, on whatever path; reads and other writes are.
//
// What ends a nexus, in this order:
// - its own path logs in again: the same names, so that the target ends the older session first
//   [RFC 7143 6.3.5, T10 SRP 5.4];
// - a login with its names through another path, if that leads to the same target port, and the
//   target is known to answer only when its storage has ended the commands (page F0h, targets[]);
// - if the disk is reserved (reservation.c), PREEMPT AND ABORT of its key through another path:
//   the target refuses what it has sent from then on;
// - REMOVE I_T NEXUS [SPC-4 6.29] through any path, of a target with that promise;
// - time, which is no guarantee: the disk is then shown as not fenced.
// On the disk's worker. Nothing is allocated when a path is lost.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/disk/disk_priv.h"
#include "initiator/pr.h"
#include "transport/wire/be.h"

#define RETRY_US	1000000u
#define WAIT_US		100000 // for a target that is busy with other fences
#define WAITS_MAX	300
#define WAIT_SECONDS	60   // a guess
#define COMMAND_SECONDS 3600 // for as long as its storage takes
#define PAUSE_SECONDS	20   // of the lost path's own logins
#define ATTENTIONS_MAX	32

// --- targets that announce nothing ---

// As measured with slow storage: docs/fences.md has the table.
static const struct {
	const char *vendor, *product;
	bool reinstates;   // answers a login when the old session's commands have ended
	unsigned wait_max; // seconds after which nothing of a lost session was executed; 0: unknown
	// A registration permits all sessions of its initiator's name in its portal group.
	bool registers_names;
} targets[] = {
	{"LIO-ORG", "", true, 0, true},
};

static bool is_target(const struct disk *d, size_t i)
{
	const struct disk_facts *f = &d->facts.disk;
	return !strcmp(f->vendor, targets[i].vendor) &&
	       !strncmp(f->product, targets[i].product, strlen(targets[i].product));
}

// Whether q leads to the farblockd that has the lost nexus, and that makes this promise. One that
// serves the same disk elsewhere, under the same names, knows nothing of it.
static bool is_promised(const struct disk_path *q, const struct disk_nexus *lost, uint8_t promise)
{
	return q->promises & promise && q->nexus.server && q->nexus.server == lost->server;
}

static bool login_fences(const struct disk_path *q, const struct disk_nexus *lost)
{
	bool is_srp = lost->nexus.protocol == SCSI_NEXUS_SRP;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		if (is_target(q->disk, i) && targets[i].reinstates)
			return true;
	return is_promised(q, lost, is_srp ? FACTS_TERMINATE_FENCES : FACTS_REINSTATE_FENCES);
}

// Whether q, which is registered, keeps the lost nexus from writing.
static bool shares_registration(const struct disk_path *q, const struct scsi_nexus *lost)
{
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		if (is_target(q->disk, i) && targets[i].registers_names)
			return !strcmp(q->nexus.nexus.target, lost->target);
	return false;
}

static uint64_t deadline_ns(const struct disk_lost *l)
{
	uint32_t seconds = l->disk->config.fence_wait;
	for (size_t i = 0; !seconds && i < sizeof targets / sizeof *targets; i++)
		if (is_target(l->disk, i))
			seconds = targets[i].wait_max;
	if (!seconds)
		seconds = WAIT_SECONDS;
	return seconds == DISK_FENCE_NEVER ? UINT64_MAX : l->since_ns + seconds * NS_PER_SEC;
}

// --- what is unknown ---

static bool is_lost(const struct disk_lost *l)
{
	return list_linked(&l->link);
}

static bool has_inherited(const struct disk *d)
{
	return disk_inherited(d) != 0;
}

static void pause(struct disk_lost *l, bool is_paused)
{
	if (l->path && l->path->session)
		scsi_session_pause(l->path->session, is_paused);
}

static void end_attempt(struct disk_lost *l)
{
	if (l->fence)
		scsi_fence_cancel(l->fence); // gone follows
	if (l->via)
		pause(l, false);
	l->fence = NULL;
	l->via = NULL;
	l->is_cmd_stale = l->is_cmd_out;
	timer_cancel(l->disk->worker, &l->retry);
	worker_defer_cancel(&l->start);
}

static void over(struct disk_lost *l)
{
	struct disk *d = l->disk;
	end_attempt(l);
	list_remove(&l->link);
	l->range_count = 0;
	if (d->is_inherited_due && !has_inherited(d)) {
		d->is_inherited_due = false;
		if (d->ops.inherited && !d->is_closing)
			d->ops.inherited(d->arg);
	}
	d->events->fenced(d);
}

// Full: the last range grows to hold it, too.
static void add_range(struct disk_lost *l, uint64_t at, uint64_t end)
{
	struct lost_range *r = NULL;
	for (unsigned i = 0; i < l->range_count && !r; i++)
		if (at <= l->ranges[i].end && end >= l->ranges[i].at)
			r = &l->ranges[i];
	if (!r && l->range_count < LOST_RANGES_MAX) {
		l->ranges[l->range_count++] = (struct lost_range){ at, end };
		return;
	}
	if (!r)
		r = &l->ranges[LOST_RANGES_MAX - 1];
	r->at = at < r->at ? at : r->at;
	r->end = end > r->end ? end : r->end;
}

static bool is_write(const struct disk_io *io)
{
	return io->op == DISK_WRITE || io->op == DISK_UNMAP || io->op == DISK_WRITE_ZEROES;
}

static bool is_hit(const struct disk_lost *l, uint64_t at, uint64_t end)
{
	for (unsigned i = 0; i < l->range_count; i++)
		if (at < l->ranges[i].end && end > l->ranges[i].at)
			return true;
	return false;
}

bool fence_blocks(const struct disk *d, const struct disk_io *io)
{
	if (list_empty(&d->lost) || !is_write(io) || io->is_flushing)
		return false;
	list_for_each (it, &d->lost)
		if (is_hit(list_entry(it, struct disk_lost, link), io->offset + io->at,
			   io->offset + io->len))
			return true;
	return false;
}

// --- ways to fence ---

static void on_start(struct defer *defer);

static void attempt_failed(struct disk_lost *l, const struct err *why)
{
	l->why = *why;
	l->via = NULL;
	l->next++;
	worker_defer(l->disk->worker, &l->start, on_start);
}

// What is seen of it until its answer.
static void under_way(struct disk_lost *l, const struct disk_path *q, const char *what)
{
	err_set(&l->why, -EINPROGRESS, "%s over %.150s: not answered yet", what, q->config.name);
}

static void login_done(void *arg, const struct err *why)
{
	struct disk_lost *l = arg;
	l->fence = NULL;
	pause(l, false);
	if (why->code)
		attempt_failed(l, why);
	else
		over(l);
}

static void login_gone(void *arg)
{
	struct disk_lost *l = arg;
	l->disk->fences_open--;
	l->disk->events->fence_gone(l->disk);
}

// A login may be lost without a word, or wait for the storage: the lost path may come back first,
// and its own login ends this one.
static bool by_login(struct disk_lost *l, struct disk_path *q)
{
	static const struct scsi_fence_ops ops = { login_done, login_gone };
	if (!login_fences(q, &l->id) ||
	    scsi_fence_new(&l->fence, q->session, &l->id.nexus, &ops, l, &l->why) < 0)
		return false;
	l->disk->fences_open++;
	pause(l, true);
	timer_arm(l->disk->worker, &l->retry, PAUSE_SECONDS * US_PER_SEC);
	under_way(l, q, "login");
	return true;
}

static void send(struct disk_lost *l);

static const char *command_name(const struct disk_lost *l)
{
	return l->is_preempting ? "PREEMPT AND ABORT" : "REMOVE I_T NEXUS";
}

// Its key is not registered, or that of the path is not: the path's registration tells which.
static void look_again(struct disk_path *via)
{
	if (reservation_conflict(via))
		via->is_held = true;
	via->disk->events->fenced(via->disk);
}

// A unit attention is fetched; it is known that the path was lost.
static bool is_attention(struct disk_lost *l, const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return !c->res && c->status == SCSI_CHECK_CONDITION &&
	       scsi_sense_parse(c->sense, c->sense_len, &s) && s.key == 6 &&
	       l->attentions++ < ATTENTIONS_MAX;
}

// A target ends few nexuses at a time.
static bool is_busy(struct disk_lost *l, const struct scsi_cmd *c)
{
	return !c->res && (c->status == SCSI_BUSY || c->status == SCSI_TASK_SET_FULL) &&
	       l->waits++ < WAITS_MAX;
}

static void command_failed(struct disk_lost *l, const struct scsi_cmd *c)
{
	struct disk_path *via = l->via;
	char text[160];
	struct err why;
	scsi_cmd_text(c, text, sizeof text);
	err_set(&why, c->res ? c->res : -EIO, "%s: %s", command_name(l), text);
	attempt_failed(l, &why);
	if (!c->res && c->status == SCSI_RESERVATION_CONFLICT)
		look_again(via);
}

static void command_done(struct scsi_cmd *c)
{
	struct disk_lost *l = c->arg;
	bool is_stale = l->is_cmd_stale; // fenced otherwise, or the disk is closing
	l->is_cmd_out = l->is_cmd_stale = false;
	if (is_stale) {
		l->disk->events->fence_gone(l->disk);
		l->disk->events->fenced(l->disk); // a path of that key may register now
		return;
	}
	if (is_attention(l, c)) {
		send(l);
	} else if (is_busy(l, c)) {
		timer_arm(l->disk->worker, &l->retry, WAIT_US);
	} else if (scsi_cmd_is_good(c)) {
		l->is_kept_out = l->is_preempting;
		over(l);
	} else {
		command_failed(l, c);
	}
}

static void set_preempt(struct disk_lost *l)
{
	const struct disk_path *q = l->via;
	struct scsi_args args = { .len = PR_OUT_LEN,
				  .flags = PR_PREEMPT_AND_ABORT,
				  .page = PR_TYPE_WRITE_REGISTRANTS };
	pr_out_build(l->data, reservation_key(l->disk, &q->nexus.nexus),
		     reservation_key(l->disk, &l->id.nexus));
	scsi_cmd_set(&l->cmd, q->config.lun, SCSI_PR_OUT, &args, l->data, PR_OUT_LEN);
}

static void set_remove(struct disk_lost *l)
{
	const struct disk_path *q = l->via;
	uint32_t id = scsi_nexus_transport_id(&l->id.nexus, l->data + 8, sizeof l->data - 8);
	struct scsi_args args = { .len = 8 + id };
	put_be16(l->data, 0);
	put_be16(l->data + 2, (uint16_t)(4 + id));
	put_be16(l->data + 4, l->id.relative_port);
	put_be16(l->data + 6, (uint16_t)id);
	scsi_cmd_set(&l->cmd, q->config.lun, SCSI_REMOVE_I_T_NEXUS, &args, l->data, 8 + id);
}

static void send(struct disk_lost *l)
{
	struct err why;
	if (l->is_preempting)
		set_preempt(l);
	else
		set_remove(l);
	l->cmd.is_once = true;
	l->cmd.timeout = COMMAND_SECONDS;
	l->cmd.done = command_done;
	l->cmd.arg = l;
	l->is_cmd_out = scsi_cmd_submit(l->via->session, &l->cmd) == 0;
	if (l->is_cmd_out) {
		under_way(l, l->via, command_name(l));
		return;
	}
	err_set(&why, -ENOTCONN, "%s: the path is lost", command_name(l));
	attempt_failed(l, &why);
}

// A key that is not registered any more, as after a PREEMPT without an answer, is kept out, too;
// but REMOVE I_T NEXUS also waits for the storage.
static bool by_preempt(struct disk_lost *l, struct disk_path *q)
{
	const struct reservation *r = &l->disk->reservation;
	bool has_ended = !l->path && reservation_has_ended(l->disk, &l->id.nexus);
	if (!r->is_held || r->is_taken || !q->is_registered || l->is_cmd_out ||
	    shares_registration(q, &l->id.nexus) ||
	    (l->is_unregistered && !has_ended && is_promised(q, &l->id, FACTS_REMOVE_FENCES)))
		return false;
	if (l->is_unregistered || has_ended) {
		l->is_kept_out = true;
		over(l);
		return true;
	}
	l->via = q;
	l->attentions = l->waits = 0;
	l->is_preempting = true;
	send(l);
	return true;
}

static bool by_remove(struct disk_lost *l, struct disk_path *q)
{
	uint8_t id[LOST_DATA_MAX - 8];
	if (!is_promised(q, &l->id, FACTS_REMOVE_FENCES) || !l->id.relative_port || l->is_cmd_out ||
	    !scsi_nexus_transport_id(&l->id.nexus, id, sizeof id))
		return false;
	l->via = q;
	l->attentions = l->waits = 0;
	l->is_preempting = false;
	send(l);
	return true;
}

static bool (*const ways[])(struct disk_lost *l, struct disk_path *q) = { by_login, by_preempt,
									  by_remove };
#define WAYS (sizeof ways / sizeof *ways)

// --- attempts ---

static bool can_use(const struct disk_lost *l, const struct disk_path *q)
{
	return q->session && q->is_examined && scsi_session_is_up(q->session) && !q->is_wrong &&
	       (q != l->path || !scsi_nexus_is_same(&q->nexus.nexus, &l->id.nexus));
}

static void give_up(struct disk_lost *l)
{
	notice_set(l->disk, DISK_NOT_FENCED);
	over(l);
}

// All ways have failed: again later, until it is time to go on.
static void wait(struct disk_lost *l)
{
	struct disk *d = l->disk;
	uint64_t now = worker_now(d->worker), until = deadline_ns(l);
	uint32_t limit = d->config.no_path_retry;
	if (now >= until) {
		give_up(l);
		return;
	}
	if (until == UINT64_MAX && limit != DISK_QUEUE_FOREVER &&
	    now - l->since_ns >= limit * NS_PER_SEC)
		d->events->fence_late(d);
	uint64_t us = (until - now) / 1000 + 1;
	timer_arm(d->worker, &l->retry, us < RETRY_US ? us : RETRY_US);
}

static bool has_path(const struct disk_lost *l)
{
	for (unsigned i = 0; i < l->disk->path_count; i++)
		if (can_use(l, &l->disk->paths[i]))
			return true;
	return false;
}

// Each way by each path that is up. Without a path nothing is sent, and nobody waits: the loss of
// the path that an attempt took says nothing of what the target can do.
static void on_start(struct defer *defer)
{
	struct disk_lost *l = container_of(defer, struct disk_lost, start);
	struct disk *d = l->disk;
	if (!is_lost(l) || l->via || d->is_closing)
		return;
	timer_cancel(d->worker, &l->retry);
	for (; l->next < WAYS * d->path_count; l->next++) {
		struct disk_path *q = &d->paths[l->next % d->path_count];
		if (!can_use(l, q))
			continue;
		if (ways[l->next / d->path_count](l, q)) {
			if (l->fence)
				l->via = q;
			return;
		}
	}
	l->next = 0;
	if (has_path(l))
		wait(l);
}

static void start(struct disk_lost *l)
{
	if (!l->via)
		worker_defer(l->disk->worker, &l->start, on_start);
}

static void on_retry(struct timer *t)
{
	struct disk_lost *l = container_of(t, struct disk_lost, retry);
	if (l->fence)
		pause(l, false);
	else if (l->via)
		send(l);
	else
		start(l);
}

void fence_init(struct disk_lost *l, struct disk *d, struct disk_path *p)
{
	l->disk = d;
	l->path = p;
	list_init(&l->link);
	timer_init(&l->retry, on_retry);
}

void fence_note(struct disk_io *io)
{
	struct disk_path *p = io->path;
	struct disk_lost *l = &p->lost;
	struct disk *d = p->disk;
	uint64_t at = io->offset + io->at;
	if (!is_write(io) || io->is_flushing)
		return;
	if (!is_lost(l)) {
		l->id = p->nexus;
		l->since_ns = worker_now(d->worker);
		l->next = 0;
		l->is_unregistered = l->is_kept_out = false;
		list_push_back(&d->lost, &l->link);
	}
	add_range(l, at, at + io->part_len);
	start(l);
}

// --- paths ---

static void start_all(struct disk *d)
{
	list_for_each (it, &d->lost) {
		struct disk_lost *l = list_entry(it, struct disk_lost, link);
		l->next = l->via ? l->next : 0;
		start(l);
	}
}

static struct disk_lost *lost_at(const struct disk *d, unsigned i)
{
	return i < d->path_count ? &d->paths[i].lost : &d->inherited[i - d->path_count];
}

// A key that is being preempted is not to be registered meanwhile.
static bool is_being_preempted(const struct disk_path *p)
{
	const struct disk *d = p->disk;
	for (unsigned i = 0; i < d->path_count + d->inherited_count; i++) {
		const struct disk_lost *l = lost_at(d, i);
		if (l->is_cmd_out && l->is_preempting &&
		    scsi_nexus_is_same(&p->nexus.nexus, &l->id.nexus))
			return true;
	}
	return false;
}

bool fence_is_needed(const struct disk *d)
{
	bool is_needed = !list_empty(&d->lost);
	for (unsigned i = 0; i < d->path_count + d->inherited_count; i++)
		is_needed |= lost_at(d, i)->is_kept_out;
	return is_needed;
}

// p has logged in with the names of what is lost. Where it was redirected, that has ended only a
// nexus of the farblockd that it came to, which the check tells: server, else 0.
static void end_former(struct disk_path *p, uint64_t server)
{
	struct disk *d = p->disk;
	for (unsigned i = 0; i < d->path_count + d->inherited_count; i++) {
		struct disk_lost *l = lost_at(d, i);
		if (!scsi_nexus_is_same(&p->nexus.nexus, &l->id.nexus) ||
		    (p->is_redirected && l->id.server && l->id.server != server))
			continue;
		l->is_kept_out = false;
		if (is_lost(l))
			over(l);
	}
}

void fence_path_up(struct disk_path *p)
{
	struct scsi_nexus now;
	struct scsi_session_info info;
	scsi_session_nexus(p->session, &now);
	scsi_session_info(p->session, &info);
	p->is_examined = false;
	p->is_redirected = info.is_redirected;
	if (!scsi_nexus_is_same(&now, &p->nexus.nexus))
		p->is_recorded = false;
	p->nexus.nexus = now;
	end_former(p, 0);
}

bool fence_path_checked(struct disk_path *p)
{
	struct disk *d = p->disk;
	p->promises = p->found.promises;
	if (p->found.relative_port)
		p->nexus.relative_port = p->found.relative_port;
	if (p->nexus.server != p->found.server)
		p->is_recorded = false;
	p->nexus.server = p->found.server;
	p->is_examined = true;
	if (p->is_redirected)
		end_former(p, p->found.server);
	bool is_preempted = is_being_preempted(p);
	bool is_unregistered = is_preempted || reservation_path_checked(p);
	start_all(d);
	p->is_held = is_lost(&p->lost) || (d->records && !p->is_recorded) || is_unregistered;
	if (p->is_held && d->records && !p->is_recorded && d->ops.nexus)
		d->ops.nexus(d->arg);
	return p->is_held;
}

void fence_path_down(struct disk_path *p)
{
	struct disk *d = p->disk;
	static const struct err why = { .code = -ENOTCONN, .text = "the path is lost" };
	p->is_examined = p->is_held = false;
	list_for_each (it, &d->lost) {
		struct disk_lost *l = list_entry(it, struct disk_lost, link);
		if (l->via != p || l->is_cmd_out)
			continue;
		end_attempt(l);
		attempt_failed(l, &why);
	}
}

void fence_path_settled(struct disk_path *p)
{
	end_former(p, p->nexus.server);
}

void fence_close(struct disk *d)
{
	list_for_each (it, &d->lost)
		end_attempt(list_entry(it, struct disk_lost, link));
}

// --- former processes ---

static void on_inherited(struct defer *defer)
{
	struct disk *d = container_of(defer, struct disk, inherited_defer);
	if (has_inherited(d) || !d->is_inherited_due || d->is_closing)
		return;
	d->is_inherited_due = false;
	if (d->ops.inherited)
		d->ops.inherited(d->arg);
}

static bool is_logged_in(const struct disk *d, const struct disk_nexus *n)
{
	for (unsigned i = 0; i < d->path_count; i++) {
		const struct disk_path *p = &d->paths[i];
		if (p->session && p->was_up && scsi_session_is_up(p->session) &&
		    scsi_nexus_is_same(&p->nexus.nexus, &n->nexus) &&
		    !(p->is_redirected && n->server && n->server != p->nexus.server))
			return true;
	}
	return false;
}

int disk_inherit(struct disk *d, const struct disk_nexus *nexuses, unsigned count)
{
	if (count > DISK_NEXUSES_MAX)
		return -E2BIG;
	d->inherited = calloc(count ? count : 1, sizeof *d->inherited);
	if (!d->inherited)
		return -ENOMEM;
	d->inherited_count = count;
	d->is_inherited_due = true;
	for (unsigned i = 0; i < count; i++) {
		struct disk_lost *l = &d->inherited[i];
		fence_init(l, d, NULL);
		if (is_logged_in(d, &nexuses[i]))
			continue;
		l->id = nexuses[i];
		l->since_ns = worker_now(d->worker);
		add_range(l, 0, UINT64_MAX);
		list_push_back(&d->lost, &l->link);
		start(l);
	}
	worker_defer(d->worker, &d->inherited_defer, on_inherited);
	return 0;
}

unsigned disk_inherited(const struct disk *d)
{
	unsigned n = 0;
	for (unsigned i = 0; i < d->inherited_count; i++)
		n += is_lost(&d->inherited[i]);
	return n;
}

// --- records ---

static unsigned put(struct disk_nexus *ret, unsigned n, const struct disk_nexus *nexus)
{
	for (unsigned i = 0; i < n; i++)
		if (scsi_nexus_is_same(&ret[i].nexus, &nexus->nexus))
			return n;
	if (n < DISK_NEXUSES_MAX && nexus->nexus.protocol)
		ret[n++] = *nexus;
	return n;
}

unsigned disk_nexuses(const struct disk *d, struct disk_nexus ret[DISK_NEXUSES_MAX], bool is_lost)
{
	unsigned n = 0;
	for (unsigned i = 0; i < d->path_count && !is_lost; i++)
		n = put(ret, n, &d->paths[i].nexus);
	list_for_each (it, &d->lost)
		n = put(ret, n, &list_entry(it, const struct disk_lost, link)->id);
	for (unsigned i = 0; i < d->path_count + d->inherited_count; i++)
		if (lost_at(d, i)->is_kept_out)
			n = put(ret, n, &lost_at(d, i)->id);
	return n;
}

void disk_records(struct disk *d)
{
	d->records = true;
}

void disk_nexuses_recorded(struct disk *d, const struct disk_nexus *nexuses, unsigned count)
{
	for (unsigned i = 0; i < d->path_count; i++)
		for (unsigned n = 0; n < count; n++)
			if (scsi_nexus_is_same(&d->paths[i].nexus.nexus, &nexuses[n].nexus) &&
			    d->paths[i].nexus.server == nexuses[n].server)
				d->paths[i].is_recorded = true;
	d->events->fenced(d);
}
