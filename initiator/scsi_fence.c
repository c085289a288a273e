// SPDX-License-Identifier: BSD-2-Clause
// Nexuses by their names, and the end of one that was lost by a login with these names. On the
// session's worker. RFC 7143 4.4.2, 6.3.5, SPC-5 7.6.4.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/scsi_protocol.h"
#include "transport/wire/be.h"

// --- names ---

void scsi_session_nexus(const struct scsi_session *s, struct scsi_nexus *ret)
{
	s->protocol.nexus(s, ret);
}

bool scsi_nexus_is_same(const struct scsi_nexus *a, const struct scsi_nexus *b)
{
	return a->protocol == b->protocol && !strcmp(a->initiator, b->initiator) &&
	       !strcmp(a->target, b->target);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
	return at ? (int)(at - digits) : -1;
}

// FORMAT CODE 00b; 24 bytes, the port identifier at byte 8 [SPC-5 7.6.4.5].
static uint32_t srp_id(const char *port, uint8_t *ret, uint32_t size)
{
	enum { LEN = 24, AT = 8, ID = 16 };
	if (size < LEN || strlen(port) != 2 * ID)
		return 0;
	memset(ret, 0, LEN);
	ret[0] = SCSI_NEXUS_SRP;
	for (unsigned i = 0; i < ID; i++) {
		int hi = hex_digit(port[2 * i]), lo = hex_digit(port[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return 0;
		ret[AT + i] = (uint8_t)(hi << 4 | lo);
	}
	return LEN;
}

// FORMAT CODE 01b: the port's name, padded with zeros to a multiple of 4, at least 20 bytes after
// the header [SPC-5 7.6.4.6].
static uint32_t iscsi_id(const char *port, uint8_t *ret, uint32_t size)
{
	uint32_t len = (uint32_t)strlen(port) + 1, room = len < 20 ? 20 : (len + 3) & ~3u;
	if (size < 4 + room)
		return 0;
	memset(ret, 0, 4 + room);
	ret[0] = 0x40 | SCSI_NEXUS_ISCSI;
	put_be16(ret + 2, (uint16_t)room);
	memcpy(ret + 4, port, len);
	return 4 + room;
}

uint32_t scsi_nexus_transport_id(const struct scsi_nexus *n, uint8_t *ret, uint32_t size)
{
	if (n->protocol == SCSI_NEXUS_ISCSI)
		return iscsi_id(n->initiator, ret, size);
	return n->protocol == SCSI_NEXUS_SRP ? srp_id(n->initiator, ret, size) : 0;
}

// --- the fence ---

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

// The portal may belong to another portal group: then another nexus has logged in.
static void on_up(struct scsi_session *s)
{
	struct scsi_fence *f = scsi_session_arg(s);
	struct scsi_nexus now;
	struct err why = { 0 };
	scsi_session_nexus(s, &now);
	if (!scsi_nexus_is_same(&now, &f->lost))
		err_set(&why, -EOPNOTSUPP, "logged in to %.120s", now.target);
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
