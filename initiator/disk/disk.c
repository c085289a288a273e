// SPDX-License-Identifier: BSD-2-Clause
// A disk: its beginning, its end, and what follows from the states of its paths. On its worker.
#include "initiator/disk/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/disk/disk_priv.h"

#define RECHECK_SECONDS 5
#define CLOSE_SECONDS	10 // for requests in flight

// --- paths ---

static void on_no_path(struct timer *t)
{
	struct disk *d = container_of(t, struct disk, no_path);
	d->fails_at_once = true;
	if (d->ops.failing)
		d->ops.failing(d->arg, d->config.no_path_retry);
	io_fail_all(d, -ENOTCONN);
}

static void no_path_begins(struct disk *d)
{
	struct err why = { 0 };
	for (unsigned i = 0; i < d->path_count && !why.code; i++)
		why = d->paths[i].info.why;
	if (!why.code)
		err_set(&why, -ENOTCONN, "no path serves I/O");
	d->has_no_path = true;
	if (d->config.no_path_retry != DISK_QUEUE_FOREVER)
		timer_arm(d->worker, &d->no_path, d->config.no_path_retry * US_PER_SEC);
	if (d->ops.no_path)
		d->ops.no_path(d->arg, &why);
}

static void no_path_ends(struct disk *d)
{
	static const struct err none;
	d->has_no_path = d->fails_at_once = false;
	timer_cancel(d->worker, &d->no_path);
	if (d->ops.no_path)
		d->ops.no_path(d->arg, &none);
}

static bool has_looked_at_all(const struct disk *d)
{
	for (unsigned i = 0; i < d->path_count; i++)
		if (!d->paths[i].failures && d->paths[i].state < DISK_PATH_UP)
			return false;
	return true;
}

static void settle(struct disk *d)
{
	if (d->is_settled || !d->is_ready || !has_looked_at_all(d))
		return;
	d->is_settled = true;
	if (d->ops.settled)
		d->ops.settled(d->arg);
}

static void paths_changed(struct disk *d)
{
	bool has_path = disk_has_path(d);
	if (!d->is_ready || d->is_closing)
		return;
	settle(d);
	if (has_path)
		io_pump_later(d);
	if (has_path && d->has_no_path)
		no_path_ends(d);
	else if (!has_path && !d->has_no_path)
		no_path_begins(d);
}

// Faulty paths get a new session, those with access states are asked for them.
static void on_recheck(struct timer *t)
{
	struct disk *d = container_of(t, struct disk, recheck);
	for (unsigned i = 0; i < d->path_count; i++) {
		struct disk_path *p = &d->paths[i];
		if (!p->session || !scsi_session_is_up(p->session) || p->is_checking)
			continue;
		if (p->state == DISK_PATH_FAULTY)
			path_restart(p);
		else if (p->has_alua)
			check_begin(p);
	}
	timer_arm(d->worker, &d->recheck, RECHECK_SECONDS * US_PER_SEC);
}

// --- the beginning ---

static void tell_ready(struct disk *d, const struct err *why)
{
	if (d->is_told)
		return;
	d->is_told = true;
	d->ops.ready(d->arg, why);
}

static void on_give_up(struct defer *defer)
{
	disk_close(container_of(defer, struct disk, give_up));
}

static void open_by(struct disk *d, const struct err *why)
{
	static const struct err none;
	if (disk_has_path(d)) {
		d->is_ready = true;
		timer_arm(d->worker, &d->recheck, RECHECK_SECONDS * US_PER_SEC);
		tell_ready(d, &none);
		return;
	}
	if (why->code && !d->first_why.code)
		d->first_why = *why;
	// Not from inside: it ends the session that tells this.
	if (!d->is_ready && has_looked_at_all(d))
		worker_defer(d->worker, &d->give_up, on_give_up); // which tells ready
}

static void looked(struct disk *d, const struct err *why)
{
	if (d->is_closing)
		return;
	if (!d->is_told)
		open_by(d, why);
	settle(d);
}

static bool is_other_size(const struct disk *d, const struct facts *f)
{
	return d->facts.disk.blocks != f->disk.blocks ||
	       d->facts.disk.is_read_only != (f->disk.is_read_only || d->config.is_read_only);
}

