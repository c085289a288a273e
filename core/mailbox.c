// SPDX-License-Identifier: BSD-2-Clause
// The mailbox of a worker: any thread pushes onto a lock-free stack, the worker takes the whole
// stack at once and runs it in reverse, the order of posting.
//
// No wake-up is lost: the poster pushes, then reads is_asleep; the worker sets is_asleep, then
// looks for messages. All four are sequentially consistent, so at least one sees the other.
#include "core/counter.h"
#include "core/worker_priv.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mailbox_init(struct worker *w, struct err *e)
{
	w->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->event_fd < 0)
		return err_errno(e, -errno, "worker %s: create eventfd", w->name);
	// Edge-triggered: every write is an event, so the counter is never read.
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->event_fd, &ev) < 0)
		return err_errno(e, -errno, "worker %s: watch eventfd", w->name);
	return 0;
}

void mailbox_wake(struct worker *w)
{
	const uint64_t one = 1;
	int saved = errno;
	ssize_t n;

	do
		n = write(w->event_fd, &one, sizeof one);
	while (n < 0 && errno == EINTR);
	errno = saved;
}

bool mailbox_is_empty(struct worker *w)
{
	return !atomic_load(&w->mailbox);
}

void worker_post(struct worker *w, struct msg *m)
{
	struct msg *head = atomic_load_explicit(&w->mailbox, memory_order_relaxed);

	do
		m->next = head;
	while (!atomic_compare_exchange_weak(&w->mailbox, &head, m));
	// Only one of several posters makes the system call.
	if (atomic_load(&w->is_asleep) && atomic_exchange(&w->is_asleep, false))
		mailbox_wake(w);
}

void mailbox_run(struct worker *w)
{
	struct msg *m, *fifo = NULL;

	if (!atomic_load_explicit(&w->mailbox, memory_order_relaxed))
		return;
	m = atomic_exchange(&w->mailbox, NULL);
	while (m) {
		struct msg *older = m->next;
		m->next = fifo;
		fifo = m;
		m = older;
	}
	while (fifo) {
		m = fifo;
		fifo = m->next;
		counter_add(&w->counters.messages, 1);
		m->fn(m);
	}
}

struct call {
	struct msg msg;
	void (*fn)(void *arg);
	void *arg;
	sem_t done;
};

static void call_run(struct msg *m)
{
	struct call *c = container_of(m, struct call, msg);

	c->fn(c->arg);
	sem_post(&c->done);
}

void worker_call(struct worker *w, void (*fn)(void *arg), void *arg)
{
	struct call c = { .msg.fn = call_run, .fn = fn, .arg = arg };

	sem_init(&c.done, 0, 0);
	worker_post(w, &c.msg);
	while (sem_wait(&c.done) < 0)
		; // EINTR
	sem_destroy(&c.done);
}
