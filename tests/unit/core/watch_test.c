// SPDX-License-Identifier: BSD-2-Clause
// Watched file descriptors.
#include "core/worker_util.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct seen_fd {
	struct watch watch;
	int runs;
	uint32_t events;
	struct watch *victim;
};

static void fd_event(struct watch *wa, uint32_t events)
{
	struct seen_fd *s = container_of(wa, struct seen_fd, watch);

	s->runs++;
	s->events = events;
	if (s->victim)
		watch_remove(worker_self(), s->victim);
	worker_stop(worker_self());
}

static void readable_pair(int sv[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	assert_int_equal(write(sv[1], "x", 1), 1);
}

static void what_is_readable_when_added_is_reported(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct seen_fd s = { .watch.fn = fd_event };
	int sv[2];

	readable_pair(sv);
	assert_int_equal(watch_add(w, &s.watch, sv[0], 0), 0);
	run_guarded(w);
	assert_true(s.events & EPOLLIN);
	assert_true(s.events & EPOLLOUT);
	watch_remove(w, &s.watch);
	assert_int_equal(s.watch.fd, -1);
	watch_remove(w, &s.watch); // no-op
	close_pair(sv);
	worker_free(w);
}

static void events_may_be_narrowed(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct seen_fd s = { .watch.fn = fd_event };
	int sv[2];

	readable_pair(sv);
	assert_int_equal(watch_add(w, &s.watch, sv[0], EPOLLIN), 0);
	run_guarded(w);
	assert_int_equal(s.events, EPOLLIN);
	close_pair(sv);
	worker_free(w);
}

static void a_watch_on_a_bad_descriptor_is_an_error(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct watch wa = { .fn = NULL };

	assert_int_equal(watch_add(w, &wa, -1, 0), -EBADF);
	assert_int_equal(wa.fd, -1);
	worker_free(w);
}

// Both are ready, so both events are in one batch; whichever comes first removes the other.
static void a_watch_removed_within_its_batch_is_not_called(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct seen_fd a = { .watch.fn = fd_event }, b = { .watch.fn = fd_event };
	int sa[2], sb[2];

	a.victim = &b.watch;
	b.victim = &a.watch;
	readable_pair(sa);
	readable_pair(sb);
	watch_add(w, &a.watch, sa[0], 0);
	watch_add(w, &b.watch, sb[0], 0);
	run_guarded(w);
	assert_int_equal(a.runs + b.runs, 1);
	close_pair(sa);
	close_pair(sb);
	worker_free(w);
}

struct remover {
	struct msg msg;
	struct seen_fd *target;
	int fd;
};

static void remove_and_stop(struct msg *m)
{
	watch_remove(worker_self(), &container_of(m, struct remover, msg)->target->watch);
	worker_stop(worker_self());
}

static void add_and_post(struct msg *m)
{
	struct remover *r = container_of(m, struct remover, msg);

	watch_add(worker_self(), &r->target->watch, r->fd, 0);
	m->fn = remove_and_stop;
	worker_post(worker_self(), m);
}

// The event is fetched at the end of one round; a message at the start of the next removes it.
static void a_watch_removed_between_fetch_and_call_is_not_called(void **state)
{
	struct worker *w = make_worker(true, 0);
	struct seen_fd s = { .watch.fn = fd_event };
	struct remover r = { .msg.fn = add_and_post, .target = &s };
	int sv[2];

	readable_pair(sv);
	r.fd = sv[0];
	worker_post(w, &r.msg);
	run_guarded(w);
	assert_int_equal(s.runs, 0);
	close_pair(sv);
	worker_free(w);
}

struct echo {
	struct watch watch;
	int peer, runs, rounds; // stops after so many
	bool is_only;		// at the end
	struct echo *other;	// gets an event in the round before
};

static void echo_event(struct watch *wa, uint32_t events)
{
	struct echo *s = container_of(wa, struct echo, watch);
	char c;

	if (read(wa->fd, &c, 1) != 1 || s->runs == s->rounds)
		return; // told to stop already
	s->runs++;
	s->is_only = worker_serves_one(worker_self());
	if (s->runs == s->rounds)
		worker_stop(worker_self());
	assert_int_equal(write(s->peer, "x", 1), 1);
	if (s->other && s->runs + 1 == s->rounds)
		assert_int_equal(write(s->other->peer, "x", 1), 1);
}

static bool serves_one_after(int rounds, bool has_other)
{
	struct worker *w = make_worker(true, 0);
	struct echo a = { .watch.fn = echo_event, .rounds = rounds }, b = a;
	int sa[2], sb[2];

	readable_pair(sa);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sb), 0);
	a.peer = sa[1];
	b.peer = sb[1];
	b.rounds = 1;
	a.other = has_other ? &b : NULL;
	watch_add(w, &a.watch, sa[0], EPOLLIN);
	watch_add(w, &b.watch, sb[0], EPOLLIN);
	run_guarded(w);
	close_pair(sa);
	close_pair(sb);
	worker_free(w);
	return a.is_only;
}

static void one_descriptor_alone_is_known_after_some_rounds(void **state)
{
	assert_false(serves_one_after(2, false));
	assert_true(serves_one_after(20, false));
}

static void an_event_of_another_descriptor_ends_that(void **state)
{
	assert_false(serves_one_after(20, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_readable_when_added_is_reported),
		cmocka_unit_test(events_may_be_narrowed),
		cmocka_unit_test(a_watch_on_a_bad_descriptor_is_an_error),
		cmocka_unit_test(a_watch_removed_within_its_batch_is_not_called),
		cmocka_unit_test(a_watch_removed_between_fetch_and_call_is_not_called),
		cmocka_unit_test(one_descriptor_alone_is_known_after_some_rounds),
		cmocka_unit_test(an_event_of_another_descriptor_ends_that),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
