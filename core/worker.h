// SPDX-License-Identifier: BSD-2-Clause
// Worker: one thread, one io_uring, its timers and its mailbox.
//
// A worker owns what was created on it: connections, tasks, buffers. Only its own thread accesses
// them; other threads send messages with worker_post(). Unless a function below says "any thread",
// it is called on the worker's own thread. No callback may block: work that blocks goes through
// offload_submit().
//
// The loop: mailbox, timers, file descriptors, pollers, io_uring completions, deferred work; then
// it waits (wait.c): it polls for a short while for what is likely to come, else it sleeps.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "core/list.h"

struct io_uring;
struct io_uring_sqe;
struct buf_pool;

#define WORKER_MAX 64 // data workers in one process

struct worker;

struct worker_options {
	const char *name;      // thread name, at most 15 bytes are kept
	int cpu;	       // CPU to pin the thread to, -1 for any
	unsigned ring_entries; // io_uring submission entries, 0 for the default of 512
	unsigned spin_usec;  // how long to spin after dense traffic before sleeping; 0 never spins
	uint64_t pool_bytes; // limit of its buffer pool in bytes, 0 for the default of 256 MiB
	bool is_control;     // the control thread: not a data worker, may block
};

// A message. Embed it; fn runs on the receiving worker, which then owns the memory again.
struct msg {
	struct msg *next; // of the mailbox while posted
	void (*fn)(struct msg *m);
};

// A timer. fn runs once, on the worker that armed it, at or after the deadline.
struct timer {
	void (*fn)(struct timer *t);
	uint64_t deadline_ns;		   // of worker_now()'s clock
	struct timer *child, *next, *prev; // private: the worker's pairing heap
	bool is_armed;			   // private
};

// A file descriptor that is watched, edge-triggered: fn must read or write until -EAGAIN.
struct watch {
	void (*fn)(struct watch *w, uint32_t epoll_events);
	int fd; // -1 while not watched
};

// One io_uring operation in flight; done runs on the submitting worker with the CQE's res. A
// multishot operation has ended when cqe_flags lacks IORING_CQE_F_MORE.
struct uring_op {
	void (*done)(struct uring_op *op, int res);
	uint32_t cqe_flags; // of the completion being reported
	struct list link;   // private, as the rest: wait.c
	uint64_t since_ns, expected_ns;
};

// Work deferred to the end of the current round of the loop, so that one system call can serve many
// requests (above all sends).
struct defer {
	struct list link;
	void (*fn)(struct defer *d);
};

// Something that is polled (a completion queue), once per round and while the worker spins. Zero it
// before the first use.
struct poller {
	struct list link;
	// Processes pending events; true if there were any.
	bool (*poll)(struct poller *p);
	// Called before the worker sleeps: makes the next event wake it (through a watched
	// descriptor). True if events are pending: then it does not sleep.
	bool (*arm)(struct poller *p);
};

// Creates a worker with its ring and its mailbox; no thread yet. Data workers get the next
// free index. Any thread; blocks shortly. -EMFILE past WORKER_MAX.
int worker_new(struct worker **ret, const struct worker_options *options, struct err *e);

// Starts the thread that runs the loop; returns when it runs. Called once, by the creator. -ENODEV:
// the CPU does not exist, or this process may not use it.
int worker_start(struct worker *w, struct err *e);

// Runs the loop on the calling thread until worker_stop(). For the control thread.
void worker_run(struct worker *w);

// Ends the loop after the current round and everything posted before. Any thread, also a signal
// handler.
void worker_stop(struct worker *w);

// Stops and joins the thread, then frees the worker. Free what was created on it first, and do not
// post to it any more: messages still in the mailbox when the loop ends are not run. Not from the
// worker's own thread; blocks. NULL is fine.
void worker_free(struct worker *w);

// The worker whose thread this is, or NULL.
struct worker *worker_self(void);

// 0 .. worker_count()-1 for data workers; WORKER_MAX for the control thread. Any thread.
unsigned worker_index(const struct worker *w);
unsigned worker_count(void);
struct worker *worker_at(unsigned index); // NULL past worker_count(). Any thread.

