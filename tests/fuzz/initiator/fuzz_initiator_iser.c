// SPDX-License-Identifier: BSD-2-Clause
// Messages of a hostile target over iSER, after the login: a read, a write, a short write that has
// its data with it and a command without data are in flight, a ping and an abort are out. The
// first byte chooses parameters; then each message is a byte of what the device says of it
// (invalidated, which STag; sends done before it; the peer goes after it), two of its length, and
// its bytes.
#include "session_rig.h"

#include "transport/iser/dmi_iser.h"

enum { READ = 1000, WRITE = 20000, SHORT_WRITE = 512, POSTED = 512 };
enum { RX_INVALIDATED = 1, RX_OWN_STAG = 2, RX_SENDS_DONE = 4, RX_CLOSED = 8 };

static struct msg feed_msg, close_msg;
static bool is_feeding;

// --- the device ---

static struct rnic rnic;
static struct rnic_qp qp;
static struct rnic_mr all = { .rnic = &rnic, .len = UINT64_MAX };
static struct rnic_wr *posted[POSTED];
static unsigned posted_count, reserved;
static uint32_t last_rkey, live;
static struct err close_why;

static void sends_done(int res)
{
	while (posted_count) {
		struct rnic_wr *wr = posted[0];
		memmove(posted, posted + 1, --posted_count * sizeof wr);
		rnic_wr_done(wr, res);
	}
}

static void feed(struct msg *m);

static void on_connect(struct msg *m)
{
	qp.is_established = true;
	qp.ops->established(&qp, NULL, 0);
}

static int p_connect(struct rnic_qp **ret, struct worker *w, const struct tcp_addr *peer,
		     const struct tcp_addr *local, const struct rnic_qp_options *o,
		     const struct rnic_qp_ops *ops, void *owner, struct err *e)
{
	memset(&qp, 0, sizeof qp);
	rnic_qp_init(&qp, rnic.provider, &rnic, o, ops, owner);
	posted_count = live = 0;
	feed_msg.fn = on_connect;
	worker_post(w, &feed_msg);
	*ret = &qp;
	return 0;
}

static void on_close(struct msg *m)
{
	sends_done(-ECANCELED);
	rnic_qp_flush_waiting(&qp);
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
	if (posted_count == POSTED)
		abort(); // the mover bounds what it sends
	posted[posted_count++] = wr;
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

static int p_expose(struct rnic_qp *q, struct rnic_exposed *ret, const struct sg *sg, uint32_t nsg,
		    uint64_t len, unsigned access)
{
	*ret = (struct rnic_exposed){ .rkey = ++last_rkey };
	live++;
	return 0;
}

static void p_conceal(struct rnic_qp *q, struct rnic_exposed *x)
{
	live--;
}

static const struct rnic_provider provider = {
	.name = "fuzz",
	.takes_invalidation = true,
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

static void receive(uint8_t said, const uint8_t *bytes, uint32_t len)
{
	struct rnic_rx *rx = calloc(1, sizeof *rx);
	rx->data = malloc(RNIC_RX_SIZE);
	memcpy(rx->data, bytes, len);
	rx->len = len;
	rx->rnic = &rnic;
	rx->is_invalidated = said & RX_INVALIDATED;
	if (rx->is_invalidated)
		rx->invalidated_rkey = said & RX_OWN_STAG ? last_rkey - (said >> 4) : said;
	qp.ops->received(&qp, rx);
}

// One message a round; at the end of the input the peer goes.
static void feed(struct msg *m)
{
	struct err gone;
	if (qp.is_closing) {
		is_feeding = false;
		return;
	}
	uint8_t said = RX_CLOSED;
	if (input_len >= 3) {
		uint32_t len = (uint32_t)(input[1] << 8 | input[2]) % (RNIC_RX_SIZE + 1);
		said = input[0];
		input += 3;
		input_len -= 3;
		len = len < input_len ? len : (uint32_t)input_len;
		if (said & RX_SENDS_DONE)
			sends_done(0);
		receive(said, input, len);
		input += len;
		input_len -= len;
	}
	if (said & RX_CLOSED) {
		err_set(&gone, -ECONNRESET, "gone");
		p_close(&qp, false, &gone);
	}
	worker_post(worker, m);
}

// --- the session ---

static void on_freed(void *arg)
{
	sem_post(&over);
}

static const struct scsi_session_ops ops = { .closed = on_closed, .freed = on_freed };

// A session that has just logged in, without the login.
static void enter(struct dmi *dm)
{
	uint8_t choice = input_len ? *input : 0;
	struct iscsi_params *p = &session->info.params;
	iscsi_params_init(p);
	p->is_discovery = choice & 1;
	p->immediate_data = !(choice & 2);
	p->max_recv_data = choice & 4 ? 512 : 8192;
	p->max_send_data = 8192;
	p->first_burst = 65536;
	enter_full_feature(dm);
	submit(SCSI_READ_10, READ);
	submit(SCSI_WRITE_10, WRITE);
	submit(SCSI_WRITE_10, SHORT_WRITE);
	submit(SCSI_TEST_UNIT_READY, 0);
	pump();
	input += input_len != 0;
	input_len -= input_len != 0;
	feed_msg.fn = feed;
	is_feeding = true;
	worker_post(worker, &feed_msg);
}

static void begin(struct msg *m)
{
	const struct dmi_iser_options o = { .provider = &provider, .connected = enter };
	struct err e;
	make_session(&ops);
	if (dmi_iser_connect(&session->dm, worker, &o, &session_dmi_up, session, &e) < 0)
		abort();
	timer_cancel(worker, &session->timer);
}

static void is_quiet(void *arg)
{
	*(bool *)arg = !is_feeding;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool quiet = false;
	if (!worker)
		start();
	rnic.worker = worker;
	run(begin, data, size);
	while (!quiet)
		worker_call(worker, is_quiet, &quiet);
	if (reserved) // nothing is left of the connection
		abort();
	finish();
	return 0;
}
