// SPDX-License-Identifier: BSD-2-Clause
// The threads for work that blocks: at most four, each started when work is queued and no thread is
// idle.
#include "core/offload.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "core/worker_priv.h"

#define THREADS_MAX 4

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change; // the queue or is_ending changed
	struct msg *first, **last;
	pthread_t threads[THREADS_MAX];
	unsigned count, idle, queued;
	bool is_ending;
} pool = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.change = PTHREAD_COND_INITIALIZER,
};

static void run_done(struct msg *m)
{
	struct offload *o = container_of(m, struct offload, msg);

	o->done(o);
}

static void run_one(struct offload *o)
{
	struct worker *home = o->home;

	o->work(o);
	o->msg.fn = run_done;
	// Once it is posted o is its owner's, and the worker may end before worker_post() returns.
	atomic_fetch_add(&home->posters, 1);
	worker_post(home, &o->msg);
	atomic_fetch_sub(&home->posters, 1);
}

// Next of the queue, or NULL when the pool ends. With the lock held.
static struct offload *next_locked(void)
{
	while (!pool.first) {
		if (pool.is_ending)
			return NULL;
		pool.idle++;
		pthread_cond_wait(&pool.change, &pool.lock);
		pool.idle--;
	}
	struct msg *m = pool.first;
	pool.first = m->next;
	pool.queued--;
	return container_of(m, struct offload, msg);
}

static void *thread_main(void *arg)
{
	struct offload *o;

	pthread_setname_np(pthread_self(), "offload");
	pthread_mutex_lock(&pool.lock);
	while ((o = next_locked())) {
		pthread_mutex_unlock(&pool.lock);
		run_one(o);
		pthread_mutex_lock(&pool.lock);
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

static void grow_locked(void)
{
	sigset_t all, old;

	if (pool.count == THREADS_MAX)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&pool.threads[pool.count], NULL, thread_main, NULL))
		pool.count++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void offload_submit(struct offload *o)
{
	o->home = worker_self();
	o->msg.next = NULL;
	pthread_mutex_lock(&pool.lock);
	if (!pool.first)
		pool.last = &pool.first;
	*pool.last = &o->msg;
	pool.last = &o->msg.next;
	pool.queued++;
	if (pool.queued > pool.idle)
		grow_locked();
	bool has_thread = pool.count || pool.idle;
	if (!has_thread) { // no thread can be created: run it here, late rather than never
		pool.first = NULL;
		pool.queued = 0;
	}
	pthread_cond_signal(&pool.change);
	pthread_mutex_unlock(&pool.lock);
	if (!has_thread)
		run_one(o);
}

void offload_shutdown(void)
{
	pthread_t threads[THREADS_MAX];

	pthread_mutex_lock(&pool.lock);
	pool.is_ending = true;
	pthread_cond_broadcast(&pool.change);
	// A thread may be started while others end: repeat until none is left.
	while (pool.count) {
		unsigned n = pool.count;
		for (unsigned i = 0; i < n; i++)
			threads[i] = pool.threads[i];
		pool.count = 0;
		pthread_mutex_unlock(&pool.lock);
		for (unsigned i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		pthread_mutex_lock(&pool.lock);
	}
	pool.is_ending = false;
	pthread_mutex_unlock(&pool.lock);
}
