// SPDX-License-Identifier: BSD-2-Clause
// The way in: one large receive brings many answers. Payload is looked at only
// when content or digests are checked; otherwise it is passed over as it comes.
#include "load.h"

#include <errno.h>
#include <sys/socket.h>

static struct slot *slot_of(const struct load *l, struct session *s, const uint8_t *h)
{
	uint32_t itt = get32(h + AT_ITT);

	if (itt >= l->opt.depth || !s->slots[itt].is_busy)
		die("session %u: opcode %02x with unknown task tag %08x", s->index, h[0] & OP_MASK,
		    itt);
	return &s->slots[itt];
}

static void window_take(struct session *s, const uint8_t *h)
{
	uint32_t max = get32(h + AT_MAXCMDSN);

	if ((int32_t)(max - s->maxcmdsn) > 0)
		s->maxcmdsn = max;
}

static void status_take(struct session *s, const uint8_t *h)
{
	s->expstatsn = get32(h + AT_STATSN) + 1;
	window_take(s, h);
}

static void data_in(struct load *l, struct session *s, const uint8_t *h, const uint8_t *data,
		    uint32_t len, uint64_t now)
{
	struct slot *slot = slot_of(l, s, h);
	uint32_t offset = get32(h + AT_OFFSET);

	if (offset > l->opt.io_size || len > l->opt.io_size - offset)
		die("session %u: Data-In beyond the transfer: %u + %u", s->index, offset, len);
	if (l->opt.is_verifying && !pattern_matches(data, slot->lun, slot->offset + offset, len))
		slot->is_wrong = true;
	if (h[AT_FLAGS] & FLAG_STATUS) {
		status_take(s, h);
		command_finish(l, s, get32(h + AT_ITT), h[AT_STATUS], now);
	}
}

static bool is_unit_attention(const uint8_t *sense, uint32_t len)
{
	if (len < 5)
		return false;
	return ((sense[2] & 0x7f) >= 0x72 ? sense[3] & 15 : sense[4] & 15) == 6;
}

static void response(struct load *l, struct session *s, const uint8_t *h, const uint8_t *data,
		     uint32_t len, uint64_t now)
{
	int status = h[AT_STATUS];
	uint32_t itt = get32(h + AT_ITT);

	slot_of(l, s, h);
	status_take(s, h);
	if (h[AT_RESPONSE]) {
		status = 0xff;
	} else if (status == 0x08 || status == 0x28) { // BUSY, TASK SET FULL
		l->busy++;
		command_start(l, s, itt, true, now);
		return;
	} else if (status == 0x02 && is_unit_attention(data, len) &&
		   s->unit_attentions++ < l->opt.depth + l->opt.luns) {
		command_start(l, s, itt, true, now);
		return;
	}
	command_finish(l, s, itt, status, now);
}

static void r2t(struct load *l, struct session *s, const uint8_t *h)
{
	const struct slot *slot = slot_of(l, s, h);
	uint32_t offset = get32(h + AT_OFFSET), len = get32(h + AT_R2T_LEN);

	if (!slot->is_write || offset > l->opt.io_size || len > l->opt.io_size - offset)
		die("session %u: R2T beyond the transfer: %u + %u", s->index, offset, len);
	window_take(s, h);
	command_send_data(s, get32(h + AT_ITT), get32(h + AT_TTT), offset, len);
}

static void nop_in(struct session *s, const uint8_t *h)
{
	struct out_pdu *pdu;

	window_take(s, h);
	if (get32(h + AT_TTT) == NO_TAG)
		return;
	pdu = out_add(s);
	pdu->head[0] = OP_NOP_OUT | OP_IMMEDIATE;
	pdu->head[AT_FLAGS] = FLAG_FINAL;
	memcpy(pdu->head + AT_LUN, h + AT_LUN, 8);
	put32(pdu->head + AT_ITT, NO_TAG);
	memcpy(pdu->head + AT_TTT, h + AT_TTT, 4);
	put32(pdu->head + AT_CMDSN, s->cmdsn);
	put32(pdu->head + AT_EXPSTATSN, s->expstatsn);
	out_seal(s, pdu);
}

