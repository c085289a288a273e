// SPDX-License-Identifier: BSD-2-Clause
// Messages of a hostile target to an initiator's channel: a read, a long and a short write and a
// command without data are in flight, an abort is out. The first byte chooses what the login
// agreed on; then each message is a byte of what happens (sends done before it; the aborted command
// is dropped; the tag is that of a command), two of its length, and its bytes. In the end every
// command has ended once, and nothing is exposed or reserved.
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "device_rig.h"
#include "transport/srp/initiator.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 4 };
enum { SENDS_DONE = 1, DROP = 2, OWN_TAG = 4, INVALIDATED = 8 };

static const uint8_t *input;
static size_t input_len;
static struct srpi_channel *ch;
static struct srpi_task tasks[TASKS];
static struct sg sg[TASKS];
static uint8_t memory[TASKS][20000];
static unsigned done[TASKS], tmfs, tmfs_sent, closes;
static uint64_t tags[8];
static unsigned tag_count;
static struct msg feed_msg;
static sem_t over;
static uint8_t login[SRP_LOGIN_REQ_CM_LEN];

static void feed(struct msg *m);

static uint8_t take(void)
{
	if (!input_len)
		return 0;
	input_len--;
	return *input++;
}

// --- the device ---

static void on_connecting(const struct rnic_qp_options *o)
{
	must(o->private_len == sizeof login);
	memcpy(login, o->private_data, sizeof login);
}

static void on_connect(struct msg *m)
{
	uint8_t rsp[SRP_LOGIN_RSP_LEN], choice = take();
	struct srp_login l;
	struct err e;
	must(!srp_login_parse(&l, login, sizeof login, false, &e));
	const struct srp_accept a = { .tag = l.tag,
				      .credits = choice & 1 ? 6 : 100,
				      .it_iu_len = choice & 2 ? 128 : 8448,
				      .ti_iu_len = 256,
				      .formats = choice & 4 ? 2 : 6,
				      .flags = choice & 8 ? 0 : SRP_IMMED_SUPPORTED };
	srp_accept_put(rsp, &a);
	qp.is_established = true;
	feed_msg.fn = feed;
	worker_post(worker, &feed_msg);
	qp.ops->established(&qp, rsp, choice & 16 ? choice & 31 : sizeof rsp);
}

static void on_posted(const struct rnic_wr *wr)
{
	if (wr->sge[0].addr[0] == SRP_CMD && tag_count < 8)
		memcpy(&tags[tag_count++], wr->sge[0].addr + 8, 8);
}

static const struct peer peer = {
	.connecting = on_connecting,
	.accept = on_connect,
	.posted = on_posted,
};

// --- the target ---

static void receive(uint8_t said, uint32_t len)
{
	struct rnic_rx *rx = calloc(1, sizeof *rx);
	rx->data = malloc(len ? len : 1); // of exactly its size
	memcpy(rx->data, input, len);
	if (said & OWN_TAG && len >= 16 && tag_count)
		memcpy(rx->data + 8, &tags[said >> 4 & 3], 8);
	rx->len = len;
	rx->rnic = &rnic;
	rx->is_invalidated = said & INVALIDATED;
	qp.ops->received(&qp, rx);
}

// One message a round; at the end of the input the peer goes.
static void feed(struct msg *m)
{
	if (qp.is_closing)
		return;
	if (input_len < 3) {
		peer_gone();
		return;
	}
	uint8_t said = take();
	uint32_t len = (uint32_t)take() << 8;
	len = (len | take()) % (RNIC_RX_SIZE + 1);
	len = len < input_len ? len : (uint32_t)input_len;
	if (said & SENDS_DONE)
		sends_done(0);
	if (said & DROP)
		srpi_drop(ch, &tasks[said >> 4 & 3], -ECANCELED);
	receive(said, len);
	input += len;
	input_len -= len;
	if (!qp.is_closing)
		worker_post(worker, m);
}

// --- the role ---

static void on_up(struct srpi_channel *c, const struct srp_accept *a)
{
	static const uint32_t lens[TASKS] = { 1000, 20000, 512, 0 };
	for (unsigned i = 0; i < TASKS && srpi_room(c); i++) {
		sg[i] = (struct sg){ memory[i], sizeof memory[i], NULL };
		tasks[i] = (struct srpi_task){ .is_read = i == 0,
					       .is_write = i == 1 || i == 2,
					       .sg = &sg[i],
					       .nsg = 1,
					       .len = lens[i] };
		srpi_send(c, &tasks[i]);
	}
	tmfs_sent = !srpi_task_mgmt(c, SRP_TMF_ABORT_TASK, tasks[1].lun, &tasks[1]);
}

static void on_done(struct srpi_channel *c, struct srpi_task *t, int res)
{
	done[t - tasks]++;
	must(t->data_len <= t->len && t->sense_len <= SRPI_SENSE_MAX);
	must(res || !t->is_under || t->residual <= t->len);
}

static void on_tmf(struct srpi_channel *c, int code)
{
	tmfs++;
}

static void on_event(struct srpi_channel *c, const uint8_t lun[8], const uint8_t *sense,
		     uint32_t len)
{
	volatile uint8_t last = len ? sense[len - 1] : lun[7];
	(void)last;
}

static void on_room(struct srpi_channel *c)
{
}

static void on_closed(struct srpi_channel *c, const struct err *why)
{
	closes++;
	srpi_free(c);
	sem_post(&over);
}

static const struct srpi_up up = { .up = on_up,
				   .done = on_done,
				   .tmf_done = on_tmf,
				   .event = on_event,
				   .room = on_room,
				   .closed = on_closed };

static void begin(void *arg)
{
	static const struct tcp_addr nowhere;
	const struct srpi_options o = { .provider = &fuzz_provider, .peer = &nowhere };
	struct err e;
	must(!srpi_new(&ch, worker, &o, &up, NULL, &e));
}

static void start(void)
{
	const struct worker_options o = { .name = "fuzz", .cpu = -1, .pool_bytes = 8 << 20 };
	struct err e;
	must(!worker_new(&worker, &o, &e) && !worker_start(worker, &e));
	sem_init(&over, 0, 0);
	rnic.worker = worker;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!worker)
		start();
	memset(done, 0, sizeof done);
	memset(tasks, 0, sizeof tasks);
	tmfs = tmfs_sent = closes = tag_count = live = 0;
	input = data;
	input_len = size;
	worker_call(worker, begin, NULL);
	while (sem_wait(&over) < 0)
		;
	must(closes == 1 && !reserved && !live && tmfs == tmfs_sent);
	for (unsigned i = 0; i < TASKS; i++)
		must(done[i] == (tasks[i].sg != NULL));
	return 0;
}
