// SPDX-License-Identifier: BSD-2-Clause
// Bytes of a hostile target after the login: a read, a write and a command without data are in
// flight, a ping and an abort are out. The first byte chooses digests and parameters. Every byte
// of the read's memory is exact, so that AddressSanitizer sees one too many.
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/worker.h"
#include "initiator/scsi_cdb.h"
#include "initiator/session_priv.h"
#include "transport/iscsi/dm_tcp_initiator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READ = 1000, WRITE = 3000 };

static struct worker *worker;
static struct ini_session *session;
static struct ini_cmd cmds[3];
static struct ini_tmf tmf;
static struct ini_ping ping;
static int done_count;
static const uint8_t *input;
static size_t input_len;
static struct watch peer;
static uint8_t *read_mem, *write_mem;
static struct timer end;
static sem_t over;

static void on_cmd(struct ini_cmd *c)
{
	done_count++;
	// What is valid must lie in the command's memory.
	if (c->task.data_len > c->task.len || c->task.sense_len > DMI_SENSE_MAX)
		abort();
}

static void on_tmf(struct ini_tmf *t)
{
}

static void on_ping(struct ini_ping *p)
{
}

static void on_freed(void *arg)
{
	int fd = peer.fd;
	timer_cancel(worker, &end);
	watch_remove(worker, &peer);
	close(fd);
	sem_post(&over);
}

static void on_closed(struct ini_session *s, const struct err *why)
{
	ini_session_free(s);
}

static const struct ini_ops ops = { .closed = on_closed, .freed = on_freed };

static void feed(void)
{
	while (input_len) {
		ssize_t n = write(peer.fd, input, input_len);
		if (n <= 0)
			return; // full: goes on when there is room; or the session has closed
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
	ini_session_free(session);
}

static void submit(struct ini_cmd *c, enum scsi_op op, void *mem, uint32_t len)
{
	struct scsi_args args = { .len = 1 };
	scsi_cmd(c, 0, op, op == SCSI_TEST_UNIT_READY ? NULL : &args, mem, len);
	c->done = on_cmd;
	ini_cmd_submit(session, c);
}

// A session that has just logged in, without the login.
static void enter(int fd, uint8_t choice)
{
	struct err e;
	struct dmi *dm;
	if (dm_tcp_initiator_new(&dm, worker, fd, &session_dmi_up, session, &e) < 0)
		abort();
	timer_cancel(worker, &session->timer);
	session->dm = dm;
	session->config.replacement_timeout = 0;
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
	dm->sns = (struct dmi_sns){
		.cmd_sn = 1, .exp_cmd_sn = 1, .max_cmd_sn = 16, .exp_stat_sn = 1
	};
	dm->ops->full_feature(dm, p);
	session_enter_up(session);
}

static void begin(struct msg *m)
{
	struct ini_config c;
	struct err e;
	int fds[2];
	ini_config_init(&c);
	memcpy(c.login.initiator_name, "iqn.a:i", 8);
	memcpy(c.login.target_name, "iqn.a:t", 8);
	c.portal_count = 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0 ||
	    ini_session_new(&session, worker, &c, &ops, NULL, &e) < 0)
		abort();
	enter(fds[0], input_len ? *input : 0);
	submit(&cmds[0], SCSI_READ_10, read_mem, READ);
	submit(&cmds[1], SCSI_WRITE_10, write_mem, WRITE);
	submit(&cmds[2], SCSI_TEST_UNIT_READY, NULL, 0);
	command_pump(session);
	tmf = (struct ini_tmf){ .function = ISCSI_TMF_ABORT_TASK, .cmd = &cmds[2], .done = on_tmf };
	ini_tmf_submit(session, &tmf);
	ping = (struct ini_ping){ .done = on_ping };
	ini_ping(session, &ping);
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

// One worker serves every input; making one takes longer than most of them.
static void start(void)
{
	struct worker_options o = { .name = "fuzz", .cpu = -1 };
	struct err e;
	signal(SIGPIPE, SIG_IGN);
	sem_init(&over, 0, 0);
	if (worker_new(&worker, &o, &e) < 0 || worker_start(worker, &e) < 0)
		abort();
}

static void stop(void)
{
	worker_free(worker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct msg m = { .fn = begin };
	if (!worker) {
		start();
		atexit(stop);
	}
	input = data;
	input_len = size;
	done_count = 0;
	read_mem = malloc(READ);
	write_mem = calloc(1, WRITE);
	worker_post(worker, &m);
	while (sem_wait(&over) < 0)
		; // EINTR
	// Whatever came: every command ended, once.
	if (done_count != 3)
		abort();
	free(read_mem);
	free(write_mem);
	return 0;
}
