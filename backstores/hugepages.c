// SPDX-License-Identifier: BSD-2-Clause
// Collapses completely written ranges into huge pages, on a separate thread that checks once a
// second, and less often while it finds nothing. A thread that accesses a page meanwhile waits for
// the copy of its 2 MiB; pinned pages (RDMA, fixed buffers) are not changed.
#include "backstores/hugepages.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/list.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define SLICE_PAGES 32	 // collapsed in one slice, some 10 ms
#define SLICE_LOOKS 2048 // ... or checked
#define PAUSE_MS    20	 // between two slices
#define PASS_MS	    1000 // between two passes, at first
#define PASS_MS_MAX 64000

struct hugepages {
	struct list link;
	uint8_t *memory;
	int fd;
	unsigned pass; // the last pass over all of it
	_Atomic uint64_t size;
	uint64_t at;	       // where the next slice begins
	_Atomic bool *is_huge; // by index of the huge page
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change;	// is_ending or busy
	struct list all;	// mappings left in this pass first
	struct hugepages *busy; // used by the thread without the lock
	unsigned pass;
	bool is_found, is_refused; // in this pass; by the kernel, permanently
	bool is_ending;
	pthread_t thread;
} keeper = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.change = PTHREAD_COND_INITIALIZER,
	.all = {&keeper.all, &keeper.all},
};

static void collapse(struct hugepages *h)
{
	_Atomic bool *is_huge = &h->is_huge[h->at / HUGE_PAGE];

	atomic_store(is_huge, true); // first, so that a hole punched meanwhile is not missed
	if (!madvise(h->memory + h->at, HUGE_PAGE, MADV_COLLAPSE)) {
		keeper.is_found = true;
		return;
	}
	keeper.is_refused = errno == EINVAL; // a kernel without huge pages
	atomic_store(is_huge, false);
}

// Bytes from h->at to the next data or hole, else a large number.
static uint64_t distance(const struct hugepages *h, int whence)
{
	off_t to = lseek(h->fd, (off_t)h->at, whence);

	return to < 0 ? UINT64_MAX / 2 : (uint64_t)to - h->at;
}

// True if this mapping needs another slice in this pass.
static bool slice(struct hugepages *h)
{
	unsigned pages = 0, looks = 0;

	for (; pages < SLICE_PAGES && looks < SLICE_LOOKS; h->at += HUGE_PAGE) {
		if (keeper.is_refused || h->at + HUGE_PAGE > atomic_load(&h->size)) {
			h->at = 0;
			return false;
		}
		if (atomic_load(&h->is_huge[h->at / HUGE_PAGE]))
			continue;
		looks++;
		uint64_t data = distance(h, SEEK_DATA);
		if (data >= HUGE_PAGE) {
			h->at += data / HUGE_PAGE * HUGE_PAGE - HUGE_PAGE;
		} else if (!data && distance(h, SEEK_HOLE) >= HUGE_PAGE) {
			collapse(h);
			pages++;
		}
	}
	return true;
}

// Call with the lock held. True if the thread must end.
static bool wait_ms(unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (!keeper.is_ending && pthread_cond_clockwait(&keeper.change, &keeper.lock,
							   CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	return keeper.is_ending;
}

// Call with the lock held; releases it meanwhile.
static void pass(void)
{
	keeper.pass++;
	keeper.is_found = false;
	while (!list_empty(&keeper.all)) {
		struct hugepages *h = list_entry(keeper.all.next, struct hugepages, link);
		if (h->pass == keeper.pass)
			return;
		keeper.busy = h;
		pthread_mutex_unlock(&keeper.lock);
		bool has_more = slice(h);
		pthread_mutex_lock(&keeper.lock);
		keeper.busy = NULL;
		pthread_cond_broadcast(&keeper.change);
		if (!has_more) {
			h->pass = keeper.pass;
			list_remove(&h->link);
			list_push_back(&keeper.all, &h->link);
		} else if (wait_ms(PAUSE_MS)) {
			return;
		}
	}
}

static void *thread_main(void *arg)
{
	unsigned ms = PASS_MS;

	pthread_setname_np(pthread_self(), "hugepages");
	pthread_mutex_lock(&keeper.lock);
	while (!keeper.is_refused && !wait_ms(ms)) {
		pass();
		ms = keeper.is_found ? PASS_MS : ms < PASS_MS_MAX ? ms * 2 : ms;
	}
	pthread_mutex_unlock(&keeper.lock);
	return NULL;
}

static int start_thread(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&keeper.thread, NULL, thread_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

struct hugepages *hugepages_new(uint8_t *memory, int fd, uint64_t reserved, uint64_t size)
{
	struct hugepages *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->memory = memory;
	h->fd = fd;
	h->size = size;
	h->is_huge = calloc(reserved / HUGE_PAGE + 1, sizeof *h->is_huge);
	pthread_mutex_lock(&keeper.lock);
	if (!h->is_huge || (list_empty(&keeper.all) && start_thread() < 0)) {
		pthread_mutex_unlock(&keeper.lock);
		free((void *)h->is_huge);
		free(h);
		return NULL;
	}
	h->pass = keeper.pass - 1;
	list_push_front(&keeper.all, &h->link);
	pthread_mutex_unlock(&keeper.lock);
	return h;
}

void hugepages_grow(struct hugepages *h, uint64_t size)
{
	if (h)
		atomic_store(&h->size, size);
}

void hugepages_punched(struct hugepages *h, uint64_t offset, uint64_t length)
{
	if (!h || !length)
		return;
	for (uint64_t i = offset / HUGE_PAGE; i <= (offset + length - 1) / HUGE_PAGE; i++)
		atomic_store(&h->is_huge[i], false);
}

void hugepages_free(struct hugepages *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&keeper.lock);
	while (keeper.busy == h)
		pthread_cond_wait(&keeper.change, &keeper.lock);
	list_remove(&h->link);
	bool is_last = list_empty(&keeper.all);
	keeper.is_ending = is_last;
	pthread_cond_broadcast(&keeper.change);
	pthread_mutex_unlock(&keeper.lock);
	if (is_last) {
		pthread_join(keeper.thread, NULL);
		keeper.is_ending = false;
	}
	free((void *)h->is_huge);
	free(h);
}
