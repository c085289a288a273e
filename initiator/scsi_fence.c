// SPDX-License-Identifier: BSD-2-Clause
// The end of a nexus that was lost, by a login with its names. On the session's worker. RFC 7143
// 6.3.5.
#include <errno.h>
#include <stdlib.h>

#include "initiator/scsi_protocol.h"

struct scsi_fence {
	struct scsi_session *session;
	struct scsi_nexus lost;
	const struct scsi_fence_ops *ops;
	void *arg;
	bool is_done;
};

static void finish(struct scsi_fence *f, const struct err *why)
{
	if (f->is_done)
		return;
	f->is_done = true;
	f->ops->done(f->arg, why);
}

// The portal may belong to another portal group: then another nexus has logged in. Where a redirect
// leads, another target may be, which knows nothing of the lost one.
static void on_up(struct scsi_session *s)
{
	struct scsi_fence *f = scsi_session_arg(s);
	struct scsi_nexus now;
	struct scsi_session_info info;
	struct err why = { 0 };
	scsi_session_nexus(s, &now);
	scsi_session_info(s, &info);
	if (!scsi_nexus_is_same(&now, &f->lost))
		err_set(&why, -EOPNOTSUPP, "logged in to %.120s", now.target);
	else if (info.is_redirected)
		err_set(&why, -EOPNOTSUPP, "the login was redirected to %s", info.peer);
	finish(f, &why);
	scsi_session_logout(s);
}

static void on_closed(struct scsi_session *s, const struct err *why)
{
	struct scsi_fence *f = scsi_session_arg(s);
	struct err e = *why;
	if (!e.code)
		err_set(&e, -ECONNRESET, "the session ended");
	finish(f, &e);
	scsi_session_free(s);
}

static void on_freed(void *arg)
{
	struct scsi_fence *f = arg;
	f->ops->gone(f->arg);
	free(f);
}

int scsi_fence_new(struct scsi_fence **ret, struct scsi_session *via, const struct scsi_nexus *lost,
		   const struct scsi_fence_ops *ops, void *arg, struct err *e)
{
	static const struct scsi_session_ops session_ops = { .up = on_up,
							     .closed = on_closed,
							     .freed = on_freed };
	struct scsi_fence *f = calloc(1, sizeof *f);
	if (!f)
		return err_set(e, -ENOMEM, "fence: out of memory");
	f->lost = *lost;
	f->ops = ops;
	f->arg = arg;
	int r = via->protocol.reenter(via, lost, &session_ops, f, &f->session, e);
	if (r < 0)
		free(f);
	else
		*ret = f;
	return r;
}

void scsi_fence_cancel(struct scsi_fence *f)
{
	f->is_done = true;
	scsi_session_free(f->session);
}
