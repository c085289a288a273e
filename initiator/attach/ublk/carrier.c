// SPDX-License-Identifier: BSD-2-Clause
// --via ublk: a disk as /dev/ublkbN of Linux 6.5 and later. The program's thread, which waits for
// the kernel's control commands; the requests are the worker's (server.c).
//
// Life: add, parameters, fetch (server), start. End: stop, while requests are still served; then
// the server leaves the device, and it is deleted. If the process dies, the kernel keeps the device
// and its requests (quiesced); the next process fetches again between the two commands of recovery.
//
// The program that holds it locks its memory, calls prctl(PR_SET_IO_FLUSHER) and carries the mark
// of systemd for what outlives the shutdown (initiator/holder).
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/worker.h"
#include "initiator/attach/carrier.h"
#include "initiator/attach/ublk/control.h"
#include "initiator/attach/ublk/params.h"
#include "initiator/attach/ublk/server.h"
#include "initiator/attach/use.h"

enum { // seconds
	QUICK = 30,
	START = 60,    // the kernel reads the partition table
	PATIENCE = 30, // for requests in flight when it stops
	FORCED = 5,
};
#define QUEUES_CHOSEN 4
#define DEPTH_CHOSEN  128

struct ublk {
	struct carrier base;
	struct disk *disk;
	struct ublk_control control;
	struct ublk_server *server;
	struct ublk_info info;
	uint64_t features;
	struct carrier_events events;
	void *arg;
	bool has_stopped; // the command was given
	atomic_bool is_stopping;
	sem_t gone;
};

static struct ublk *of(const struct carrier *c)
{
	return container_of(c, struct ublk, base);
}

static int command(struct ublk *u, uint32_t op, void *buffer, unsigned len, uint64_t data,
		   unsigned seconds)
{
	struct ublk_command c = {
		.device = u->info.device,
		.queue = UBLK_NO_QUEUE,
		.addr = (uintptr_t)buffer,
		.len = (uint16_t)len,
		.data = data,
	};

	return ublk_control_do(&u->control, op, &c, seconds);
}

static int probe(struct err *e)
{
	struct ublk_control c;
	uint64_t features;
	int r = ublk_control_open(&c, &features, e);

	if (!r)
		ublk_control_close(&c);
	return r;
}

// ---- the device ----

static void gone(void *arg)
{
	struct ublk *u = arg;
	struct err why;

	sem_post(&u->gone);
	if (atomic_load(&u->is_stopping))
		return;
	err_set(&why, -ENODEV, "/dev/ublkb%u: the device was taken away", u->info.device);
	u->events.ended(u->arg, &why);
}

static int serve(struct ublk *u, struct err *e)
{
	char path[32];

	snprintf(path, sizeof path, "/dev/ublkc%u", u->info.device);
	// Non-blocking: io_uring copies at once, and does not ask a thread of the kernel to.
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	for (unsigned i = 0; fd < 0 && errno == ENOENT && i < 50;
	     i++) { // made by the kernel's thread
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
		fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0)
		return err_errno(e, -errno, "ublk: %s", path);
	struct ublk_server_config config = {
		.fd = fd,
		.queues = u->info.queues,
		.depth = u->info.depth,
		.io_bytes_max = u->info.io_bytes_max,
		.gone = gone,
		.arg = u,
	};
	int r = ublk_server_new(&u->server, u->disk, &config, e);
	if (!r)
		ublk_server_start(u->server);
	return r;
}

static unsigned chosen(unsigned wanted, unsigned otherwise, unsigned max)
{
	unsigned n = wanted ? wanted : otherwise;

	return n < max ? n : max;
}

// -EINVAL with a text: place is not "/dev/ublkbN".
static int number_of(const char *place, uint32_t *ret, struct err *e)
{
	char end;

	*ret = UBLK_ANY;
	if (place && sscanf(place, "/dev/ublkb%u%c", ret, &end) != 1)
		return err_set(e, -EINVAL, "ublk: place '%s': not /dev/ublkb0, /dev/ublkb1 ...",
			       place);
	return 0;
}

static int add(struct ublk *u, const struct carrier_config *config, struct err *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned queues = cpus > 0 && cpus < QUEUES_CHOSEN ? (unsigned)cpus : QUEUES_CHOSEN;
	uint32_t number;

	if (number_of(config->place, &number, e))
		return e->code;
	u->info = (struct ublk_info){
		.queues = (uint16_t)chosen(config->queues, queues, UBLK_QUEUES_MAX),
		.depth = (uint16_t)chosen(config->depth, DEPTH_CHOSEN, UBLK_DEPTH_MAX),
		.io_bytes_max = BUF_MAX,
		.device = number,
		.pid = getpid(),
		.flags = UBLK_RECOVERY | UBLK_RECOVERY_REISSUE | UBLK_USER_COPY | UBLK_IOCTL_ENCODE,
	};
	int r = command(u, UBLK_ADD, &u->info, sizeof u->info, 0, QUICK);
	if (r == -EEXIST)
		return err_set(e, r, "ublk: '%s' exists already", config->place);
	if (r < 0)
		return err_errno(e, r,
				 "ublk: add a device (at most as many as "
				 "/sys/module/ublk_drv/parameters/ublks_max)");
	return 0;
}