static void found(struct disk *d, const struct facts *f)
{
	bool is_first = !d->facts.disk.block_size, is_other = is_other_size(d, f);
	if (!is_first && !is_other)
		return;
	if (!is_first && d->facts.disk.block_size != f->disk.block_size)
		return; // requests are built for the old one; identity_compare() refuses it
	d->facts = *f;
	d->facts.disk.is_read_only |= d->config.is_read_only;
	if (is_first && !d->zeroes)
		d->zeroes = aligned_alloc(4096, 65536);
	if (is_first && d->zeroes)
		memset(d->zeroes, 0, 65536);
	if (!d->zeroes)
		d->facts.disk.zeroes_max = 0;
	if (is_first || !d->is_ready)
		return;
	for (unsigned i = 0; i < d->path_count; i++)
		if (d->paths[i].session)
			scsi_watch_resize(d->paths[i].session, d->paths[i].config.lun,
					  f->disk.blocks);
	if (d->ops.changed)
		d->ops.changed(d->arg);
}

static void on_reopen(struct timer *t)
{
	path_open(container_of(t, struct disk_path, reopen));
}

static int path_init(struct disk *d, unsigned i, const struct disk_path_config *c)
{
	struct disk_path *p = &d->paths[i];
	p->disk = d;
	p->index = i;
	p->config = *c;
	p->alua = ALUA_NONE;
	list_init(&p->flying);
	fence_init(&p->lost, d, p);
	timer_init(&p->reopen, on_reopen);
	path_init_steady(p);
	void *copy = malloc(c->config_size ? c->config_size : 1);
	p->config.config = copy;
	if (!copy)
		return -ENOMEM;
	memcpy(copy, c->config, c->config_size);
	p->info.name = p->config.name;
	return 0;
}

static void on_close_limit(struct timer *t)
{
	struct disk *d = container_of(t, struct disk, close_limit);
	for (unsigned i = 0; i < d->path_count; i++)
		path_leave(&d->paths[i]);
}

// --- the end ---

static bool has_sessions(const struct disk *d)
{
	for (unsigned i = 0; i < d->path_count; i++)
		if (d->paths[i].session)
			return true;
	return false;
}

static bool has_fences(const struct disk *d)
{
	bool is_out = d->fences_open;
	for (unsigned i = 0; i < d->path_count; i++)
		is_out |= d->paths[i].lost.is_cmd_out;
	for (unsigned i = 0; i < d->inherited_count; i++)
		is_out |= d->inherited[i].is_cmd_out;
	return is_out;
}

static void finish_close(struct disk *d)
{
	if (has_sessions(d) || has_fences(d) || d->is_closed)
		return;
	d->is_closed = true;
	reservation_close(d);
	timer_cancel(d->worker, &d->close_limit);
	timer_cancel(d->worker, &d->delay);
	io_fail_all(d, -ESHUTDOWN);
	while (!list_empty(&d->over)) // also those submitted by the end of others
		io_over(&d->over_defer);
	worker_defer_cancel(&d->pump);
	worker_defer_cancel(&d->over_defer);
	worker_defer_cancel(&d->close_defer);
	worker_defer_cancel(&d->give_up);
	worker_defer_cancel(&d->inherited_defer);
	fence_close(d); // of what was lost meanwhile
	if (!d->is_told) {
		if (!d->first_why.code)
			err_set(&d->first_why, -ENOTCONN, "disk: closed");
		tell_ready(d, &d->first_why);
	} else if (d->ops.closed) {
		d->ops.closed(d->arg);
	}
}

static void session_gone(struct disk_path *p)
{
	struct disk *d = p->disk;
	if (d->is_closing)
		finish_close(d);
	else
		looked(d, &p->info.why);
}

static void on_closed_at_once(struct defer *defer)
{
	finish_close(container_of(defer, struct disk, close_defer));
}

// Paths without requests log out; with a reservation all at once, after its release.
static void leave(struct disk *d)
{
	if (!fence_is_needed(d) && reservation_release(d))
		return;
	for (unsigned i = 0; i < d->path_count; i++)
		if (!d->paths[i].flying_count)
			path_leave(&d->paths[i]);
}

void disk_close(struct disk *d)
{
	if (d->is_closing)
		return;
	d->is_closing = true;
	timer_cancel(d->worker, &d->no_path);
	timer_cancel(d->worker, &d->recheck);
	timer_cancel(d->worker, &d->delay);
	fence_close(d);
	for (unsigned i = 0; i < d->path_count; i++)
		timer_cancel(d->worker, &d->paths[i].reopen);
	leave(d);
	io_fail_all(d, -ESHUTDOWN);
	timer_arm(d->worker, &d->close_limit, CLOSE_SECONDS * US_PER_SEC);
	worker_defer(d->worker, &d->close_defer, on_closed_at_once);
}

void disk_free(struct disk *d)
{
	if (!d)
		return;
	for (unsigned i = 0; d->paths && i < d->path_count; i++) {
		void *config = (void *)(uintptr_t)d->paths[i].config.config;
		if (config)
			explicit_bzero(config, d->paths[i].config.config_size);
		free(config);
	}
	free(d->paths);
	free(d->inherited);
	free(d->zeroes);
	free(d);
}

