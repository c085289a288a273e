// SPDX-License-Identifier: BSD-2-Clause
// lab_carrier VIA FILE [ID]: a carrier of farblock-initiator with FILE, mapped, as its disk, so
// that the carrier is tested without a session. ID: takes over that device. Prints "DEVICE ID",
// then a line for each signal: USR1: whether the device is unused; USR2: requests wait from now on;
// TERM: ends; INT: ends by force.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_disk.h"
#include "initiator/attach/carrier.h"

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static int fail(const struct err *e)
{
	say(e->text);
	return 1;
}

static void ended(void *arg, const struct err *why)
{
	printf("ended: %s\n", why->text);
	fflush(stdout);
}

static void hold(void *arg)
{
	((struct disk *)arg)->holds = true;
}

static int open_disk(struct disk *d, const char *path, struct err *e)
{
	struct worker_options options = { .name = "disk", .cpu = -1 };
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct worker *w;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, -errno, "%s", path);
	uint8_t *m = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED)
		return err_errno(e, -errno, "%s: map", path);
	int r = worker_new(&w, &options, e);
	if (!r)
		r = worker_start(w, e);
	if (!r)
		fake_disk_init(d, w, m, (uint64_t)st.st_size);
	return r;
}

static int serve(const struct carrier_ops *ops, struct carrier *c, struct disk *d,
		 const sigset_t *signals)
{
	struct err e;
	int sig;

	while (!sigwait(signals, &sig)) {
		if (sig == SIGUSR1)
			say(ops->check_unused(c, &e) ? e.text : "unused");
		if (sig == SIGUSR2) {
			worker_call(d->worker, hold, d);
			say("holds");
		}
		if (sig != SIGTERM && sig != SIGINT)
			continue;
		if (!ops->stop(c, sig == SIGINT, &e))
			break;
		fail(&e);
	}
	worker_call(d->worker, fake_disk_release, d);
	worker_free(d->worker);
	say("stopped");
	return 0;
}

int main(int argc, char **argv)
{
	const struct carrier_ops *ops = argc > 2 ? carrier_find(argv[1]) : NULL;
	struct carrier_config config = { .name = "lab",
					 .recover_id = argc > 3 ? atoi(argv[3]) : -1 };
	struct carrier_events events = { ended };
	struct carrier_info info;
	struct carrier *c;
	struct disk d;
	struct err e;
	sigset_t signals;

	if (!ops)
		return 2;
	sigemptyset(&signals);
	for (unsigned i = 0; i < 4; i++)
		sigaddset(&signals, (int[]){ SIGTERM, SIGINT, SIGUSR1, SIGUSR2 }[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (open_disk(&d, argv[2], &e) || ops->probe(&e) ||
	    ops->start(&c, &d, &config, &events, NULL, &e))
		return fail(&e);
	ops->info(c, &info);
	printf("%s %d\n", info.device, info.id);
	fflush(stdout);
	return serve(ops, c, &d, &signals);
}