static int set_params(struct ublk *u, struct err *e)
{
	struct ublk_params params;
	int r = ublk_params_of(&params, disk_facts(u->disk), u->info.io_bytes_max, e);

	if (r < 0)
		return r;
	r = command(u, UBLK_SET_PARAMS, &params, sizeof params, 0, QUICK);
	return r < 0 ? err_errno(e, r, "ublk: set the parameters of the device") : 0;
}

// Stops and deletes it. Negative: the kernel still has it.
static int take_away(struct ublk *u, bool is_forced);

static int start_new(struct ublk *u, const struct carrier_config *config, struct err *e)
{
	int r = add(u, config, e);

	if (r < 0)
		return r;
	r = set_params(u, e);
	if (!r)
		r = serve(u, e);
	if (!r) {
		r = command(u, UBLK_START, NULL, 0, (uint64_t)getpid(), START);
		if (r < 0)
			err_errno(e, r, "/dev/ublkb%u: start", u->info.device);
	}
	if (r < 0)
		take_away(u, true);
	return r;
}

// ---- recovery ----

static int examine(struct ublk *u, struct err *e)
{
	struct ublk_params params = { .len = sizeof params };
	int r = command(u, UBLK_GET_PARAMS, &params, sizeof params, 0, QUICK);

	if (r < 0)
		return err_errno(e, r, "/dev/ublkb%u: parameters", u->info.device);
	if ((u->info.flags & (UBLK_RECOVERY | UBLK_USER_COPY)) !=
		    (UBLK_RECOVERY | UBLK_USER_COPY) ||
	    !u->info.depth || u->info.depth > UBLK_DEPTH_MAX || !u->info.queues ||
	    u->info.queues > UBLK_QUEUES_MAX || u->info.io_bytes_max > BUF_MAX)
		return err_set(e, -ENODEV, "/dev/ublkb%u: another program has made it",
			       u->info.device);
	return ublk_params_fit(&params, disk_facts(u->disk), e);
}

// The kernel takes a moment to notice that a process has died.
static int begin_recovery(struct ublk *u, struct err *e)
{
	int r = -EBUSY;

	for (unsigned i = 0; r == -EBUSY && i < 10 * QUICK; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		r = command(u, UBLK_START_RECOVERY, NULL, 0, 0, QUICK);
	}
	if (r == -EBUSY)
		return err_set(e, r, "/dev/ublkb%u: the process that serves it is still there",
			       u->info.device);
	return r < 0 ? err_errno(e, r, "/dev/ublkb%u: take it over", u->info.device) : 0;
}

static int recover(struct ublk *u, int id, struct err *e)
{
	u->info.device = (uint32_t)id;
	int r = command(u, UBLK_DEV_INFO, &u->info, sizeof u->info, 0, QUICK);
	if (r < 0)
		return err_errno(e, r == -EINVAL ? -ENODEV : r, "/dev/ublkb%d", id);
	r = examine(u, e);
	if (!r)
		r = begin_recovery(u, e);
	if (!r)
		r = serve(u, e);
	if (r)
		return r;
	r = command(u, UBLK_END_RECOVERY, NULL, 0, (uint64_t)getpid(), START);
	return r < 0 ? err_errno(e, r, "/dev/ublkb%d: continue", id) : 0;
}

// ---- life ----

static void ublk_free(struct ublk *u)
{
	ublk_control_close(&u->control);
	sem_destroy(&u->gone);
	free(u);
}

static int start(struct carrier **ret, struct disk *d, const struct carrier_config *config,
		 const struct carrier_events *events, void *arg, struct err *e)
{
	struct ublk *u = calloc(1, sizeof *u);

	*ret = NULL;
	if (!u)
		return err_errno(e, -ENOMEM, "ublk");
	*u = (struct ublk){
		.base.ops = &carrier_ublk,
		.disk = d,
		.events = *events,
		.arg = arg,
	};
	sem_init(&u->gone, 0, 0);
	int r = ublk_control_open(&u->control, &u->features, e);
	if (r < 0) {
		sem_destroy(&u->gone);
		free(u);
		return r;
	}
	r = config->recover_id >= 0 ? recover(u, config->recover_id, e) : start_new(u, config, e);
	if (r < 0) { // the device of a failed recovery is left to the next process
		if (!u->server)
			ublk_free(u); // else the kernel has its requests until this process ends
		return r;
	}
	*ret = &u->base;
	return 0;
}

static void info(const struct carrier *c, struct carrier_info *ret)
{
	const struct ublk *u = of(c);

	*ret = (struct carrier_info){ .id = (int)u->info.device, .is_block_device = true };
	snprintf(ret->device, sizeof ret->device, "/dev/ublkb%u", u->info.device);
}

