// SPDX-License-Identifier: BSD-2-Clause
// The life of a PDU connection: from the socket to the close with its reason.
#include "transport/iscsi/pdu_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_rx(struct stream *s)
{
	struct pdu_conn *c = stream_arg(s);
	worker_note_traffic(c->worker);
	pdu_rx_run(c);
}

static void on_tx_ready(struct stream *s)
{
	struct pdu_conn *c = stream_arg(s);
	c->is_tx_blocked = false;
	pdu_conn_flush(c);
}

static void on_closed(struct stream *s, int reason)
{
	struct pdu_conn *c = stream_arg(s);
	if (!c->why.code)
		err_errno(&c->why, reason ? reason : -EPIPE, "connection lost");
	pdu_conn_close(c, false, NULL);
}

static const struct stream_ops stream_ops = {
	.rx = on_rx,
	.tx_ready = on_tx_ready,
	.closed = on_closed,
};

static void on_rx_msg(struct msg *m)
{
	struct pdu_conn *c = container_of(m, struct pdu_conn, rx_msg);
	c->is_rx_posted = false;
	if (!c->is_closed)
		pdu_rx_run(c);
}

int pdu_conn_init(struct pdu_conn *c, struct worker *w, int fd, enum iscsi_role role,
		  const struct pdu_conn_ops *ops, void *owner, struct err *e)
{
	memset(c, 0, sizeof *c);
	c->worker = w;
	c->ops = ops;
	c->owner = owner;
	c->role = role;
	c->max_recv_data = ISCSI_LOGIN_DATA_MAX;
	c->rx_msg.fn = on_rx_msg;
	list_init(&c->tx);
	iscsi_params_init(&c->params);
	pdu_rx_reset(c);
	int r = pdu_scratch_get();
	if (r < 0) {
		close(fd);
		return err_set(e, r, "connection: out of memory for the receive buffer");
	}
	r = stream_new(&c->stream, w, fd, &stream_ops, c, e);
	if (r < 0) {
		pdu_scratch_put();
		close(fd);
		return r;
	}
	stream_set_keepalive(c->stream, 60, 10, 6);
	stream_tune_local(c->stream);
	return r;
}

void pdu_conn_done(struct pdu_conn *c)
{
	pdu_rx_free(c);
	pdu_scratch_put();
}

void pdu_conn_set_phase(struct pdu_conn *c, enum iscsi_phase phase, uint32_t max_recv_data,
			bool header_digest, bool data_digest)
{
	c->phase = phase;
	c->max_recv_data = max_recv_data;
	c->header_digest = header_digest;
	c->data_digest = data_digest;
}

void pdu_conn_full_feature(struct pdu_conn *c, const struct iscsi_params *params)
{
	c->params = *params;
	pdu_conn_set_phase(c,
			   params->is_discovery ? ISCSI_PHASE_DISCOVERY : ISCSI_PHASE_FULL_FEATURE,
			   params->max_recv_data, params->header_digest, params->data_digest);
}

void pdu_conn_stop_rx(struct pdu_conn *c)
{
	c->is_rx_stopped = true;
}

void pdu_conn_start_rx(struct pdu_conn *c)
{
	if (!c->is_rx_stopped)
		return;
	c->is_rx_stopped = false;
	if (c->is_closed || c->is_rx_posted)
		return;
	// An event may have been missed while receiving was paused: try again, from a fresh stack.
	c->is_rx_posted = true;
	worker_post(c->worker, &c->rx_msg);
}
