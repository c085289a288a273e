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

#include "transport/srp/initiator.h"
#include "transport/wire/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POSTED = 512, TASKS = 4, KEYS = 64 };
enum { SENDS_DONE = 1, DROP = 2, OWN_TAG = 4, INVALIDATED = 8 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static const uint8_t *input;
static size_t input_len;
static struct worker *worker;
static struct srpi_channel *ch;
static struct srpi_task tasks[TASKS];
static struct sg sg[TASKS];
static uint8_t memory[TASKS][20000];
static unsigned done[TASKS], tmfs, tmfs_sent, closes;
static uint64_t tags[8];
static unsigned tag_count;
static struct msg feed_msg, close_msg;
static struct err close_why;
static sem_t over;

// --- the device ---

static struct rnic_qp qp;
static struct rnic rnic;
static struct rnic_mr all = { .rnic = &rnic, .len = UINT64_MAX };
static struct rnic_wr *posted[POSTED];
static unsigned posted_count, reserved, live;
static uint8_t login[SRP_LOGIN_REQ_CM_LEN];

static void sends_done(int res)
{
	while (posted_count) {
		struct rnic_wr *wr = posted[0];
		memmove(posted, posted + 1, --posted_count * sizeof(struct rnic_wr *));
		rnic_wr_done(wr, res);
	}
}

static void feed(struct msg *m);

static uint8_t take(void)
{
	if (!input_len)
		return 0;
	input_len--;
	return *input++;
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

static int p_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		     const struct tcp_addr *local, const struct rnic_qp_options *o,
		     const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	memset(&qp, 0, sizeof qp);
	rnic_qp_init(&qp, rnic.provider, &rnic, o, ops, owner);
	must(o->private_len == sizeof login);
	memcpy(login, o->private_data, sizeof login);
	posted_count = 0;
	feed_msg.fn = on_connect;
	worker_post(w, &feed_msg);
	*ret = &qp;
	return 0;
}

static void on_close(struct msg *m)
{
	sends_done(-ECANCELED);
	rnic_qp_flush_waiting(&qp);
	live = 0; // the close ends every exposure
	qp.ops->closed(&qp, &close_why);
}

static void p_close(struct rnic_qp *q, bool linger, const struct err *why)
{
	if (q->is_closing)
		return;
	q->is_closing = true;
	close_why = *why;
	close_msg.fn = on_close;
	worker_post(worker, &close_msg);
}

static void p_qp_free(struct rnic_qp *q)
{
}

static void p_post(struct rnic_qp *q, struct rnic_wr *wr)
{
	must(posted_count < POSTED); // the channel bounds what it sends
	posted[posted_count++] = wr;
	if (wr->sge[0].addr[0] == SRP_CMD && tag_count < 8)
		memcpy(&tags[tag_count++], wr->sge[0].addr + 8, 8);
}

static void p_flush(struct rnic_qp *q)
{
}

static int p_reserve(struct rnic *r, uint32_t count)
{
	reserved += count;
	return 0;
}

static void p_unreserve(struct rnic *r, uint32_t count)
{
	reserved -= count;
}

static void p_rx_put(struct rnic_rx *rx)
{
	free(rx->data);
	free(rx);
}

static struct rnic_mr *p_find(struct rnic *r, const void *addr, uint64_t len)
{
	return &all;
}

static int p_expose(struct rnic_qp *q, struct rnic_exposed *ret, const struct sg *list,
		    uint32_t nsg, uint64_t len, unsigned access)
{
	*ret = (struct rnic_exposed){ .rkey = 1 };
	live++;
	return 0;
}

static void p_conceal(struct rnic_qp *q, struct rnic_exposed *x)
{
	must(live--);
}

static const struct rnic_provider provider = {
	.name = "fuzz",
	.connect = p_connect,
	.close = p_close,
	.qp_free = p_qp_free,
	.post = p_post,
	.flush = p_flush,
	.reserve = p_reserve,
	.unreserve = p_unreserve,
	.rx_put = p_rx_put,
	.find = p_find,
	.expose = p_expose,
	.conceal = p_conceal,
};
static struct rnic rnic = {
	.provider = &provider,
	.name = "fuzz0",
	.limits = {.max_send_wr = POSTED,
		    .max_sge = 2,
		    .max_read_sge = 1,
		    .max_message = 1 << 20},
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
	struct err gone;
	if (qp.is_closing)
		return;
	if (input_len < 3) {
		err_set(&gone, -ECONNRESET, "gone");
		p_close(&qp, false, &gone);
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
	const struct srpi_options o = { .provider = &provider, .peer = &nowhere };
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
