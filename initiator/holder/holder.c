// SPDX-License-Identifier: BSD-2-Clause
// The life of an attachment: disk, carrier, files, then what serve.c does until the end. The
// program's thread.
#include "initiator/holder/holder.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/lockfile.h"
#include "core/log.h"
#include "initiator/attach/use.h"
#include "initiator/holder/claim.h"
#include "initiator/holder/holder_priv.h"
#include "initiator/holder/left.h"

#define START_MS 90000 // of the carrier

// Any thread.
static void on_carrier_ended(void *arg, const struct err *why)
{
	struct holder *h = arg;
	if (atomic_load(&h->has_ended))
		return;
	h->ended_why = *why;
	atomic_store(&h->has_ended, true);
	holder_wake(h);
}

static void on_chore_over(void *arg)
{
	holder_wake(arg);
}

static int take_lock(struct holder *h, struct err *e)
{
	int r = folder_make(h->config->run_dir, 0700, e);
	if (r < 0)
		return r;
	r = lockfile_take(h->files.lock, &h->lock, e);
	if (r == -EADDRINUSE)
		return err_set(e, -EEXIST, "%s: attached already", h->config->name);
	pid_t lost = r ? 0 : holder_lost(h->config->run_dir, h->config->name, "lock");
	if (lost)
		return err_set(e, -EEXIST,
			       "%s: attached already, by process %d, whose files in %s were "
			       "removed",
			       h->config->name, (int)lost, h->config->run_dir);
	return r;
}

// ---- the carrier ----

static int start_carrier(struct holder *h, struct carrier_config *c, struct err *e)
{
	static const struct carrier_events events = { on_carrier_ended };
	const struct disk_config *disk = &h->config->disk;
	struct left_device left;
	c->name = h->config->name;
	c->run_dir = h->config->run_dir;
	int r = left_device(&h->files, h->via, disk->allows_replaced ? NULL : disk_facts(h->disk),
			    &left, e);
	if (r < 0 && !use_is_gone(left.path))
		return err_prefix(e, "%s", c->name), r;
	if (r < 0)
		left.id = -1;
	c->recover_id = left.id;
	c->recover = left.id >= 0 ? left.path : NULL;
	r = h->via->start(&h->carrier, h->disk, c, &events, h, e);
	// Else its users wait for a process, and a second device of the disk would be beside it.
	if (r < 0 && c->recover_id >= 0 && use_is_gone(left.path)) {
		log_warn("%s: cannot take %s over: %s", c->name, left.path, e->text);
		c->recover = NULL;
		c->recover_id = -1;
		r = h->via->start(&h->carrier, h->disk, c, &events, h, e);
	} else if (c->recover_id >= 0) {
		log_info("%s: took %s over", c->name, left.path);
	}
	return r;
}

static void start_run(void *arg)
{
	struct holder *h = arg;
	struct carrier_config c = h->config->carrier;
	h->detaching.result = start_carrier(h, &c, &h->detaching.why);
}

// Making the device may read the disk, whose target may be away: a signal or the limit in time has
// those requests fail. A signal stays pending.
static int start(struct holder *h, struct err *e)
{
	struct pollfd fds[] = {
		{h->wake,	   POLLIN, 0},
		{ h->signals, POLLIN, 0}
	};
	uint64_t count, until = holder_now_ms() + START_MS;
	const char *why = NULL;
	chore_begin(&h->chore, start_run);
	while (chore_is_busy(&h->chore)) {
		uint64_t now = holder_now_ms();
		int left = until > now ? (int)(until - now) : 0;
		int n = poll(fds, why ? 1 : 2, why ? -1 : left);
		if (n > 0 && fds[0].revents && read(h->wake, &count, sizeof count) < 0)
			continue; // EAGAIN
		if (why || n < 0 || (n > 0 && !fds[1].revents))
			continue;
		why = n ? "interrupted"
			: "the device could not be made in time (its target is away)";
		holder_abandon_disk(h);
	}
	if (why)
		return err_set(e, -ECANCELED, "%s: %s", h->config->name, why);
	*e = h->detaching.why;
	return h->detaching.result;
}

