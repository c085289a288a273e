// SPDX-License-Identifier: BSD-2-Clause
// A whole connection over iSER over software iWARP to a portal with a RAM disk behind it. Byte 0:
// how it begins (nothing said yet, MPA's greeting done, or logged in). Then records of a control
// byte, a length of two bytes and so many bytes (or as many as are left): the payload of an FPDU as
// it is, or a message, for which DDP's header is made, and iSCSI's numbers and lengths where the
// control byte says so.
#include "portal_rig.h"

#include "transport/wire/iser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAW, GREETED, NORMAL, UNSOLICITED, DISCOVERY, BEGINNINGS };
enum { FIX_SN = 1, FIX_LUN = 2, FIX_ITT = 4, FIX_LEN = 8, AS_IT_IS = 16 };
enum { PDU_LEN = ISER_HDR_LEN + ISCSI_BHS_LEN };

struct wire {
	uint8_t *bytes;
	size_t n;
	uint32_t msn, cmd_sn;
};

static void fpdu(struct wire *w, const uint8_t *head, size_t head_len, const uint8_t *data,
		 size_t len)
{
	uint8_t *to = w->bytes + w->n;
	size_t all = 2 + head_len + len;
	put_be16(to, (uint16_t)(head_len + len));
	memcpy(to + 2, head, head_len);
	memcpy(to + 2 + head_len, data, len);
	memset(to + all, 0, 7); // pad, and a CRC that is not checked
	w->n += all + (-all & 3) + 4;
}

static void message(struct wire *w, const uint8_t *data, size_t len)
{
	uint8_t head[18] = { 0x41, 0x43 };
	put_be32(head + 10, w->msn++);
	fpdu(w, head, sizeof head, data, len);
}

static void greet(struct wire *w)
{
	static const uint8_t request[28] = "MPA ID Req Frame\x10\x02\x00\x08\x00\x80\x00\x01\x80";
	memcpy(w->bytes, request, sizeof request);
	w->n = sizeof request;
}

static void login(struct wire *w, uint8_t how)
{
#define NAMES	"InitiatorName=" NAME "i\0TargetName=" NAME "\0"
#define LENGTHS "InitiatorRecvDataSegmentLength=8192\0TargetRecvDataSegmentLength=8192\0"
	static const char normal[] = NAMES LENGTHS "RDMAExtensions=Yes\0";
	static const char unsolicited[] =
		NAMES LENGTHS "RDMAExtensions=Yes\0InitialR2T=No\0FirstBurstLength=16384\0"
			      "TaggedBufferForSolicitedDataOnly=No\0iSCSIProtocolLevel=2\0";
	static const char discovery[] = "InitiatorName=" NAME "i\0SessionType=Discovery\0" LENGTHS;
	static const struct words texts[] = {
		[NORMAL] = {normal,	     sizeof normal - 1     },
		[UNSOLICITED] = { unsolicited, sizeof unsolicited - 1},
		[DISCOVERY] = { discovery,   sizeof discovery - 1	},
	};
	uint8_t msg[PDU_LEN + 512] = { ISER_CONTROL };
	message(w, msg, ISER_HDR_LEN + login_pdu(msg + ISER_HDR_LEN, &texts[how]));
}

static void fix(struct wire *w, uint8_t *msg, size_t len, uint8_t how)
{
	uint8_t *h = msg + ISER_HDR_LEN, opcode = h[0] & 0x3f;
	if (how & FIX_SN && opcode != 5 && opcode != 0x10) {
		put_be32(h + 24, w->cmd_sn);
		w->cmd_sn += !(h[0] & 0x40);
	}
	if (how & FIX_LUN)
		memset(h + 8, 0, 8);
	if (how & FIX_ITT)
		put_be32(h + 16, h[19] & 15);
	if (how & FIX_LEN) {
		msg[0] = ISER_CONTROL | (msg[0] & 0x0f);
		h[4] = 0;
		put_be24(h + 5, (uint32_t)(len - PDU_LEN));
	}
}

static void record(struct wire *w, uint8_t how, uint8_t *data, size_t len)
{
	if (how & AS_IT_IS) {
		fpdu(w, data, 0, data, len);
		return;
	}
	if (len >= PDU_LEN)
		fix(w, data, len, how);
	message(w, data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	start();
	if (size < 2 || size > 32768)
		return 0;
	uint8_t how = data[0] % BEGINNINGS, *copy = malloc(size);
	struct wire w = { .bytes = malloc(size * 32 + 4096), .msn = 1 };
	memcpy(copy, data, size);
	if (how == RAW) {
		memcpy(w.bytes, data + 1, size - 1);
		w.n = size - 1;
	} else {
		greet(&w);
	}
	if (how > GREETED)
		login(&w, how);
	for (size_t at = 1; how != RAW && at + 3 <= size;) {
		size_t len = get_be16(copy + at + 1), left = size - at - 3;
		len = len < left ? len : left;
		record(&w, copy[at], copy + at + 3, len);
		at += 3 + len;
	}
	converse(w.bytes, w.n);
	free(w.bytes);
	free(copy);
	return 0;
}
