// SPDX-License-Identifier: BSD-2-Clause
// Asynchronous messages. RFC 7143 11.9. They are sent only to initiators that have sent or answered
// a NOP: iPXE closes its connection when it gets one. For other initiators the last notice is held
// until then.
#include "target/iscsi/async.h"

#include <string.h>

#include "target/scsi/lun_map.h"
#include "target/scsi/sense.h"
#include "target/scsi/ua.h"
#include "transport/wire/be.h"

static void async_send(struct conn *c, struct iscsi_async *h, const void *data, uint32_t len)
{
	h->opcode = ISCSI_OP_ASYNC;
	h->flags = ISCSI_F;
	put_be32(h->itt, ISCSI_TAG_NONE);
	conn_send(c, (const uint8_t *)h, data, len, DM_ADVANCES);
}

void async_logout(struct conn *c, unsigned seconds)
{
	struct iscsi_async h = { .event = ISCSI_ASYNC_LOGOUT };
	put_be16(h.param3, (uint16_t)seconds);
	async_send(c, &h, NULL, 0);
}

// Initiators act on REPORTED LUNS DATA HAS CHANGED: no other notice replaces it.
static void hold(struct conn *c, uint16_t lun, uint32_t sense_code)
{
	if (c->held_notice == ua_code(UA_LUNS_CHANGED))
		return;
	c->held_notice = sense_code;
	c->held_notice_lun = lun;
}

void async_scsi(struct conn *c, uint16_t lun, uint32_t sense_code)
{
	if (c->session.state != SESSION_LIVE)
		return;
	if (!c->knows_pings) {
		hold(c, lun, sense_code);
		return;
	}
	struct iscsi_async h = { .event = ISCSI_ASYNC_SCSI };
	uint8_t data[2 + SENSE_MAX];
	unsigned len = sense_encode(data + 2, sense_code, NULL, false);
	put_be16(data, (uint16_t)len);
	lun_encode(h.lun, lun);
	async_send(c, &h, data, len + 2);
}

void async_held(struct conn *c)
{
	uint32_t code = c->held_notice;
	c->held_notice = 0;
	if (code)
		async_scsi(c, c->held_notice_lun, code);
}
