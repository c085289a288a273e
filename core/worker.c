// SPDX-License-Identifier: BSD-2-Clause
// Creation of workers, their threads, their end. The loop is in worker_loop.c.
#include "core/worker_priv.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/log.h"

#define POOL_BYTES (256ull << 20)

static int worker_init(struct worker *w, struct err *e)
{
	int r = watches_init(w, e);

	if (!r)
		r = mailbox_init(w, e);
	if (!r)
		r = ring_new(w, e);
	if (r)
		return r;
	w->pool = buf_pool_new(w, w->options.pool_bytes ? w->options.pool_bytes : POOL_BYTES);
	if (!w->pool)
		return err_set(e, -ENOMEM, "worker %s: buffer pool: out of memory", w->name);
	if (!w->options.is_control && worker_register(w) < 0)
		return err_set(e, -EMFILE,
			       "worker %s: create: %u workers exist already (start "
			       "fewer)",
			       w->name, WORKER_MAX);
	return 0;
}

int worker_new(struct worker **ret, const struct worker_options *options, struct err *e)
{
	struct worker *w = aligned_alloc(_Alignof(struct worker), sizeof *w);

	*ret = NULL;
	if (!w)
		return err_set(e, -ENOMEM, "worker: create: out of memory");
	memset(w, 0, sizeof *w);
	w->options = *options;
	strncpy(w->name, options->name ? options->name : "worker", sizeof w->name - 1);
	w->options.name = w->name;
	w->index = WORKER_MAX;
	w->epoll_fd = w->event_fd = w->ring.ring_fd = -1;
	w->spin_ns = options->spin_usec * NS_PER_USEC;
	w->traffic_gap = w->spin_ns * 2; // no dense traffic so far
	w->now = clock_ns();
	list_init(&w->defers);
	list_init(&w->pollers);
	for (unsigned i = 0; i < EXPECTED_LISTS; i++)
		list_init(&w->expected[i]);
	sem_init(&w->started, 0, 0);
	int r = worker_init(w, e);
	if (r) {
		worker_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

static int thread_enter(struct worker *w)
{
	pthread_setname_np(pthread_self(), w->name);
	prctl(PR_SET_TIMERSLACK, 1); // sleeps of some us end in time
	if (w->options.cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((unsigned)w->options.cpu % CPU_SETSIZE, &set);
		int r = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
		if (r)
			return r == EINVAL ? -ENODEV : -r;
	}
	return ring_enter(w);
}

static void *thread_main(void *arg)
{
	struct worker *w = arg;

	w->start_error = thread_enter(w);
	int r = w->start_error;
	worker_set_self(w);
	sem_post(&w->started);
	if (r)
		return NULL;
	worker_loop(w);
	ring_leave(w);
	worker_set_self(NULL);
	return NULL;
}

int worker_start(struct worker *w, struct err *e)
{
	sigset_t all, old;

	// Workers block all signals.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&w->thread, NULL, thread_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return err_errno(e, -r, "worker %s: create thread", w->name);
	w->has_thread = true;
	while (sem_wait(&w->started) < 0)
		; // EINTR
	if (!w->start_error)
		return 0;
	pthread_join(w->thread, NULL);
	w->has_thread = false;
	if (w->start_error == -ENODEV && w->options.cpu >= 0)
		return err_set(e, -ENODEV, "no CPU %d available to this process", w->options.cpu);
	return err_errno(e, w->start_error, "worker %s: start", w->name);
}

void worker_run(struct worker *w)
{
	int r = ring_enter(w);

	if (r < 0) {
		log_error("worker %s: io_uring: enable rings: %s", w->name, strerror(-r));
		return;
	}
	worker_set_self(w);
	worker_loop(w);
	worker_set_self(NULL);
	ring_leave(w);
}

void worker_stop(struct worker *w)
{
	atomic_store(&w->is_stopping, true);
	mailbox_wake(w);
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	if (w->has_thread) {
		worker_stop(w);
		pthread_join(w->thread, NULL);
	}
	while (atomic_load(&w->posters)) // a thread that wakes it: some instructions
		sched_yield();
	worker_unregister(w);
	polled_free(w);
	if (w->ring.ring_fd >= 0)
		io_uring_queue_exit(&w->ring);
	buf_pool_free(w->pool);
	if (w->event_fd >= 0)
		close(w->event_fd);
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	sem_destroy(&w->started);
	free(w);
}
