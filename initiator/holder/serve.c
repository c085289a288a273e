// SPDX-License-Identifier: BSD-2-Clause
// What an attachment's process does until its end: it answers requests, takes signals and detaches.
// The program's thread. A detach runs as its chore, so that requests are answered meanwhile.
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "initiator/holder/holder_priv.h"

enum { // milliseconds until those that wait are told that it takes long
	PLAIN_MS = 45000,
	FORCED_MS = 90000,
	ABANDON_MS = 20000, // of a forced one: until the disk's requests fail
	AGAIN_MS = 1000,    // from a refusal to the next attempt of what a signal asked for
};

uint64_t holder_now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

// ---- detaching ----

// On the chore's thread. Once it is over nothing of the carrier and of the sessions is left.
static void detach_run(void *arg)
{
	struct holder *h = arg;
	struct detaching *d = &h->detaching;
	d->result = d->is_forced ? 0 : h->via->check_unused(h->carrier, &d->why);
	atomic_store(&d->is_unused, !d->result);
	if (!d->result)
		d->result = h->via->stop(h->carrier, d->is_forced, &d->why);
	if (!d->result)
		holder_close_disk(h);
}

static void detach_begin(struct holder *h, bool is_forced, bool is_retry)
{
	uint64_t now = holder_now_ms();
	h->detaching = (struct detaching){
		.is_forced = is_forced,
		.is_retry = is_retry,
		.begin_ms = now,
		.until_ms = now + (!is_forced	     ? PLAIN_MS
				   : h->is_abandoned ? FORCED_MS
						     : ABANDON_MS),
	};
	chore_begin(&h->chore, detach_run);
}

static void answer_waiting(struct holder *h, struct json_object *o, bool with_forced)
{
	struct control_client *client;
	while ((client = control_waiting(&h->control,
					 with_forced ? HOLDER_DETACH_FORCE : HOLDER_DETACH)))
		control_answer(client, o);
}

static void answer_error(struct holder *h, const struct err *e, bool with_forced)
{
	struct json_object *o = holder_state(h);
	holder_answer_add_error(o, e);
	answer_waiting(h, o, with_forced);
	json_object_put(o);
}

static void log_failed(struct holder *h)
{
	const struct detaching *d = &h->detaching;
	struct stopping *s = &h->stopping;
	if (!s->is_asked)
		log_error("%s: cannot detach: %s", h->config->name, d->why.text);
	else if (!s->is_told || !d->is_retry)
		log_warn("%s: cannot detach: %s; it is detached as soon as nothing uses it",
			 h->config->name, d->why.text);
	s->is_told = true;
}

static void detach_failed(struct holder *h)
{
	const struct detaching *d = &h->detaching;
	log_failed(h);
	answer_error(h, &d->why, d->is_forced);
	// What was asked for meanwhile.
	if (control_waiting(&h->control, HOLDER_DETACH_FORCE))
		detach_begin(h, true, false);
	else if (h->stopping.is_asked)
		h->stopping.again_ms = holder_now_ms() + AGAIN_MS;
}

static void on_again(struct holder *h)
{
	uint64_t at = h->stopping.again_ms;
	if (!at || h->detaching.until_ms || holder_now_ms() < at)
		return;
	h->stopping.again_ms = 0;
	detach_begin(h, false, true);
}

// Once it is answered nothing of it is left.
static void detached(struct holder *h)
{
	struct json_object *o = holder_state(h);
	h->carrier = NULL;
	holder_free_disk(h);
	holder_files_remove(&h->files, h->info.device);
	holder_release(&h->claim);
	holder_release(&h->lock);
	answer_waiting(h, o, true);
	control_close(&h->control);
	json_object_put(o);
}

// True: it is detached.
static bool on_chore(struct holder *h)
{
	if (!h->detaching.until_ms || chore_is_busy(&h->chore))
		return false;
	h->detaching.until_ms = 0;
	if (h->detaching.result < 0) {
		detach_failed(h);
		return false;
	}
	detached(h);
	return true;
}

