// SPDX-License-Identifier: BSD-2-Clause
// A batching iSCSI load generator: sets up the sessions, runs the event loop
// (ramp, measured window, drain) and prints what was measured.
#include "load.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum { EVENTS = 256, DRAIN_SECONDS = 20, STALL_SECONDS = 20 };

static struct load load;
static volatile sig_atomic_t was_interrupted;

static void on_signal(int number)
{
	was_interrupted = number;
}

static void *allocate(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		die("out of memory");
	return p;
}

static uint32_t power_of_two(uint64_t at_least)
{
	uint32_t n = 64;

	while (n < at_least)
		n *= 2;
	return n;
}

static void session_allocate(struct session *s, const struct options *opt)
{
	uint64_t pdus = 2 + opt->io_size / (s->max_send_segment ? s->max_send_segment : 512);

	s->rx_size = opt->is_idle ? RX_IDLE : RX_BUFFER;
	s->rx = allocate(1, s->rx_size);
	// A burst may end inside a segment: one PDU more for each.
	pdus += opt->io_size / (s->max_burst ? s->max_burst : 512);
	s->out_size = power_of_two(opt->is_idle ? 1 : pdus * opt->depth + 64);
	s->out = allocate(s->out_size, sizeof(*s->out));
	if (opt->is_idle)
		return;
	s->slots = allocate(opt->depth, sizeof(*s->slots));
	s->free_slots = allocate(opt->depth, sizeof(*s->free_slots));
	while (s->n_free < opt->depth) {
		s->free_slots[s->n_free] = opt->depth - 1 - s->n_free;
		s->n_free++;
	}
	s->random = (now_ns() << 20 ^ (uint64_t)s->index << 8) | 1;
}

static void unit_ready(struct session *s, unsigned lun)
{
	static const uint8_t test_unit_ready[16];
	int status = 0;

	for (int i = 0; i < 16; i++) {
		status = session_command(s, lun, test_unit_ready, NULL, 0);
		if (!status)
			return;
	}
	die("LUN %u: TEST UNIT READY: status %02x", lun, (unsigned)status);
}

static void capacity_read(struct load *l, struct session *s)
{
	uint8_t cdb[16] = { 0x9e, 0x10, [13] = 32 }, data[32] = { 0 };

	unit_ready(s, l->opt.lun);
	if (session_command(s, l->opt.lun, cdb, data, sizeof(data)))
		die("LUN %u: READ CAPACITY(16) failed", l->opt.lun);
	l->block_size = get32(data + 8);
	if (!l->block_size || l->opt.io_size % l->block_size)
		die("LUN %u: block size %u does not divide %u", l->opt.lun, l->block_size,
		    l->opt.io_size);
	l->capacity = (get64(data) + 1) * l->block_size;
}

static void session_raw(struct session *s, const struct options *opt)
{
	s->cmdsn = 1;
	s->maxcmdsn = INT32_MAX;
	s->max_send_segment = s->first_burst = s->max_burst = opt->io_size;
	s->immediate_data = true;
}

static void session_open(struct load *l, unsigned index)
{
	struct session *s = &l->sessions[index];

	s->index = index;
	s->fd = session_connect(&l->opt);
	if (l->opt.is_raw)
		session_raw(s, &l->opt);
	else
		session_login(s, &l->opt);
	if (!index && !l->opt.is_raw)
		capacity_read(l, s);
	session_allocate(s, &l->opt);
}

static void load_open(struct load *l)
{
	const struct options *opt = &l->opt;
	size_t pattern = opt->io_size;

	l->sessions = allocate(opt->sessions, sizeof(*l->sessions));
	l->block_size = 512;
	l->capacity = opt->span;
	for (unsigned i = 0; i < opt->sessions; i++)
		session_open(l, i);
	if (opt->span && opt->span < l->capacity)
		l->capacity = opt->span;
	l->n_slots = l->capacity / opt->io_size;
	if (!l->n_slots)
		die("the LUN is smaller than one I/O");
	for (unsigned i = 0; i < opt->sessions; i++)
		l->sessions[i].next_sequential = l->n_slots / opt->sessions * i;
	if (opt->is_verifying)
		pattern *= (size_t)opt->sessions * opt->depth;
	l->pattern = allocate(1, pattern);
	pattern_fill(l->pattern, opt->lun, 0, (uint32_t)(pattern < 1 << 23 ? pattern : 1 << 23));
}

static void watch(int ep, struct session *s, int op)
{
	struct epoll_event event = { .events = EPOLLIN | (s->wants_write ? EPOLLOUT : 0),
				     .data.u32 = s->index };

	if (epoll_ctl(ep, op, s->fd, &event))
		die("epoll: %s", strerror(errno));
}

