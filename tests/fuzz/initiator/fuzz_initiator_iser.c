// SPDX-License-Identifier: BSD-2-Clause
// Messages of a hostile target over iSER, after the login: a read, a write, a short write that has
// its data with it and a command without data are in flight, a ping and an abort are out. The
// first byte chooses parameters; then each message is a byte of what the device says of it
// (invalidated, which STag; sends done before it; the peer goes after it), two of its length, and
// its bytes.
#include "session_rig.h"

#include "device_rig.h"
#include "transport/iser/dmi_iser.h"

enum { READ = 1000, WRITE = 20000, SHORT_WRITE = 512 };
enum { RX_INVALIDATED = 1, RX_OWN_STAG = 2, RX_SENDS_DONE = 4, RX_CLOSED = 8 };

static struct msg feed_msg;
static bool is_feeding;

// --- the device ---

static void on_connect(struct msg *m)
{
	qp.is_established = true;
	qp.ops->established(&qp, NULL, 0);
}

static const struct peer peer = { .accept = on_connect };

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
		peer_gone();
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
	const struct dmi_iser_options o = { .provider = &fuzz_provider, .connected = enter };
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
	must(!reserved); // nothing is left of the connection
	finish();
	return 0;
}
