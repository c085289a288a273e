// SPDX-License-Identifier: BSD-2-Clause
#include "core/spin_trial.h"

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

static void end(struct spin_trial *t, bool pays_off, uint64_t now)
{
	if (t->has_paid_off != pays_off || !t->rest_ns)
		t->rest_ns = SPIN_REST_NS;
	else
		t->rest_ns = smaller(2 * t->rest_ns, pays_off ? SPIN_LONG_NS : SPIN_NEVER_NS);
	t->is_polling = t->has_paid_off = pays_off;
	t->is_trying = false;
	t->rests_until_ns = now + t->rest_ns;
}

// A fifth faster: less is not worth a CPU, and may be chance.
static bool pays_off(const struct spin_trial *t)
{
	uint64_t with = larger(t->took_ns[1], t->took_ns[3]);
	uint64_t without = smaller(t->took_ns[0], t->took_ns[2]);
	return with * 6 <= without * 5;
}

static void window_end(struct spin_trial *t, uint64_t now, uint64_t requests)
{
	t->took_ns[t->windows++] = (now - t->since_ns) / larger(requests - t->requests, 1);
	if (t->windows < SPIN_WINDOWS)
		t->is_polling = t->windows % 2;
	else
		end(t, pays_off(t), now);
}

void spin_trial_reset(struct spin_trial *t)
{
	t->is_polling = t->is_trying = false;
	t->since_ns = 0;
}

void spin_trial_note(struct spin_trial *t, uint64_t now, uint64_t requests)
{
	if (t->since_ns && now - t->since_ns > (uint64_t)SPIN_WINDOW * SPIN_REQUEST_NS)
		spin_trial_reset(t);
	if (!t->since_ns)
		window_begin(t, now, requests);
	else if (++t->rounds == SPIN_WINDOW) {
		if (t->is_trying) {
			window_end(t, now, requests);
		} else if (now >= t->rests_until_ns) {
			t->is_trying = true;
			t->is_polling = false;
			t->windows = 0;
		}
		window_begin(t, now, requests);
	}
}
