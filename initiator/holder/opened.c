// SPDX-License-Identifier: BSD-2-Clause
// The disk of an attachment: its sessions, opened until it is ready, and its events. The program's
// thread; the events come on the disk's worker and wake it.
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "core/log.h"
#include "initiator/holder/holder_priv.h"
#include "initiator/sync.h"

#define SETTLE_MS 2000
#define NS_PER_MS 1000000

// ---- the disk's events, on its worker ----

void holder_wake(struct holder *h)
{
	uint64_t one = 1;
	if (write(h->wake, &one, sizeof one) < 0)
		errno = 0; // the counter is full: it wakes
}

static void on_ready(void *arg, const struct err *why)
{
	struct holder *h = arg;
	h->why = *why;
	sem_post(&h->ready);
	holder_wake(h);
}

static void on_settled(void *arg)
{
	struct holder *h = arg;
	atomic_store(&h->is_settled, true);
	holder_wake(h);
}

// A path whose sessions do not last is not worth a line each time.
static bool has_steady_path(const struct holder *h)
{
	bool is_steady = false;
	for (unsigned k = 0; k < disk_path_count(h->disk); k++) {
		struct disk_path_info i;
		disk_path_info(h->disk, k, &i);
		is_steady |= i.state == DISK_PATH_UP && !i.is_unsteady;
	}
	return is_steady;
}

static void say_path_again(struct holder *h)
{
	if (!h->was_no_path_said || atomic_load(&h->has_no_path) || !has_steady_path(h))
		return;
	h->was_no_path_said = h->was_failing_said = false;
	log_info("%s: a path is up again", h->config->name);
}

static void on_path(void *arg, unsigned index, enum disk_path_state s, const struct err *why)
{
	struct holder *h = arg;
	struct disk_path_info i;
	disk_path_info(h->disk, index, &i);
	if (!path_log_is_news(&h->path_logs[index], s, why, i.is_unsteady))
		return;
	if (why->code)
		log_warn("%s: %s: %s", i.name, disk_path_state_text(s), why->text);
	else
		log_info("%s: %s", i.name, disk_path_state_text(s));
	say_path_again(h);
}

static void on_no_path(void *arg, const struct err *why)
{
	struct holder *h = arg;
	atomic_store(&h->has_no_path, why->code != 0);
	if (why->code && !h->was_no_path_said)
		log_warn("%s: no path: %s", h->config->name, why->text);
	h->was_no_path_said |= why->code != 0;
	say_path_again(h);
}

static void on_failing(void *arg, unsigned seconds)
{
	struct holder *h = arg;
	if (!h->was_failing_said)
		log_error("%s: no path for %u s: requests fail until one is up (--no-path-retry)",
			  h->config->name, seconds);
	h->was_failing_said = true;
}

static void on_changed(void *arg)
{
	struct holder *h = arg;
	const struct disk_facts *f = disk_facts(h->disk);
	log_info("%s: the disk has %llu blocks of %u bytes%s now", h->config->name,
		 (unsigned long long)f->blocks, f->block_size,
		 f->is_read_only ? ", read only," : "");
	atomic_store(&h->is_resized, true);
	holder_wake(h);
}

static void on_stale(void *arg, const struct err *why)
{
	struct holder *h = arg;
	atomic_store(&h->is_stale, true);
	log_error("%s: %s; all further requests fail (detach, check the disk, attach again)",
		  h->config->name, why->text);
}

static void on_notice(void *arg, enum disk_notice n, bool is_over)
{
	struct holder *h = arg;
	if (is_over)
		log_info("%s: %s: over", h->config->name, disk_notice_word(n));
	else
		log_warn("%s: %s", h->config->name, disk_notice_text(n));
}

static void on_inherited(void *arg)
{
	struct holder *h = arg;
	atomic_store(&h->has_inherited, true);
	holder_wake(h);
}

static void on_reserved(void *arg, const struct err *why)
{
	struct holder *h = arg;
	h->reserved_why = *why;
	atomic_store(&h->has_reserved, true);
	holder_wake(h);
}

static void on_nexus(void *arg)
{
	struct holder *h = arg;
	atomic_store(&h->has_new_nexus, true);
	holder_wake(h);
}

static void on_closed(void *arg)
{
	struct holder *h = arg;
	sem_post(&h->closed);
}

// ---- the disk ----

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		; // EINTR
}

struct opening {
	struct holder *h;
	struct err *e;
	int r;
};

static void open_run(void *arg)
{
	static const struct disk_ops ops = {
		.ready = on_ready,
		.settled = on_settled,
		.path = on_path,
		.no_path = on_no_path,
		.failing = on_failing,
		.changed = on_changed,
		.stale = on_stale,
		.notice = on_notice,
		.nexus = on_nexus,
		.inherited = on_inherited,
		.reserved = on_reserved,
		.closed = on_closed,
	};
	struct opening *o = arg;
	o->r = disk_new(&o->h->disk, o->h->worker, &o->h->config->disk, &ops, o->h, o->e);
}