// It goes on; only those that asked for it do not wait any more.
static void on_late(struct holder *h, uint64_t now)
{
	struct detaching *d = &h->detaching;
	struct err e;
	if (!d->until_ms || now < d->until_ms || d->is_late)
		return;
	if (d->is_forced && !h->is_abandoned) {
		holder_abandon_disk(h);
		d->until_ms = now + FORCED_MS - ABANDON_MS;
		return;
	}
	d->is_late = true;
	err_set(&e, -ETIMEDOUT, "%s: %s is not detached after %u s%s", h->config->name,
		h->info.device, (unsigned)((now - d->begin_ms) / 1000),
		d->is_forced ? ": the kernel keeps it"
			     : ": its requests wait for the target (--force fails them)");
	log_warn("%s", e.text);
	answer_error(h, &e, d->is_forced);
}

// ---- requests ----

static void ask_detach(struct holder *h, bool is_forced)
{
	bool is_busy = h->detaching.until_ms != 0;
	const struct detaching *d = &h->detaching;
	bool is_asking = d->is_retry && !atomic_load(&d->is_unused);
	if (!is_busy)
		detach_begin(h, is_forced, false);
	// Its requests may wait for a target that is away, and so may the detach without force.
	else if (is_forced && !d->is_forced && !is_asking)
		holder_abandon_disk(h);
}

static void on_request(struct holder *h, struct control_client *client)
{
	if (client->request != HOLDER_STATUS) {
		ask_detach(h, client->request == HOLDER_DETACH_FORCE);
		return; // answered at its end
	}
	struct json_object *o = holder_state(h);
	control_answer(client, o);
	json_object_put(o);
}

static void on_clients(struct holder *h)
{
	struct control_client *client;
	control_run(&h->control, holder_now_ms());
	while ((client = control_next(&h->control)))
		on_request(h, client);
}

static void on_signal(struct holder *h)
{
	struct signalfd_siginfo s;
	if (read(h->signals, &s, sizeof s) != sizeof s)
		return;
	// The disk of the root file system is used until the machine is off.
	h->stopping = (struct stopping){ .is_asked = !h->config->is_root };
	ask_detach(h, false);
}

static void take_size(struct holder *h)
{
	struct err e;
	if (h->via->resized)
		h->via->resized(h->carrier);
	if (holder_write_state(h, &e) < 0)
		log_warn("%s: %s", h->config->name, e.text);
}

static void on_wake(struct holder *h)
{
	uint64_t count;
	struct err e;
	if (read(h->wake, &count, sizeof count) < 0)
		errno = 0; // another event woke it
	if (!chore_is_busy(&h->chore) && atomic_exchange(&h->has_new_nexus, false) &&
	    holder_record_nexuses(h, &e) < 0) {
		atomic_store(&h->has_new_nexus, true); // again with the next event
		log_error("%s: a path is not used, as its nexus cannot be recorded: %s",
			  h->config->name, e.text);
	}
	if (!h->detaching.until_ms && atomic_exchange(&h->is_resized, false))
		take_size(h);
}

static int timeout(const struct holder *h)
{
	uint64_t now = holder_now_ms(), until = h->detaching.until_ms;
	int of_clients = control_timeout(&h->control, now);
	if (!until)
		until = h->stopping.again_ms;
	else if (h->detaching.is_late)
		until = 0;
	if (!until)
		return of_clients;
	int left = until > now ? (int)(until - now) : 0;
	return of_clients < 0 || left < of_clients ? left : of_clients;
}

int holder_serve(struct holder *h, struct err *e)
{
	struct pollfd fds[3 + CONTROL_FDS_MAX] = {
		{h->signals, POLLIN},
		{ h->wake,   POLLIN}
	};
	for (;;) {
		// Not while a chore may end the record.
		fds[2] = (struct pollfd){ h->detaching.until_ms ? -1 : h->removed, POLLIN };
		unsigned n = 3 + control_fds(&h->control, fds + 3);
		if (poll(fds, n, timeout(h)) < 0 && errno != EINTR && !h->detaching.until_ms)
			return err_errno(e, -errno, "poll");
		if (fds[1].revents)
			on_wake(h);
		if (on_chore(h))
			return 0;
		if (fds[2].revents && !chore_is_busy(&h->chore))
			holder_check_record(h);
		if (atomic_load(&h->has_ended) && !h->detaching.until_ms) {
			*e = h->ended_why;
			return e->code;
		}
		if (fds[0].revents)
			on_signal(h);
		on_again(h);
		on_clients(h);
		on_late(h, holder_now_ms());
	}
}
