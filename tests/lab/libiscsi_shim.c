// SPDX-License-Identifier: BSD-2-Clause
// Preloaded into libiscsi's programs in the guest: mends what libiscsi 1.19 does wrong over iSER
// and a target cannot help, so that its test suite can judge the target.
//
// - Memory of a connection is taken as zeroed that came from malloc(), so that a second connection
//   of one process finds descriptors of the first: malloc() gives zeroes.
// - Data-in counts as long as it was expected to be, however little the target had: it is as long
//   as status and residual say, as over TCP.
// - A wait of one second for an answer ends the command with an error, and the answer, when it
//   comes, finds memory that is free: the wait is longer. An emulated machine stands still at
//   times.
// - The thread that hears of connections is told to end, but not waited for before its memory is
//   freed: it is waited for.
#include <dlfcn.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

void *__libc_calloc(size_t count, size_t size);

EXPORTED void *malloc(size_t size)
{
	return __libc_calloc(1, size);
}

EXPORTED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int) = (__typeof__(real))dlsym(RTLD_NEXT, "poll");

	return real(fds, count, timeout == 1000 ? 20000 : timeout);
}

EXPORTED int pthread_cancel(pthread_t thread)
{
	int (*real)(pthread_t) = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_cancel");
	int ret = real(thread);

	if (!ret && !pthread_equal(thread, pthread_self()))
		pthread_join(thread, NULL);
	return ret;
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