static void send_queued(struct load *l, int ep, struct session *s)
{
	bool is_full = out_flush(l, s);

	if (is_full == s->wants_write)
		return;
	s->wants_write = is_full;
	watch(ep, s, EPOLL_CTL_MOD);
}

static void serve(struct load *l, int ep, struct session *s, bool may_sleep, uint64_t *ret_now)
{
	receive(l, s, may_sleep, ret_now);
	if (!l->opt.is_idle)
		command_refill(l, s, *ret_now);
	if (!out_is_empty(s))
		send_queued(l, ep, s);
}

// How long to sleep: until the next command of a fixed rate is due, at most 100 ms.
static struct timespec patience(const struct load *l, uint64_t now)
{
	struct timespec t = { .tv_nsec = 100000000 };

	if (l->opt.is_spinning) {
		t.tv_nsec = 0;
	} else if (l->opt.rate > 0) {
		uint64_t due = command_due(l);

		if (due < now + (uint64_t)t.tv_nsec)
			t.tv_nsec = due > now ? (long)(due - now) : 0;
	}
	return t;
}

static uint64_t wait_and_serve(struct load *l, int ep, uint64_t now)
{
	struct epoll_event events[EVENTS];
	struct timespec wait = patience(l, now);
	int n = epoll_pwait2(ep, events, EVENTS, &wait, NULL);

	if (n < 0 && errno != EINTR)
		die("epoll: %s", strerror(errno));
	now = now_ns();
	for (int i = 0; i < n; i++)
		serve(l, ep, &l->sessions[events[i].data.u32], false, &now);
	return now;
}

static bool is_drained(const struct load *l)
{
	for (unsigned i = 0; !l->opt.is_idle && i < l->opt.sessions; i++)
		if (l->sessions[i].n_free != l->opt.depth)
			return false;
	return true;
}

struct window {
	uint64_t begin, end, drain_end; // 0: not known yet
};

static void window_move(struct load *l, struct window *w, uint64_t now)
{
	bool is_over = was_interrupted || (w->end && now >= w->end) ||
		       (l->opt.max_ios && l->all >= l->opt.max_ios);

	if (!w->end && now >= w->begin) {
		stats_begin(l);
		w->end = now + (uint64_t)(l->opt.seconds * NS_PER_SEC);
		if (l->opt.max_ios)
			w->end = UINT64_MAX;
	}
	if (is_over && !l->is_stopping) {
		stats_end(l);
		l->is_stopping = true;
		w->drain_end = now + (uint64_t)DRAIN_SECONDS * NS_PER_SEC;
	}
}

static void start_due(struct load *l, int ep, uint64_t now)
{
	for (unsigned i = 0; i < l->opt.sessions; i++) {
		struct session *s = &l->sessions[i];

		command_refill(l, s, now);
		if (!out_is_empty(s) && !s->wants_write)
			send_queued(l, ep, s);
	}
}

static void run(struct load *l)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	uint64_t now = now_ns(), last_all = 0, last_progress = now;
	struct window w = { .begin = now + (uint64_t)(l->opt.ramp * NS_PER_SEC) };
	struct session *only =
		l->opt.sessions == 1 && l->opt.rate == 0 && !l->opt.is_idle ? l->sessions : NULL;

	l->t0 = now;
	for (unsigned i = 0; i < l->opt.sessions; i++)
		watch(ep, &l->sessions[i], EPOLL_CTL_ADD);
	window_move(l, &w, now);
	if (!l->opt.is_idle)
		start_due(l, ep, now);
	while (!l->is_stopping || (!is_drained(l) && now < w.drain_end)) {
		if (only && !only->wants_write)
			serve(l, ep, only, !l->opt.is_spinning, &now);
		else
			now = wait_and_serve(l, ep, now);
		window_move(l, &w, now);
		if (l->opt.rate > 0)
			start_due(l, ep, now);
		if (l->all != last_all || l->opt.is_idle || l->opt.rate > 0) {
			last_all = l->all;
			last_progress = now;
		} else if (now > last_progress + (uint64_t)STALL_SECONDS * NS_PER_SEC) {
			die("no answer for %d seconds", STALL_SECONDS);
		}
	}
	if (!is_drained(l))
		die("commands unanswered %d seconds after the end", DRAIN_SECONDS);
}

static void process_prepare(const struct options *opt)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct rlimit files;
	cpu_set_t set;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (opt->cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(opt->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %d: %s", opt->cpu, strerror(errno));
}

int main(int argc, char **argv)
{
	options_parse(&load.opt, argc, argv);
	process_prepare(&load.opt);
	load_open(&load);
	if (load.opt.is_idle)
		fputs("logged in\n", stderr);
	run(&load);
	stats_print(&load);
	for (unsigned i = 0; i < load.opt.sessions && !load.opt.is_raw; i++)
		session_logout(&load.sessions[i]);
	return load.errors || load.mismatches ? 3 : 0;
}