static void close_run(void *arg)
{
	disk_close(arg);
}

// Until the disk is ready or cannot be; a signal, which stays pending, ends the attempt.
static bool wait_ready(struct holder *h)
{
	struct pollfd fds[] = {
		{h->wake,	   POLLIN, 0},
		{ h->signals, POLLIN, 0}
	};
	bool is_interrupted = false;
	uint64_t count;
	while (sem_trywait(&h->ready) < 0) {
		if (poll(fds, is_interrupted ? 1 : 2, -1) < 0)
			continue; // EINTR
		if (fds[0].revents && read(h->wake, &count, sizeof count) < 0)
			continue; // EAGAIN
		if (!is_interrupted && fds[1].revents) {
			is_interrupted = true;
			worker_call(h->worker, close_run, h->disk);
		}
	}
	return is_interrupted;
}

// The other paths have a moment, so that the answer says which of them are up.
static void wait_settled(struct holder *h)
{
	struct pollfd fds[] = {
		{h->wake,	   POLLIN, 0},
		{ h->signals, POLLIN, 0}
	};
	uint64_t count, now, until = clock_ns() / NS_PER_MS + SETTLE_MS;
	while (!atomic_load(&h->is_settled) && !fds[1].revents &&
	       (now = clock_ns() / NS_PER_MS) < until)
		if (poll(fds, 2, (int)(until - now)) > 0 && fds[0].revents &&
		    read(h->wake, &count, sizeof count) < 0)
			continue; // EAGAIN
}

struct looking {
	struct disk *disk;
	struct disk_path_info path;
	bool is_found;
};

static void look_run(void *arg)
{
	struct looking *l = arg;
	for (unsigned i = 0; i < disk_path_count(l->disk) && !l->is_found; i++) {
		disk_path_info(l->disk, i, &l->path);
		l->is_found = l->path.state == DISK_PATH_FAULTY && l->path.why.code == -ESTALE;
	}
}

// Which of two disks was meant is not known.
static int refuse_other_disks(const struct holder *h, struct err *e)
{
	struct looking l = { .disk = h->disk };
	worker_call(h->worker, look_run, &l);
	if (!l.is_found)
		return 0;
	return err_set(e, -EINVAL, "%s: %s: %.160s: the URLs are not paths of one disk",
		       h->config->name, l.path.name, l.path.why.text);
}

int holder_open_disk(struct holder *h, struct err *e)
{
	struct opening o = { .h = h, .e = e };
	int r = scsi_sync_worker_new(&h->worker, e);
	if (r < 0)
		return r;
	worker_call(h->worker, open_run, &o);
	if (o.r < 0)
		return o.r;
	bool is_interrupted = wait_ready(h);
	if (!h->why.code) {
		if (!h->config->login) // which has asked its one target, and may have many disks
			wait_settled(h);
		return refuse_other_disks(h, e);
	}
	*e = h->why;
	if (is_interrupted)
		err_set(e, -ECANCELED, "%s: interrupted", h->config->name);
	worker_free(h->worker);
	disk_free(h->disk);
	h->worker = NULL;
	h->disk = NULL;
	return e->code;
}

static void reserve_run(void *arg)
{
	const struct holder *h = arg;
	disk_reserve(h->disk, h->config->reserving_host);
}

int holder_reserve_disk(struct holder *h, struct err *e)
{
	if (!h->config->reserving_host || h->config->disk.is_read_only)
		return 0;
	worker_call(h->worker, reserve_run, h);
	int r = holder_await(h, &h->has_reserved, e);
	if (r < 0)
		return r;
	*e = h->reserved_why;
	return e->code ? (err_prefix(e, "%s", h->config->name), e->code) : 0;
}

void holder_abandon_disk(struct holder *h)
{
	h->is_abandoned = true;
	worker_call(h->worker, close_run, h->disk);
}

void holder_close_disk(struct holder *h)
{
	if (h->disk && !h->has_closed) {
		worker_call(h->worker, close_run, h->disk);
		wait_for(&h->closed);
		holder_nexuses_end(h);
		if (disk_is_left_reserved(h->disk))
			log_warn("%s: the disk stays reserved, as a lost path may still write it "
				 "or none could release it: the next attachment with --fence "
				 "reservation takes the reservation over",
				 h->config->name);
		h->has_closed = true;
	}
}

void holder_free_disk(struct holder *h)
{
	holder_close_disk(h);
	worker_free(h->worker);
	disk_free(h->disk);
	h->worker = NULL;
	h->disk = NULL;
}
