// SPDX-License-Identifier: BSD-2-Clause
// The inside of a worker, shared by the files that implement it: worker.c (life),
// worker_registry.c, worker_loop.c (the loop, deferred work), wait.c (polling and sleep), ring.c
// (io_uring), timer.c, poller.c, mailbox.c and watch.c (epoll).
#pragma once

#include <liburing.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "core/spin_trial.h"
#include "core/worker.h"

#define WORKER_BATCH   256 // epoll events fetched at once
#define EXPECTED_LISTS 32  // by the logarithm of the time in ns, the last one for all above
#define NS_PER_USEC    1000ull
#define NS_PER_SEC     1000000000ull

struct worker {
	// Read and written by the worker's thread only.
	uint64_t now;	      // clock_ns() of this round
	uint64_t spin_ns;     // 0: never spins
	uint64_t traffic_at;  // round of the last worker_note_traffic()
	uint64_t worked_at;   // round of the last completion of the ring
	uint64_t idle_since;  // when the work of such a round ended
	uint64_t traffic_gap; // moving average of the time from then to the next traffic
	struct spin_trial spin_trial;
	struct timer *timers; // root of the pairing heap
	bool runs_timers;     // timers_run() is on the stack
	struct list defers;
	struct list pollers;
	struct list *poller_next; // next of the current walk, so that callbacks may remove pollers
	int epoll_fd;
	int batch_next, batch_count; // batch[next .. count) is fetched and not yet called
	struct epoll_event batch[WORKER_BATCH];
	const void *only;     // the watch of the last batch with a single event
	unsigned only_rounds; // number of such batches in a row
	struct io_uring ring;
	unsigned in_flight;		      // operations of the ring that have not completed
	struct uring_op fds_op;		      // watches the epoll instance
	bool is_ring_watching;		      // ... and is queued or submitted
	bool has_fds_ready;		      // ... and has found events
	struct polled_ring *polled;	      // ring_polled.c; NULL: not used so far
	bool has_no_polled;		      // the kernel has refused it
	struct list expected[EXPECTED_LISTS]; // operations to poll for, see wait.c
	uint64_t probe_at, shared_until;      // no polling before: the CPU is shared
	uint64_t wake_ns; // moving average of how late the end of a timed sleep is
	bool has_slept;	  // before this round
	struct worker_counters counters;
	struct buf_pool *pool;

	// Fixed once started.
	struct worker_options options;
	char name[16];
	unsigned index;
	bool has_thread;
	pthread_t thread;
	sem_t started;
	int start_error;

	// Accessed by any thread; on a separate cache line.
	_Alignas(64) _Atomic(struct msg *) mailbox; // newest first
	atomic_uint posters;   // threads of the pool that are about to leave worker_post()
	atomic_bool is_asleep; // someone must write event_fd to be heard
	atomic_bool is_stopping;
	int event_fd;
};

// worker_registry.c. Gives a data worker its index; -EMFILE past WORKER_MAX.
int worker_register(struct worker *w);
void worker_unregister(struct worker *w); // no-op for one without an index
void worker_set_self(struct worker *w);	  // this thread runs w; NULL: none

// worker_loop.c. Runs rounds until is_stopping; the ring must be enabled.
void worker_loop(struct worker *w);

// poller.c. True if any poller had events. is_arming: see struct poller.
bool pollers_run(struct worker *w, bool is_arming);

// wait.c. Returns when there is work, or a timer is due; may return without.
void wait_for_work(struct worker *w);
extern uint64_t wait_preempted_ns; // a yield that takes longer: others wait for the CPU

// ring.c. ring_new creates the ring disabled, so that the thread that calls ring_enter becomes its
// only issuer; ring_leave undoes ring_enter on the same thread.
int ring_new(struct worker *w, struct err *e);
int ring_enter(struct worker *w);
void ring_leave(struct worker *w);
void ring_reap(struct worker *w);     // calls done for what has completed
void ring_submit(struct worker *w);   // system call only if something is queued
void polled_submit(struct worker *w); // the same for worker_polled_sqe()
void polled_free(struct worker *w);
bool ring_is_ready(const struct worker *w); // completions to reap; no system call
void ring_watch_fds(struct worker *w);	    // has_fds_ready is set when epoll has events
// Submits what is queued, and waits for a completion up to timeout (NULL: no timeout).
void ring_wait(struct worker *w, const struct timespec *timeout);

// timer.c
void timers_run(struct worker *w);
uint64_t timers_next(const struct worker *w); // deadline, UINT64_MAX if none is armed

// mailbox.c
int mailbox_init(struct worker *w, struct err *e);
void mailbox_run(struct worker *w);
bool mailbox_is_empty(struct worker *w);
void mailbox_wake(struct worker *w); // async-signal-safe

// watch.c. watches_fetch waits up to timeout (NULL: no timeout) and fills the batch.
int watches_init(struct worker *w, struct err *e);
void watches_fetch(struct worker *w, const struct timespec *timeout);
void watches_fetch_ready(struct worker *w); // without waiting
void watches_run(struct worker *w);
