// SPDX-License-Identifier: BSD-2-Clause
#include "core/spin_trial.h"

#define REST_PART 16 // a rest is at least so many times as long as its trial, half of which polls

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void window_begin(struct spin_trial *t, uint64_t now, uint64_t requests)
{
	t->since_ns = now;
	t->requests = requests;
	t->rounds = 0;
}

static void trial_begin(struct spin_trial *t, uint64_t now)
{
	t->began_ns = now;
	t->is_trying = true;
	t->is_polling = false;
	t->windows = 0;
	for (int i = 0; i < 2; i++)
		t->took_ns[i] = t->slowest_ns[i] = 0;
}

static void trial_end(struct spin_trial *t, bool pays_off, uint64_t now)
{
	if (t->has_paid_off != pays_off || !t->rest_ns)
		t->rest_ns = SPIN_REST_NS;
	else
		t->rest_ns = smaller(2 * t->rest_ns, pays_off ? SPIN_LONG_NS : SPIN_NEVER_NS);
	t->is_polling = t->has_paid_off = pays_off;
	t->is_trying = false;
	t->least_rest_ns = larger((now - t->began_ns) * REST_PART, SPIN_REST_NS);
	t->ended_ns = now;
	t->rests_until_ns = now + larger(t->rest_ns, t->least_rest_ns);
}

// The slowest window of each kind is left out: what disturbed it has nothing to do with polling.
static bool is_faster(const struct spin_trial *t, unsigned part, unsigned of)
{
	return (t->took_ns[1] - t->slowest_ns[1]) * of <= (t->took_ns[0] - t->slowest_ns[0]) * part;
}

// Time for a request: the rounds of a window bring more than one each where polling does not.
static void window_end(struct spin_trial *t, uint64_t now, uint64_t requests)
{
	uint64_t took = (now - t->since_ns) / larger(requests - t->requests, 1);

	t->took_ns[t->is_polling] += took;
	t->slowest_ns[t->is_polling] = larger(t->slowest_ns[t->is_polling], took);
	t->is_polling = ++t->windows % 2;
	bool pays_off = is_faster(t, 9, 10); // less is not worth a CPU
	if (t->windows == SPIN_WINDOWS)
		trial_end(t, pays_off, now);
	else if (t->windows == SPIN_WINDOWS_CLEAR && pays_off &&
		 (t->has_paid_off || is_faster(t, 2, 3)))
		trial_end(t, true, now);
}

// After a pause the requests may be those of another client: what was found out before counts
// until the next trial, which a long rest does not delay.
static void resume(struct spin_trial *t, uint64_t now)
{
	t->rests_until_ns = smaller(t->rests_until_ns, t->ended_ns + t->least_rest_ns);
	t->is_polling = t->has_paid_off && now < t->rests_until_ns;
}

static bool is_deep(const struct spin_trial *t, uint64_t requests)
{
	return !t->is_polling && requests - t->requests >= SPIN_DEEP * SPIN_WINDOW;
}

void spin_trial_reset(struct spin_trial *t)
{
	t->is_polling = t->is_trying = false;
	t->since_ns = 0;
}

static void go_on(struct spin_trial *t, uint64_t now, uint64_t requests)
{
	if (t->is_trying)
		window_end(t, now, requests);
	else if (t->is_new)
		resume(t, now);
	if (!t->is_trying && now >= t->rests_until_ns)
		trial_begin(t, now);
	t->is_new = false;
}

void spin_trial_note(struct spin_trial *t, uint64_t now, uint64_t requests)
{
	if (t->since_ns && now - t->since_ns > (uint64_t)SPIN_WINDOW * SPIN_REQUEST_NS)
		spin_trial_reset(t);
	if (!t->since_ns) {
		t->is_new = true;
		window_begin(t, now, requests);
	} else if (++t->rounds == SPIN_WINDOW) {
		if (is_deep(t, requests)) {
			t->is_trying = false;
			t->is_new = true; // the next that is not
		} else {
			go_on(t, now, requests);
		}
		window_begin(t, now, requests);
	}
}
