// SPDX-License-Identifier: BSD-2-Clause
// One thing at a time that blocks, on a thread of its own that lives as long as the process needs
// it: the kernel may keep a command of the thread for longer than the call lasts.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/err.h"

struct chore {
	pthread_t thread;
	sem_t begun;
	void (*run)(void *arg);
	void (*over)(void *arg); // on the thread, when it is not busy any more
	void *arg;
	atomic_bool is_busy; // not, when it is woken: it is to end
	bool is_there;
};

// Starts the thread. -EAGAIN with a text.
int chore_init(struct chore *c, void (*over)(void *arg), void *arg, struct err *e);
// Runs it; none may be running. run and over get the arg of chore_init().
void chore_begin(struct chore *c, void (*run)(void *arg));
bool chore_is_busy(const struct chore *c);
// Waits for what is running. Fine without chore_init() too, if it is zeroed.
void chore_done(struct chore *c);
