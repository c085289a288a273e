// SPDX-License-Identifier: BSD-2-Clause
// SendTargets over a discovery session, on its worker: one Text Request per part of the response,
// then logout. RFC 7143 4.3, 11.10, 11.11, appendix C.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/iscsi/session_priv.h"
#include "transport/wire/be.h"

#define PARTS_MAX    4096 // Text Responses to one request
#define TEXT_TIMEOUT 30	  // seconds for all of them

struct ini_discovery {
	struct ini_session *session;
	struct ini_discovery_ops ops;
	void *arg;
	struct timer timer;
	uint32_t tag;
	unsigned parts;
	char *text;
	size_t len, size;
	struct err why; // the first error
};

static void ask(struct ini_discovery *d, const uint8_t *previous, const void *text, uint32_t len)
{
	uint8_t bhs[ISCSI_BHS_LEN] = { ISCSI_I | ISCSI_OP_TEXT_REQ, ISCSI_F };
	struct iscsi_nop_out *h = (void *)bhs; // LUN and tags have the same offsets as in Text
	put_be32(h->itt, d->tag);
	put_be32(h->ttt, ISCSI_TAG_NONE);
	if (previous) {
		const struct iscsi_nop_in *p = (const void *)previous;
		memcpy(h->lun, p->lun, sizeof h->lun);
		memcpy(h->ttt, p->ttt, sizeof h->ttt);
	}
	d->session->dm->ops->send(d->session->dm, bhs, text, len, false);
}

static void on_up(struct scsi_session *scsi)
{
	struct ini_session *s = ini_of(scsi);
	static const char text[] = "SendTargets=All";
	struct ini_discovery *d = s->scsi.arg;
	d->tag = session_tag(s);
	timer_arm(s->worker, &d->timer, TEXT_TIMEOUT * US_PER_SEC);
	ask(d, NULL, text, sizeof text); // with its NUL
}

static int append(struct ini_discovery *d, const uint8_t *data, size_t n, struct err *e)
{
	if (n > INI_DISCOVERY_TEXT_MAX - d->len || ++d->parts > PARTS_MAX)
		return err_set(e, -EMSGSIZE, "SendTargets: answer too long (%zu bytes)", d->len);
	if (d->len + n > d->size) {
		size_t size = (d->len + n) * 2;
		char *text = realloc(d->text, size);
		if (!text)
			return err_set(e, -ENOMEM, "SendTargets: out of memory: %zu bytes", size);
		d->text = text;
		d->size = size;
	}
	if (n)
		memcpy(d->text + d->len, data, n);
	d->len += n;
	return 0;
}

// The complete response is parsed before anything is reported: an invalid response reports nothing.
static int tell(struct ini_discovery *d, bool is_dry, struct err *e)
{
	struct sendtargets_iter it;
	struct sendtargets_record r;
	int n;
	sendtargets_iter_init(&it, d->text, d->len);
	while ((n = sendtargets_next(&it, &r, e)) > 0)
		if (!is_dry)
			d->ops.found(d, &r);
	return n;
}

static int answered(struct ini_discovery *d, struct err *e)
{
	int r = tell(d, true, e);
	if (r < 0)
		return e->code = r;
	timer_cancel(d->session->worker, &d->timer);
	tell(d, false, e);
	scsi_session_logout(&d->session->scsi);
	return 0;
}

static int take_part(struct ini_discovery *d, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		     const uint8_t *data, struct err *e)
{
	const struct iscsi_nop_in *h = (const void *)bhs;
	if (!d->tag || get_be32(h->itt) != d->tag)
		return err_set(e, -EPROTO, "unexpected Text Response");
	int r = append(d, data, pdu->data_len, e);
	if (r < 0)
		return r;
	if (!(h->flags & ISCSI_F)) {
		ask(d, bhs, NULL, 0);
		return 0;
	}
	d->tag = 0;
	return answered(d, e);
}

static int on_text(struct ini_session *s, const struct iscsi_pdu *pdu, const uint8_t *bhs,
		   const uint8_t *data, struct err *e)
{
	struct ini_discovery *d = s->scsi.arg;
	int r = take_part(d, pdu, bhs, data, e);
	if (r < 0 && !d->why.code)
		d->why = *e;
	return r;
}

static void on_timeout(struct timer *t)
{
	struct ini_discovery *d = container_of(t, struct ini_discovery, timer);
	err_set(&d->why, -ETIMEDOUT, "SendTargets: timed out after %d s", TEXT_TIMEOUT);
	scsi_session_logout(&d->session->scsi);
}

static void on_closed(struct scsi_session *scsi, const struct err *why)
{
	struct ini_session *s = ini_of(scsi);
	struct ini_discovery *d = s->scsi.arg;
	timer_cancel(s->worker, &d->timer);
	// A target may close instead of answering the logout; everything has been reported by then.
	if (!d->why.code && (why->code && (d->tag || !d->parts)))
		d->why = *why;
	scsi_session_free(scsi);
}

static void on_freed(void *arg)
{
	struct ini_discovery *d = arg;
	d->ops.done(d, &d->why);
	free(d->text);
	free(d);
}

static const struct scsi_session_ops session_ops = {
	.up = on_up,
	.closed = on_closed,
	.freed = on_freed,
};

int ini_discovery_new(struct ini_discovery **ret, struct worker *w, const struct ini_config *config,
		      const struct ini_discovery_ops *ops, void *arg, struct err *e)
{
	struct ini_discovery *d = calloc(1, sizeof *d);
	struct ini_config c = *config;
	if (!d)
		return err_set(e, -ENOMEM, "discovery: out of memory");
	d->ops = *ops;
	d->arg = arg;
	timer_init(&d->timer, on_timeout);
	c.login.is_discovery = true;
	c.login.target_name[0] = 0;
	c.replacement_timeout = 0;
	struct scsi_session *session;
	int r = ini_session_new(&session, w, &c, &session_ops, d, e);
	chap_wipe(&c, sizeof c);
	if (r) {
		free(d);
		return r;
	}
	d->session = ini_of(session);
	d->session->text = on_text;
	*ret = d;
	return 0;
}

void *ini_discovery_arg(const struct ini_discovery *d)
{
	return d->arg;
}