static int check_unused(const struct carrier *c, struct err *e)
{
	struct carrier_info i;

	info(c, &i);
	return use_check(i.device, e);
}

static void resized(struct carrier *c)
{
	struct ublk *u = of(c);
	const struct disk_facts *f = disk_facts(u->disk);

	if (u->features & UBLK_CAN_RESIZE)
		command(u, UBLK_UPDATE_SIZE, NULL, 0, f->blocks * (f->block_size / UBLK_SECTOR),
			QUICK);
}

static bool wait_gone(struct ublk *u, unsigned seconds)
{
	struct timespec until;
	int r;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	do
		r = sem_timedwait(&u->gone, &until);
	while (r < 0 && errno == EINTR);
	return !r;
}

// Waits for a command that takes long because requests do, and in the end has them fail.
static int settle(struct ublk *u, int r, bool is_forced)
{
	if (r != -ETIMEDOUT || !is_forced || !u->server)
		return r;
	ublk_server_fail(u->server);
	return ublk_control_wait(&u->control, PATIENCE);
}

// The start, or the stop of an earlier call, may still be with the kernel.
static int stop_device(struct ublk *u, bool is_forced)
{
	unsigned seconds = is_forced ? FORCED : PATIENCE;

	if (u->control.is_pending) {
		int r = settle(u, ublk_control_wait(&u->control, seconds), is_forced);
		if (u->has_stopped || r == -ETIMEDOUT)
			return r;
	}
	u->has_stopped = true;
	return settle(u, command(u, UBLK_STOP, NULL, 0, 0, seconds), is_forced);
}

static int take_away(struct ublk *u, bool is_forced)
{
	atomic_store(&u->is_stopping, true);
	int r = stop_device(u, is_forced);
	if (r < 0)
		return r;
	if (u->server && !wait_gone(u, PATIENCE))
		return -ETIMEDOUT;
	ublk_server_free(u->server);
	u->server = NULL;
	// A device that is still open is deleted when it is closed.
	r = command(u, is_forced ? UBLK_DELETE_ASYNC : UBLK_DELETE, NULL, 0, 0, PATIENCE);
	if (is_forced && r < 0)
		r = command(u, UBLK_DELETE, NULL, 0, 0, FORCED);
	return 0;
}

static int stop(struct carrier *c, bool is_forced, struct err *e)
{
	struct ublk *u = of(c);
	int r = take_away(u, is_forced);

	if (r == -ETIMEDOUT)
		return err_set(e, r,
			       "/dev/ublkb%u: requests wait for the target (they fail with "
			       "--force)",
			       u->info.device);
	if (r < 0)
		return err_errno(e, r, "/dev/ublkb%u: stop", u->info.device);
	ublk_free(u);
	return 0;
}

// ---- what a process left ----

static int left_info(struct ublk *u, struct err *e)
{
	const uint64_t own = UBLK_RECOVERY | UBLK_USER_COPY;
	uint32_t device = u->info.device;
	int r = 0;

	// The kernel takes a moment to notice that a process has died.
	for (unsigned i = 0; i < 10 * QUICK; i++) {
		r = command(u, UBLK_DEV_INFO, &u->info, sizeof u->info, 0, QUICK);
		u->info.device = device;
		if (r < 0 || u->info.state != UBLK_LIVE)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	}
	if (r < 0)
		return err_errno(e, r == -EINVAL ? -ENODEV : r, "/dev/ublkb%u", device);
	if (u->info.state == UBLK_LIVE || (u->info.flags & own) != own)
		return err_set(e, -EBUSY, "/dev/ublkb%u: another program serves it", device);
	return 0;
}

static int clear_device(struct ublk *u, struct err *e)
{
	int r = left_info(u, e);

	if (r < 0)
		return r == -ENODEV ? 0 : r;
	r = take_away(u, true);
	return r < 0 ? err_errno(e, r, "/dev/ublkb%u: stop", u->info.device) : 0;
}

static int clear(const struct carrier_left *left, bool is_forced, struct err *e)
{
	struct ublk u = { .info.device = (uint32_t)left->id };

	if (left->id < 0)
		return 0;
	if (!is_forced && !use_is_gone(left->device))
		return err_set(e, -EHOSTDOWN,
			       "%s needs a new one (attach it again, or delete the device with "
			       "--force: its requests fail)",
			       left->device);
	int r = ublk_control_open(&u.control, &u.features, e);
	if (r < 0)
		return r == -ENODEV ? 0 : r; // no driver, no device
	r = clear_device(&u, e);
	ublk_control_close(&u.control);
	return r;
}

const struct carrier_ops carrier_ublk = {
	.name = "ublk",
	.help = "a block device of Linux 6.5 and later: /dev/ublkbN",
	.probe = probe,
	.is_automatic = true,
	.can_recover = true,
	.needs_root = true,
	.start = start,
	.info = info,
	.check_unused = check_unused,
	.resized = resized,
	.stop = stop,
	.clear = clear,
};
