// SPDX-License-Identifier: BSD-2-Clause
// See chore.h.
#include "initiator/holder/chore.h"

static void *chore_main(void *arg)
{
	struct chore *c = arg;
	for (;;) {
		while (sem_wait(&c->begun) < 0)
			; // EINTR
		if (!atomic_load(&c->is_busy))
			return NULL;
		c->run(c->arg);
		atomic_store(&c->is_busy, false);
		c->over(c->arg);
	}
}

int chore_init(struct chore *c, void (*over)(void *arg), void *arg, struct err *e)
{
	*c = (struct chore){ .over = over, .arg = arg };
	sem_init(&c->begun, 0, 0);
	int r = -pthread_create(&c->thread, NULL, chore_main, c);
	if (r < 0)
		return err_errno(e, r, "a thread");
	c->is_there = true;
	return 0;
}

void chore_begin(struct chore *c, void (*run)(void *arg))
{
	c->run = run;
	atomic_store(&c->is_busy, true);
	sem_post(&c->begun);
}

bool chore_is_busy(const struct chore *c)
{
	return atomic_load(&c->is_busy);
}

void chore_done(struct chore *c)
{
	if (!c->is_there)
		return;
	sem_post(&c->begun);
	pthread_join(c->thread, NULL);
	sem_destroy(&c->begun);
	c->is_there = false;
}
