// SPDX-License-Identifier: BSD-2-Clause
// Starts workers, target, configuration and control socket in that order and stops them in the
// reverse one. Targets stop first, so that sessions end in order and storage is closed after its
// last command; the saved file does not change.
#include "target/daemon.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fds.h"
#include "core/lockfile.h"
#include "core/offload.h"
#include "target/config/config.h"
#include "target/fabric/fabric.h"
#include "target/fabrics.h"
#include "target/metrics/server.h"
#include "core/notify.h"
#include "target/rpc/server.h"
#include "target/scsi/lu.h"
#include "target/scsi/state_file.h"
#include "target/status.h"
#include "target/watchdog.h"

// For commands in flight, and again for threads to end; then SIGALRM ends the process.
enum { GRACE_S = 15 };

struct daemon {
	const struct daemon_options *options;
	struct worker *control;
	struct worker *workers[WORKER_MAX];
	unsigned worker_count;
	bool is_ending;
	struct config *config;
	struct rpc_server *rpc;
	struct metrics_server *metrics;
	struct watch signals;
	struct watchdog watchdog;
	struct status status;
	int config_lock, state_lock; // descriptors, -1: none
};

// ---- stop ----

static void on_idle(void *arg)
{
	struct daemon *d = arg;
	worker_stop(d->control);
}

// Closes the portals, then the connections, without a logout: initiators keep their sessions and
// find the same targets after a restart. Then storage is closed.
static void take_down(struct daemon *d)
{
	d->is_ending = true;
	status_done(&d->status);
	// In case storage never responds: the default action of SIGALRM ends the process.
	alarm(GRACE_S);
	metrics_server_ending(d->metrics);
	if (d->rpc)
		rpc_server_ending(d->rpc);
	config_stop_listening(d->config);
	fabrics_stop();
	config_shutdown(d->config, on_idle, d);
}

static void begin_end(void *arg)
{
	struct daemon *d = arg;
	if (d->is_ending)
		return;
	notify_manager("STOPPING=1");
	log_info("farblockd: shutting down");
	take_down(d);
}

// The reload protocol of sd_notify(3): the manager waits for the READY=1 that follows.
static void reload(struct daemon *d)
{
	char state[64];
	log_info("farblockd: reload: retrying missing files, devices and addresses");
	snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lu",
		 (unsigned long)(clock_ns() / 1000));
	notify_manager(state);
	config_retry(d->config);
	status_ready(&d->status);
}

static void on_signal(struct watch *wa, uint32_t events)
{
	struct daemon *d = container_of(wa, struct daemon, signals);
	struct signalfd_siginfo info;
	while (read(wa->fd, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGHUP && !d->is_ending) {
			reload(d);
		} else if (info.ssi_signo != SIGHUP) {
			begin_end(d);
		}
	}
}

// ---- start ----

// Signals are read from a signalfd; every thread blocks them.
static int block_signals(sigset_t *set, struct err *e)
{
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	int r = pthread_sigmask(SIG_BLOCK, set, NULL);
	return r ? err_errno(e, -r, "signals") : 0;
}

static unsigned cpus_allowed(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : CPU_COUNT(&set);
	return n < 1 ? 1 : n > WORKER_MAX ? WORKER_MAX : (unsigned)n;
}

static int start_workers(struct daemon *d, struct err *e)
{
	const struct daemon_options *o = d->options;
	unsigned n = o->workers ? o->workers : o->cpu_count ? o->cpu_count : cpus_allowed();
	struct worker_options wo = { .name = "control", .cpu = -1, .is_control = true };
	int r = worker_new(&d->control, &wo, e);
	for (unsigned i = 0; !r && i < n; i++) {
		char name[20];
		snprintf(name, sizeof name, "worker%u", i);
		wo = (struct worker_options){
			.name = name,
			.cpu = o->cpu_count ? o->cpus[i % o->cpu_count] : -1,
			.spin_usec = o->spin_usec,
			.pool_bytes = o->pool_mem,
		};
		r = worker_new(&d->workers[i], &wo, e);
		if (!r)
			d->worker_count++;
	}
	for (unsigned i = 0; !r && i < d->worker_count; i++)
		r = worker_start(d->workers[i], e);
	if (r == -ENODEV && o->cpu_count)
		err_prefix(e, "--cpus");
	return r;
}

