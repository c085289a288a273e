// SPDX-License-Identifier: BSD-2-Clause
// lab_attach VIA ID URL... [OPTIONS of farblock-initiator read]: a disk over these paths as a local
// device, by one of farblock-initiator's carriers, for the lab. ID: takes over that device; -1: a
// new one. Prints "DEVICE ID", and ends on TERM.
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/offload.h"
#include "core/worker.h"
#include "initiator/attach/carrier.h"
#include "initiator/program/iscsi.h"
#include "initiator/program/srp.h"

struct attach {
	struct tool tool;
	struct tool_path paths[TOOL_ARGS_MAX];
	struct disk_path_config configs[TOOL_ARGS_MAX];
	struct disk_config config;
	struct disk *disk;
	struct worker *worker;
	struct err why;
	int result;
	sem_t event;
};

static int fail(const struct err *e)
{
	puts(e->text);
	fflush(stdout);
	return 1;
}

static int read_paths(struct attach *a, struct err *e)
{
	for (unsigned i = 0; i < a->tool.o.arg_count; i++) {
		const char *url = a->tool.o.args[i];
		struct tool_path *p = &a->paths[i];
		int r = strncmp(url, "srp://", 6) ? iscsi_path(&a->tool, url, true, p, e)
						  : srp_path(&a->tool, url, true, p, e);
		if (r)
			return r;
		a->configs[i] = (struct disk_path_config){
			.open = p->open,
			.config = p->config,
			.config_size = p->config_size,
			.lun = p->lun,
		};
		snprintf(a->configs[i].name, DISK_NAME_TEXT, "%s", url);
	}
	a->config = (struct disk_config){
		.paths = a->configs,
		.path_count = a->tool.o.arg_count,
		.no_path_retry = DISK_QUEUE_FOREVER,
		.allows_replaced = a->tool.o.allows_replaced,
	};
	return 0;
}

static void ready(void *arg, const struct err *why)
{
	struct attach *a = arg;

	a->why = *why;
	sem_post(&a->event);
}

static void closed(void *arg)
{
	struct attach *a = arg;

	sem_post(&a->event);
}

static void path_changed(void *arg, unsigned index, enum disk_path_state state,
			 const struct err *why)
{
	fprintf(stderr, "path %u: %s %s\n", index, disk_path_state_text(state), why->text);
}

static void stale(void *arg, const struct err *why)
{
	fprintf(stderr, "stale: %s\n", why->text);
}

static void begin(void *arg)
{
	static const struct disk_ops ops = {
		.ready = ready, .path = path_changed, .stale = stale, .closed = closed
	};
	struct attach *a = arg;

	a->result = disk_new(&a->disk, a->worker, &a->config, &ops, a, &a->why);
}

static void end(void *arg)
{
	disk_close(((struct attach *)arg)->disk);
}

static void release(void *arg)
{
	disk_free(((struct attach *)arg)->disk);
}

static void wait_event(struct attach *a)
{
	while (sem_wait(&a->event) < 0 && errno == EINTR)
		;
}

static int open_disk(struct attach *a, struct err *e)
{
	struct worker_options options = { .name = "disk", .cpu = -1 };
	int r = worker_new(&a->worker, &options, e);

	if (!r)
		r = worker_start(a->worker, e);
	if (r)
		return r;
	worker_call(a->worker, begin, a);
	if (!a->result)
		wait_event(a);
	*e = a->why;
	return a->result ? a->result : a->why.code;
}

static void ended(void *arg, const struct err *why)
{
	fprintf(stderr, "ended: %s\n", why->text);
}

static int attach(struct attach *a, const char *via, int id, const sigset_t *signals)
{
	const struct carrier_ops *ops = carrier_find(via);
	struct carrier_config config = { .name = "lab", .recover_id = id };
	struct carrier_events events = { ended };
	struct carrier_info info;
	struct carrier *c;
	struct err e;
	int sig;

	if (!ops || ops->probe(&e) || ops->start(&c, a->disk, &config, &events, NULL, &e))
		return fail(&e);
	ops->info(c, &info);
	printf("%s %d\n", info.device, info.id);
	fflush(stdout);
	do
		sigwait(signals, &sig);
	while (ops->check_unused(c, &e) && fail(&e));
	if (ops->stop(c, false, &e))
		return fail(&e);
	worker_call(a->worker, end, a);
	wait_event(a);
	worker_call(a->worker, release, a);
	worker_free(a->worker);
	return 0;
}

int main(int argc, char **argv)
{
	static struct attach a;
	sigset_t signals;
	struct err e;

	sem_init(&a.event, 0, 0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (argc < 4 || tool_options_parse(&a.tool.o, TOOL_READ, argc - 3, argv + 3, &e) ||
	    read_paths(&a, &e) || open_disk(&a, &e))
		return fail(&e);
	int status = attach(&a, argv[1], atoi(argv[2]), &signals);
	for (unsigned i = 0; i < TOOL_ARGS_MAX; i++)
		tool_path_done(&a.paths[i]);
	offload_shutdown();
	return status;
}