// --- creating ---

static void stale(struct disk *d, const struct err *why)
{
	d->is_stale = true;
	d->stale_why = *why;
	io_fail_all(d, -ESTALE);
	if (d->ops.stale)
		d->ops.stale(d->arg, why);
}

static void fenced(struct disk *d)
{
	list_splice_back(&d->fencing, &d->queue); // those that waited come first
	list_splice_back(&d->queue, &d->fencing);
	if (d->is_closing)
		return;
	io_pump_later(d);
	for (unsigned i = 0; i < d->path_count; i++)
		if (d->paths[i].is_held)
			check_begin(&d->paths[i]);
}

static void fence_late(struct disk *d)
{
	io_fail_fencing(d, -ETIMEDOUT);
}

static void fence_gone(struct disk *d)
{
	if (d->is_closing)
		worker_defer(d->worker, &d->close_defer, on_closed_at_once);
}

static void idle(struct disk *d)
{
	if (d->is_closing && !d->is_closed)
		leave(d);
}

static void taken(struct disk *d)
{
	io_fail_fencing(d, -EBADE);
	io_pump_later(d);
}

static const struct disk_events events = {
	.paths_changed = paths_changed,
	.looked = looked,
	.found = found,
	.session_gone = session_gone,
	.stale = stale,
	.fenced = fenced,
	.fence_late = fence_late,
	.fence_gone = fence_gone,
	.idle = idle,
	.taken = taken,
};

static void init(struct disk *d, struct worker *w, const struct disk_config *config,
		 const struct disk_ops *ops, void *arg)
{
	*d = (struct disk){ .worker = w,
			    .events = &events,
			    .config = *config,
			    .ops = *ops,
			    .arg = arg,
			    .paths = d->paths,
			    .path_count = config->path_count };
	d->config.paths = NULL;
	list_init(&d->queue);
	list_init(&d->delayed);
	list_init(&d->over);
	list_init(&d->fencing);
	list_init(&d->lost);
	reservation_init(d);
	timer_init(&d->delay, io_on_delay);
	timer_init(&d->no_path, on_no_path);
	timer_init(&d->recheck, on_recheck);
	timer_init(&d->close_limit, on_close_limit);
}

int disk_new(struct disk **ret, struct worker *w, const struct disk_config *config,
	     const struct disk_ops *ops, void *arg, struct err *e)
{
	if (!config->path_count || config->path_count > DISK_PATHS_MAX)
		return err_set(e, -EINVAL, "disk: %u paths (must be 1 to %d)", config->path_count,
			       DISK_PATHS_MAX);
	struct disk *d = calloc(1, sizeof *d);
	if (d)
		d->paths = calloc(config->path_count, sizeof *d->paths);
	int r = d && d->paths ? 0 : -ENOMEM;
	if (!r)
		init(d, w, config, ops, arg);
	for (unsigned i = 0; i < config->path_count && !r; i++)
		r = path_init(d, i, &config->paths[i]);
	if (r) {
		disk_free(d);
		return err_set(e, r, "disk: out of memory");
	}
	for (unsigned i = 0; i < d->path_count; i++)
		timer_arm(w, &d->paths[i].reopen, 0);
	*ret = d;
	return 0;
}

// --- looking ---

const struct disk_facts *disk_facts(const struct disk *d)
{
	return &d->facts.disk;
}

unsigned disk_notices(const struct disk *d)
{
	return d->notices;
}

unsigned disk_path_count(const struct disk *d)
{
	return d->path_count;
}

void disk_path_info(const struct disk *d, unsigned index, struct disk_path_info *ret)
{
	const struct disk_path *p = &d->paths[index];
	struct scsi_session_info s;
	*ret = p->info;
	ret->state = p->state;
	ret->lun = p->config.lun;
	ret->alua = alua_text(p->alua);
	ret->is_unsteady = path_is_unsteady(p);
	ret->is_fencing = list_linked(&p->lost.link);
	if (ret->is_fencing)
		ret->unfenced = p->lost.why;
	if (!p->session || !p->was_up)
		return;
	scsi_session_info(p->session, &s);
	memcpy(ret->peer, s.peer, sizeof s.peer);
	memcpy(ret->local, s.local, sizeof s.local);
}

void disk_path_describe(const struct disk *d, unsigned index, scsi_say *say, void *arg)
{
	if (d->paths[index].session)
		scsi_session_describe(d->paths[index].session, say, arg);
}

struct worker *disk_worker(const struct disk *d)
{
	return d->worker;
}
