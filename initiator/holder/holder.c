// SPDX-License-Identifier: BSD-2-Clause
// The life of an attachment: disk, carrier, files, then requests and signals until the end. The
// program's thread; the disk's events come on its worker and wake it.
#include "initiator/holder/holder.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "core/json/json.h"
#include "core/lockfile.h"
#include "core/log.h"
#include "core/whole_file.h"
#include "initiator/attach/use.h"
#include "initiator/holder/claim.h"
#include "initiator/holder/control.h"
#include "initiator/holder/left.h"
#include "initiator/holder/status.h"
#include "initiator/sync.h"

struct holder {
	const struct holder_config *config;
	struct holder_files files;
	struct worker *worker;
	struct disk *disk;
	struct carrier *carrier;
	const struct carrier_ops *via;
	sem_t ready, closed;
	struct err why; // of the disk's readiness
	struct control control;
	int lock, claim, signals, wake;
	atomic_bool is_resized, has_ended, has_no_path, is_stale;
	struct err ended_why; // set before has_ended
};

// ---- the disk's events, on its worker ----

static void wake(struct holder *h)
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
	wake(h);
}

static void on_path(void *arg, unsigned index, enum disk_path_state s, const struct err *why)
{
	struct holder *h = arg;
	struct disk_path_info i;
	disk_path_info(h->disk, index, &i);
	if (why->code)
		log_warn("%s: %s: %s", i.name, disk_path_state_text(s), why->text);
	else
		log_info("%s: %s", i.name, disk_path_state_text(s));
}

static void on_no_path(void *arg, const struct err *why)
{
	struct holder *h = arg;
	atomic_store(&h->has_no_path, why->code != 0);
	if (why->code)
		log_warn("%s: no path: %s", h->config->name, why->text);
	else
		log_info("%s: a path is up again", h->config->name);
}

static void on_changed(void *arg)
{
	struct holder *h = arg;
	const struct disk_facts *f = disk_facts(h->disk);
	log_info("%s: the disk has %llu blocks of %u bytes%s now", h->config->name,
		 (unsigned long long)f->blocks, f->block_size,
		 f->is_read_only ? ", read only," : "");
	atomic_store(&h->is_resized, true);
	wake(h);
}

static void on_stale(void *arg, const struct err *why)
{
	struct holder *h = arg;
	atomic_store(&h->is_stale, true);
	log_error("%s: %s; all further requests fail (detach, check the disk, attach again)",
		  h->config->name, why->text);
}

static void on_closed(void *arg)
{
	struct holder *h = arg;
	sem_post(&h->closed);
}