// Where the disk is: the target of the first path that has a session, without the portal.
struct place {
	const struct disk *disk;
	struct disk_path_info path;
	struct holder_target target;
};

static void place_run(void *arg)
{
	struct place *p = arg;
	for (unsigned i = 0; i < disk_path_count(p->disk) && !*p->target.name; i++) {
		disk_path_info(p->disk, i, &p->path);
		disk_path_describe(p->disk, i, holder_take_target, &p->target);
	}
}

// A file system that is mounted twice is destroyed.
static int claim(struct holder *h, struct err *e)
{
	const struct disk_facts *f = disk_facts(h->disk);
	struct place p = { .disk = h->disk };
	char *name = h->claim_name;
	if (f->is_read_only)
		return 0;
	worker_call(h->worker, place_run, &p);
	int r = holder_claim_name(f, *p.target.name ? p.target.name : p.path.name, p.path.lun, name,
				  e);
	if (!r && !h->config->is_shared)
		r = holder_claim(h->config->run_dir, name, &h->claim, e);
	if (r != -EADDRINUSE)
		return r;
	return err_set(e, -EBUSY,
		       "%s: the disk %s is attached on this machine already, or being written "
		       "(farblock-initiator attached; --read-only or --shared permits it)",
		       h->config->name, name);
}

static int attach(struct holder *h, struct err *e)
{
	h->via = h->config->via ? h->config->via : carrier_choose(h->config->is_root, e);
	if (!h->via)
		return e->code;
	int r = h->config->via ? h->via->probe(e) : 0;
	if (!r)
		r = take_lock(h, e);
	if (!r)
		r = holder_open_disk(h, e);
	if (!r)
		r = claim(h, e);
	if (!r)
		r = holder_reserve_disk(h, e);
	if (!r)
		r = holder_fence_former(h, e);
	if (!r)
		r = start(h, e);
	if (!r)
		h->via->info(h->carrier, &h->info);
	return r;
}

// ---- beginning and end ----

static int descriptors(struct holder *h, struct err *e)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	h->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->signals < 0 || h->wake < 0)
		return err_errno(e, -errno, "attach");
	return 0;
}

static void stop_run(void *arg)
{
	struct holder *h = arg;
	struct err e;
	if (h->via->stop(h->carrier, true, &e) < 0)
		log_error("%s: %s", h->config->name, e.text);
}

static void end(struct holder *h)
{
	if (h->carrier)
		chore_begin(&h->chore, stop_run);
	chore_done(&h->chore);
	holder_free_disk(h);
	if (h->control.listener >= 0) {
		holder_files_remove(&h->files, h->info.device);
		control_close(&h->control);
	}
	holder_release(&h->claim);
	holder_release(&h->lock);
	holder_release(&h->signals);
	holder_release(&h->wake);
	holder_release(&h->removed);
	sem_destroy(&h->ready);
	sem_destroy(&h->closed);
}

int holder_run(const struct holder_config *c, void (*ready)(void *arg, struct json_object *status),
	       void *arg, struct err *e)
{
	struct holder h = { .config = c,
			    .lock = -1,
			    .claim = -1,
			    .control.listener = -1,
			    .signals = -1,
			    .wake = -1,
			    .removed = -1 };
	sem_init(&h.ready, 0, 0);
	sem_init(&h.closed, 0, 0);
	int r = holder_files(&h.files, c->run_dir, c->name, e);
	if (!r)
		r = descriptors(&h, e);
	holder_process_begin();
	if (!r)
		r = chore_init(&h.chore, on_chore_over, &h, e);
	if (!r)
		r = attach(&h, e);
	if (!r) {
		r = control_open(&h.control, h.files.socket, e);
		if (!r)
			r = holder_write_state(&h, e);
	}
	if (!r) {
		struct json_object *o = holder_state(&h);
		holder_process_protect(c->argv0);
		ready(arg, o);
		json_object_put(o);
		r = holder_serve(&h, e);
	}
	end(&h);
	return r;
}
