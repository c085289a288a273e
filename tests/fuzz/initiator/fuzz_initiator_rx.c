// SPDX-License-Identifier: BSD-2-Clause
// Bytes of a hostile target after the login: a read, a write and a command without data are in
// flight, a ping and an abort are out. The first byte chooses digests and parameters. Every byte
// of the read's memory is exact, so that AddressSanitizer sees one too many.
#include "session_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/iscsi/dmi_tcp.h"

enum { READ = 1000, WRITE = 3000 };

static struct watch peer;
static struct timer end;

static void on_freed(void *arg)
{
	int fd = peer.fd;
	timer_cancel(worker, &end);
	watch_remove(worker, &peer);
	close(fd);
	sem_post(&over);
}

static const struct scsi_session_ops ops = { .closed = on_closed, .freed = on_freed };

static void feed(void)
{
	while (input_len) {
		ssize_t n = write(peer.fd, input, input_len);
		if (n <= 0)
			return; // full: continues when there is room; or the session has closed
		input += n;
		input_len -= (size_t)n;
	}
	shutdown(peer.fd, SHUT_WR);
}

static void on_peer(struct watch *w, uint32_t events)
{
	uint8_t junk[65536];
	while (read(w->fd, junk, sizeof junk) > 0)
		;
	feed();
}

static void on_end(struct timer *t)
{
	scsi_session_free(&session->scsi);
}

// A session that has just logged in, without the login.
static void enter(int fd, uint8_t choice)
{
	struct err e;
	struct dmi *dm;
	if (dmi_tcp_new(&dm, worker, fd, &session_dmi_up, session, &e) < 0)
		abort();
	timer_cancel(worker, &session->timer);
	session->dm = dm;
	struct iscsi_params *p = &session->info.params;
	iscsi_params_init(p);
	p->header_digest = choice & 1;
	p->data_digest = choice & 2;
	p->initial_r2t = !(choice & 4);
	p->is_discovery = choice & 8;
	p->max_recv_data = 65536;
	p->max_outstanding_r2t = 2;
	p->max_burst = 4096;
	p->first_burst = 512;
	p->max_send_data = 512;
	enter_full_feature(dm);
}

static void begin(struct msg *m)
{
	int fds[2];
	make_session(&ops);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		abort();
	enter(fds[0], input_len ? *input : 0);
	submit(SCSI_READ_10, READ);
	submit(SCSI_WRITE_10, WRITE);
	submit(SCSI_TEST_UNIT_READY, 0);
	pump();
	input += input_len != 0;
	input_len -= input_len != 0;
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	peer = (struct watch){ .fn = on_peer, .fd = -1 };
	watch_add(worker, &peer, fds[1], 0);
	// A target that leaves the connection open: the session ends some rounds later.
	timer_init(&end, on_end);
	timer_arm(worker, &end, 20000);
	feed();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!worker) {
		signal(SIGPIPE, SIG_IGN);
		start();
	}
	run(begin, data, size);
	finish();
	return 0;
}
