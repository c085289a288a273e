// SPDX-License-Identifier: BSD-2-Clause
// The initiator's TCP mover: the life of a connection, on the worker that owns it.
#include "transport/iscsi/dmi_tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "transport/iscsi/dmi_tcp_priv.h"

// --- called by the role ---

static void tcp_drop(struct dmi *dm, struct dmi_task *t)
{
	struct dmi_tcp_task *tt = dmi_tcp_task(t);
	if (!tt->is_finished)
		dmi_tcp_finish(dmi_tcp(dm), t, -ECANCELED);
}

static void tcp_full_feature(struct dmi *dm, const struct iscsi_params *params)
{
	pdu_conn_full_feature(&dmi_tcp(dm)->conn, params);
}

static void tcp_flush(struct dmi *dm)
{
	pdu_conn_flush(&dmi_tcp(dm)->conn);
}

static void tcp_close(struct dmi *dm, const struct err *why)
{
	struct pdu_conn *c = &dmi_tcp(dm)->conn;
	if (!why->code && c->stream)
		stream_set_orderly(c->stream, true);
	pdu_conn_close(c, false, why);
}

static void free_run(struct msg *m)
{
	struct dmi_tcp *d = container_of(m, struct dmi_tcp, free_msg);
	worker_defer_cancel(&d->fault_defer);
	pdu_conn_done(&d->conn);
	free(d);
}

// In a later round: the connection may be in the middle of a receive, or may have posted a message
// to itself.
static void tcp_free(struct dmi *dm)
{
	struct dmi_tcp *d = dmi_tcp(dm);
	d->free_msg.fn = free_run;
	worker_post(d->conn.worker, &d->free_msg);
}

static uint64_t tcp_last_rx(struct dmi *dm)
{
	return dmi_tcp(dm)->conn.last_rx_ns;
}

static const struct dmi_ops tcp_ops = {
	.command = dmi_tcp_command,
	.send = dmi_tcp_send,
	.drop = tcp_drop,
	.full_feature = tcp_full_feature,
	.flush = tcp_flush,
	.close = tcp_close,
	.free = tcp_free,
	.last_rx = tcp_last_rx,
};

int dmi_tcp_new(struct dmi **ret, struct worker *w, int fd, const struct dmi_up *up, void *role,
		struct err *e)
{
	struct dmi_tcp *d = calloc(1, sizeof *d);
	if (!d) {
		close(fd);
		return err_set(e, -ENOMEM, "out of memory for a connection");
	}
	d->dm.ops = &tcp_ops;
	d->dm.up = up;
	d->dm.role = role;
	d->dm.transport = "TCP";
	d->dm.tasks_max = DMI_TASKS_MAX;
	d->dm.task_size = sizeof(struct dmi_tcp_task);
	for (unsigned i = 0; i < DMI_TASKS_MAX; i++)
		d->free_slots[i] = (uint16_t)(DMI_TASKS_MAX - 1 - i);
	d->free_count = DMI_TASKS_MAX;
	int r = pdu_conn_init(&d->conn, w, fd, ISCSI_ROLE_INITIATOR, &dmi_tcp_conn_ops, d, e);
	if (r < 0) {
		free(d);
		return r;
	}
	tcp_addr_format(stream_local(d->conn.stream), d->dm.local);
	tcp_addr_format(stream_peer(d->conn.stream), d->dm.peer);
	*ret = &d->dm;
	return 0;
}
