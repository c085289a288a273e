// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into libiscsi's programs in the guest: mends what libiscsi 1.19 does wrong over iSER
// and a target cannot help, so that its test suite can judge the target.
//
// - Memory of a connection is taken as zeroed that came from malloc(), so that a second connection
//   of one process finds descriptors of the first: malloc() gives zeroes.
// - Data-in that a command ended without is put back as one of the library's small blocks, however
//   much shorter than those it was, and the next to get it writes past its end: malloc() gives no
//   less than such a block.
// - What sends a request asks the SCSI task for its length, which task management has none of, and
//   follows a null pointer: page zero is there to be read, and its zeroes say "no data".
// - Commands are sent however many are out: there are descriptors for 256, and receives, and the
//   target's window. A sender of more must wait for responses first.
// - Data-in counts as long as it was expected to be, however little the target had: it is as long
//   as status and residual say, as over TCP.
// - A wait of one second for an answer ends the command with an error, and the answer, when it
//   comes, finds memory that is free: the wait is longer. An emulated machine stands still at
//   times.
// - Who frees a connection's context ends the connection only if it has a socket, so that sessions
//   stay as long as the process: they end before. Once, as the library ends them twice otherwise.
// - What it printed is lost when it dies: every line is written at once.
// - The thread that receives connection events is cancelled while it holds what the library waits
// for
//   next, and not waited for before its memory is freed: it ends of itself, as the connection has,
//   and is waited for.
#include <dlfcn.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define SMALL_BLOCK   512
#define MOST_COMMANDS 64

#define EXPORTED __attribute__((visibility("default")))

void *__libc_calloc(size_t count, size_t size);

EXPORTED void *malloc(size_t size)
{
	return __libc_calloc(1, size < SMALL_BLOCK ? SMALL_BLOCK : size);
}

__attribute__((constructor)) static void begin(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (mmap(NULL, 4096, PROT_READ, flags, -1, 0) == MAP_FAILED)
		abort();
}

EXPORTED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int) = (__typeof__(real))dlsym(RTLD_NEXT, "poll");

	return real(fds, count, timeout == 1000 ? 20000 : timeout);
}

EXPORTED int pthread_cancel(pthread_t thread)
{
	int (*real)(pthread_t) = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_cancel");
	struct timespec end;

	if (pthread_equal(thread, pthread_self()))
		return real(thread);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 5;
	if (pthread_timedjoin_np(thread, NULL, &end)) {
		real(thread);
		pthread_join(thread, NULL);
	}
	return 0;
}

EXPORTED struct scsi_task *iscsi_scsi_command_sync(struct iscsi_context *iscsi, int lun,
						   struct scsi_task *task, struct iscsi_data *data)
{
	struct scsi_task *(*real)(struct iscsi_context *, int, struct scsi_task *,
				  struct iscsi_data *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "iscsi_scsi_command_sync");
	struct scsi_task *t = real(iscsi, lun, task, data);

	if (t && t->status == SCSI_STATUS_GOOD && t->xfer_dir == SCSI_XFER_READ &&
	    t->residual_status == SCSI_RESIDUAL_UNDERFLOW && (size_t)t->datain.size >= t->residual)
		t->datain.size -= (int)t->residual;
	return t;
}

static const struct iscsi_context *connected[256];

static bool set_connected(const struct iscsi_context *from, const struct iscsi_context *to)
{
	for (size_t i = 0; i < sizeof(connected) / sizeof(*connected); i++) {
		if (connected[i] == from) {
			connected[i] = to;
			return true;
		}
	}
	return false;
}

EXPORTED int iscsi_connect_async(struct iscsi_context *iscsi, const char *portal,
				 iscsi_command_cb done, void *private_data)
{
	int (*real)(struct iscsi_context *, const char *, iscsi_command_cb, void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "iscsi_connect_async");

	if (!set_connected(iscsi, iscsi) && !set_connected(NULL, iscsi))
		abort();
	return real(iscsi, portal, done, private_data);
}

EXPORTED int iscsi_disconnect(struct iscsi_context *iscsi)
{
	int (*real)(struct iscsi_context *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "iscsi_disconnect");

	return set_connected(iscsi, NULL) ? real(iscsi) : 0;
}

EXPORTED int iscsi_destroy_context(struct iscsi_context *iscsi)
{
	int (*real)(struct iscsi_context *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "iscsi_destroy_context");

	if (iscsi)
		iscsi_disconnect(iscsi);
	return real(iscsi);
}

struct call {
	iscsi_command_cb done;
	void *private_data;
};

static int commands_out;

static void is_done(struct iscsi_context *iscsi, int status, void *command_data, void *private_data)
{
	struct call call = *(struct call *)private_data;

	free(private_data);
	commands_out--;
	call.done(iscsi, status, command_data, call.private_data);
}

static int wait_for_room(struct iscsi_context *iscsi)
{
	while (commands_out >= MOST_COMMANDS) {
		struct pollfd fd = { .fd = iscsi_get_fd(iscsi), .events = POLLIN };

		if (poll(&fd, 1, 20000) != 1 || iscsi_service(iscsi, fd.revents))
			return -1;
	}
	return 0;
}

EXPORTED int iscsi_scsi_command_async(struct iscsi_context *iscsi, int lun, struct scsi_task *task,
				      iscsi_command_cb done, struct iscsi_data *data,
				      void *private_data)
{
	int (*real)(struct iscsi_context *, int, struct scsi_task *, iscsi_command_cb,
		    struct iscsi_data *, void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "iscsi_scsi_command_async");
	struct call *call = malloc(sizeof(*call));

	if (!call || wait_for_room(iscsi)) {
		free(call);
		return -1;
	}
	*call = (struct call){ .done = done, .private_data = private_data };
	commands_out++;
	if (!real(iscsi, lun, task, is_done, data, call))
		return 0;
	commands_out--;
	free(call);
	return -1;
}