static void pdu_handle(struct load *l, struct session *s, const uint8_t *h, const uint8_t *data,
		       uint64_t now)
{
	uint32_t len = get24(h + AT_DATA_LEN);

	switch (h[0] & OP_MASK) {
	case OP_DATA_IN:
		data_in(l, s, h, data, len, now);
		break;
	case OP_RESPONSE:
		response(l, s, h, data, len, now);
		break;
	case OP_R2T:
		r2t(l, s, h);
		break;
	case OP_NOP_IN:
		nop_in(s, h);
		break;
	default:
		die("session %u: unexpected PDU, opcode %02x, byte 2 %02x", s->index,
		    h[0] & OP_MASK, h[2]);
	}
}

static void digest_check(const struct session *s, const char *what, const uint8_t *data,
			 uint32_t len)
{
	uint32_t crc;

	memcpy(&crc, data + len, DIGEST_LEN);
	if (le32toh(crc) != digest(data, len))
		die("session %u: %s digest is wrong", s->index, what);
}

struct pdu_size {
	uint32_t head, data; // with digests and padding
};

static struct pdu_size pdu_measure(const struct session *s, const uint8_t *h)
{
	uint32_t len = (get24(h + AT_DATA_LEN) + 3) & ~3u;
	struct pdu_size size = {
		.head = BHS_LEN + 4u * h[AT_AHS_LEN] + (s->has_header_digest ? DIGEST_LEN : 0),
		.data = len + (s->has_data_digest && len ? DIGEST_LEN : 0),
	};

	if (len > RX_SEGMENT)
		die("session %u: PDU of %u bytes, more than we declared", s->index, len);
	return size;
}

static void pdu_check(const struct session *s, const uint8_t *h, struct pdu_size size)
{
	if (s->has_header_digest)
		digest_check(s, "header", h, size.head - DIGEST_LEN);
	if (s->has_data_digest && size.data)
		digest_check(s, "data", h + size.head, size.data - DIGEST_LEN);
}

// Data-In may be counted before it is complete: its header is kept and the rest
// of it passed over as it arrives.
static bool may_pass_over(const struct load *l, const struct session *s, const uint8_t *h)
{
	return (h[0] & OP_MASK) == OP_DATA_IN && !l->opt.is_verifying && !s->has_header_digest &&
	       !s->has_data_digest;
}

// Passes over the rest of a held PDU; returns how much of the buffer that was.
static size_t held_finish(struct load *l, struct session *s, uint64_t now)
{
	size_t n = s->rx_skip < s->rx_len ? s->rx_skip : s->rx_len;

	if (!s->rx_skip)
		return 0;
	s->rx_skip -= n;
	if (!s->rx_skip)
		pdu_handle(l, s, s->rx_held, NULL, now);
	return n;
}

static void parse(struct load *l, struct session *s, uint64_t now)
{
	size_t pos = held_finish(l, s, now);

	while (s->rx_len - pos >= BHS_LEN) {
		const uint8_t *h = s->rx + pos;
		struct pdu_size size = pdu_measure(s, h);
		size_t total = size.head + size.data, have = s->rx_len - pos;

		if (have >= total) {
			pdu_check(s, h, size);
			pdu_handle(l, s, h, h + size.head, now);
			pos += total;
		} else if (have >= size.head && may_pass_over(l, s, h)) {
			memcpy(s->rx_held, h, BHS_LEN);
			s->rx_skip = total - have;
			pos = s->rx_len;
		} else if (total > s->rx_size) {
			die("session %u: PDU of %zu bytes on an idle session", s->index, total);
		} else {
			break;
		}
	}
	s->rx_len -= pos;
	if (pos && s->rx_len)
		memmove(s->rx, s->rx + pos, s->rx_len);
}

bool receive(struct load *l, struct session *s, bool may_sleep, uint64_t *ret_now)
{
	ssize_t n = recv(s->fd, s->rx + s->rx_len, s->rx_size - s->rx_len,
			 may_sleep ? 0 : MSG_DONTWAIT);

	*ret_now = now_ns();
	if (n == 0)
		die("session %u: the target closed the connection", s->index);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0)
		die("session %u: receive: %s", s->index, strerror(errno));
	l->rx_calls++;
	s->rx_len += (size_t)n;
	parse(l, s, *ret_now);
	return true;
}
