// SPDX-License-Identifier: BSD-2-Clause
// File descriptors of a worker, on its thread: one epoll instance, edge-triggered. The eventfd of
// mailbox and ring is in it without a watch; it only ends the sleep.
#include "core/worker_priv.h"

#include <errno.h>

#define ONE_ROUNDS 8

int watches_init(struct worker *w, struct err *e)
{
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		return err_errno(e, -errno, "worker %s: create epoll", w->name);
	return 0;
}

int watch_add(struct worker *w, struct watch *wa, int fd, uint32_t events)
{
	if (!events)
		events = EPOLLIN | EPOLLOUT | EPOLLRDHUP;
	struct epoll_event ev = { .events = events | EPOLLET, .data.ptr = wa };
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		wa->fd = -1;
		return -errno;
	}
	wa->fd = fd;
	return 0;
}

void watch_remove(struct worker *w, struct watch *wa)
{
	if (wa->fd < 0)
		return;
	epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, wa->fd, NULL);
	wa->fd = -1;
	for (int i = w->batch_next; i < w->batch_count; i++)
		if (w->batch[i].data.ptr == wa)
			w->batch[i].data.ptr = NULL;
}

static void note_only(struct worker *w)
{
	const void *only = w->batch_count == 1 ? w->batch[0].data.ptr : NULL;

	if (only != w->only)
		w->only_rounds = 0;
	w->only = only;
	w->only_rounds++;
}

bool worker_serves_one(const struct worker *w)
{
	return w->only && w->only_rounds >= ONE_ROUNDS;
}

void watches_fetch(struct worker *w, const struct timespec *timeout)
{
	int n;

	if (w->batch_next < w->batch_count)
		return; // these come first: no descriptor reports its event again
	if (timeout && !timeout->tv_sec && !timeout->tv_nsec)
		n = epoll_wait(w->epoll_fd, w->batch, WORKER_BATCH, 0);
	else
		n = epoll_pwait2(w->epoll_fd, w->batch, WORKER_BATCH, timeout, NULL);
	w->batch_next = 0;
	w->batch_count = n > 0 ? n : 0;
	if (n > 0)
		note_only(w);
}

void watches_fetch_ready(struct worker *w)
{
	static const struct timespec at_once;

	w->has_fds_ready = false;
	watches_fetch(w, &at_once);
}

void watches_run(struct worker *w)
{
	while (w->batch_next < w->batch_count) {
		const struct epoll_event *ev = &w->batch[w->batch_next++];
		struct watch *wa = ev->data.ptr;
		if (wa)
			wa->fn(wa, ev->events);
	}
}