// Any thread.
static void on_carrier_ended(void *arg, const struct err *why)
{
	struct holder *h = arg;
	if (atomic_load(&h->has_ended))
		return;
	h->ended_why = *why;
	atomic_store(&h->has_ended, true);
	wake(h);
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
	static const struct disk_ops ops = { on_ready,	 on_path,  on_no_path,
					     on_changed, on_stale, on_closed };
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

static int open_disk(struct holder *h, struct err *e)
{
	struct opening o = { .h = h, .e = e };
	int r = scsi_sync_worker_new(&h->worker, e);
	if (r < 0)
		return r;
	worker_call(h->worker, open_run, &o);
	if (o.r < 0)
		return o.r;
	bool is_interrupted = wait_ready(h);
	if (!h->why.code)
		return 0;
	*e = h->why;
	if (is_interrupted)
		err_set(e, -ECANCELED, "%s: interrupted", h->config->name);
	worker_free(h->worker);
	disk_free(h->disk);
	h->worker = NULL;
	h->disk = NULL;
	return e->code;
}

static void close_disk(struct holder *h)
{
	if (h->disk) {
		worker_call(h->worker, close_run, h->disk);
		wait_for(&h->closed);
	}
	worker_free(h->worker);
	disk_free(h->disk);
}

// ---- files ----

static struct json_object *status(struct holder *h)
{
	struct holder_status s = {
		.name = h->config->name,
		.disk = h->disk,
		.carrier = h->carrier,
		.state = atomic_load(&h->is_stale)	? "another-disk"
			 : atomic_load(&h->has_no_path) ? "no-path"
							: "attached",
	};
	return holder_status(&s);
}

static int write_state(struct holder *h, struct err *e)
{
	static const struct whole_file_ways ways = { .suffix = ".new" };
	struct json_object *o = status(h);
	size_t len;
	char *text = o ? json_write(o, &len) : NULL;
	int r = text ? whole_file_replace(h->files.state, text, len, &ways, e)
		     : err_set(e, -ENOMEM, "out of memory");
	free(text);
	json_object_put(o);
	return r < 0 ? r : 0;
}

static int take_lock(struct holder *h, struct err *e)
{
	int r = folder_make(h->config->run_dir, 0700, e);
	if (r < 0)
		return r;
	r = lockfile_take(h->files.lock, &h->lock, e);
	if (r == -EADDRINUSE)
		return err_set(e, -EEXIST, "%s: attached already", h->config->name);
	return r;
}

// ---- the carrier ----

static int start(struct holder *h, struct carrier_config *c, struct err *e)
{
	static const struct carrier_events events = { on_carrier_ended };
	char device[CARRIER_PATH_MAX] = "";
	c->name = h->config->name;
	c->run_dir = h->config->run_dir;
	c->recover_id = left_device(&h->files, h->via, device, sizeof device);
	c->recover = c->recover_id >= 0 ? device : NULL;
	int r = h->via->start(&h->carrier, h->disk, c, &events, h, e);
	// Else its users wait for a process, and a second device of the disk would be beside it.
	if (r < 0 && c->recover_id >= 0 && use_is_gone(device)) {
		log_warn("%s: cannot take %s over: %s", c->name, device, e->text);
		c->recover = NULL;
		c->recover_id = -1;
		r = h->via->start(&h->carrier, h->disk, c, &events, h, e);
	} else if (c->recover_id >= 0) {
		log_info("%s: took %s over", c->name, device);
	}
	return r;
}

// A file system that is mounted twice is destroyed.
static int claim(struct holder *h, struct err *e)
{
	const struct disk_facts *f = disk_facts(h->disk);
	if (f->is_read_only || h->config->is_shared)
		return 0;
	int r = holder_claim(h->config->run_dir, f->identity, &h->claim, e);
	if (r != -EADDRINUSE)
		return r;
	return err_set(e, -EBUSY,
		       "%s: the disk %s is attached on this machine already, or being written "
		       "(farblock-initiator attached; --read-only or --shared permits it)",
		       h->config->name, f->identity);
}

static int attach(struct holder *h, struct err *e)
{
	struct carrier_config c = h->config->carrier;
	h->via = h->config->via ? h->config->via : carrier_choose(e);
	if (!h->via)
		return e->code;
	int r = h->config->via ? h->via->probe(e) : 0;
	if (!r)
		r = take_lock(h, e);
	if (!r)
		r = open_disk(h, e);
	if (!r)
		r = claim(h, e);
	if (!r)
		r = start(h, &c, e);
	return r;
}

static void release(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

// ---- requests ----

static void answer_error(struct json_object *o, const struct err *e)
{
	json_object_object_add(o, "error", json_object_new_string(e->text));
	json_object_object_add(o, "code", json_object_new_int(e->code));
}

// True: it is detached.
static bool detach(struct holder *h, bool is_forced, struct err *e)
{
	int r = is_forced ? 0 : h->via->check_unused(h->carrier, e);
	if (!r)
		r = h->via->stop(h->carrier, is_forced, e);
	if (r < 0)
		return false;
	h->carrier = NULL;
	return true;
}

// True: it is detached.
static bool on_request(struct holder *h, struct control_client *client)
{
	struct err e;
	bool is_over = false;
	struct json_object *o = status(h);
	if (client->request != HOLDER_STATUS) {
		is_over = detach(h, client->request == HOLDER_DETACH_FORCE, &e);
		if (!is_over)
			answer_error(o, &e);
	}
	// Once it is answered nothing of it is left.
	if (is_over) {
		close_disk(h);
		h->disk = NULL;
		h->worker = NULL;
		unlink(h->files.socket);
		unlink(h->files.state);
		release(&h->claim);
		release(&h->lock);
	}
	control_answer(client, o);
	json_object_put(o);
	return is_over;
}

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool on_clients(struct holder *h)
{
	struct control_client *client;
	bool is_over = false;
	control_run(&h->control, now_ms());
	while (!is_over && (client = control_next(&h->control)))
		is_over = on_request(h, client);
	return is_over;
}

static bool on_signal(struct holder *h)
{
	struct signalfd_siginfo s;
	struct err e;
	if (read(h->signals, &s, sizeof s) != sizeof s)
		return false;
	if (detach(h, false, &e))
		return true;
	log_error("%s: cannot detach: %s", h->config->name, e.text);
	return false;
}

static void take_size(struct holder *h)
{
	struct err e;
	if (h->via->resized)
		h->via->resized(h->carrier);
	if (write_state(h, &e) < 0)
		log_warn("%s: %s", h->config->name, e.text);
}

static void on_wake(struct holder *h)
{
	uint64_t count;
	if (read(h->wake, &count, sizeof count) < 0)
		return;
	if (atomic_exchange(&h->is_resized, false))
		take_size(h);
}

// Until it is detached, or the carrier has ended.
static int hold(struct holder *h, struct err *e)
{
	struct pollfd fds[2 + CONTROL_FDS_MAX] = {
		{h->signals, POLLIN},
		{ h->wake,   POLLIN}
	};
	for (;;) {
		unsigned n = 2 + control_fds(&h->control, fds + 2);
		int timeout = control_timeout(&h->control, now_ms());
		if (poll(fds, n, timeout) < 0 && errno != EINTR)
			return err_errno(e, -errno, "poll");
		if (fds[1].revents)
			on_wake(h);
		if (atomic_load(&h->has_ended)) {
			*e = h->ended_why;
			return e->code ? e->code : 0;
		}
		if (fds[0].revents && on_signal(h))
			return 0;
		if (on_clients(h))
			return 0;
	}
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

static void end(struct holder *h)
{
	struct err ignored;
	if (h->carrier && h->via->stop(h->carrier, true, &ignored) < 0)
		log_error("%s: %s", h->config->name, ignored.text);
	close_disk(h);
	if (h->control.listener >= 0) {
		unlink(h->files.socket);
		unlink(h->files.state);
		control_close(&h->control);
	}
	release(&h->claim);
	release(&h->lock);
	release(&h->signals);
	release(&h->wake);
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
			    .wake = -1 };
	sem_init(&h.ready, 0, 0);
	sem_init(&h.closed, 0, 0);
	int r = holder_files(&h.files, c->run_dir, c->name, e);
	if (!r)
		r = descriptors(&h, e);
	holder_process_begin();
	if (!r)
		r = attach(&h, e);
	if (!r) {
		r = control_open(&h.control, h.files.socket, e);
		if (!r)
			r = write_state(&h, e);
	}
	if (!r) {
		struct json_object *o = status(&h);
		holder_process_protect(c->argv0);
		ready(arg, o);
		json_object_put(o);
		r = hold(&h, e);
	}
	end(&h);
	return r;
}