// Monotonic clock in ns, read once a round; cheap.
uint64_t worker_now(const struct worker *w);
// The same clock, read now. Any thread.
uint64_t clock_ns(void);
// The same clock at the kernel's last tick, some ms ago: a quarter of the cost. Any thread.
uint64_t clock_coarse_ns(void);

// Sends m to w: FIFO between two threads, never blocks, allocates nothing. Any thread; a
// worker may post to itself (then m runs in a later round).
void worker_post(struct worker *w, struct msg *m);

// As worker_post(), but waits until fn has run. Not from a data worker's thread; not to oneself.
void worker_call(struct worker *w, void (*fn)(void *arg), void *arg);

void timer_init(struct timer *t, void (*fn)(struct timer *t));
// Arms or re-arms t to fire usec after worker_now(). Allocates nothing. If armed from inside fn, it
// fires in the next round at the earliest.
void timer_arm(struct worker *w, struct timer *t, uint64_t usec);
void timer_cancel(struct worker *w, struct timer *t);
bool timer_is_armed(const struct timer *t);

// Watches fd, edge-triggered, for events (0: EPOLLIN | EPOLLOUT | EPOLLRDHUP; errors and hang-up
// always come). Events that are pending already are reported. Negative errno of epoll_ctl.
int watch_add(struct worker *w, struct watch *wa, int fd, uint32_t events);
// No callback follows, even for an event already fetched. fd stays open; it must not be closed
// before this call. No-op if it is not watched.
void watch_remove(struct worker *w, struct watch *wa);

// Polls p until poller_remove(), which may be called from any callback of this worker.
void poller_add(struct worker *w, struct poller *p);
void poller_remove(struct poller *p); // no-op for one that was not added

// A submission entry with op as its owner; never NULL (submits when the queue is full).
// The caller prepares it with io_uring_prep_*() and must not set its user data. It is
// submitted at the end of the round, at the latest.
struct io_uring_sqe *worker_sqe(struct worker *w, struct uring_op *op);
struct io_uring *worker_ring(struct worker *w);
// As worker_sqe(), for a read or write with O_DIRECT on a device with poll queues, without
// registered buffers: the worker polls the device and does not sleep until it completes;
// -EOPNOTSUPP if the device has none. NULL: the kernel has no such ring.
struct io_uring_sqe *worker_polled_sqe(struct worker *w, struct uring_op *op);

// Says how long op is likely to take, 0: unknown, and by how much that varies. The worker polls for
// it around then, for at most the spin time, unless it varies by more than that. Once for each
// worker_sqe(), after it.
void worker_expect(struct worker *w, struct uring_op *op, uint64_t ns, uint64_t deviation);
// How long op took, for its done, without the time that the worker needed to wake up. ns; only
// after worker_expect().
uint64_t worker_elapsed(struct worker *w, const struct uring_op *op);

// Queues d to run at the end of this round; no-op if it is queued already. fn may queue d
// again: it then runs later in the same round, or in the next one if this repeats.
void worker_defer(struct worker *w, struct defer *d, void (*fn)(struct defer *d));
void worker_defer_cancel(struct defer *d);

// True if only one file descriptor had events in recent rounds: its handler may run longer, since
// probably nothing else is waiting.
bool worker_serves_one(const struct worker *w);

// Notes that a request was served, so that the loop may spin for the next one.
void worker_note_traffic(struct worker *w);
// Counts a request, by which the loop judges whether a longer spin pays off (spin_trial.h).
void worker_count_request(struct worker *w);

// Counters of this worker (stats and buf add to them); see core/counter.h.
struct worker_counters {
	uint64_t rounds, sleeps, spins, messages;
	uint64_t requests;	      // worker_count_request()
	uint64_t polls, polls_missed; // for a completion; those that ended without one
	uint64_t polled_ns; // time that it polled before there was work, or before it slept
	uint64_t payload_copies, payload_copy_bytes; // buf_copy() alone adds to these
	uint64_t rdma_errors; // completions with an error, except those flushed by a close
};
struct worker_counters *worker_counters(struct worker *w);
// CPU time of its thread in ns; 0 without a separate thread. Any thread, while the worker exists;
// one system call.
uint64_t worker_cpu_ns(const struct worker *w);

struct buf_pool *worker_pool(struct worker *w);