// Two daemons with one saved file would undo each other's changes; with one state directory, each
// other's reservations. If a lock cannot be created, as on a read-only disk, it runs without.
static int lock_place(const char *flag, const char *path, const char *name, int *ret_fd,
		      struct err *e)
{
	char file[PATH_MAX + 16];
	snprintf(file, sizeof file, "%s%s", path, name);
	int r = lockfile_take(file, ret_fd, e);
	if (r == -EADDRINUSE)
		return err_set(e, r, "--%s %s: in use by another farblockd (stop it, or use --%s)",
			       flag, path, flag);
	if (r < 0)
		log_warn("%s: not locked against a second farblockd (--%s)", e->text, flag);
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static uint64_t mix(uint64_t id, const void *bytes, size_t len)
{
	for (const uint8_t *p = bytes; len--; p++)
		id = (id ^ *p) * 0x100000001b3u; // FNV-1a
	return id;
}

// The number that the state directory keeps; a new one, which is kept if that is possible, where
// there is none.
static uint64_t kept_id(const char *state_dir)
{
	static const char lost[] = "initiators cannot tell that this is the same farblockd";
	uint64_t id = 0;
	char *text, fresh[20];
	size_t len;
	struct err e;
	int r = state_file_read(&text, &len, state_dir, "server", "id", &e);
	if (!r) {
		id = strtoull(text, NULL, 16);
		free(text);
	} else if (r != -ENOENT) {
		log_warn("%s (it gets a new number: %s)", e.text, lost);
	}
	if (id || getrandom(&id, sizeof id, 0) != sizeof id)
		return id;
	int n = snprintf(fresh, sizeof fresh, "%016llx\n", (unsigned long long)id);
	if (state_file_write(state_dir, "server", "id", fresh, (size_t)n, &e) < 0)
		log_warn("%s (after a restart %s)", e.text, lost);
	return id;
}

// The same at each start, and another one for a second farblockd that serves the same disk: what
// the state directory keeps, mixed with what a copy of that has not: the machine's id, path and
// inode. Without a lock another one may run there now: the number is of this process.
static uint64_t find_server_id(const char *state_dir, bool is_locked)
{
	char machine[64] = "", whole[PATH_MAX];
	struct stat st;
	uint64_t id;
	if (!is_locked && getrandom(&id, sizeof id, 0) == sizeof id)
		return id;
	id = kept_id(state_dir);
	FILE *f = fopen("/etc/machine-id", "re");
	if (f && !fgets(machine, sizeof machine, f))
		*machine = 0;
	if (f)
		fclose(f);
	id = mix(id, machine, strlen(machine));
	if (realpath(state_dir, whole))
		id = mix(id, whole, strlen(whole));
	return stat(state_dir, &st) ? id : mix(id, &st.st_ino, sizeof st.st_ino);
}

static int take_places(struct daemon *d, struct err *e)
{
	const struct daemon_options *o = d->options;
	int r = folder_make(o->state_dir, 0700, e);
	if (r < 0)
		return err_prefix(e, "--state-dir");
	r = lock_place("state-dir", o->state_dir, "/lock", &d->state_lock, e);
	if (r < 0)
		return r;
	lu_set_server_id(find_server_id(o->state_dir, d->state_lock >= 0));
	r = folder_make_for(o->config, 0700, e);
	if (r < 0)
		return err_prefix(e, "--config");
	if (is_folder(o->config))
		return err_set(e, -EISDIR, "--config %s: not a regular file", o->config);
	return lock_place("config", o->config, ".lock", &d->config_lock, e);
}

static int start_config(struct daemon *d, struct err *e)
{
	const struct daemon_options *o = d->options;
	struct config_options co = {
		.control = d->control,
		.file = o->config,
		.state_dir = o->state_dir,
		.socket = o->socket,
	};
	int r = take_places(d, e);
	fabrics_use(farblockd_fabrics);
	if (!r)
		r = fabrics_start(d->control, e);
	if (!r)
		r = config_new(&d->config, &co, e);
	return r;
}

static int start(struct daemon *d, struct err *e)
{
	sigset_t set;
	int r = block_signals(&set, e);
	fds_init();
	if (!r)
		r = start_workers(d, e);
	if (!r)
		r = start_config(d, e);
	if (r < 0)
		return r;
	// The socket is bound before the saved file is read, since a second farblockd must not
	// open the storage of the first. Clients get responses when the file is loaded.
	struct rpc_context context = { d->config, begin_end, d };
	r = rpc_server_new(&d->rpc, d->control, d->options->socket, &context, e);
	if (!r)
		r = config_load(d->config, e);
	if (!r)
		r = metrics_server_new(&d->metrics, d->options->metrics, d->control, d->config, e);
	if (!r)
		r = rpc_server_listen(d->rpc, e);
	if (r < 0)
		return r;
	int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	r = fd < 0 ? -errno : watch_add(d->control, &d->signals, fd, EPOLLIN);
	return r < 0 ? err_errno(e, r, "signals") : 0;
}

static void finish(struct daemon *d)
{
	fabrics_stop();
	rpc_server_free(d->rpc);
	metrics_server_free(d->metrics);
	config_free(d->config);
	if (d->signals.fd >= 0) {
		int fd = d->signals.fd;
		watch_remove(d->control, &d->signals);
		close(fd);
	}
	watchdog_done(&d->watchdog);
	offload_shutdown();
	for (unsigned i = 0; i < d->worker_count; i++)
		worker_free(d->workers[i]);
	worker_free(d->control);
	if (d->config_lock >= 0)
		close(d->config_lock);
	if (d->state_lock >= 0)
		close(d->state_lock);
}

int daemon_run(const struct daemon_options *o, struct err *e)
{
	struct daemon d = {
		.options = o,
		.signals = {.fn = on_signal, .fd = -1},
		.config_lock = -1,
		.state_lock = -1,
	};
	int r = start(&d, e);
	if (!r) {
		log_info("farblockd " FARBLOCK_VERSION ": %u worker%s, control socket %s",
			 d.worker_count, d.worker_count == 1 ? "" : "s", o->socket);
		status_init(&d.status, d.control, d.config);
		watchdog_init(&d.watchdog, d.control);
		worker_run(d.control);
		log_info("farblockd: stopped");
	} else if (d.config) {
		take_down(&d);
		worker_run(d.control);
	}
	// Commands have ended; threads get as long again. What follows is not ours: a leak checker,
	// say, takes its time.
	if (d.is_ending)
		alarm(GRACE_S);
	finish(&d);
	alarm(0);
	return r;
}
