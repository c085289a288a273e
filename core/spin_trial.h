// SPDX-License-Identifier: BSD-2-Clause
// Whether a worker should poll for the next request for longer than usual, found out by trial. A
// client with one command in flight waits for each wake-up of the worker; one that sends at a fixed
// rate, or whose CPU the polling takes away, gains nothing. So windows of requests without and with
// polling alternate, and the polling stays for a while if the requests came faster with it. A
// client with many commands in flight is not tried: a wake-up serves several, and what a trial
// finds would be chance.
//
// Pure functions over the caller's struct and clock; any thread that owns it, nothing blocks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	SPIN_WINDOW = 32,	   // rounds with requests
	SPIN_REQUEST_NS = 2000000, // a window of requests that come less often ends the trial
	SPIN_WINDOWS_CLEAR = 6,	   // of a trial with a clear result: without, with, without ...
	SPIN_WINDOWS = 16,	   // of any other
	SPIN_DEEP = 4, // requests a round that share their wake-up: polling gains little
};
#define SPIN_REST_NS  1000000000ull  // from a trial to the next, at least; doubled after each ...
#define SPIN_LONG_NS  4000000000ull  // ... up to this while polling pays off
#define SPIN_NEVER_NS 32000000000ull // ... and to this while it does not

// Zero it to begin.
struct spin_trial {
	bool is_polling;
	// Private.
	uint64_t since_ns; // the window began; 0: none
	uint64_t requests; // served before
	unsigned rounds;
	bool is_new; // the first window after a pause
	bool is_trying, has_paid_off;
	unsigned windows;	     // of the trial so far
	uint64_t took_ns[2];	     // for a request: without polling, with it; sums of windows
	uint64_t slowest_ns[2];	     // of these windows
	uint64_t began_ns, ended_ns; // the trial
	uint64_t rest_ns, least_rest_ns, rests_until_ns;
};

// A round brings requests, after the given number since the worker began. is_polling may change.
void spin_trial_note(struct spin_trial *t, uint64_t now_ns, uint64_t requests);
// Ends a trial and the longer polling: the usual one suffices. What was found out stays valid.
void spin_trial_reset(struct spin_trial *t);
